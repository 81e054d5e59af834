//! The end of a thread: it ends the fibers that stand still on it, and none runs there any more.
//!
//! A fiber that stands still may hold a reference to a thread-local, and may have loaned it to other threads
//! (`std::thread::scope`). So its stack must be unwound before the thread-local goes, whoever has the fiber: its
//! runtime may have been forgotten, moved to another thread, or be a thread-local itself. Threads that the runtime has
//! started say when their work is done; of the others glibc tells us (`ending/glibc.rs`).
//!
//! From then on other threads may run the shards of those fibers' tasks, and cancel them (`core`'s
//! `shard/thread_bound.rs`).

#[cfg(all(target_os = "linux", target_env = "gnu", not(gossamer_portable)))]
mod glibc;

use std::cell::Cell;
use std::sync::OnceLock;

use gossamer_core::context;
use gossamer_core::platform::{call_at_end_of_threads, is_started_here, thread_local};
use gossamer_core::shard::thread_ends;

use crate::standing;

thread_local! {
    static ENDING: Cell<bool> = const { Cell::new(false) };
}

static BEFORE: OnceLock<fn()> = OnceLock::new();

/// Has `call` be called by each thread on which fibers have stood still, when it ends, before it ends those that still
/// do. The first call counts.
pub fn before_fibers_end(call: fn()) {
    BEFORE.get_or_init(|| call);
}

/// Whether thread-locals of this thread may be gone.
pub(crate) fn is_ending() -> bool {
    ENDING.with(Cell::get)
}

/// A fiber begins.
pub(crate) fn begin() {
    call_at_end_of_threads(end);
}

/// A fiber of this thread stands still: has the thread end it, at the latest before any thread-local goes that is there
/// now.
#[inline]
pub(crate) fn watch() {
    if !is_started_here() {
        call_first(end);
    }
}

#[cfg(all(target_os = "linux", target_env = "gnu", not(gossamer_portable)))]
use glibc::call_first;

/// Nothing is known here of the end of a thread: the contract of fibers has a clause for that.
#[cfg(not(all(target_os = "linux", target_env = "gnu", not(gossamer_portable))))]
fn call_first(_call: fn()) {}

/// This thread ends, and its thread-locals are there.
fn end() {
    if is_ending() {
        return;
    }
    if let Some(call) = BEFORE.get() {
        call();
    }
    // If it is the process that ends, by `exit()` in the midst of a poll, what stands still stays.
    let stays = context::with(context::Context::is_polling);
    if !stays {
        standing::end_all();
    }
    ENDING.with(|ending| ending.set(true));
    if !stays {
        thread_ends();
    }
}
