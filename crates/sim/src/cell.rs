//! A value that tasks share, whose reads and writes are operations.

use std::fmt;

use gossamer_sync::sync::Mutex;

/// A value that tasks share, each read and write of which is an operation: a simulation may have another task go before it.
///
/// It stands for what a program shares otherwise without Gossamer's primitives, such as an atomic: what happens between two
/// operations of a task is never divided, and those that do not wait are no choices of a scheduler. It is a
/// [`Mutex`](https://docs.rs/gossamer-rt/latest/gossamer/sync/type.Mutex.html) that is locked for as long as one read, write
/// or update takes, and works without a simulation as well.
///
/// # Blocking
/// `.await` its operations in a task, `.wait()` for them in a fiber or a thread.
///
/// # Cancellation
/// An operation that is dropped before it is complete has done nothing.
///
/// # Examples
/// ```
/// use std::sync::Arc;
/// use gossamer::sim::{Cell, Sim};
///
/// // Two tasks read a number and write one more: an update may be lost.
/// let count = async || {
///     let count = Arc::new(Cell::new(0));
///     let theirs = count.clone();
///     let task = gossamer::spawn(async move {
///         let before = theirs.read().await;
///         theirs.write(before + 1).await;
///     });
///     let before = count.read().await;
///     count.write(before + 1).await;
///     task.await.expect("no panic");
///     count.read().await
/// };
/// let mut counted: Vec<u32> = Vec::new();
/// let mut schedules = Sim::new().only_operations().schedules();
/// while let Some(run) = schedules.run_next(count) {
///     counted.push(run.result.expect("it returns"));
/// }
/// assert!(counted.contains(&1) && counted.contains(&2));
/// ```
#[derive(Default)]
pub struct Cell<T>(Mutex<T>);

impl<T> Cell<T> {
    /// One with this value.
    pub const fn new(value: T) -> Self {
        Self(Mutex::new(value))
    }

    /// Gives a copy of the value.
    #[track_caller]
    pub fn read(&self) -> impl Future<Output = T>
    where
        T: Clone,
    {
        self.update(|value| value.clone())
    }

    /// Writes a value, and gives the former one.
    #[track_caller]
    pub fn write(&self, value: T) -> impl Future<Output = T> {
        self.update(|former| std::mem::replace(former, value))
    }

    /// Changes the value, in one operation: nobody else reads or writes meanwhile.
    #[track_caller]
    pub fn update<R>(&self, change: impl FnOnce(&mut T) -> R) -> impl Future<Output = R> {
        let lock = self.0.lock();
        async move { change(&mut *lock.await) }
    }

    /// The value itself.
    pub fn into_inner(self) -> T {
        self.0.into_inner()
    }
}

impl<T> From<T> for Cell<T> {
    fn from(value: T) -> Self {
        Self::new(value)
    }
}

impl<T: fmt::Debug> fmt::Debug for Cell<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Cell").field(&self.0).finish()
    }
}
