//! Bounded spawning: limits how many tasks run at once; a caller that wants one more waits.

use std::panic::Location;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use gossamer_core::policy::Shared;
use gossamer_core::wait_queue::Leave;
use gossamer_sync::raw::Acquire;
use gossamer_sync::sync::Semaphore;
use gossamer_task::JoinHandle;
use pin_project_lite::pin_project;

/// Limits how many tasks run at once: a [`Semaphore`] with owned permits. Waiters are served first in, first out.
///
/// # Examples
/// ```
/// use gossamer::Wait;
/// use gossamer::limit::ConcurrencyLimit;
///
/// let limit = ConcurrencyLimit::new(1);
/// let permit = limit.acquire().wait();
/// assert!(limit.try_acquire().is_none());
/// drop(permit);
/// assert!(limit.try_acquire().is_some());
/// ```
#[derive(Clone)]
pub struct ConcurrencyLimit {
    permits: Arc<Semaphore>,
    limit: usize,
}

impl ConcurrencyLimit {
    /// Creates a limit with `limit` permits, at most 536,870,911: a higher limit is lowered to that.
    ///
    /// # Panics
    /// `limit` is zero: nothing could ever begin.
    #[must_use]
    #[track_caller]
    pub fn new(limit: usize) -> Self {
        assert!(
            limit > 0,
            "a limit of 0 tasks at once: nothing could ever begin; it must be at least 1"
        );
        let limit = limit.min(Semaphore::MAX_PERMITS);
        Self {
            permits: Arc::new(Semaphore::new(limit)),
            limit,
        }
    }

    /// Waits for a permit, which is given back when what this gives is dropped. First come, first served.
    ///
    /// # Blocking
    /// `.await` in a task, `.wait()` in a fiber or thread.
    ///
    /// # Cancellation
    /// Dropped unfinished, it leaves the queue; a permit that was meant for it goes to the next.
    #[track_caller]
    pub fn acquire(&self) -> AcquirePermit<'_> {
        AcquirePermit {
            acquire: self.permits.acquire(),
            permits: &self.permits,
        }
    }

    /// Returns a permit, if one is free and no other caller waits for one.
    #[must_use]
    pub fn try_acquire(&self) -> Option<ConcurrencyPermit> {
        let permit = self.permits.try_acquire().ok()?;
        permit.forget();
        Some(ConcurrencyPermit(self.permits.clone()))
    }

    /// Returns the number of permits, free or not.
    #[must_use]
    pub fn limit(&self) -> usize {
        self.limit
    }

    /// Returns the number of permits that are free at this moment.
    #[must_use]
    pub fn free(&self) -> usize {
        self.permits.available_permits()
    }
}

gossamer_core::impl_debug!([] ConcurrencyLimit[], this => limit: this.limit, free: this.free());

pin_project! {
    /// [`ConcurrencyLimit::acquire`].
    #[derive(Debug)]
    #[must_use = "operations do nothing until they are awaited or waited for"]
    pub struct AcquirePermit<'a> {
        #[pin]
        acquire: Acquire<'a, Shared>,
        permits: &'a Arc<Semaphore>,
    }
}

impl Future for AcquirePermit<'_> {
    type Output = ConcurrencyPermit;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<ConcurrencyPermit> {
        let this = self.project();
        let permit = ready!(this.acquire.poll(cx)).expect("nobody closes it");
        // It outlives the borrow, as the permit that gives it back.
        permit.forget();
        Poll::Ready(ConcurrencyPermit(this.permits.clone()))
    }
}

impl Leave for AcquirePermit<'_> {
    fn leave(self: Pin<&mut Self>) {
        self.project().acquire.leave();
    }
}

/// One of the permits of a [`ConcurrencyLimit`]; dropping it gives it back.
#[must_use = "dropping a permit gives it back"]
pub struct ConcurrencyPermit(Arc<Semaphore>);

