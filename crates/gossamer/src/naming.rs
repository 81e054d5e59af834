//! Tasks with names.

use std::borrow::Cow;
use std::panic::Location;

use gossamer_core::context;
use gossamer_core::platform::thread;
use gossamer_sched::SpawnError;
use gossamer_structure::Named;
use gossamer_task::JoinHandle;

use crate::shared::{FiberOptions, Shared, started_fiber};

/// Describes a task before it is spawned: from [`Runtime::task`](crate::Runtime::task).
#[must_use = "a description does nothing until something is spawned"]
pub struct TaskBuilder<'a> {
    shared: &'a Shared,
    name: Cow<'static, str>,
    stack_size: Option<usize>,
}

impl<'a> TaskBuilder<'a> {
    pub(crate) fn new(shared: &'a Shared) -> Self {
        Self {
            shared,
            name: Cow::Borrowed(""),
            stack_size: None,
        }
    }

    /// Names it: reports show the name, and [`task_name`] gives it. A task has its name from its first poll on.
    ///
    /// # Panics
    /// There is a zero byte in the name, which no name of a thread may have.
    #[track_caller]
    pub fn name(mut self, name: impl Into<Cow<'static, str>>) -> Self {
        let name = name.into();
        assert!(
            !name.contains('\0'),
            "a task's name has a zero byte: {name:?}; take it out"
        );
        self.name = name;
        self
    }

    /// Gives it a stack of so many bytes, if it is spawned as a fiber; others are as they are. See
    /// [`Fibers::stack_size`](crate::Fibers::stack_size).
    pub const fn stack_size(mut self, bytes: usize) -> Self {
        self.stack_size = Some(bytes);
        self
    }

    /// As [`Runtime::spawn`](crate::Runtime::spawn).
    #[track_caller]
    pub fn spawn<F>(self, future: F) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        let caller = Location::caller();
        if self.name.is_empty() {
            return self.shared.spawn(future, caller);
        }
        self.shared.spawn(Named::new(self.name, future), caller)
    }

    /// As [`Runtime::try_spawn`](crate::Runtime::try_spawn).
    ///
    /// # Errors
    /// The system grants no more threads; or in a forked child: the future comes back.
    #[track_caller]
    pub fn try_spawn<F>(self, future: F) -> Result<JoinHandle<F::Output>, SpawnError<F>>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        let caller = Location::caller();
        if self.name.is_empty() {
            return self.shared.try_spawn(future, caller);
        }
        let named = Named::new(self.name, future);
        let tried = self.shared.try_spawn(named, caller);
        tried.map_err(|refused| refused.map(Named::into_inner))
    }

    /// As [`Runtime::spawn_fiber`](crate::Runtime::spawn_fiber).
    #[track_caller]
    pub fn spawn_fiber<F, T>(self, body: F) -> JoinHandle<T>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        started_fiber(self.try_spawn_fiber(body))
    }

    /// As [`Runtime::try_spawn_fiber`](crate::Runtime::try_spawn_fiber).
    ///
    /// # Errors
    /// The builder was given no [`Fibers`](crate::Fibers); there is no memory for the stack, or no thread: the closure
    /// comes back.
    #[track_caller]
    pub fn try_spawn_fiber<F, T>(self, body: F) -> Result<JoinHandle<T>, SpawnError<F>>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        let shared = self.shared;
        let fiber = FiberOptions {
            name: &self.name.clone(),
            stack_size: self.stack_size,
            caller: Location::caller(),
        };
        shared.try_start_fiber(body, fiber, |fiber| self.try_spawn(fiber))
    }

    /// As [`Runtime::spawn_thread`](crate::Runtime::spawn_thread). The system shows the first 15 bytes of the name.
    ///
    /// # Panics
    /// The system grants no more threads.
    #[track_caller]
    pub fn spawn_thread<F, T>(self, work: F) -> JoinHandle<T>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        crate::threads::started(self.try_spawn_thread(work))
    }

    /// As [`spawn_thread`](TaskBuilder::spawn_thread).
    ///
    /// # Errors
    /// The system grants no more threads: the closure comes back.
    #[track_caller]
    pub fn try_spawn_thread<F, T>(self, work: F) -> Result<JoinHandle<T>, SpawnError<F>>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        crate::threads::try_spawn_named(&self.name, work, Location::caller())
    }
}

gossamer_core::impl_debug!([] TaskBuilder['_], this => name: this.name);

/// The name that the current task or fiber was given by [`Runtime::task`](crate::Runtime::task); in a thread, its name.
#[must_use]
pub fn task_name() -> Option<String> {
    if context::with(context::Context::is_polling) {
        return gossamer_task::locals::name_here();
    }
    thread::current().name().map(str::to_owned)
}
