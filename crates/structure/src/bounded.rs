//! Bounded spawning: at most so many at once, and who wants more waits.

use std::fmt;
use std::num::NonZeroUsize;
use std::panic::Location;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use gossamer_task::JoinHandle;

use crate::line::{Gate, Line, Pass};

/// At most so many places, which are waited for in order.
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
    line: Arc<Line<Places>>,
    limit: NonZeroUsize,
}

#[derive(Debug)]
struct Places {
    free: usize,
}

impl Gate for Places {
    const NAME: &'static str = "Bounded::place";

    fn try_go(&mut self) -> bool {
        let goes = self.is_open();
        self.free -= usize::from(goes);
        goes
    }

    fn is_open(&self) -> bool {
        self.free > 0
    }

    fn give(&mut self) {
        self.free += 1;
    }
}

impl Bounded {
    /// So many places.
    ///
    /// # Panics
    /// `limit` is zero: nothing could ever begin.
    #[must_use]
    #[track_caller]
    pub fn new(limit: usize) -> Self {
        let Some(limit) = NonZeroUsize::new(limit) else {
            panic!("a limit of 0 tasks at once: nothing could ever begin; it must be at least 1");
        };
        let places = Places { free: limit.get() };
        Self {
            line: Arc::new(Line::new(places)),
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
            pass: self.line.pass(Location::caller()),
            line: &self.line,
        }
    }

    /// A place, if there is one and nobody waits for it.
    #[must_use]
    pub fn try_place(&self) -> Option<Place> {
        self.line.try_pass().then(|| Place {
            line: self.line.clone(),
        })
    }

    /// How many at most.
    #[must_use]
    pub fn limit(&self) -> usize {
        self.limit.get()
    }

    /// How many places are free at this moment.
    #[must_use]
    pub fn free(&self) -> usize {
        self.line.look(|places| places.free)
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

/// [`Bounded::place`].
#[derive(Debug)]
#[must_use = "operations do nothing until they are awaited or waited for"]
pub struct WaitForPlace<'a> {
    pass: Pass<'a, Places>,
    line: &'a Arc<Line<Places>>,
}

impl Future for WaitForPlace<'_> {
    type Output = Place;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Place> {
        let line = self.line;
        // SAFETY: the field is pinned as its owner is.
        let pass = unsafe { self.map_unchecked_mut(|this| &mut this.pass) };
        pass.poll(cx).map(|()| Place { line: line.clone() })
    }
}

/// One of the places of a [`Bounded`]; dropping it gives it back.
#[must_use = "dropping a place gives it back"]
pub struct Place {
    line: Arc<Line<Places>>,
}

impl Drop for Place {
    fn drop(&mut self) {
        self.line.give();
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
                let holding = holding(place, future);
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

/// The place is given back when the future is gone.
fn holding<F: Future>(place: Place, future: F) -> impl Future<Output = F::Output> {
    async move {
        let _place = place;
        future.await
    }
}

/// [`BoundedSpawner::spawn`].
#[derive(Debug)]
#[must_use = "operations do nothing until they are awaited or waited for"]
pub struct BoundedSpawn<'a, S, F> {
    place: WaitForPlace<'a>,
    on: &'a S,
    future: Option<F>,
    caller: &'static Location<'static>,
}

impl<S, F> Future for BoundedSpawn<'_, S, F>
where
    S: SpawnFuture,
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    type Output = JoinHandle<F::Output>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        // SAFETY: the wait is pinned as its owner is; the rest is not, and is moved.
        let (place, this) = unsafe {
            let this = self.get_unchecked_mut();
            (
                Pin::new_unchecked(&mut this.place),
                (&this.on, &mut this.future, this.caller),
            )
        };
        let place = ready!(place.poll(cx));
        let (on, future, caller) = this;
        let future = future.take().expect("there is one until it is complete");
        Poll::Ready(on.spawn_future(holding(place, future), caller))
    }
}
