//! Bounded spawning: at most so many at once, and who wants more waits.

use std::fmt;
use std::panic::Location;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use gossamer_core::policy::Shared;
use gossamer_sync::raw::{Acquire, PERMITS_MAX};
use gossamer_sync::sync::Semaphore;
use gossamer_task::JoinHandle;
use pin_project_lite::pin_project;

/// At most so many places, which are waited for in order: a [`Semaphore`] whose permits anybody may keep.
///
/// # Examples
/// ```
/// use gossamer_core::wait::Wait;
/// use gossamer_structure::Bounded;
///
/// let bounded = Bounded::new(1);
/// let place = bounded.place().wait();
/// assert!(bounded.try_place().is_none());
/// drop(place);
/// assert!(bounded.try_place().is_some());
/// ```
#[derive(Clone)]
pub struct Bounded {
    places: Arc<Semaphore>,
    limit: usize,
}

impl Bounded {
    /// So many places; a limit above 536,870,911 is that.
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
        let limit = limit.min(PERMITS_MAX);
        Self {
            places: Arc::new(Semaphore::new(limit)),
            limit,
        }
    }

    /// Waits for a place, which is given back when what this gives is dropped. First come, first served.
    ///
    /// # Blocking
    /// `.await` in a task, `.wait()` in a fiber or thread.
    ///
    /// # Cancellation
    /// Dropped unfinished, it leaves the line; a place that was meant for it goes to the next.
    #[track_caller]
    pub fn place(&self) -> WaitForPlace<'_> {
        WaitForPlace {
            acquire: self.places.acquire(),
            places: &self.places,
        }
    }

    /// A place, if there is one and nobody waits for it.
    #[must_use]
    pub fn try_place(&self) -> Option<Place> {
        let permit = self.places.try_acquire()?;
        permit.forget();
        Some(Place(self.places.clone()))
    }

    /// How many at most.
    #[must_use]
    pub fn limit(&self) -> usize {
        self.limit
    }

    /// How many places are free at this moment.
    #[must_use]
    pub fn free(&self) -> usize {
        self.places.available()
    }
}

impl fmt::Debug for Bounded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bounded")
            .field("limit", &self.limit)
            .field("free", &self.free())
            .finish()
    }
}

pin_project! {
    /// [`Bounded::place`].
    #[derive(Debug)]
    #[must_use = "operations do nothing until they are awaited or waited for"]
    pub struct WaitForPlace<'a> {
        #[pin]
        acquire: Acquire<'a, Shared>,
        places: &'a Arc<Semaphore>,
    }
}

impl Future for WaitForPlace<'_> {
    type Output = Place;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Place> {
        let this = self.project();
        // It outlives the borrow, as the place that gives it back.
        ready!(this.acquire.poll(cx)).forget();
        Poll::Ready(Place(this.places.clone()))
    }
}

/// One of the places of a [`Bounded`]; dropping it gives it back.
#[must_use = "dropping a place gives it back"]
pub struct Place(Arc<Semaphore>);

impl Drop for Place {
    fn drop(&mut self) {
        if !gossamer_core::mutant!("bounded_keeps_places") {
            self.0.add_permits(1);
        }
    }
}

impl fmt::Debug for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Place")
    }
}

/// What spawns tasks.
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

/// Spawns at most so many tasks at once. Clones share the limit.
///
/// A task gives its place back when its future is gone: it has ended, panicked, or was aborted. So it has its place no
/// more when whoever joins it is told.
#[derive(Debug, Clone)]
pub struct BoundedSpawner<S> {
    on: S,
    places: Bounded,
}

impl<S: SpawnFuture> BoundedSpawner<S> {
    /// At most `limit` tasks at once, spawned by `on`.
    ///
    /// # Panics
    /// `limit` is zero.
    #[track_caller]
    pub fn new(on: S, limit: usize) -> Self {
        Self {
            on,
            places: Bounded::new(limit),
        }
    }

    /// Spawns a task once there is a place for it; gives its handle. First come, first served.
    ///
    /// # Blocking
    /// `.await` in a task, `.wait()` in a fiber or thread. A task that has the last place and waits here for another
    /// one waits for good.
    ///
    /// # Cancellation
    /// Dropped unfinished, the future is dropped, and was never spawned.
    ///
    /// # Panics
    /// When polled: the runtime has no thread for the task; or in a forked child.
    #[track_caller]
    pub fn spawn<F>(&self, future: F) -> BoundedSpawn<'_, S, F>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        BoundedSpawn {
            place: self.places.place(),
            on: &self.on,
            future: Some(future),
            caller: Location::caller(),
        }
    }

    /// Spawns a task, if there is a place for it and nobody waits for that.
    ///
    /// # Errors
    /// The future comes back.
    #[track_caller]
    pub fn try_spawn<F>(&self, future: F) -> Result<JoinHandle<F::Output>, F>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        match self.places.try_place() {
            Some(place) => {
                let holding = holding(future, place);
                Ok(self.on.spawn_future(holding, Location::caller()))
            }
            None => Err(future),
        }
    }

    /// The places themselves: for fibers, threads, or whatever else is to count.
    #[must_use]
    pub fn places(&self) -> &Bounded {
        &self.places
    }
}

/// The place is given back when the future is gone: also if it is dropped before it was polled, in this order.
async fn holding<F: Future>(future: F, place: Place) -> F::Output {
    let _place = place;
    future.await
}

pin_project! {
    /// [`BoundedSpawner::spawn`].
    #[derive(Debug)]
    #[must_use = "operations do nothing until they are awaited or waited for"]
    pub struct BoundedSpawn<'a, S, F> {
        #[pin]
        place: WaitForPlace<'a>,
        on: &'a S,
        future: Option<F>,
        caller: &'static Location<'static>,
    }
}

impl<S, F> Future for BoundedSpawn<'_, S, F>
where
    S: SpawnFuture,
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    type Output = JoinHandle<F::Output>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let place = ready!(this.place.poll(cx));
        let future = (this.future.take()).expect("there is one until it is complete");
        Poll::Ready(this.on.spawn_future(holding(future, place), this.caller))
    }
}
