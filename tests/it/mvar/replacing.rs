//! The relaxed put: what `replace` does to those who wait, and that it strands nobody.

use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::rc::Rc;

use gossamer_sim::spawn;

use super::Line;
use crate::exploring::{SCHEDULING_POINTS, exhaust, explore};
use crate::flavour::{Flavour, both};
use crate::tally::Tally;

both! {
    it_never_waits,
    what_it_replaces_comes_back_and_nothing_is_lost,
    waiting_takers_get_the_newest_value,
    waiting_putters_go_on_waiting_in_order,
    the_ring_with_replace,
    all_outcomes_of_a_small_case,
}

/// Under sim a replace is one scheduling point and then complete, whoever waits for whatever.
fn it_never_waits<F: Flavour>() {
    explore(|| async {
        let mvar = F::mvar();
        let others: Vec<_> = (0..4)
            .map(|task| {
                let mvar = mvar.clone();
                spawn(async move {
                    if task % 2 == 0 {
                        mvar.take().await;
                    } else {
                        mvar.put(task).await
                    }
                })
            })
            .collect();
        for value in 0..4 {
            let mut polls = 0;
            let mut replace = std::pin::pin!(mvar.replace(value));
            std::future::poll_fn(|cx| {
                polls += 1;
                replace.as_mut().poll(cx)
            })
            .await;
            assert_eq!(polls, if SCHEDULING_POINTS.get() { 2 } else { 1 });
            gossamer::yield_now().await;
        }
        for task in others {
            task.abort();
            let _ = task.await;
        }
    });
}

fn what_it_replaces_comes_back_and_nothing_is_lost<F: Flavour>() {
    explore(|| async {
        let (mvar, tally) = (F::mvar(), Tally::default());
        let out = Rc::new(Cell::new(0));
        let replacers: Vec<_> = (0..3)
            .map(|task| {
                let (mvar, tally, out) = (mvar.clone(), tally.clone(), out.clone());
                spawn(async move {
                    for round in 0..2 {
                        if let Some(old) = mvar.replace(tally.value(task * 2 + round)).await {
                            out.set(out.get() + old.id);
                        }
                    }
                })
            })
            .collect();
        let taker = spawn({
            let (mvar, out) = (mvar.clone(), out.clone());
            async move {
                let taken = mvar.take().await;
                out.set(out.get() + taken.id);
            }
        });
        for task in replacers {
            task.await.unwrap();
        }
        taker.await.unwrap();
        let left = mvar.try_take().map_or(0, |value| value.id);
        assert_eq!(out.get() + left, 1 + 2 + 3 + 4 + 5);
        assert_eq!((tally.living(), tally.cloned()), (0, 0));
    });
}

/// A taker that was promised a value finds the one that replaced it; nobody finds an old one.
fn waiting_takers_get_the_newest_value<F: Flavour>() {
    explore(|| async {
        let mvar = F::mvar();
        let taker = spawn({
            let mvar = mvar.clone();
            async move { mvar.take().await }
        });
        let mut newest = 0;
        let mut taken = None;
        for value in 1..6 {
            let before = mvar.replace(value).await;
            if before.is_none() && newest != 0 {
                taken = Some(newest);
                break;
            }
            assert_eq!(before, (newest != 0).then_some(newest));
            newest = value;
        }
        let value = taker.await.unwrap();
        assert_eq!(value, taken.unwrap_or(newest));
    });
}

/// The putters that a replace overtakes, also after they were woken, keep their order, and all complete.
fn waiting_putters_go_on_waiting_in_order<F: Flavour>() {
    const REPLACES: usize = 6;
    let overtaken = Cell::new(0);
    explore(|| async {
        let (mvar, line) = (F::mvar_with(100), Rc::new(Line::default()));
        let putters: Vec<_> = (0..3)
            .map(|id| {
                let (mvar, line) = (mvar.clone(), line.clone());
                spawn(async move { line.pass_overtaken(id, REPLACES, mvar.put(id)).await })
            })
            .collect();
        let mut out = Vec::new();
        for round in 0..REPLACES {
            if round % 2 == 0 {
                out.extend(mvar.try_take());
            }
            let (before, came) = (line.went.borrow().len(), line.came.borrow().len());
            let old = mvar.replace(100).await;
            let promised = old.is_none() && came > before && line.went.borrow().len() == before;
            overtaken.set(overtaken.get() + usize::from(promised));
            out.extend(old);
        }
        while out.iter().filter(|value| **value < 100).count() < 3 {
            out.push(mvar.take().await);
        }
        for putter in putters {
            putter.await.unwrap();
        }
        line.assert_served_in_order(3);
        out.retain(|value| *value < 100);
        assert_eq!(out, *line.went.borrow());
    });
    assert!(
        overtaken.get() > 1000,
        "a woken putter was overtaken only {} times",
        overtaken.get()
    );
}

/// The seed's ring, in small: the token is passed with `replace`, and nobody else holds one.
fn the_ring_with_replace<F: Flavour>() {
    const TASKS: usize = 5;
    explore(|| async {
        let ring: Rc<[_]> = (0..TASKS).map(|_| F::empty::<usize>()).collect();
        let tasks: Vec<_> = (0..TASKS)
            .map(|id| {
                let ring = ring.clone();
                spawn(async move {
                    loop {
                        let token = ring[id].take().await;
                        if token == 0 {
                            return id;
                        }
                        assert_eq!(ring[(id + 1) % TASKS].replace(token - 1).await, None);
                    }
                })
            })
            .collect();
        assert_eq!(ring[0].replace(12).await, None);
        assert_eq!(
            tasks.into_iter().nth(12 % TASKS).unwrap().await.unwrap(),
            12 % TASKS
        );
    });
}

/// One put, one replace, one take on an empty mvar: exactly these outcomes, in all schedules.
fn all_outcomes_of_a_small_case<F: Flavour>() {
    let outcomes = RefCell::new(HashSet::new());
    exhaust(|| async {
        let mvar = F::mvar();
        let put = spawn({
            let mvar = mvar.clone();
            async move { mvar.put('p').await }
        });
        let replace = spawn({
            let mvar = mvar.clone();
            async move { mvar.replace('r').await }
        });
        let taken = mvar.take().await;
        let old = replace.await.unwrap();
        put.await.unwrap();
        outcomes.borrow_mut().insert((taken, old, mvar.try_take()));
    });
    let expected = [
        ('p', None, Some('r')),
        ('r', None, Some('p')),
        ('r', Some('p'), None),
    ];
    assert_eq!(outcomes.into_inner(), HashSet::from(expected));
}
