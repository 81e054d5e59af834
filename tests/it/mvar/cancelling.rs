//! Cancellation: an operation dropped after any number of polls, in any position, loses nothing.
//!
//! Every value is counted. In the end the accepted ones are those received plus those still there;
//! a put that was dropped has dropped its value with it; and nobody who could go on is left waiting
//! (the quiescence check sees to that).

use std::cell::RefCell;
use std::future::poll_fn;
use std::rc::Rc;
use std::task::Poll;

use gossamer_sim::{Sim, spawn};

use crate::exploring::{Cut, abort_all, exhaust_each_step, explore, explore_seeded, quiet};
use crate::flavour::{Flavour, SharedMVar, both};
use crate::tally::{Tally, Value};

both! {
    a_read_dropped_after_any_poll,
    a_swap_dropped_after_any_poll,
    a_replace_dropped_after_any_poll,
    any_task_aborted_at_any_time,
    every_small_case,
    an_operation_that_was_never_polled_does_nothing,
    an_operation_moves_between_tasks,
}

/// What became of the values.
#[derive(Clone, Default)]
struct Books {
    tally: Tally,
    accepted: Rc<RefCell<Vec<u32>>>,
    received: Rc<RefCell<Vec<u32>>>,
}

impl Books {
    async fn put<F: Flavour>(&self, mvar: &SharedMVar<F, Value>, id: u32) {
        let put = mvar.put(self.tally.value(id));
        put.await;
        self.accept(id);
    }

    fn accept(&self, id: u32) {
        self.accepted.borrow_mut().push(id);
    }

    async fn take<F: Flavour>(&self, mvar: &SharedMVar<F, Value>) {
        let value = mvar.take().await;
        self.receive(Some(value));
    }

    fn receive(&self, value: Option<Value>) {
        self.received
            .borrow_mut()
            .extend(value.map(|value| value.id));
    }

    /// Nobody uses the mvar any more.
    fn balance<F: Flavour>(&self, mvar: &SharedMVar<F, Value>) {
        let left = mvar.try_take();
        assert_eq!(
            self.tally.living(),
            usize::from(left.is_some()),
            "values that are still alive"
        );
        self.receive(left);
        let (mut accepted, mut received) = (self.accepted.take(), self.received.take());
        accepted.sort_unstable();
        received.sort_unstable();
        assert_eq!(accepted, received, "accepted, and received or left");
        assert_eq!(self.tally.living(), 0);
    }
}

/// Two tasks that take, two that put; and one operation that is dropped at `cut`.
async fn among_others<F, O>(
    cut: Cut,
    operation: impl Fn(Books, SharedMVar<F, Value>) -> O + 'static,
) where
    F: Flavour,
    O: Future + 'static,
{
    let (mvar, books) = (F::mvar(), Books::default());
    let cancelled = spawn({
        let operation = operation(books.clone(), mvar.clone());
        async move { drop(cut.apply(operation).await) }
    });
    let takers = (0..2).map(|_| {
        let (mvar, books) = (mvar.clone(), books.clone());
        spawn(async move { books.take::<F>(&mvar).await })
    });
    let putters = (0..3).map(|id| {
        let (mvar, books) = (mvar.clone(), books.clone());
        spawn(async move { books.put::<F>(&mvar, id).await })
    });
    let tasks: Vec<_> = takers.chain(putters).chain([cancelled]).collect();
    quiet().await;
    abort_all(tasks).await;
    drop(operation);
    books.balance::<F>(&mvar);
}

/// Each cut has its share of the seeds.
fn dropped_after_any_poll<F: Flavour>(kind: u32) {
    explore_seeded(Sim::new(), |seed| {
        let cut = Cut::nth(seed);
        among_others::<F, _>(cut, move |books, mvar| operation::<F>(kind, books, mvar))
    });
}

fn a_read_dropped_after_any_poll<F: Flavour>() {
    dropped_after_any_poll::<F>(2);
}

fn a_swap_dropped_after_any_poll<F: Flavour>() {
    dropped_after_any_poll::<F>(3);
}

