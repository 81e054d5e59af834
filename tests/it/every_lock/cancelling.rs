//! Cancelling: an operation dropped before or after any poll, among others that want the same; and tasks that end.
//!
//! The simulation sees to it, at each step, that nobody who could go on is left waiting; in the end it is free.

use std::future::poll_fn;

use gossamer::yield_now;
use gossamer_sim::spawn;

use super::rules::{hold, is_free};
use super::{Kind, over_all};
use crate::bad_wakers::planned;
use crate::exploring::{Cut, abort_all, exhaust_in, explore_in, quiet, sim};

over_all! {
    dropped_at_every_poll_among_others,
    one_of_two_that_wait_for_what_comes_once,
    any_task_aborted_at_any_time,
    any_task_panics_at_any_time,
}

/// Runs a program for every cut, in all schedules.
fn at_every_cut<B: Future>(kind: &Kind, program: impl Fn(Cut) -> B) {
    for cut in Cut::all() {
        let sim = sim(kind.scheduling_points).look_each_step();
        exhaust_in(sim, || program(cut));
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

/// Three tasks take turns, and one of them ends at any time: it is aborted, or panics.
fn one_of_three_ends(kind: &Kind, panics: bool) {
    explore_in(
        sim(kind.scheduling_points).expect_panics(),
        |seed| async move {
            let lock = (kind.make)();
            let held = hold(&*lock);
            let (ends, after) = (seed as usize % 3, seed / 4 % 16);
            let takes_turns = |number| {
                let (at, mut polls) = (lock.clone(), 0);
                let mut turns = Box::pin(async move {
                    for _ in 0..3 {
                        let has = at.wait().await;
                        yield_now().await;
                        drop(has);
                    }
                });
                spawn(poll_fn(move |cx| {
                    polls += 1;
                    if panics && number == ends && polls > after {
                        planned();
                    }
                    turns.as_mut().poll(cx)
                }))
            };
            let tasks = [0, 1, 2].map(takes_turns);
            for _ in 0..seed % 4 {
                yield_now().await;
            }
            drop(held);
            if !panics {
                for _ in 0..after {
                    yield_now().await;
                }
                tasks[ends].abort();
            }
            for (number, task) in tasks.into_iter().enumerate() {
                assert!(task.await.is_ok() || number == ends);
            }
            is_free(kind, &*lock);
        },
    );
}

/// Abort, unlike a cut, comes from outside: also while the task is in the run queue.
fn any_task_aborted_at_any_time(kind: &Kind) {
    one_of_three_ends(kind, false);
}

fn any_task_panics_at_any_time(kind: &Kind) {
    one_of_three_ends(kind, true);
}
