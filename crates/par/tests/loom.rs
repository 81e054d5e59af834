//! Models of a team: a job against its owner's sleep, and a computation that is handed over against the end of those
//! that could take it.
//!
//! Run by `cargo xtask loom`. The deques are crossbeam's, which loom does not know: it sees each of their operations as
//! one step, in order.
#![cfg(loom)]

use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;

use gossamer_core::platform::Mutex;
use gossamer_core::platform::model::{explore, joined, poll_once};
use gossamer_core::platform::thread::{self, JoinHandle};
use gossamer_core::wait::Wait;
use gossamer_par::{Handed, Help, Helpers, Team, compute, join};

/// A runtime of so many workers, each helper a thread of its own.
struct Threads {
    width: usize,
    started: Arc<Mutex<Vec<JoinHandle<()>>>>,
}

impl Helpers for Threads {
    fn width(&self) -> usize {
        self.width
    }

    fn ask(&self, team: &Arc<Team>) {
        let mut help = Help::new(team);
        let helper = thread::spawn(move || {
            assert_eq!(poll_once(Pin::new(&mut help)), Poll::Ready(()));
        });
        self.started.lock().push(helper);
    }
}

/// Runs `body` with a team, and waits until all helpers have ended.
fn with_team(width: usize, body: impl FnOnce(&Arc<Team>)) {
    let started = Arc::default();
    let helpers = Threads {
        width,
        started: Arc::clone(&started),
    };
    let team = Team::new(Box::new(helpers));
    body(&team);
    loop {
        let helper = started.lock().pop();
        let Some(helper) = helper else { break };
        joined(helper);
    }
}

/// A thief's last touch of a job against its owner's last look and its sleep (`Header::owner_sleeps`, `run`).
#[test]
fn a_stolen_job_wakes_its_owner() {
    explore("a_stolen_job_wakes_its_owner", || {
        with_team(2, |team| {
            // Loom sees no reason of its own to switch threads before the owner pops.
            let both = compute(team, || join(thread::yield_now, || 2));
            assert_eq!(both, ((), 2));
        });
    });
}

/// A computation that is handed over while the one helper there may be ends: it, or the next one, carries it out
/// (`Team::hand_over`, `count_out`).
#[test]
fn a_helper_that_ends_leaves_nothing_waiting() {
    explore("a_helper_that_ends_leaves_nothing_waiting", || {
        with_team(1, |team| {
            let first = Handed::new(team.clone(), || 1);
            assert_eq!(first.wait(), 1);
            // The helper may be at its end.
            let second = Handed::new(team.clone(), || 2);
            assert_eq!(second.wait(), 2);
        });
    });
}

/// The same while a thread computes that has come of itself (`Team::leave`).
#[test]
fn a_thread_that_leaves_leaves_nothing_waiting() {
    explore("a_thread_that_leaves_leaves_nothing_waiting", || {
        with_team(1, |team| {
            let computing = team.clone();
            let other = thread::spawn(move || compute(&computing, || 1));
            let handed = Handed::new(team.clone(), || 2);
            assert_eq!((handed.wait(), joined(other)), (2, 1));
        });
    });
}
