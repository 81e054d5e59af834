//! Models of cancellation tokens and join sets between threads: a child against its parent's end, a set against the end
//! of its tasks.
//!
//! Run by `cargo xtask loom`; what loom cannot see is told in `crates/core/tests/loom.rs`. A task is a promise here,
//! kept by another thread, so that nothing but the set is explored.
#![cfg(loom)]

use std::panic::Location;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use gossamer_core::platform::model::{beside, explore, explore_within, joined, poll_once};
use gossamer_core::platform::thread;
use gossamer_core::wait::Wait;
use gossamer_structure::{CancellationToken, JoinSet};
use gossamer_task::{JoinHandle, promise};

/// Whether a token is cancelled, and whoever waits for that goes.
fn is_cancelled(token: &CancellationToken) -> bool {
    token.is_cancelled() && poll_once(pin!(token.cancelled())).is_ready()
}

/// A child comes while its parent is cancelled: it is cancelled with it, or from the beginning.
#[test]
fn child_against_cancel() {
    explore("child_against_cancel", || {
        let parent = Arc::new(CancellationToken::new());
        let cancels = beside(&parent, |parent| parent.cancel());
        let child = parent.child();
        joined(cancels);
        assert!(is_cancelled(&child), "it was missed");
    });
}

/// One waits for a child while the parent is cancelled, and is woken.
#[test]
fn wait_against_cancel() {
    explore("wait_against_cancel", || {
        let parent = CancellationToken::new();
        let child = parent.child();
        let waits = thread::spawn(move || child.cancelled().wait());
        parent.cancel();
        joined(waits);
    });
}

/// Two cancel at once: when either returns, all below are cancelled.
#[test]
fn cancel_against_cancel() {
    explore("cancel_against_cancel", || {
        let parent = Arc::new(CancellationToken::new());
        let child = Arc::new(parent.child());
        let below = child.clone();
        let cancels = beside(&parent, move |parent| {
            parent.cancel();
            assert!(below.is_cancelled());
        });
        parent.cancel();
        assert!(child.is_cancelled());
        joined(cancels);
        assert!(is_cancelled(&child));
    });
}

/// The token between two goes while the upper one is cancelled: the lower one is not lost with it.
#[test]
fn cancel_against_the_end_between() {
    explore("cancel_against_the_end_between", || {
        let upper = Arc::new(CancellationToken::new());
        let between = upper.child();
        let lower = between.child();
        let cancels = beside(&upper, |upper| upper.cancel());
        drop(between);
        joined(cancels);
        assert!(is_cancelled(&lower));
        drop(lower);
        assert_eq!(upper.nodes(), 1, "a node was left behind");
    });
}

/// Two tasks, whose outputs are given by other threads: each is joined, and who waits for the next is woken.
#[test]
fn join_set_against_the_ends() {
    explore_within(1, "join_set_against_the_ends", || {
        let mut set = JoinSet::new();
        let ends = [1, 2].map(|number| {
            let (promise, handle) = promise(Location::caller());
            set.push(handle);
            thread::spawn(move || promise.keep(Ok(number)))
        });
        let mut next = || {
            set.join_next()
                .wait()
                .expect("one is left")
                .expect("no panic")
        };
        assert_eq!(next() + next(), 3);
        assert!(set.is_empty());
        ends.into_iter().for_each(joined);
    });
}

/// A task ends as it comes into the set: it is joined all the same.
#[test]
fn push_against_the_end() {
    explore("push_against_the_end", || {
        let (promise, handle) = promise(Location::caller());
        let ends = thread::spawn(move || promise.keep(Ok(1)));
        let mut set = JoinSet::new();
        set.push(handle);
        let output = set.join_next().wait().expect("one is left");
        assert_eq!(output.expect("no panic"), 1);
        joined(ends);
    });
}

/// Counts when it is dropped.
struct Counts(Arc<AtomicUsize>);

impl Drop for Counts {
    fn drop(&mut self) {
        // Relaxed: looked at when the other thread has ended.
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// A set goes while its task ends: the output is dropped, once.
#[test]
fn drop_against_the_end() {
    explore("drop_against_the_end", || {
        let dropped = Arc::new(AtomicUsize::new(0));
        let output = Counts(dropped.clone());
        let (promise, handle): (_, JoinHandle<Counts>) = promise(Location::caller());
        let set: JoinSet<_> = [handle].into_iter().collect();
        let ends = thread::spawn(move || promise.keep(Ok(output)));
        drop(set);
        joined(ends);
        assert_eq!(dropped.load(Ordering::Relaxed), 1);
    });
}
