//! The scope that is a future: children that own what they have.

use std::panic::Location;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use gossamer_core::context::SchedulingPoint;
use gossamer_core::header::Payload;
use gossamer_sched::SpawnError;

use super::data::{Data, caught};
use super::{ScopedFiber, ScopedHandle, Spawn, start, started};

/// Runs `body` with a scope and `input`, which it owns, and is complete when it has ended and all children that were
/// spawned there have. `on` runs them.
///
/// # Cancellation
/// Dropping it drops the body and aborts the children, and waits for nobody: they own what they have.
///
/// # Panics
/// When polled: as the body does, or else as the first child did whose panic was not joined; in either case after all
/// children have ended.
pub fn async_scope<I, F, B>(on: Arc<dyn Spawn>, input: I, body: F) -> RunScope<B>
where
    F: FnOnce(AsyncScope, I) -> B,
    B: Future,
{
    let data = Arc::new(Data::new());
    let scope = AsyncScope {
        data: data.clone(),
        on,
    };
    RunScope {
        data,
        body: Some(Box::pin(body(scope, input))),
        ended: None,
        point: SchedulingPoint::new(),
    }
}

/// Spawns children that own what they have: see [`async_scope`].
///
/// It may be cloned, and moved into children, which then spawn siblings. A child spawned after the scope has ended is
/// cancelled at once.
///
/// # Examples
/// ```
/// #[gossamer::main(runtime = rt)]
/// async fn main() {
///     let sum = rt.async_scope(vec![1, 2, 3], async |scope, numbers| {
///         let doubled: Vec<_> = numbers.into_iter().map(|n| scope.spawn(async move { 2 * n })).collect();
///         let mut sum = 0;
///         for child in doubled {
///             sum += child.await.unwrap();
///         }
///         sum
///     });
///     assert_eq!(sum.await, 12);
/// }
/// ```
#[derive(Clone)]
pub struct AsyncScope {
    data: Arc<Data>,
    on: Arc<dyn Spawn>,
}

impl AsyncScope {
    /// Spawns a task.
    ///
    /// Dropping the handle detaches it from the caller, not from the scope.
    ///
    /// # Panics
    /// The runtime cannot run it: see [`try_spawn`](AsyncScope::try_spawn).
    #[track_caller]
    pub fn spawn<F>(&self, future: F) -> ScopedHandle<'static, F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        started("spawn", self.try_spawn(future))
    }

    /// Spawns a task.
    ///
    /// # Errors
    /// The system grants no more threads, under the model 1:1; or in a forked child: the future comes back.
    #[track_caller]
    pub fn try_spawn<F>(&self, future: F) -> Result<ScopedHandle<'static, F::Output>, SpawnError<F>>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        let caller = Location::caller();
        let spawn = |task| self.on.try_spawn(task, caller);
        start(&self.data, future, false, |child| child, spawn)
    }

    /// Spawns a fiber.
    ///
    /// # Panics
    /// The runtime has no fibers, or there is no stack or thread to be had; see
    /// [`try_spawn_fiber`](AsyncScope::try_spawn_fiber).
    #[track_caller]
    pub fn spawn_fiber<F, T>(&self, body: F) -> ScopedHandle<'static, T>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        started("spawn_fiber", self.try_spawn_fiber(body))
    }

    /// Spawns a fiber.
    ///
    /// # Errors
    /// The runtime's builder was given no `Fibers`; there is no memory for a stack, or, under the model 1:1, no thread:
    /// the closure comes back.
    #[track_caller]
    pub fn try_spawn_fiber<F, T>(&self, body: F) -> Result<ScopedHandle<'static, T>, SpawnError<F>>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        let caller = Location::caller();
        let fiber = ScopedFiber::new(body, self.on.fibers(), caller, |run| run)?;
        let spawn = |task| self.on.try_spawn(task, caller);
        let started = start(&self.data, fiber, true, |child| child, spawn);
        started.map_err(ScopedFiber::refused)
    }
}

gossamer_core::impl_debug!([] AsyncScope[]);

/// [`async_scope`].
#[must_use = "futures do nothing unless polled"]
pub struct RunScope<B: Future> {
    data: Arc<Data>,
    body: Option<Pin<Box<B>>>,
    ended: Option<Result<B::Output, Payload>>,
    point: SchedulingPoint,
}

impl<B: Future> Unpin for RunScope<B> {}

impl<B: Future> Future for RunScope<B> {
    type Output = B::Output;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<B::Output> {
        let this = &mut *self;
        if let Some(body) = &mut this.body {
            let ended = match caught(|| body.as_mut().poll(cx)) {
                Ok(Poll::Pending) => return Poll::Pending,
                Ok(Poll::Ready(output)) => Ok(output),
                Err(payload) => Err(payload),
            };
            this.ended = Some(ended);
            let body = this.body.take();
            if let Err(payload) = caught(|| drop(body))
                && let Some(Ok(output)) = this.ended.replace(Err(payload))
            {
                drop(output);
            }
        }
        ready!(this.data.poll_all_ended(cx, &mut this.point));
        match this.ended.take() {
            Some(Ok(output)) => {
                this.data.raise();
                Poll::Ready(output)
            }
            Some(Err(payload)) => {
                this.data.swallow();
                std::panic::resume_unwind(payload)
            }
            None => panic!("a scope was polled after it was complete"),
        }
    }
}

impl<B: Future> Drop for RunScope<B> {
    fn drop(&mut self) {
        /// Also when dropping the body panics.
        struct Aborts<'a>(&'a Data);
        impl Drop for Aborts<'_> {
            fn drop(&mut self) {
                if !gossamer_core::mutant!("dropped_scope_runs_on") {
                    self.0.abort_all();
                }
                self.0.swallow();
            }
        }
        let _aborts = Aborts(&self.data);
        drop(self.body.take());
    }
}

gossamer_core::impl_debug!([B: Future] RunScope[B]);
