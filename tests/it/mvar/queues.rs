//! The two lines: first come, first served; the one that is woken completes.

use std::rc::Rc;

use gossamer_sim::spawn;

use super::Line;
use crate::exploring::explore;
use crate::flavour::{Flavour, both};
use crate::tally::{Tally, Value};

both! {
    each_line_is_served_in_order_of_arrival,
    values_come_out_in_the_order_they_went_in,
    takes_reads_and_swaps_share_one_line,
    one_value_serves_all_readers,
    two_mvars_are_a_rendezvous,
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
