//! Whether the current thread is ending: its thread-locals are being destroyed.
//!
//! A fiber may stand still inside `LocalKey::with`, holding a reference to a thread-local. If the runtime is a
//! thread-local too, and is dropped after that one, unwinding the fiber would use what is gone. So once the
//! destruction of thread-locals has begun, no fiber of the thread runs any more; it is leaked.
//!
//! glibc calls what was registered last first, and the standard library registers one call for all its
//! destructors, with the first value that has one. So what is registered after that runs before all of them.

use std::cell::Cell;
use std::sync::OnceLock;

use gossamer_core::door::thread_local;

thread_local! {
    static ENDING: Cell<bool> = const { Cell::new(false) };
    static WATCHED: Cell<bool> = const { Cell::new(false) };
}

/// What is called at the end of each thread on which a fiber has begun, before any of its thread-locals is gone.
static BEFORE: OnceLock<fn()> = OnceLock::new();

/// Has `call` be called at the end of each thread on which a fiber has begun: while its thread-locals are there, and
/// its fibers can still be ended. The first call counts. With glibc only.
pub fn before_a_thread_ends(call: fn()) {
    BEFORE.get_or_init(|| call);
}

/// Whether thread-locals of this thread may be gone. Known only if [`watch`] was called before, and with glibc.
pub(crate) fn is_ending() -> bool {
    ENDING.with(Cell::get)
}

/// Has [`is_ending`] be known on this thread.
pub(crate) fn watch() {
    if !WATCHED.with(|watched| watched.replace(true)) {
        register();
    }
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn register() {
    use std::ffi::{c_int, c_void};
    use std::ptr;

    /// Has a destructor, so that the standard library has registered its call when this exists.
    struct Registered;
    impl Drop for Registered {
        fn drop(&mut self) {}
    }
    thread_local! {
        static FIRST: Registered = const { Registered };
    }

    // SAFETY: the declarations are those of glibc, and of the file that every program and library is linked with.
    unsafe extern "C" {
        /// Calls `destructor` with `object` when the current thread ends (glibc 2.18, for C++).
        fn __cxa_thread_atexit_impl(
            destructor: extern "C" fn(*mut c_void),
            object: *mut c_void,
            library: *mut c_void,
        ) -> c_int;
        /// Identifies the program or library that this is part of.
        static __dso_handle: u8;
    }
    extern "C" fn end(_: *mut c_void) {
        if let Some(call) = BEFORE.get() {
            call();
        }
        ENDING.with(|ending| ending.set(true));
    }
    FIRST.with(|_| ());
    // SAFETY: the function uses no object, and only a thread-local that needs no destruction; the handle keeps the
    // library that it is in loaded.
    unsafe {
        let library = (&raw const __dso_handle).cast_mut().cast();
        __cxa_thread_atexit_impl(end, ptr::null_mut(), library);
    }
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
fn register() {}
