//! Locks, cells, and what else tasks, fibers and threads wait for together.
//!
//! | | holds | for |
//! | --- | --- | --- |
//! | [`MVar`] | a value, or nothing | handing a value over, a mailbox of one, a lock around a value that may be away |
//! | [`Mutex`] | a value | one at a time; who comes may pass those that wait, which is quickest |
//! | [`FairMutex`] | a value | one at a time, first come, first served |
//! | [`RwLock`] | a value | many that read, or one that writes |
//! | [`Condvar`] | nothing | waiting until what a [`Mutex`] guards is as one wants it |
//! | [`Semaphore`] | permits | so many at a time |
//! | [`Barrier`] | nothing | going on when all have come, again and again |
//! | [`Event`] | whether it is set | telling all that something has happened |
//! | [`OnceCell`] | a value, once it is made | making a value at its first use |
//! | [`Lazy`] | a value, and the closure that makes it | the same, where one closure does |
//! | [`IVar`] | a value, once it is assigned | telling all a value |
//!
//! All wait in the order in which they came, but for a [`Mutex`], where a newcomer may be quicker. A value that goes from
//! one to another, once or many times, is better sent over a [channel](crate::channel).
//!
//! No lock is poisoned: a panic while it is held releases it.
//!
//! # Coming from tokio
//!
//! The names are the same, but that each operation is a value with two ways to finish it: `lock().await` in a task, and
//! for `blocking_lock()` stands `lock().wait()`, in a thread or a fiber. What else is different, on purpose:
//!
//! * A [`Mutex`] may be passed by who comes while the first in line is on its way; [`FairMutex`] is tokio's `Mutex`.
//! * `new` is `const` for all of them, so there is no `const_new`.
//! * A permit that was granted before a [`Semaphore`] was closed is had, also by who finds out later. A semaphore counts
//!   as far as 536,870,911.
//! * An [`RwLock`] has no `with_max_readers`: a [`Semaphore`] beside it limits them.
//! * tokio's `Barrier::wait` is [`arrive`](crate::raw::Barrier::arrive); one for none is refused. [`Event`] and [`Condvar`] stand for
//!   `Notify`.
//!
//! These are for any thread; [`local`](crate::local) has the same ones for one thread, without atomics, and
//! [`raw`](crate::raw) the types behind both.
//!
//! # Examples
//! ```
//! use std::sync::Arc;
//! use gossamer::{Runtime, Wait, sync::Mutex};
//!
//! let rt = Runtime::builder().build()?;
//! let total = Arc::new(Mutex::new(0));
//! let adds = total.clone();
//! let task = rt.spawn(async move { *adds.lock().await += 1 });
//! *total.lock().wait() += 1; // in a thread
//! task.wait()?;
//! assert_eq!(*total.lock().wait(), 2);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub use gossamer_sync::sync::{
    AcquireError, AlreadyAssigned, BarrierResult, FairMutexGuard, MutexGuard, NotArrived,
    OwnedFairMutexGuard, OwnedMutexGuard, OwnedRwLockReadGuard, OwnedRwLockWriteGuard,
    OwnedSemaphorePermit, RwLockReadGuard, RwLockWriteGuard, SemaphorePermit, TryAcquireError,
    TryLockError,
};

/// A cell that holds a value or nothing: `take` waits for one, `put` for room. The methods are those of [`raw::MVar`](crate::raw::MVar).
///
/// # Examples
/// ```
/// use gossamer::{Wait, spawn_thread, sync::MVar};
/// use std::sync::Arc;
///
/// let mailbox = Arc::new(MVar::empty());
/// let putter = mailbox.clone();
/// let thread = spawn_thread(move || {
///     putter.put(1).wait();
///     putter.put(2).wait(); // waits until 1 has been taken
/// });
/// assert_eq!(mailbox.take().wait() + mailbox.take().wait(), 3);
/// thread.wait().unwrap();
/// ```
#[doc(inline)]
pub use gossamer_sync::sync::MVar;

/// A lock for one at a time. Who comes may pass those that wait, which is quickest. The methods are those of [`raw::Mutex`](crate::raw::Mutex).
///
/// # Examples
/// ```
/// use gossamer::{Wait, sync::Mutex};
///
/// static TOTAL: Mutex<u32> = Mutex::new(0);
///
/// *TOTAL.lock().wait() += 1; // `.lock().await` in a task
/// assert_eq!(*TOTAL.lock().wait(), 1);
/// ```
#[doc(inline)]
pub use gossamer_sync::sync::Mutex;

