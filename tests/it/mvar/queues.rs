//! The two lines: first come, first served; one change wakes one; the one that is woken completes.

use std::cell::RefCell;
use std::future::poll_fn;
use std::pin::pin;
use std::rc::Rc;

use gossamer_sim::spawn;

use super::{Line, explore};
use crate::flavour::{Flavour, both};
use crate::tally::{Tally, Value};

both! {
    each_line_is_served_in_order_of_arrival,
    values_come_out_in_the_order_they_went_in,
    takes_reads_and_swaps_share_one_line,
    one_change_wakes_one_and_that_one_completes,
    one_value_serves_all_readers,
    a_mvar_is_a_lock,
    two_mvars_are_a_rendezvous,
    try_operations_overtake_nobody,
}

fn each_line_is_served_in_order_of_arrival<F: Flavour>() {
    explore(|| async {
        let (mvar, lines) = (F::mvar(), Rc::new((Line::default(), Line::default())));
        let tasks: Vec<_> = (0..6)
            .map(|task| {
                let (mvar, lines) = (mvar.clone(), lines.clone());
                spawn(async move {
                    for round in 0..2 {
                        if task % 2 == 0 {
                            lines.0.pass(task * 2 + round, mvar.take()).await;
                        } else {
                            lines.1.pass(task * 2 + round, mvar.put(task)).await;
                        }
                    }
                })
            })
            .collect();
        for task in tasks {
            task.await.unwrap();
        }
        lines.0.assert_served_in_order(6);
        lines.1.assert_served_in_order(6);
        assert!(mvar.is_empty());
    });
}

fn values_come_out_in_the_order_they_went_in<F: Flavour>() {
    explore(|| async {
        let (mvar, tally) = (F::mvar(), Tally::default());
        let line = Rc::new(Line::default());
        let putters: Vec<_> = (0..3)
            .map(|task| {
                let (mvar, tally, line) = (mvar.clone(), tally.clone(), line.clone());
                spawn(async move {
                    for round in 0..2 {
                        let id = task * 2 + round;
                        line.pass(id, mvar.put(tally.value(id))).await;
                    }
                })
            })
            .collect();
        let mut taken = Vec::new();
        for _ in 0..6 {
            taken.push(mvar.take().await.id);
        }
        assert_eq!(taken, *line.went.borrow());
        for task in putters {
            task.await.unwrap();
        }
        assert_eq!((tally.dropped(), tally.cloned()), (6, 0));
    });
}

fn takes_reads_and_swaps_share_one_line<F: Flavour>() {
    explore(|| async {
        let (mvar, line) = (F::mvar(), Rc::new(Line::default()));
        let tasks: Vec<_> = (0..6)
            .map(|task| {
                let (mvar, line) = (mvar.clone(), line.clone());
                spawn(async move {
                    match task % 3 {
                        0 => line.pass(task, mvar.take()).await,
                        1 => line.pass(task, mvar.read()).await,
                        _ => line.pass(task, mvar.swap(task)).await,
                    }
                })
            })
            .collect();
        // Two takes, so the third value stays for those who come last.
        for value in [10, 11, 12] {
            mvar.put(value).await;
        }
        let mut seen = Vec::new();
        for task in tasks {
            seen.push(task.await.unwrap());
        }
        line.assert_served_in_order(6);
        // What went in came out, or is still there.
        let taken = seen[0] + seen[3];
        let swapped = seen[2] + seen[5];
        let left = mvar.try_take().expect("the third value");
        assert_eq!(
            taken + swapped + left,
            10 + 11 + 12 + 2 + 5,
            "{seen:?}, left {left}"
        );
    });
}

fn one_change_wakes_one_and_that_one_completes<F: Flavour>() {
    explore(|| async {
        let (mvar, line) = (F::mvar_with(0), Rc::new(Line::default()));
        let tasks: Vec<_> = (0..8)
            .map(|task| {
                let (mvar, line) = (mvar.clone(), line.clone());
                spawn(async move {
                    // `pass` fails if a take or a put is polled once more than its one wake-up.
                    let value = line.pass(task, mvar.take()).await;
                    line.pass(task, mvar.put(value + 1)).await;
                })
            })
            .collect();
        for task in tasks {
            task.await.unwrap();
        }
        assert_eq!(mvar.try_take(), Some(8));
    });
}

