//! Cancelling: an operation dropped before or after any poll, among others that want the same.
//!
//! The simulation sees to it, at each step, that nobody who could go on is left waiting; in the end it is free.

use gossamer::yield_now;
use gossamer_sim::{Sim, spawn};

use super::rules::{hold, is_free};
use super::{Kind, over_all};
use crate::mvar::cancelling::{Cut, abort_all, quiet};
use crate::mvar::{SCHEDULES_MAX, looking, seeds};

over_all! {
    dropped_at_every_poll_among_others,
    one_of_two_that_wait_for_what_comes_once,
    any_task_aborted_at_any_time,
}

fn sim(kind: &Kind) -> Sim {
    if kind.scheduling_points {
        Sim::new()
    } else {
        Sim::new().without_scheduling_points()
    }
}

/// Runs a program for every cut, in all schedules.
fn at_every_cut<B: Future>(kind: &Kind, program: impl Fn(Cut) -> B) {
    for cut in Cut::all() {
        let sim = sim(kind).look_each_step();
        let explored = sim.exhaustive(SCHEDULES_MAX, || program(cut));
        let schedules = explored.schedules;
        assert!(explored.complete, "more than {schedules} schedules");
    }
}

fn dropped_at_every_poll_among_others(kind: &Kind) {
    at_every_cut(kind, |cut| async move {
        let lock = (kind.make)();
        let held = hold(&*lock);
        let at = lock.clone();
        let cut_off = spawn(async move { drop(cut.apply(at.wait()).await) });
        let at = lock.clone();
        let other = spawn(async move {
            let has = at.wait().await;
            yield_now().await;
            drop(has);
        });
        yield_now().await;
        drop(held);
        let last = lock.wait().await;
        drop(last);
        for task in [cut_off, other] {
            task.await.expect("no panic");
        }
        is_free(kind, &*lock);
    });
}

/// The other one, which keeps what it gets, has it in the end. The holder leaves, and does nothing else: so nothing comes
/// that could repair a wake-up that is lost.
fn one_of_two_that_wait_for_what_comes_once(kind: &Kind) {
    at_every_cut(kind, |cut| async move {
        let lock = (kind.make)();
        let held = hold(&*lock);
        let at = lock.clone();
        let gives_up = spawn(async move { drop(cut.apply(at.wait()).await) });
        let at = lock.clone();
        let other = spawn(async move { std::mem::forget(at.wait().await) });
        yield_now().await;
        drop(held);
        quiet().await;
        assert!(
            other.is_finished() || !gives_up.is_finished(),
            "it waits for nobody"
        );
        abort_all(vec![gives_up, other]).await;
    });
}

/// Abort, unlike a cut, comes from outside: also while the task is in the run queue.
fn any_task_aborted_at_any_time(kind: &Kind) {
    for seed in seeds() {
        let program = || async move {
            let lock = (kind.make)();
            let held = hold(&*lock);
            let takes_turns = || {
                let at = lock.clone();
                spawn(async move {
                    for _ in 0..3 {
                        let has = at.wait().await;
                        yield_now().await;
                        drop(has);
                    }
                })
            };
            let tasks = [(); 3].map(|()| takes_turns());
            for _ in 0..seed % 4 {
                yield_now().await;
            }
            drop(held);
            for _ in 0..seed / 4 % 16 {
                yield_now().await;
            }
            tasks[seed as usize % 3].abort();
            let mut ended = 0;
            for task in tasks {
                ended += u32::from(task.await.is_ok());
            }
            assert!(ended >= 2);
            is_free(kind, &*lock);
        };
        if let Err(failure) = looking(sim(kind), seed).run(seed, program) {
            panic!("GOSSAMER_SEED={seed} runs it again\n{failure}");
        }
    }
}