/// A lock for one at a time: first come, first served. The methods are those of [`raw::Mutex`](crate::raw::Mutex).
///
/// # Examples
/// ```
/// use gossamer::{Wait, sync::FairMutex};
///
/// let queue = FairMutex::new(vec![1]);
/// queue.lock().wait().push(2);
/// assert_eq!(queue.into_inner(), [1, 2]);
/// ```
#[doc(inline)]
pub use gossamer_sync::sync::FairMutex;

/// A lock for many that read, or one that writes. The methods are those of [`raw::RwLock`](crate::raw::RwLock).
///
/// # Examples
/// ```
/// use gossamer::{Wait, sync::RwLock};
///
/// let names = RwLock::new(vec!["a"]);
/// names.write().wait().push("b");
/// let (one, other) = (names.read().wait(), names.read().wait()); // both at once
/// assert_eq!((one.len(), other.len()), (2, 2));
/// ```
#[doc(inline)]
pub use gossamer_sync::sync::RwLock;

/// Waiting until what a mutex guards is as one wants it. The methods are those of [`raw::Condvar`](crate::raw::Condvar).
///
/// # Examples
/// ```
/// use gossamer::{Wait, spawn_thread, sync::{Condvar, Mutex}};
/// use std::sync::Arc;
///
/// let ready = Arc::new((Mutex::new(false), Condvar::new()));
/// let told = ready.clone();
/// let thread = spawn_thread(move || {
///     let mut guard = told.0.lock().wait();
///     while !*guard {
///         guard = told.1.notified(guard).wait();
///     }
/// });
/// *ready.0.lock().wait() = true;
/// ready.1.notify_one();
/// thread.wait().unwrap();
/// ```
#[doc(inline)]
pub use gossamer_sync::sync::Condvar;

/// Permits: so many at a time. The methods are those of [`raw::Semaphore`](crate::raw::Semaphore).
///
/// # Examples
/// ```
/// use gossamer::{Wait, sync::Semaphore};
///
/// let connections = Semaphore::new(2);
/// let permit = connections.acquire().wait().unwrap();
/// assert_eq!(connections.available_permits(), 1);
/// drop(permit);
/// assert_eq!(connections.available_permits(), 2);
/// ```
#[doc(inline)]
pub use gossamer_sync::sync::Semaphore;

/// A point that all go on from when all have come, again and again. The methods are those of [`raw::Barrier`](crate::raw::Barrier).
///
/// # Examples
/// ```
/// use gossamer::{Wait, spawn_thread, sync::Barrier};
/// use std::sync::Arc;
///
/// let start = Arc::new(Barrier::new(2));
/// let theirs = start.clone();
/// let thread = spawn_thread(move || theirs.arrive().wait());
/// start.arrive().wait(); // returns when both have come
/// thread.wait().unwrap();
/// ```
#[doc(inline)]
pub use gossamer_sync::sync::Barrier;

/// Something that happens, and all who wait for it are told. The methods are those of [`raw::Event`](crate::raw::Event).
///
/// # Examples
/// ```
/// use gossamer::{Wait, spawn_thread, sync::Event};
/// use std::sync::Arc;
///
/// let ready = Arc::new(Event::new());
/// let told = ready.clone();
/// let thread = spawn_thread(move || told.ready().wait());
/// ready.set(); // and whoever waits from now on goes on at once
/// thread.wait().unwrap();
/// ```
#[doc(inline)]
pub use gossamer_sync::sync::Event;

/// A value that is made at its first use. The methods are those of [`raw::OnceCell`](crate::raw::OnceCell).
///
/// # Examples
/// ```
/// use gossamer::{Wait, sync::OnceCell};
///
/// static CONFIG: OnceCell<String> = OnceCell::new();
///
/// let config = CONFIG.get_or_init(async || "read from a file".to_owned()).wait();
/// assert_eq!(config, "read from a file");
/// assert_eq!(CONFIG.get().map(String::as_str), Some("read from a file"));
/// ```
#[doc(inline)]
pub use gossamer_sync::sync::OnceCell;

/// A value that is made at its first use, with the closure that makes it. The methods are those of
/// [`raw::Lazy`](crate::raw::Lazy).
#[doc(inline)]
pub use gossamer_sync::sync::Lazy;

/// A value that is assigned once, and all who wait for it may read. The methods are those of [`raw::IVar`](crate::raw::IVar).
///
/// # Examples
/// ```
/// use gossamer::{Wait, spawn_thread, sync::IVar};
/// use std::sync::Arc;
///
/// let answer = Arc::new(IVar::new());
/// let reader = answer.clone();
/// let thread = spawn_thread(move || *reader.read().wait());
/// answer.put(42).unwrap();
/// assert_eq!(thread.wait().unwrap(), 42);
/// ```
#[doc(inline)]
pub use gossamer_sync::sync::IVar;