impl Drop for ConcurrencyPermit {
    fn drop(&mut self) {
        if !gossamer_core::mutant!("limit_keeps_permits") {
            self.0.add_permits(1);
        }
    }
}

gossamer_core::impl_debug!([] ConcurrencyPermit[]);

/// Spawns tasks, for a [`LimitedHandle`].
pub trait SpawnFuture {
    /// Spawns a task.
    fn spawn_future<F>(
        &self,
        future: F,
        caller: &'static Location<'static>,
    ) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static;
}

/// Spawns tasks, and lets at most a given number of them run at once. Clones share the limit.
///
/// A task gives its permit back when its future is gone: it has ended, panicked, or was aborted. So it has its permit
/// no more when its joiner is woken.
///
/// # Examples
/// ```
/// #[gossamer::main(runtime = rt)]
/// async fn main() {
///     let two_at_once = rt.limited(2);
///     for page in 0..10 {
///         // Waits until fewer than two run.
///         two_at_once.spawn(async move { gossamer::yield_now().await; page }).await;
///     }
/// }
/// ```
#[derive(Debug, Clone)]
pub struct LimitedHandle<S> {
    on: S,
    limit: ConcurrencyLimit,
}

impl<S: SpawnFuture> LimitedHandle<S> {
    /// At most `limit` tasks at once, spawned by `on`.
    ///
    /// # Panics
    /// `limit` is zero.
    #[track_caller]
    pub fn new(on: S, limit: usize) -> Self {
        Self {
            on,
            limit: ConcurrencyLimit::new(limit),
        }
    }

    /// Spawns a task once there is a permit for it; gives its handle. First come, first served.
    ///
    /// # Blocking
    /// `.await` in a task, `.wait()` in a fiber or thread. A task that has the last permit and waits here for another
    /// one waits for good.
    ///
    /// # Cancellation
    /// Dropped unfinished, the future is dropped, and was never spawned.
    ///
    /// # Panics
    /// When polled: the runtime has no thread for the task; or in a forked child.
    #[track_caller]
    pub fn spawn<F>(&self, future: F) -> LimitedSpawn<'_, S, F>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        LimitedSpawn {
            permit: self.limit.acquire(),
            on: &self.on,
            future: Some(future),
            caller: Location::caller(),
        }
    }

    /// Spawns a task, if a permit is free and no other caller waits for one.
    ///
    /// # Errors
    /// The future comes back.
    #[track_caller]
    pub fn try_spawn<F>(&self, future: F) -> Result<JoinHandle<F::Output>, F>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        match self.limit.try_acquire() {
            Some(permit) => {
                let holding = holding(future, permit);
                Ok(self.on.spawn_future(holding, Location::caller()))
            }
            None => Err(future),
        }
    }

    /// The permits themselves: for fibers, threads, or whatever else is to count.
    #[must_use]
    pub fn limit(&self) -> &ConcurrencyLimit {
        &self.limit
    }
}

/// The permit is given back when the future is gone: also if it is dropped before it was polled, in this order.
async fn holding<F: Future>(future: F, permit: ConcurrencyPermit) -> F::Output {
    let _permit = permit;
    future.await
}

pin_project! {
    /// [`LimitedHandle::spawn`].
    #[derive(Debug)]
    #[must_use = "operations do nothing until they are awaited or waited for"]
    pub struct LimitedSpawn<'a, S, F> {
        #[pin]
        permit: AcquirePermit<'a>,
        on: &'a S,
        future: Option<F>,
        caller: &'static Location<'static>,
    }
}

impl<S, F> Future for LimitedSpawn<'_, S, F>
where
    S: SpawnFuture,
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    type Output = JoinHandle<F::Output>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let permit = ready!(this.permit.poll(cx));
        let future = (this.future.take()).expect("there is one until it is complete");
        Poll::Ready(this.on.spawn_future(holding(future, permit), this.caller))
    }
}
