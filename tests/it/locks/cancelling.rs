//! Cancellation: an operation dropped before or after any poll, among others that want the same, in all schedules.
//!
//! The simulation sees to it, at each step, that nobody who could go on is left waiting; in the end everything is free.

use std::cell::Cell;
use std::rc::Rc;

use gossamer::raw::{LockPolicy, OnceCell};
use gossamer::yield_now;
use gossamer_sim::spawn;

use super::Locks;
use crate::flavour::both;
use crate::mvar::cancelling::{Cut, abort_all, quiet};
use crate::mvar::{exhaust_each_step, explore_seeded};

both! {
    a_reader_and_a_writer,
    a_semaphore_of_many,
    a_wait_for_a_condition,
    an_arrival,
    a_maker_of_a_value,
    one_behind_whom_another_waits,
    one_of_two_writers_for_whom_a_reader_leaves,
    everything_at_random,
}

/// Runs a program of tasks for every cut, in all schedules; `check` looks at what is left.
macro_rules! at_every_cut {
    ($primitive:expr, |$cut:ident, $at:ident| [$($task:expr),* $(,)?], |$left:ident| $check:block) => {
        for $cut in Cut::all() {
            exhaust_each_step(|| async move {
                let primitive = Rc::new($primitive);
                let mut tasks = Vec::new();
                $(
                    let $at = primitive.clone();
                    tasks.push(spawn(async move { $task }));
                )*
                for task in tasks {
                    task.await.expect("no panic");
                }
                let $left = primitive;
                $check
            });
        }
    };
}

/// Two want what the root holds, and one of them is dropped at every cut; the other, who keeps what it gets, has it in
/// the end. `$leaves` is all that the root does meanwhile: so nothing comes that could repair a wake-up that is lost.
macro_rules! one_gives_up {
    ($primitive:expr, |$cut:ident, $at:ident| $held:expr, [$first:expr, $second:expr], |$kept:ident| $leaves:expr) => {
        for $cut in Cut::all() {
            exhaust_each_step(|| async move {
                let primitive = Rc::new($primitive);
                let $at = &*primitive;
                let $kept = $held;
                let $at = primitive.clone();
                let gives_up = spawn(async move { drop($first) });
                let $at = primitive.clone();
                let other = spawn(async move { std::mem::forget($second) });
                yield_now().await;
                let _stays = $leaves;
                quiet().await;
                // One that was not dropped in time waits, and whoever wants less behind it.
                assert!(
                    other.is_finished() || !gives_up.is_finished(),
                    "it waits for nobody"
                );
                abort_all(vec![gives_up, other]).await;
            });
        }
    };
}

/// What is wanted first is not to be had, as the holder stays: only when it is given up, those behind it can go.
fn one_behind_whom_another_waits<F: Locks>() {
    one_gives_up!(
        F::rwlock(0),
        |cut, at| at.try_read(),
        [cut.apply(at.write()).await, at.read().await],
        |held| held
    );
    one_gives_up!(
        F::semaphore(2),
        |cut, at| at.try_acquire(),
        [cut.apply(at.acquire_many(2)).await, at.acquire().await],
        |held| held
    );
}

/// Both want to write, as soon as the reader has left.
fn one_of_two_writers_for_whom_a_reader_leaves<F: Locks>() {
    one_gives_up!(
        F::rwlock(0),
        |cut, at| at.try_read(),
        [cut.apply(at.write()).await, at.write().await],
        |held| drop(held)
    );
}

fn a_reader_and_a_writer<F: Locks>() {
    for cancelled in 0..2 {
        at_every_cut!(
            F::rwlock(0),
            |cut, at| [
                if cancelled == 0 {
                    drop(cut.apply(at.read()).await);
                } else {
                    drop(cut.apply(at.write()).await);
                },
                *at.write().await += 1,
                assert!(*at.read().await <= 1),
            ],
            |left| {
                assert_eq!(*left.try_write().expect("it is free"), 1);
            }
        );
    }
}

fn a_semaphore_of_many<F: Locks>() {
    at_every_cut!(
        F::semaphore(2),
        |cut, at| [
            drop(cut.apply(at.acquire_many(2)).await),
            {
                let _one = at.acquire().await;
                yield_now().await;
            },
            drop(at.acquire_many(2).await),
        ],
        |left| {
            assert_eq!(left.available(), 2);
        }
    );
}

