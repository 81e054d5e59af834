//! A [`JoinSet`], and its operations.

use std::ops::{Deref, DerefMut};
use std::panic::Location;

pub use gossamer_structure::{JoinAll, JoinNext, JoinNextWithId, Shutdown};
use gossamer_task::{AbortHandle, JoinHandle};

use crate::handle::Handle;
use crate::spawning;

/// Tasks (fibers, threads, blocking calls: whatever has a [`JoinHandle`]) that are joined in the order in which they
/// end.
///
/// Dropping the set aborts what is left in it.
///
/// # Examples
/// ```
/// use gossamer::JoinSet;
///
/// #[gossamer::main]
/// async fn main() {
///     let mut set = JoinSet::new();
///     for number in 0..3 {
///         set.spawn(async move { number });
///     }
///     let mut sum = 0;
///     while let Some(number) = set.join_next().await {
///         sum += number.expect("no panic");
///     }
///     assert_eq!(sum, 3);
/// }
/// ```
pub struct JoinSet<T>(gossamer_structure::JoinSet<T>);

impl<T> JoinSet<T> {
    /// An empty set.
    #[must_use]
    pub fn new() -> Self {
        Self(gossamer_structure::JoinSet::new())
    }

    /// As [`gossamer::spawn`](crate::spawn), into the set.
    ///
    /// # Panics
    /// As there.
    #[track_caller]
    pub fn spawn<F>(&mut self, future: F) -> AbortHandle
    where
        F: Future<Output = T> + Send + 'static,
        T: Send + 'static,
    {
        let runtime = spawning::current("JoinSet::spawn()");
        self.push(runtime.spawn(future, Location::caller()))
    }

    /// As [`Handle::spawn`], into the set.
    ///
    /// # Panics
    /// As there.
    #[track_caller]
    pub fn spawn_on<F>(&mut self, future: F, runtime: &Handle) -> AbortHandle
    where
        F: Future<Output = T> + Send + 'static,
        T: Send + 'static,
    {
        self.push(runtime.spawn(future))
    }

    /// As [`gossamer::spawn_local`](crate::spawn_local), into the set.
    ///
    /// # Panics
    /// As there.
    #[track_caller]
    pub fn spawn_local<F>(&mut self, future: F) -> AbortHandle
    where
        F: Future<Output = T> + 'static,
        T: 'static,
    {
        self.push(spawning::spawn_local(future))
    }

    /// As [`gossamer::spawn_blocking`](crate::spawn_blocking), into the set.
    ///
    /// # Panics
    /// As there.
    #[track_caller]
    pub fn spawn_blocking<F>(&mut self, call: F) -> AbortHandle
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        let runtime = spawning::current("JoinSet::spawn_blocking()");
        self.push(runtime.spawn_blocking(call, Location::caller()))
    }

    /// Waits for all, and gives their outputs, in the order in which they end.
    ///
    /// # Blocking
    /// `.await` in a task, `.wait()` in a fiber or thread.
    ///
    /// # Cancellation
    /// Dropped unfinished, it drops the outputs that it has, and aborts the other tasks.
    ///
    /// # Panics
    /// When polled: as the first task did that panicked, or if one was cancelled. Who wants to go on then joins them one
    /// by one.
    ///
    /// # Examples
    /// ```
    /// use gossamer::JoinSet;
    ///
    /// #[gossamer::main]
    /// async fn main() {
    ///     let mut set = JoinSet::new();
    ///     for number in 0..10 {
    ///         set.spawn(async move { number * number });
    ///     }
    ///     assert_eq!(set.join_all().await.into_iter().max(), Some(81));
    /// }
    /// ```
    pub fn join_all(self) -> JoinAll<T> {
        self.0.join_all()
    }
}

/// Joining, aborting, and what else needs no runtime.
impl<T> Deref for JoinSet<T> {
    type Target = gossamer_structure::JoinSet<T>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl<T> DerefMut for JoinSet<T> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.0
    }
}

impl<T> Default for JoinSet<T> {
    fn default() -> Self {
        Self::new()
    }
}

gossamer_core::impl_debug!([T] JoinSet[T], this => len: this.len());

impl<T> Extend<JoinHandle<T>> for JoinSet<T> {
    fn extend<I: IntoIterator<Item = JoinHandle<T>>>(&mut self, handles: I) {
        self.0.extend(handles);
    }
}

impl<T> FromIterator<JoinHandle<T>> for JoinSet<T> {
    fn from_iter<I: IntoIterator<Item = JoinHandle<T>>>(handles: I) -> Self {
        Self(handles.into_iter().collect())
    }
}