fn one_value_serves_all_readers<F: Flavour>() {
    explore(|| async {
        let (mvar, tally) = (F::mvar::<Value>(), Tally::default());
        let line = Rc::new(Line::default());
        let readers: Vec<_> = (0..5)
            .map(|task| {
                let (mvar, line) = (mvar.clone(), line.clone());
                spawn(async move { line.pass(task, mvar.read()).await.id })
            })
            .collect();
        mvar.put(tally.value(9)).await;
        for reader in readers {
            assert_eq!(reader.await.unwrap(), 9);
        }
        line.assert_served_in_order(5);
        assert_eq!((tally.cloned(), tally.living()), (5, 1));
        drop(mvar);
        assert_eq!(tally.living(), 0);
    });
}

fn a_mvar_is_a_lock<F: Flavour>() {
    explore(|| async {
        let (lock, other) = (F::mvar_with(()), F::mvar_with(0));
        let inside = Rc::new(RefCell::new(0));
        let tasks: Vec<_> = (0..4)
            .map(|_| {
                let (lock, other, inside) = (lock.clone(), other.clone(), inside.clone());
                spawn(async move {
                    lock.take().await;
                    assert_eq!(inside.replace(1), 0, "two tasks are inside");
                    let value = other.read().await;
                    assert_eq!(other.replace(value + 1).await, Some(value));
                    inside.replace(0);
                    lock.put(()).await;
                })
            })
            .collect();
        for task in tasks {
            task.await.unwrap();
        }
        assert_eq!(other.try_take(), Some(4));
    });
}

fn two_mvars_are_a_rendezvous<F: Flavour>() {
    explore(|| async {
        let (request, reply) = (F::mvar(), F::mvar());
        let server = spawn({
            let (request, reply) = (request.clone(), reply.clone());
            async move {
                for _ in 0..5 {
                    let asked: u32 = request.take().await;
                    reply.put(asked * 2).await;
                }
            }
        });
        for asked in 0..5 {
            request.put(asked).await;
            assert_eq!(reply.take().await, asked * 2);
        }
        server.await.unwrap();
    });
}

/// A value promised to a waiting taker is not there for others, nor the room promised to a putter.
fn try_operations_overtake_nobody<F: Flavour>() {
    explore(|| async {
        let (mvar, line) = (F::mvar(), Rc::new(Line::default()));
        let waiting = Rc::new(RefCell::new(0));
        let takers: Vec<_> = (0..3)
            .map(|task| {
                let (mvar, line, waiting) = (mvar.clone(), line.clone(), waiting.clone());
                spawn(async move {
                    let mut take = pin!(mvar.take());
                    let mut parked = false;
                    let mut polls = 0;
                    poll_fn(|cx| {
                        polls += 1;
                        let polled = take.as_mut().poll(cx);
                        let now_parked = polls > 1 && polled.is_pending();
                        *waiting.borrow_mut() += i32::from(now_parked) - i32::from(parked);
                        parked = now_parked;
                        polled.map(|value| line.went.borrow_mut().push(value))
                    })
                    .await;
                    task
                })
            })
            .collect();
        let barger = spawn({
            let (mvar, waiting) = (mvar.clone(), waiting.clone());
            async move {
                for _ in 0..6 {
                    gossamer::yield_now().await;
                    let somebody_waits = *waiting.borrow() > 0;
                    if let Some(value) = mvar.try_take() {
                        assert!(!somebody_waits, "it took what was promised");
                        while mvar.try_put(value).is_err() {
                            gossamer::yield_now().await;
                        }
                    }
                }
            }
        });
        for value in 0..3 {
            mvar.put(value).await;
        }
        barger.await.unwrap();
        for taker in takers {
            taker.await.unwrap();
        }
        let mut taken = line.went.take();
        taken.sort_unstable();
        assert_eq!(taken, [0, 1, 2]);
    });
}
