//! A model of `Threads` at a shard that was another runtime's just before.
//!
//! Run by `cargo xtask loom`; what loom cannot see is told in `crates/core/tests/loom.rs`.
#![cfg(loom)]

use std::future::pending;
use std::panic::Location;
use std::sync::Arc;

use gossamer_core::header::Queued;
use gossamer_core::header::ref_count::Queue;
use gossamer_core::platform::model::{explore_within, no_cell_is_left};
use gossamer_core::platform::thread;
use gossamer_core::shard::Shard;
use gossamer_core::wait::Wait;
use gossamer_sched::Threads;
use gossamer_sync::sync::MVar;

/// A thread wakes a task and is held up before it pushes it; the task ends, and its shard is another runtime's, where a
/// spawn meets the end. What is pushed then is not taken for the task that the spawn is about to send.
#[test]
fn late_wake_against_a_spawn_against_the_end() {
    explore_within(2, "late_wake_against_a_spawn_against_the_end", || {
        let threads = Threads::default();
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
        let shard = Shard::at(header.state().shard());
        // SAFETY: `late` is pushed below.
        assert_eq!(unsafe { header.queue() }, Queue::Push);
        drop(threads);
        thread::join_built();
        let threads = Arc::new(Threads::default());
        let other = threads.clone();
        // SAFETY: the reference was taken just now.
        let late = unsafe { Queued::new(task) };
        let ends = thread::spawn(move || {
            let parked = shard.push(late).ok().flatten();
            parked.into_iter().for_each(|runner| runner.wake());
            other.shutdown(None);
            Shard::open().expect("few shards are in use")
        });
        let ended = threads.spawn(async {}, Location::caller()).wait();
        assert!(ended.is_ok() || ended.is_err_and(|error| error.is_cancelled()));
        // The shard may be another's by now, who does not get the task.
        let next = ends.join().expect("the other thread does not panic");
        let guard = next.acquire(false).expect("nobody runs it");
        guard.seal();
        guard.close();
        drop(threads);
        thread::join_built();
        drop(before);
        no_cell_is_left();
        let again = [0, 1].map(|_| Shard::open().expect("few shards are in use").index());
        assert_ne!(again[0], again[1], "a shard was given back twice");
    });
}
