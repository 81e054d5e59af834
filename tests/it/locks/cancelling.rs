//! Cancellation: an operation dropped before or after any poll, among others that want the same, in all schedules.
//!
//! The simulation sees to it, at each step, that nobody who could go on is left waiting; in the end everything is free.

use std::cell::Cell;
use std::rc::Rc;

use gossamer::raw::{LockPolicy, OnceCell};
use gossamer::yield_now;
use gossamer_sim::spawn;

use super::Locks;
use crate::exploring::{Cut, abort_all, exhaust_each_step, explore_seeded, quiet};
use crate::flavour::both;

both! {
    a_reader_and_a_writer,
    a_semaphore_of_many,
    an_event_that_is_reset,
    an_arrival,
    a_maker_of_a_value,
    a_maker_that_fails,
    one_behind_whom_another_waits,
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

/// What the first one wants is not to be had: only when it is given up, the one behind it can go. Nobody does anything
/// else, so nothing comes that could repair a wake-up that is lost.
async fn gives_up(
    cut: Cut,
    first: impl Future<Output = ()> + 'static,
    second: impl Future<Output = ()> + 'static,
) {
    let first = spawn(async move { cut.apply(first).await.unwrap_or_default() });
    let second = spawn(second);
    quiet().await;
    assert!(second.is_finished() || !first.is_finished());
    abort_all(vec![first, second]).await;
}

fn one_behind_whom_another_waits<F: Locks>() {
    for cut in Cut::all() {
        exhaust_each_step(|| async move {
            let lock = Rc::new(F::rwlock(0));
            std::mem::forget(lock.try_read());
            let at = lock.clone();
            let write = async move { drop(at.write().await) };
            gives_up(cut, write, async move { drop(lock.read().await) }).await;
        });
        exhaust_each_step(|| async move {
            let semaphore = Rc::new(F::semaphore(1));
            let at = semaphore.clone();
            let two = async move { drop(at.acquire_many(2).await) };
            gives_up(cut, two, async move { drop(semaphore.acquire().await) }).await;
        });
    }
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
            assert_eq!(left.available_permits(), 2);
        }
    );
}

/// It is set and reset while one that waits is dropped: whoever waited goes all the same.
fn an_event_that_is_reset<F: Locks>() {
    at_every_cut!(
        F::event(),
        |cut, at| [
            cut.apply(at.ready()).await.unwrap_or_default(),
            {
                at.set();
                at.reset();
                yield_now().await;
                at.set();
            },
            at.ready().await,
        ],
        |left| {
            assert!(left.is_set());
        }
    );
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

fn a_maker_that_fails<F: Locks>() {
    at_every_cut!(
        F::once_cell(),
        |cut, at| [
            {
                let make = async || {
                    yield_now().await;
                    Err(())
                };
                let _made = cut.apply(at.get_or_try_init(make)).await;
            },
            made(&at, 2).await,
        ],
        |left| {
            assert_eq!(left.get(), Some(&2));
        }
    );
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
            assert!(primitive.0.try_lock().is_ok() && primitive.1.try_lock().is_ok());
            assert!(primitive.2.try_write().is_ok());
            assert_eq!(primitive.3.available_permits(), 2);
        }
    });
}
