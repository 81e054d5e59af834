//! Exploring: a program in many schedules, seeded or all there are; and an operation that is dropped at any poll.
//!
//! With scheduling points, tasks change between any two operations; without, operations go by the short ways that
//! production takes. A flavour is explored in one of the two ways ([`Flavour::SCHEDULING_POINTS`]), or in both.

use std::cell::Cell;
use std::future::poll_fn;
use std::ops::Range;
use std::pin::Pin;
use std::task::Poll;
use std::time::Duration;

use gossamer::JoinHandle;
use gossamer::time::sleep as pause;
use gossamer_sim::Sim;

use crate::flavour::Flavour;

/// Seeded schedules for each program, with scheduling points, and as many without: `GOSSAMER_SCHEDULES`. In the
/// project's CI the tests and the planted bugs have ten thousand; the sanitizer, which looks for other things, has these.
pub(crate) fn schedules() -> u64 {
    let schedules = number("GOSSAMER_SCHEDULES").unwrap_or(2_000);
    assert!(
        schedules > 0,
        "GOSSAMER_SCHEDULES is 0: nothing would be tested; take 1 or more"
    );
    schedules
}

/// All schedules of a small case, but never more than this.
const SCHEDULES_MAX: usize = 2_000_000;

thread_local! {
    /// Whether operations are scheduling points in the simulation that runs on this thread.
    pub(crate) static SCHEDULING_POINTS: Cell<bool> = const { Cell::new(true) };
}

/// What this environment variable says.
fn number(variable: &str) -> Option<u64> {
    let text = std::env::var(variable).ok()?;
    let number = text.parse();
    Some(number.unwrap_or_else(|error| panic!("{variable} is {text:?}, no number: {error}")))
}

/// The simulation for a seed: every fourth looks for lost wake-ups at each step, which takes twice as long.
pub(crate) fn looking(sim: Sim, seed: u64) -> Sim {
    if seed.is_multiple_of(4) {
        sim.look_each_step()
    } else {
        sim
    }
}

fn with_points(sim: Sim, points: bool) -> Sim {
    if points {
        sim
    } else {
        sim.without_scheduling_points()
    }
}

/// The simulation with scheduling points, or without.
pub(crate) fn sim(points: bool) -> Sim {
    with_points(Sim::new(), points)
}

/// A program, whichever it is: to compile for each of them what runs them would take long.
type Boxed<'a, T> = Pin<Box<dyn Future<Output = T> + 'a>>;

/// Runs a program with these seeds, on which it may depend; or with the one in `GOSSAMER_SEED`, to run a failure again.
#[track_caller]
pub(crate) fn explore_seeds<B: Future>(sim: Sim, seeds: Range<u64>, body: impl Fn(u64) -> B) {
    explore_boxed(sim, seeds, &|seed| Box::pin(body(seed)));
}

#[track_caller]
fn explore_boxed<'a, T>(sim: Sim, seeds: Range<u64>, body: &dyn Fn(u64) -> Boxed<'a, T>) {
    for seed in number("GOSSAMER_SEED").map_or(seeds, |seed| seed..seed + 1) {
        if let Err(failure) = looking(sim, seed).run(seed, || body(seed)) {
            panic!("GOSSAMER_SEED={seed} runs it again\n{failure}");
        }
    }
}

/// The same with all its seeds.
#[track_caller]
pub(crate) fn explore_in<B: Future>(sim: Sim, body: impl Fn(u64) -> B) {
    explore_seeds(sim, 0..schedules(), body);
}

/// The same in both ways.
#[track_caller]
pub(crate) fn explore_seeded<B: Future>(sim: Sim, body: impl Fn(u64) -> B) {
    for points in [true, false] {
        SCHEDULING_POINTS.set(points);
        explore_in(with_points(sim, points), &body);
    }
}

/// The same for a program that does not depend on the seed.
#[track_caller]
pub(crate) fn explore<B: Future>(body: impl Fn() -> B) {
    explore_seeded(Sim::new(), |_| body());
}

/// The same in the flavour's way.
#[track_caller]
pub(crate) fn explore_flavour<F: Flavour, B: Future>(body: impl Fn(u64) -> B) {
    explore_in(sim(F::SCHEDULING_POINTS), body);
}

/// Runs a small case in all schedules.
#[track_caller]
pub(crate) fn exhaust_in<B: Future>(sim: Sim, body: impl Fn() -> B) {
    exhaust_boxed(sim, &|| Box::pin(body()));
}

#[track_caller]
fn exhaust_boxed<'a, T>(sim: Sim, body: &dyn Fn() -> Boxed<'a, T>) {
    let explored = sim.exhaustive(SCHEDULES_MAX, body);
    let schedules = explored.schedules;
    assert!(explored.complete, "more than {schedules} schedules");
}

/// The same in these ways: with scheduling points, or without.
#[track_caller]
pub(crate) fn exhaust_ways<B: Future>(ways: &[bool], sim: Sim, body: impl Fn() -> B) {
    for &points in ways {
        SCHEDULING_POINTS.set(points);
        exhaust_in(with_points(sim, points), &body);
    }
}

/// The same in both ways.
#[track_caller]
pub(crate) fn exhaust<B: Future>(body: impl Fn() -> B) {
    exhaust_ways(&[true, false], Sim::new(), body);
}

/// The same, for cases in which something is cancelled: looks for lost wake-ups at each step, as what comes later may
/// repair one.
#[track_caller]
pub(crate) fn exhaust_each_step<B: Future>(body: impl Fn() -> B) {
    exhaust_ways(&[true, false], Sim::new().look_each_step(), body);
}

/// The same in the flavour's way.
#[track_caller]
pub(crate) fn exhaust_flavour<F: Flavour, B: Future>(body: impl Fn() -> B) {
    exhaust_in(sim(F::SCHEDULING_POINTS), body);
}

/// When an operation is dropped: before or after its n-th poll.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cut {
    poll: u32,
    before: bool,
}

impl Cut {
    pub(crate) const NEVER: Self = Self {
        poll: u32::MAX,
        before: false,
    };

    /// Under sim an operation is polled at most three times; the fourth cut is none.
    pub(crate) fn all() -> impl Iterator<Item = Self> {
        (0..8).map(|number| Self {
            poll: number / 2 + 1,
            before: number % 2 == 0,
        })
    }

    pub(crate) fn nth(number: u64) -> Self {
        Self::all().nth(number as usize % 8).unwrap()
    }

    /// Polls `operation` until it is complete or cut off.
    pub(crate) async fn apply<O: Future>(self, operation: O) -> Option<O::Output> {
        let mut operation = Some(Box::pin(operation));
        let mut polls = 0;
        poll_fn(|cx| {
            polls += 1;
            if polls == self.poll && self.before {
                operation = None;
            }
            let Some(polled) = &mut operation else {
                return Poll::Ready(None);
            };
            let polled = polled.as_mut().poll(cx);
            if polled.is_pending() && polls == self.poll {
                operation = None;
                return Poll::Ready(None);
            }
            if self.before && polls + 1 == self.poll {
                // One that nobody wakes is dropped while it waits, and others have come behind it.
                cx.waker().wake_by_ref();
            }
            polled.map(Some)
        })
        .await
    }
}

/// Until nothing can happen any more. (If somebody could go on then, the run fails.)
pub(crate) async fn quiet() {
    pause(Duration::from_secs(1)).await;
}

pub(crate) async fn abort_all(tasks: Vec<JoinHandle<()>>) {
    tasks.iter().for_each(JoinHandle::abort);
    for task in tasks {
        let _ = task.await;
    }
}
