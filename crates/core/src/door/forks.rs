//! Being called around `fork()`.

#[cfg(unix)]
mod atfork {
    //! The C library's own words.
    use core::ffi::c_int;

    pub(super) type Handler = extern "C" fn();

    // SAFETY: the declaration is that of POSIX's <pthread.h>; it keeps the three pointers and has no other effect.
    unsafe extern "C" {
        /// Zero, or the number of an error: no memory.
        pub(super) safe fn pthread_atfork(
            prepare: Option<Handler>,
            parent: Option<Handler>,
            child: Option<Handler>,
        ) -> c_int;
    }
}

/// Has every `fork()` of this process call these, on the thread that forks: `prepare` before, then `parent` in
/// this process and `child` in the new one. Not by `vfork`, `posix_spawn`, or a bare system call.
///
/// # Panics
/// There is no memory to note them.
pub fn around_fork(prepare: extern "C" fn(), parent: extern "C" fn(), child: extern "C" fn()) {
    #[cfg(unix)]
    {
        let error = atfork::pthread_atfork(Some(prepare), Some(parent), Some(child));
        assert_eq!(error, 0, "pthread_atfork: no memory for three pointers");
    }
    #[cfg(not(unix))]
    let _ = (prepare, parent, child);
}
