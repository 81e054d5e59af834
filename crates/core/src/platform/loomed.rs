//! The platform with loom behind it.

pub use loom::cell::UnsafeCell;
pub use loom::hint::spin_loop;
pub use loom::lazy_static;
pub use loom::sync::MutexGuard;
pub use loom::thread_local as loom_thread_local;

pub use crate::thread_local;

/// As std's: loom's own knows no `const`.
#[macro_export]
macro_rules! thread_local {
    ($($(#[$meta:meta])* static $name:ident: $type:ty = const $value:block $(;)?)*) => {
        $crate::platform::loom_thread_local! { $($(#[$meta])* static $name: $type = $value;)* }
    };
    ($($statics:tt)*) => {
        $crate::platform::loom_thread_local! { $($statics)* }
    };
}

/// loom's atomics under the names of `core::sync::atomic`.
pub mod atomic {
    pub use loom::sync::atomic::*;
}

/// Threads, with a park of our own.
///
/// loom's `unpark` also wakes a thread that is blocked in a mutex or a join by then (an unpark that comes
/// late is no error), and loom's mutex does not bear that. So the token is a flag under a mutex.
pub mod thread {
    extern crate alloc;

    use alloc::sync::Arc;

    use super::{Condvar, Mutex};

    pub use loom::thread::{JoinHandle, ThreadId, panicking, spawn, yield_now};

    loom::lazy_static! {
        /// Not a loom mutex: no model is about it, and it is never held for long.
        static ref BUILT: std::sync::Mutex<alloc::vec::Vec<JoinHandle<()>>> = std::sync::Mutex::default();
    }

    /// Starts threads whose handles nobody keeps.
    #[derive(Debug)]
    pub struct Builder(loom::thread::Builder);

    impl Builder {
        /// As std's.
        #[allow(clippy::new_without_default)]
        pub fn new() -> Self {
            Self(loom::thread::Builder::new())
        }

        /// As std's.
        #[must_use]
        pub fn name(self, name: std::string::String) -> Self {
            Self(self.0.name(name))
        }

        /// As std's.
        #[must_use]
        pub fn stack_size(self, bytes: usize) -> Self {
            Self(self.0.stack_size(bytes))
        }

        /// As std's, but the handle is kept for [`join_built`].
        pub fn spawn(self, work: impl FnOnce() + Send + 'static) -> std::io::Result<()> {
            let handle = self.0.spawn(work)?;
            BUILT.lock().expect("nobody panicked").push(handle);
            Ok(())
        }
    }

    /// Waits for the threads that a [`Builder`] has started. Every model that starts such ends with it: what is
    /// global goes with the model's first thread, and the others must not touch it afterwards.
    pub fn join_built() {
        loop {
            let built = BUILT.lock().expect("nobody panicked").pop();
            match built {
                Some(handle) => handle.join().expect("a thread of the runtime panicked"),
                None => return,
            }
        }
    }

    #[derive(Debug)]
    struct Token {
        given: Mutex<bool>,
        changed: Condvar,
    }

    /// A handle to a thread, to unpark it.
    #[derive(Debug, Clone)]
    pub struct Thread(Arc<Token>);

    loom::thread_local! {
        static CURRENT: Thread = Thread(Arc::new(Token {
            given: Mutex::new(false),
            changed: Condvar::new(),
        }));
    }

    /// The calling thread.
    pub fn current() -> Thread {
        CURRENT.with(Thread::clone)
    }

    /// Waits until the calling thread's token is given, and takes it.
    pub fn park() {
        let token = current().0;
        let mut given = token.given.lock();
        while !*given {
            given = token.changed.wait(given);
        }
        *given = false;
    }

    impl Thread {
        /// The number of the calling thread, which is the only one that anybody asks for.
        pub fn id(&self) -> ThreadId {
            loom::thread::current().id()
        }

        /// Gives the thread's token.
        pub fn unpark(&self) {
            let mut given = self.0.given.lock();
            *given = true;
            drop(given);
            self.0.changed.notify_all();
        }
    }
}

/// A mutex; loom never poisons.
#[derive(Debug)]
pub struct Mutex<T>(loom::sync::Mutex<T>);

impl<T: Default> Default for Mutex<T> {
    fn default() -> Self {
        Self::new(T::default())
    }
}

impl<T> Mutex<T> {
    /// Wraps a value.
    pub fn new(value: T) -> Self {
        Self(loom::sync::Mutex::new(value))
    }

    /// Waits for the lock.
    pub fn lock(&self) -> MutexGuard<'_, T> {
        self.0.lock().expect("loom's mutex does not poison")
    }

    /// The value, which nobody else has.
    pub fn get_mut(&mut self) -> &mut T {
        self.0.get_mut().expect("loom's mutex does not poison")
    }
}

/// A condition variable for [`Mutex`].
#[derive(Debug)]
pub struct Condvar(loom::sync::Condvar);

impl Condvar {
    /// A condition variable nobody waits for.
    pub fn new() -> Self {
        Self(loom::sync::Condvar::new())
    }

    /// Gives the lock up, sleeps until notified, takes the lock again.
    pub fn wait<'a, T>(&self, guard: MutexGuard<'a, T>) -> MutexGuard<'a, T> {
        self.0.wait(guard).expect("loom's mutex does not poison")
    }

    /// Like [`wait`](Self::wait): no time passes in a model, so the limit is never reached.
    pub fn wait_for<'a, T>(
        &self,
        guard: MutexGuard<'a, T>,
        _limit: std::time::Duration,
    ) -> MutexGuard<'a, T> {
        self.wait(guard)
    }

    /// Wakes all that sleep.
    pub fn notify_all(&self) {
        self.0.notify_all();
    }
}

impl Default for Condvar {
    fn default() -> Self {
        Self::new()
    }
}

/// Under loom a second thread is always assumed.
pub fn single_threaded() -> bool {
    false
}

/// A value made at first use that lives as long as one loom execution.
#[doc(hidden)]
#[macro_export]
macro_rules! process_global {
    ($(#[$doc:meta])* fn $name:ident() -> $type:ty = $make:expr) => {
        $(#[$doc])*
        fn $name() -> &'static $type {
            $crate::platform::lazy_static! { static ref VALUE: $type = $make; }
            &VALUE
        }
    };
}
pub(crate) use process_global;
pub use process_global as per_process;

/// No model forks.
pub fn in_forked_children(_call: extern "C" fn()) {}

/// In a model both sides have a full fence.
pub fn light_fence() {
    loom::sync::atomic::fence(loom::sync::atomic::Ordering::SeqCst); // pairs with `heavy_fence`
}

/// In a model both sides have a full fence.
pub fn heavy_fence() {
    loom::sync::atomic::fence(loom::sync::atomic::Ordering::SeqCst); // pairs with `light_fence`
}

/// In a model both sides have a full fence.
pub fn is_light() -> bool {
    true
}

/// In a model both sides have a full fence.
pub fn quick_fence() {
    light_fence();
}
