//! Builds the stackless task cells; knows no scheduler.
//!
//! An internal part of `gossamer-rt`: nothing is promised of this crate alone.
//!
//! One allocation holds a task: header, then the future, and in the future's place later its
//! output. [`spawn()`] makes one and gives it to a shard; what runs it there is not known here. [`locals`] keeps the
//! names and values that few tasks have.

mod abort;
mod cell;
mod handle;
mod id;
pub mod locals;
mod promise;
mod spawn;

pub use self::abort::AbortHandle;
pub use self::handle::{JoinError, JoinHandle};
pub use self::id::{Id, call_as, id, try_id};
pub use self::promise::{Promise, promise};
pub use self::spawn::{spawn, spawn_local, spawn_nowhere, spawn_root};
