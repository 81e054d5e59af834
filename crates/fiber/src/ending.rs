//! Whether the current thread is ending: its thread-locals are being destroyed.
//!
//! A fiber may stand still inside `LocalKey::with`, holding a reference to a thread-local. If the runtime is a
//! thread-local too, and is dropped after that one, unwinding the fiber would use what is gone. So once the
//! destruction of thread-locals has begun, no fiber of the thread runs any more; it is leaked.
//!
//! glibc calls what was registered last first, and the standard library registers one call for all its
//! destructors, with the first value that has one. So what is registered after that runs before all of them.

use std::cell::Cell;

// loom's knows no `const`, and no model has a fiber.
#[cfg(not(loom))]
use gossamer_core::door::thread_local;

thread_local! {
    static ENDING: Cell<bool> = const { Cell::new(false) };
    static WATCHED: Cell<bool> = const { Cell::new(false) };
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
    /// Has a destructor, so that the standard library has registered its call when this exists.
    struct Registered;
    impl Drop for Registered {
        fn drop(&mut self) {}
    }
    thread_local! {
        static FIRST: Registered = const { Registered };
    }

    // It needs no destruction itself: the thread-local that it sets has none.
    fn end() {
        ENDING.with(|ending| ending.set(true));
    }
    FIRST.with(|_| ());
    call_at_end(end);
}

/// Has `call` be called when the current thread ends, before those of its thread-locals are destroyed that exist now.
/// (Those that come later are destroyed earlier.) Costs some memory until then. Does nothing but with glibc.
/// Fibers may run in it.
pub fn before_this_thread_ends(call: fn()) {
    watch();
    call_at_end(call);
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn call_at_end(call: fn()) {
    use std::ffi::{c_int, c_void};

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
    extern "C" fn end(call: *mut c_void) {
        // SAFETY: this very pointer was made of a function below.
        let call = unsafe { std::mem::transmute::<*mut c_void, fn()>(call) };
        call();
    }
    // SAFETY: the object is a function, which stays; the handle keeps the library that it is in loaded.
    unsafe {
        let library = (&raw const __dso_handle).cast_mut().cast();
        __cxa_thread_atexit_impl(end, call as *mut c_void, library);
    }
}

/// Nothing is known here of the end of a thread.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
fn call_at_end(_call: fn()) {}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
fn register() {}
