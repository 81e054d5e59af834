//! A model of `Threads` at a home that was another runtime's just before.
//!
//! Run by `cargo xtask loom`; what loom cannot see is told in `crates/core/tests/loom.rs`.
#![cfg(loom)]

use std::future::pending;
use std::panic::Location;
use std::ptr::NonNull;
use std::sync::Arc;

use gossamer_core::door::model::{explore_within, no_cell_is_left};
use gossamer_core::door::thread;
use gossamer_core::header::life::{QUEUED, Queue};
use gossamer_core::header::{Header, release};
use gossamer_core::home::Home;
use gossamer_core::wait::Wait;
use gossamer_sched::Threads;
use gossamer_sync::sync::MVar;

/// A task that is over, with the hold of a wake.
struct Late(NonNull<Header>);

// SAFETY: the hold is any thread's.
unsafe impl Send for Late {}

impl Late {
    /// The second half of the wake.
    fn push(self, home: &Home) {
        match home.push(self.0) {
            Ok(parked) => parked.into_iter().for_each(|driver| driver.wake()),
            // SAFETY: the hold stayed here.
            Err(_) => unsafe { release(self.0, QUEUED) },
        }
    }
}

/// A thread wakes a task and is held up before it pushes it; the task ends, and its home is another runtime's, where a
/// spawn meets the end. What is pushed then is not taken for the task that the spawn is about to send.
#[test]
fn late_wake_against_a_spawn_against_the_end() {
    explore_within(2, "late_wake_against_a_spawn_against_the_end", || {
        let threads = Threads::new();
        let begun = Arc::new(MVar::empty());
        let its = begun.clone();
        let waits = async move {
            its.put(()).await;
            pending::<()>().await;
        };
        let before = threads.spawn(waits, Location::caller());
        begun.take().wait();
        let task = before.task();
        // SAFETY: the handle holds it.
        let header = unsafe { task.as_ref() };
        let home = Home::at(header.place().home());
        assert_eq!(header.life.queue(), Queue::Push);
        drop(threads);
        thread::join_built();
        let threads = Arc::new(Threads::new());
        let other = threads.clone();
        let late = Late(task);
        let ends = thread::spawn(move || {
            late.push(home);
            other.shutdown(None)
        });
        let ended = threads.spawn(async {}, Location::caller()).wait();
        assert!(ended.is_ok() || ended.is_err_and(|error| error.is_cancelled()));
        ends.join().expect("the other thread does not panic");
        drop(threads);
        thread::join_built();
        drop(before);
        no_cell_is_left();
        let again = [0, 1].map(|_| Home::open().expect("few homes are in use").index());
        assert_ne!(again[0], again[1], "a home was given back twice");
    });
}
