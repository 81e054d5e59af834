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
//! | [`IVar`] | a value, once it is assigned | telling all a value |
//!
//! All wait in the order in which they came, but for a [`Mutex`], where a newcomer may be quicker. A value that goes from
//! one to another, once or many times, is better sent over a [channel](crate::channel).
//!
//! No lock is poisoned: a panic while it is held releases it.
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

pub use gossamer_sync::sync::*;
