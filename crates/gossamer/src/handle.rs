//! Spawning onto a runtime without having it.

use std::panic::Location;
use std::sync::Arc;

use gossamer_sched::SpawnError;
use gossamer_structure::{
    AsyncScope, LimitedHandle, RunScope, Scope, SpawnFuture, async_scope, scope,
};
use gossamer_task::JoinHandle;

use crate::naming::TaskBuilder;
use crate::shared::Shared;
use crate::spawning::current;

/// Spawns onto a runtime, and does not keep it from ending: from [`Runtime::handle`](crate::Runtime::handle), or, in a
/// task or fiber, from [`current`](Handle::current).
///
/// Anything that is spawned after the runtime has ended is cancelled at once.
///
/// # Examples
/// ```
/// use gossamer::{Runtime, Handle, Wait};
///
/// let rt = Runtime::builder().build()?;
/// let sum = rt.spawn(async {
///     let handle = Handle::current();
///     handle.spawn(async { 1 }).await.expect("no panic") + 1
/// });
/// assert_eq!(sum.wait()?, 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Handle {
    shared: Arc<Shared>,
}

impl Handle {
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        Self { shared }
    }

    /// That of the runtime, or simulation, whose task, fiber or blocking call this is, or whose
    /// [`block_on`](crate::Runtime::block_on).
    ///
    /// # Panics
    /// Elsewhere: see [`try_current`](Handle::try_current).
    #[must_use]
    #[track_caller]
    pub fn current() -> Self {
        Self::new(current("Handle::current()"))
    }

    /// As [`current`](Handle::current); `None` where there is no runtime.
    #[must_use]
    pub fn try_current() -> Option<Self> {
        Shared::current().map(Self::new)
    }

    /// As [`Runtime::spawn`](crate::Runtime::spawn).
    #[track_caller]
    pub fn spawn<F>(&self, future: F) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        self.shared.spawn(future, Location::caller())
    }

    /// As [`Runtime::try_spawn`](crate::Runtime::try_spawn).
    ///
    /// # Errors
    /// The system grants no more threads; or in a forked child: the future comes back.
    #[track_caller]
    pub fn try_spawn<F>(&self, future: F) -> Result<JoinHandle<F::Output>, SpawnError<F>>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        self.shared.try_spawn(future, Location::caller())
    }

    /// As [`Runtime::spawn_fiber`](crate::Runtime::spawn_fiber).
    #[track_caller]
    pub fn spawn_fiber<F, T>(&self, body: F) -> JoinHandle<T>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        self.shared.spawn_fiber(body, Location::caller())
    }

    /// As [`Runtime::spawn_blocking`](crate::Runtime::spawn_blocking).
    #[track_caller]
    pub fn spawn_blocking<F, T>(&self, work: F) -> JoinHandle<T>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        self.shared.spawn_blocking(work, Location::caller())
    }

    /// As [`Runtime::task`](crate::Runtime::task).
    pub fn task(&self) -> TaskBuilder<'_> {
        TaskBuilder::new(&self.shared)
    }

    /// As [`Runtime::limited`](crate::Runtime::limited).
    #[track_caller]
    pub fn limited(&self, limit: usize) -> LimitedHandle<Self> {
        LimitedHandle::new(self.clone(), limit)
    }

    /// As [`Runtime::enter`](crate::Runtime::enter).
    #[track_caller]
    pub fn enter<R>(&self, body: impl FnOnce() -> R) -> R {
        self.shared.enter(body)
    }

    /// As [`Runtime::scope`](crate::Runtime::scope).
    #[track_caller]
    pub fn scope<'env, R>(
        &'env self,
        body: impl for<'scope> FnOnce(&'scope Scope<'scope, 'env>) -> R,
    ) -> R {
        scope(&*self.shared, body)
    }

    /// As [`Runtime::async_scope`](crate::Runtime::async_scope).
    pub fn async_scope<I, F, B>(&self, input: I, body: F) -> RunScope<B>
    where
        F: FnOnce(AsyncScope, I) -> B,
        B: Future,
    {
        async_scope(self.shared.clone(), input, body)
    }
}

impl SpawnFuture for Handle {
    fn spawn_future<F>(
        &self,
        future: F,
        caller: &'static Location<'static>,
    ) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        self.shared.spawn(future, caller)
    }
}

gossamer_core::impl_debug!([] Handle[]);
