//! The runtime and its builder: where the layers are put together.

use std::fmt;
use std::io;
use std::panic::Location;
use std::sync::Arc;

use gossamer_sched::{Drives, Fifo, LocalScope, Scheduler, Single, run_blocking, spawn_on};
use gossamer_task::JoinHandle;

/// Who runs the tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Model {
    /// M:1: all tasks run on the thread that waits for them; no thread is started.
    #[default]
    Single,
}

/// What a [`Runtime`] is to be; from [`Runtime::builder`].
#[derive(Debug, Default)]
#[must_use = "a builder does nothing until `build` is called"]
pub struct Builder<S = Fifo> {
    model: Model,
    scheduler: S,
}

impl<S: Scheduler> Builder<S> {
    /// Chooses the threading model.
    pub fn model(mut self, model: Model) -> Self {
        self.model = model;
        self
    }

    /// Brings a scheduler of one's own: the order in which runnable tasks are polled.
    pub fn scheduler<T: Scheduler>(self, scheduler: T) -> Builder<T> {
        Builder {
            model: self.model,
            scheduler,
        }
    }

    /// Builds the runtime. The current thread owns it: its `.wait()`s drive the tasks.
    ///
    /// # Errors
    /// 65,535 runtimes exist in this process already.
    pub fn build(self) -> io::Result<Runtime> {
        match self.model {
            Model::Single => Ok(Runtime {
                inner: Single::with_scheduler(self.scheduler)?,
            }),
        }
    }
}

/// Runs tasks.
///
/// `Send` and `Sync`: tasks may be spawned from any thread. Under [`Model::Single`] they run while a
/// thread is inside [`block_on`](Runtime::block_on), or while the thread that built the runtime waits for
/// something.
///
/// # Cancellation
/// Dropping the runtime drops every task's future, on the dropping thread, whatever state the task is in;
/// their join handles say that they were cancelled. Wakers that fire later do nothing.
pub struct Runtime {
    inner: Arc<dyn Drives>,
}

impl Runtime {
    /// Begins to describe a runtime; [`Model::Single`] unless told otherwise.
    pub fn builder() -> Builder {
        Builder::default()
    }

    /// Spawns a task.
    ///
    /// A task that panics gives its payload to whoever joins it, and the others are unharmed.
    #[track_caller]
    pub fn spawn<F>(&self, future: F) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        spawn_on(&*self.inner, future, Location::caller())
    }

    /// Runs tasks until `future`, which may borrow and need not be `Send`, is complete.
    ///
    /// # Blocking
    /// Blocks the calling thread, and parks it while nothing is runnable.
    ///
    /// # Panics
    /// As the future does. Inside a task, or while another thread drives this runtime: with a message
    /// that says so. If the runtime's own scheduler stops ([`Idle::Stop`](crate::Idle::Stop)).
    #[track_caller]
    pub fn block_on<F: Future>(&self, future: F) -> F::Output {
        self.block_on_local(|_| future)
    }

    /// As [`block_on`](Runtime::block_on), with a scope whose tasks need not be `Send`.
    ///
    /// The scope's tasks run on the calling thread and are dropped there when the call ends, finished
    /// or not.
    ///
    /// # Blocking
    /// Blocks the calling thread, and parks it while nothing is runnable.
    ///
    /// # Panics
    /// As [`block_on`](Runtime::block_on).
    ///
    /// # Examples
    /// ```
    /// use std::rc::Rc;
    /// use gossamer::{Runtime, local::MVar};
    ///
    /// let rt = Runtime::builder().build()?;
    /// let sum = rt.block_on_local(|scope| {
    ///     let place = Rc::new(MVar::empty());
    ///     let task = scope.spawn_local({
    ///         let place = place.clone();
    ///         async move { place.put(20).await }
    ///     });
    ///     async move {
    ///         let value = place.take().await;
    ///         task.await.expect("no panic there");
    ///         value + 1
    ///     }
    /// });
    /// assert_eq!(sum, 21);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[track_caller]
    pub fn block_on_local<F: Future>(&self, make: impl FnOnce(&LocalScope) -> F) -> F::Output {
        match run_blocking(&*self.inner, false, Location::caller(), make) {
            Ok(output) => output,
            Err(stopped) => panic!("block_on() has no result: {stopped}"),
        }
    }
}

impl fmt::Debug for Runtime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Runtime").finish_non_exhaustive()
    }
}
