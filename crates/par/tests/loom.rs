//! Models of a team: a job against its owner's sleep, and computations that are handed over.
//!
//! Run by `cargo xtask loom`. The deques are crossbeam's, which loom does not know: it sees each of their operations as
//! one step, in order.
#![cfg(loom)]

use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;

use gossamer_core::platform::model::{explore, joined, poll_once};
use gossamer_core::platform::thread::{self, JoinHandle};
use gossamer_core::platform::{Condvar, Mutex};
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

    fn ask(&self, mut help: Help) {
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

/// A helper of its own carries out what is handed over, beside one that ends, and a thread that computes.
#[test]
fn what_is_handed_over_is_carried_out() {
    explore("what_is_handed_over_is_carried_out", || {
        with_team(1, |team| {
            let computing = team.clone();
            let other = thread::spawn(move || compute(&computing, || 1));
            let first = Handed::new(team.clone(), || 2);
            let second = Handed::new(team.clone(), || 3);
            let all = (first.wait(), second.wait(), joined(other));
            assert_eq!(all, (2, 3, 1));
        });
    });
}

/// A push against the last look of a helper that ends (`Team::job_is_there`, `count_out`): it finds the job, or another
/// one is asked for.
#[test]
fn a_job_pushed_at_a_helpers_end_is_stolen() {
    explore("a_job_pushed_at_a_helpers_end_is_stolen", || {
        with_team(2, |team| {
            let are_stolen = [Event::new(), Event::new()];
            compute(team, || {
                // Whoever pushes waits, so another thread has to come.
                for is_stolen in &are_stolen {
                    join(|| is_stolen.wait(), || is_stolen.set());
                }
            });
        });
    });
}

/// Something that threads wait for.
struct Event(Mutex<bool>, Condvar);

impl Event {
    fn new() -> Self {
        Self(Mutex::new(false), Condvar::new())
    }

    fn set(&self) {
        *self.0.lock() = true;
        self.1.notify_all();
    }

    fn wait(&self) {
        let mut is_set = self.0.lock();
        while !*is_set {
            is_set = self.1.wait(is_set);
        }
    }
}
