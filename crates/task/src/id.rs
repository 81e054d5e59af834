//! Telling tasks apart.

use std::cell::Cell;
use std::fmt;
use std::num::NonZeroUsize;
use std::ptr::NonNull;

use gossamer_core::context;
use gossamer_core::header::Header;
use gossamer_core::platform::thread_local;
use gossamer_core::recording;

/// Which task: no other task has the same as long as one of the two runs, or has a [`JoinHandle`](crate::JoinHandle) or
/// an [`AbortHandle`](crate::AbortHandle). One that is spawned after that may have it again.
///
/// It is made of where the task is in memory, so it costs nothing; the order of two, and the number that is shown, say
/// nothing more.
///
/// # Examples
/// ```
/// use std::collections::HashMap;
/// use gossamer::{JoinSet, task};
///
/// #[gossamer::main]
/// async fn main() {
///     let mut set = JoinSet::new();
///     let asked: HashMap<task::Id, u32> = (0..3).map(|n| (set.spawn(async move { n * n }).id(), n)).collect();
///     while let Some(joined) = set.join_next_with_id().await {
///         match joined {
///             Ok((id, square)) => assert_eq!(square, asked[&id] * asked[&id]),
///             Err(error) => println!("{}: {error}", asked[&error.id()]),
///         }
///     }
/// }
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Id(NonZeroUsize);

impl Id {
    /// Of the task.
    #[doc(hidden)]
    pub fn of(task: NonNull<Header>) -> Self {
        Self::at(task.addr())
    }

    /// Of what has a handle, and stays where it is in memory.
    #[doc(hidden)]
    pub fn at(address: NonZeroUsize) -> Self {
        Self(address)
    }

    /// Where the task is in memory.
    #[doc(hidden)]
    pub fn address(self) -> usize {
        self.0.get()
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:x}", self.0)
    }
}

impl fmt::Debug for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Id({self})")
    }
}

thread_local! {
    /// Whose call runs on this thread, if it is none of a task.
    static CALL: Cell<Option<Id>> = const { Cell::new(None) };
}

/// Runs `call`, which is no task, but has the join handle with this id. It catches its own panics.
#[doc(hidden)]
pub fn call_as(id: Id, call: impl FnOnce()) {
    CALL.with(|current| current.set(Some(id)));
    recording::here();
    call();
    CALL.with(|current| current.set(None));
}

/// Which task, fiber or `block_on` this is; or which blocking call, or thread with a join handle.
///
/// # Panics
/// In none: see [`try_id`].
///
/// # Examples
/// ```
/// use gossamer::task;
///
/// #[gossamer::main]
/// async fn main() {
///     let handle = gossamer::spawn(async { task::id() });
///     let id = handle.id();
///     assert_eq!(handle.await.unwrap(), id);
///     assert_ne!(id, task::id());
/// }
/// ```
#[must_use]
#[track_caller]
pub fn id() -> Id {
    match try_id() {
        Some(id) => id,
        None => {
            panic!(
                "task::id() was called where nothing has a join handle: a thread has thread::current().id()"
            )
        }
    }
}

/// As [`id`]; `None` in a thread that none of ours has started, or the runtime for itself.
#[must_use]
pub fn try_id() -> Option<Id> {
    let task = context::with(context::Context::polling).map(Id::of);
    task.or_else(|| CALL.with(Cell::get))
}