fn a_replace_dropped_after_any_poll<F: Flavour>() {
    dropped_after_any_poll::<F>(4);
}

/// Abort, unlike a cut, comes from outside: also while the task is in the run queue.
fn any_task_aborted_at_any_time<F: Flavour>() {
    explore(|| async {
        let (mvar, books) = (F::mvar(), Books::default());
        let tasks: Vec<_> = (0..6)
            .map(|id| {
                let (mvar, books) = (mvar.clone(), books.clone());
                spawn(async move {
                    for round in 0..2 {
                        match id % 3 {
                            0 => books.take::<F>(&mvar).await,
                            1 => books.put::<F>(&mvar, id * 2 + round).await,
                            _ => drop(mvar.read().await),
                        }
                    }
                })
            })
            .collect();
        for task in &tasks {
            gossamer::yield_now().await;
            task.abort();
        }
        for task in tasks {
            let _ = task.await;
        }
        books.balance::<F>(&mvar);
    });
}

/// One taker, one putter and one operation that is cut, at every cut, in all schedules.
fn every_small_case<F: Flavour>() {
    for cut in Cut::all() {
        for kind in 0..5 {
            exhaust_each_step(|| async move {
                let (mvar, books) = (F::mvar(), Books::default());
                let taker = spawn({
                    let (mvar, books) = (mvar.clone(), books.clone());
                    async move { books.take::<F>(&mvar).await }
                });
                let putter = spawn({
                    let (mvar, books) = (mvar.clone(), books.clone());
                    async move { books.put::<F>(&mvar, 1).await }
                });
                let cancelled = spawn({
                    let (mvar, books) = (mvar.clone(), books.clone());
                    async move {
                        cut.apply(operation::<F>(kind, books, mvar)).await;
                    }
                });
                quiet().await;
                abort_all(vec![taker, putter, cancelled]).await;
                books.balance::<F>(&mvar);
            });
        }
    }
}

async fn operation<F: Flavour>(kind: u32, books: Books, mvar: SharedMVar<F, Value>) {
    match kind {
        0 => books.take::<F>(&mvar).await,
        1 => books.put::<F>(&mvar, 9).await,
        2 => drop(mvar.read().await),
        3 => {
            let old = mvar.swap(books.tally.value(9)).await;
            books.accept(9);
            books.receive(Some(old));
        }
        _ => {
            let old = mvar.replace(books.tally.value(9)).await;
            books.accept(9);
            books.receive(old);
        }
    }
}

fn an_operation_that_was_never_polled_does_nothing<F: Flavour>() {
    let tally = Tally::default();
    let mvar: SharedMVar<F, Value> = F::mvar_with(tally.value(0));
    drop(mvar.take());
    drop(mvar.read());
    drop(mvar.put(tally.value(1)));
    drop(mvar.swap(tally.value(2)));
    drop(mvar.replace(tally.value(3)));
    assert_eq!((tally.dropped(), tally.cloned()), (3, 0));
    assert_eq!(mvar.try_take().map(|value| value.id), Some(0));
    assert_eq!(tally.living(), 0);
}

/// Parked in one task, finished or dropped in another: the one that polled last is woken.
fn an_operation_moves_between_tasks<F: Flavour>() {
    explore(|| async {
        let (mvar, hand_over) = (F::mvar(), F::mvar());
        let first = spawn({
            let (mvar, hand_over) = (mvar.clone(), hand_over.clone());
            async move {
                let mut take = Box::pin(async move { mvar.take().await });
                for _ in 0..2 {
                    let polled = poll_fn(|cx| Poll::Ready(take.as_mut().poll(cx))).await;
                    if let Poll::Ready(value) = polled {
                        return Some(value);
                    }
                    gossamer::yield_now().await;
                }
                hand_over.put(take).await;
                None
            }
        });
        let second = spawn(async move { hand_over.take().await.await });
        mvar.put(5).await;
        match first.await.unwrap() {
            Some(value) => {
                assert_eq!(value, 5);
                second.abort();
                let _ = second.await;
            }
            None => assert_eq!(second.await.unwrap(), 5),
        }
    });
}
