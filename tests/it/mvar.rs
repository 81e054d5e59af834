//! `MVar`: each rule that its documentation states.
//!
//! Every rule runs on sim twice: with scheduling points, so that tasks change between any two
//! operations; and without, by the short ways that production takes. (The small programs of the shared flavour only
//! without.)

pub(crate) mod cancelling;
mod model;
mod panics;
mod queues;
mod replacing;
mod small;
mod table;

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::pin::pin;

use gossamer::yield_now;
use gossamer_sim::Sim;

use crate::channel::Channels;

/// Seeded schedules for each rule, with scheduling points, and as many without.
pub(crate) const SCHEDULES: u64 = 10_000;

/// All schedules of a small case, but never more than this.
pub(crate) const SCHEDULES_MAX: usize = 2_000_000;

thread_local! {
    /// Whether operations are scheduling points in the simulation that runs on this thread.
    static SCHEDULING_POINTS: Cell<bool> = const { Cell::new(true) };
}

/// The seeds to run: all, or the one in `GOSSAMER_SEED`, to run a failure again.
pub(crate) fn seeds() -> std::ops::Range<u64> {
    match std::env::var("GOSSAMER_SEED").map(|seed| seed.parse::<u64>()) {
        Ok(Ok(seed)) => seed..seed + 1,
        Ok(Err(error)) => panic!("GOSSAMER_SEED is a number: {error}"),
        Err(_) => 0..SCHEDULES,
    }
}

/// Runs a rule with all its seeds.
#[track_caller]
pub(crate) fn explore<F: Future>(body: impl Fn() -> F) {
    explore_seeded(Sim::new(), |_| body());
}

/// The simulation for a seed: every fourth looks for lost wake-ups at each step, which takes twice as long.
pub(crate) fn looking(sim: Sim, seed: u64) -> Sim {
    if seed.is_multiple_of(4) {
        sim.look_each_step()
    } else {
        sim
    }
}

/// As [`explore`], for a rule whose program depends on the seed too.
#[track_caller]
pub(crate) fn explore_seeded<F: Future>(sim: Sim, body: impl Fn(u64) -> F) {
    for (points, sim) in [(true, sim), (false, sim.without_scheduling_points())] {
        SCHEDULING_POINTS.set(points);
        for seed in seeds() {
            if let Err(failure) = looking(sim, seed).run(seed, || body(seed)) {
                let mode = if points { "with" } else { "without" };
                panic!("{mode} scheduling points; GOSSAMER_SEED={seed} runs it again\n{failure}");
            }
        }
    }
}

/// Runs a small case in all schedules.
#[track_caller]
pub(crate) fn exhaust<F: Future>(body: impl Fn() -> F) {
    exhaust_in(Sim::new(), body);
}

/// The same, for cases in which something is cancelled: looks for lost wake-ups at each step, as what comes later may
/// repair one.
#[track_caller]
pub(crate) fn exhaust_each_step<F: Future>(body: impl Fn() -> F) {
    exhaust_in(Sim::new().look_each_step(), body);
}

#[track_caller]
fn exhaust_in<F: Future>(sim: Sim, body: impl Fn() -> F) {
    exhaust_with(&[true, false], sim, body);
}

/// Runs a small case in all schedules: with scheduling points and without for one thread's flavour, which has short ways
/// of its own, and without for the other. With scheduling points both are the same code but for the lock's word, and
/// most of the schedules.
#[track_caller]
fn exhaust_flavour<F: Channels, B: Future>(body: impl Fn() -> B) {
    let modes: &[bool] = match F::SCHEDULING_POINTS {
        true => &[true, false],
        false => &[false],
    };
    exhaust_with(modes, Sim::new(), body);
}

#[track_caller]
fn exhaust_with<F: Future>(modes: &[bool], sim: Sim, body: impl Fn() -> F) {
    for &points in modes {
        let sim = if points {
            sim
        } else {
            sim.without_scheduling_points()
        };
        SCHEDULING_POINTS.set(points);
        let explored = sim.exhaustive(SCHEDULES_MAX, &body);
        assert!(
            explored.complete,
            "more than {} schedules",
            explored.schedules
        );
    }
}

/// Who came and who went, in order.
#[derive(Default)]
struct Line {
    came: RefCell<Vec<u32>>,
    went: RefCell<Vec<u32>>,
}

impl Line {
    /// Awaits an operation, noting when it came to its line and when it was served.
    ///
    /// The first poll joins the line (or acts at once), the second follows the one wake-up there is,
    /// and completes. With scheduling points, there is one poll before these.
    async fn pass<O: Future>(&self, id: u32, operation: O) -> O::Output {
        self.pass_overtaken(id, 0, operation).await
    }

    /// As [`Line::pass`], for an operation that may be woken in vain so often.
    async fn pass_overtaken<O: Future>(&self, id: u32, in_vain: usize, operation: O) -> O::Output {
        let mut operation = pin!(operation);
        let joins = if SCHEDULING_POINTS.get() {
            2
        } else {
            yield_now().await;
            1
        };
        let mut polls = 0;
        poll_fn(|cx| {
            polls += 1;
            if polls == joins {
                self.came.borrow_mut().push(id);
            }
            let polled = operation.as_mut().poll(cx);
            if polled.is_ready() {
                self.went.borrow_mut().push(id);
            }
            let last = polls > joins + in_vain;
            assert!(
                !last || polled.is_ready(),
                "it was woken and did not complete"
            );
            assert!(polls >= joins || polled.is_pending(), "it did not yield");
            polled
        })
        .await
    }

    fn assert_served_in_order(&self, count: usize) {
        assert_eq!(*self.came.borrow(), *self.went.borrow(), "came, and went");
        assert_eq!(self.came.borrow().len(), count);
    }
}
