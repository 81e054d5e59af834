//! Channels of many senders and receivers: each rule that their documentation states, in both flavours.

pub(crate) mod broadcast;
mod cancelling;
mod join_pattern;
mod oneshot;
mod rules;
pub(crate) mod sharing;
mod small;
pub(crate) mod spsc;
mod threads;
mod watch;

use gossamer::raw::{self, channel::Receiver, channel::Sender};

use gossamer_sim::Sim;

use crate::flavour::{Flavour, Local, Shared};
use crate::mvar::{SCHEDULES_MAX, looking};

/// Runs a small case in all schedules: with scheduling points for one thread's flavour, and by the short ways that
/// production takes for the other, as but for the lock's word both are the same code.
#[track_caller]
fn exhaust<F: Channels, B: Future>(body: impl Fn() -> B) {
    exhaust_in(sim::<F>(), body);
}

#[track_caller]
fn exhaust_in<B: Future>(sim: Sim, body: impl Fn() -> B) {
    let explored = sim.exhaustive(SCHEDULES_MAX, body);
    assert!(
        explored.complete,
        "more than {} schedules",
        explored.schedules
    );
}

/// Runs a random case in seeded schedules, in the same way.
#[track_caller]
pub(crate) fn explore<F: Channels, B: Future>(body: impl Fn(u64) -> B) {
    for seed in crate::mvar::seeds() {
        if let Err(failure) = looking(sim::<F>(), seed).run(seed, || body(seed)) {
            panic!("GOSSAMER_SEED={seed} runs it again\n{failure}");
        }
    }
}

fn sim<F: Channels>() -> Sim {
    let sim = Sim::new();
    if F::SCHEDULING_POINTS {
        sim
    } else {
        sim.without_scheduling_points()
    }
}

/// The channels of a flavour.
pub(crate) trait Channels: Flavour {
    /// Whether it is explored with scheduling points.
    const SCHEDULING_POINTS: bool;

    /// Zero: rendezvous; `usize::MAX`: unbounded.
    fn channel<T>(capacity: usize) -> (Sender<T, Self::P>, Receiver<T, Self::P>);
}

impl Channels for Shared {
    const SCHEDULING_POINTS: bool = false;

    fn channel<T>(capacity: usize) -> (Sender<T, raw::Shared>, Receiver<T, raw::Shared>) {
        match capacity {
            0 => gossamer::channel::rendezvous(),
            usize::MAX => gossamer::channel::unbounded(),
            capacity => gossamer::channel::bounded(capacity),
        }
    }
}

impl Channels for Local {
    const SCHEDULING_POINTS: bool = true;

    fn channel<T>(capacity: usize) -> (Sender<T, raw::Local>, Receiver<T, raw::Local>) {
        match capacity {
            0 => gossamer::local::channel::rendezvous(),
            usize::MAX => gossamer::local::channel::unbounded(),
            capacity => gossamer::local::channel::bounded(capacity),
        }
    }
}