/// Two wait, one is dropped, and one is notified: if the dropped one had the notification, the other has it.
fn a_wait_for_a_condition<F: Locks>() {
    for cut in Cut::all() {
        exhaust_each_step(|| async move {
            let primitive = Rc::new((F::mutex(0), F::condvar()));
            let waits = |cut: Option<Cut>| {
                let primitive = primitive.clone();
                spawn(async move {
                    let mut seen = primitive.0.lock().await;
                    *seen += 1;
                    let waits = primitive.1.notified(seen);
                    match cut {
                        Some(cut) => cut.apply(waits).await.is_some(),
                        None => {
                            drop(waits.await);
                            true
                        }
                    }
                })
            };
            let (cancelled, other) = (waits(Some(cut)), waits(None));
            quiet().await;
            primitive.1.notify_one();
            quiet().await;
            if !other.is_finished() {
                assert!(cancelled.is_finished(), "nobody has the notification");
                let was_told = cancelled.await.expect("no panic");
                assert!(
                    was_told,
                    "the notification was lost with the one that was dropped"
                );
                primitive.1.notify_one();
                assert!(other.await.expect("no panic"));
            } else if !cancelled.is_finished() {
                cancelled.abort();
                let _ended = cancelled.await;
            }
            assert!(primitive.0.try_lock().is_some());
        });
    }
}

/// Of three that arrive, where two meet, one is dropped: it has counted, or it has not.
fn an_arrival<F: Locks>() {
    for cut in Cut::all() {
        exhaust_each_step(|| async move {
            let primitive = Rc::new(F::barrier(2));
            let met_one = Rc::new(Cell::new(false));
            let (at, has_met) = (primitive.clone(), met_one.clone());
            let cancelled = spawn(async move {
                has_met.set(cut.apply(at.arrive()).await.is_some());
            });
            let mut others: Vec<_> = (0..2)
                .map(|_| {
                    let at = primitive.clone();
                    spawn(async move {
                        at.arrive().await;
                    })
                })
                .collect();
            quiet().await;
            let met = others.iter().filter(|other| other.is_finished()).count();
            let waits = 3 - met - usize::from(cancelled.is_finished());
            if cancelled.is_finished() {
                // It met one of the others, and the other one waits. Or the others met each other; or it was dropped
                // when all had come, and counted.
                assert!(met == 1 || met == 2 && !met_one.get(), "{met} met");
            } else {
                assert_eq!(met, 2);
                others.push(cancelled);
            }
            let come = format!("come: {waits}");
            assert!(
                waits == 0 || format!("{primitive:?}").contains(&come),
                "{primitive:?}, not {come}"
            );
            abort_all(others).await;
            assert!(
                format!("{primitive:?}").contains("come: 0"),
                "{primitive:?}"
            );
        });
    }
}

/// Makes the value, if it is not there.
async fn made<P: LockPolicy>(cell: &OnceCell<u32, P>, value: u32) {
    let make = async || {
        yield_now().await;
        value
    };
    assert!((1..4).contains(cell.get_or_init(make).await));
}

fn a_maker_of_a_value<F: Locks>() {
    at_every_cut!(
        F::once_cell(),
        |cut, at| [
            cut.apply(made(&at, 1)).await.unwrap_or_default(),
            made(&at, 2).await,
            drop(at.get_or_init(async || 3).await.to_string()),
        ],
        |left| {
            assert!((1..4).contains(left.get().expect("it was made")));
            assert!(left.set(9).is_err());
        }
    );
}

/// Tasks that do everything, and are aborted at any time.
fn everything_at_random<F: Locks>() {
    explore_seeded(gossamer_sim::Sim::new(), |seed| {
        let mut random = fastrand::Rng::with_seed(seed);
        async move {
            let primitive = Rc::new((
                F::mutex(0),
                F::fair_mutex(0),
                F::rwlock(0),
                F::semaphore(2),
                F::event(),
                Cell::new(0),
            ));
            let tasks: Vec<_> = (0..4)
                .map(|_| {
                    let (at, mut random) = (primitive.clone(), random.fork());
                    spawn(async move {
                        for _ in 0..4 {
                            match random.u32(..7) {
                                0 => *at.0.lock().await += 1,
                                1 => *at.1.lock().await += 1,
                                2 => *at.2.write().await += 1,
                                3 => {
                                    let _read = at.2.read().await;
                                    let _one = at.3.acquire().await;
                                    yield_now().await;
                                }
                                4 => {
                                    let _held = at.0.lock().await;
                                    yield_now().await;
                                    drop(at.1.lock().await);
                                }
                                5 => drop(at.3.acquire_many(2).await),
                                _ => {
                                    let _held = at.1.lock().await;
                                    yield_now().await;
                                }
                            }
                            at.4.set();
                        }
                        at.4.ready().await;
                        at.5.set(at.5.get() + 1);
                    })
                })
                .collect();
            for task in &tasks {
                if random.bool() {
                    for _ in 0..random.usize(..8) {
                        yield_now().await;
                    }
                    task.abort();
                }
            }
            for task in tasks {
                let _ended = task.await;
            }
            assert!(primitive.0.try_lock().is_some() && primitive.1.try_lock().is_some());
            assert!(primitive.2.try_write().is_some());
            assert_eq!(primitive.3.available(), 2);
        }
    });
}
