//! Models of the threads for calls that block, of which a model has two at most: the limit, panics, idle threads.
//!
//! Run by `cargo xtask loom`; what loom cannot see is told in `crates/core/tests/loom.rs`. Simpler ones are in
//! `loom_pool.rs`.
#![cfg(loom)]

use std::panic::{Location, resume_unwind};

use gossamer_core::platform::model::{explore, explore_within};
use gossamer_core::platform::thread;
use gossamer_core::wait::Wait;
use gossamer_sched::{BLOCKING_MAX, Blocking};
use gossamer_task::promise;

/// No call is left, and none comes: all threads end, and are counted out.
fn ends_clean(blocking: &Blocking) {
    blocking.end();
    thread::join_built();
    assert_eq!(blocking.threads(), 0, "a thread was lost");
}

/// More calls than threads, and the first panics: its thread goes on with those in line.
#[test]
fn a_panic_at_the_limit() {
    explore_within(1, "a_panic_at_the_limit", || {
        let blocking = Blocking::default();
        let ill = blocking.spawn(|| resume_unwind(Box::new(7)), Location::caller());
        let calls = [1, 2].map(|number| blocking.spawn(move || number, Location::caller()));
        assert!(blocking.threads() <= BLOCKING_MAX);
        let ended: Result<(), _> = ill.wait();
        assert!(ended.is_err_and(|error| error.is_panic()));
        let outputs = calls.map(|call| call.wait().expect("no panic"));
        assert_eq!(outputs, [1, 2]);
        ends_clean(&blocking);
    });
}

/// An idle thread, or one about to be, and two calls of which the first waits for the second: both are made.
#[test]
fn an_idle_thread_and_two_calls() {
    explore("an_idle_thread_and_two_calls", || {
        let blocking = Blocking::default();
        let before = blocking.spawn(|| (), Location::caller());
        before.wait().expect("no panic");
        let (gives, given) = promise(Location::caller());
        let waits = blocking.spawn(move || given.wait().ok(), Location::caller());
        let acts = blocking.spawn(move || gives.keep(Ok(1)), Location::caller());
        assert_eq!(waits.wait().expect("no panic"), Some(1));
        acts.wait().expect("no panic");
        ends_clean(&blocking);
    });
}
