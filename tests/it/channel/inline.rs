//! A receiver of one thread that waits inline: it changes hands, is dropped, forgotten or overtaken, before and after it
//! was called.

use std::cell::RefCell;
use std::future::{pending, poll_fn};
use std::pin::Pin;
use std::rc::Rc;
use std::task::Poll;

use gossamer::runtime::LocalScope;
use gossamer::{JoinHandle, Model, Runtime, raw, yield_now};

use super::Channels;
use crate::flavour::Local;
use crate::tally::{Tally, Value};

type Sender = raw::channel::Sender<Value, raw::Local>;
type Receiver = raw::channel::Receiver<Value, raw::Local>;
type Receiving = Pin<Box<dyn Future<Output = u32>>>;

/// A channel that has memory, so that a receiver waits inline.
fn used(tally: &Tally) -> (Sender, Receiver) {
    let (tx, rx) = Local::channel(1);
    assert!(tx.try_send(tally.value(0)).is_ok() && rx.try_recv().is_ok());
    (tx, rx)
}

/// An operation that a task of its own has parked, and that task. It waits for something else if it `lives`, or has ended.
async fn parked(scope: &LocalScope, rx: &Receiver, lives: bool) -> (Receiving, JoinHandle<()>) {
    let slot = Rc::new(RefCell::new(None));
    let (filled, rx) = (slot.clone(), rx.clone());
    let task = scope.spawn_local(async move {
        let mut receiving: Receiving = Box::pin(async move { rx.recv().await.unwrap().id });
        assert!(once(&mut receiving).await.is_pending());
        filled.replace(Some(receiving));
        if lives {
            pending::<()>().await;
        }
    });
    while slot.borrow().is_none() {
        yield_now().await;
    }
    (slot.take().expect("it was put there"), task)
}

async fn once(receiving: &mut Receiving) -> Poll<u32> {
    poll_fn(|cx| Poll::Ready(receiving.as_mut().poll(cx))).await
}

/// Runs `test`, and counts what it has made.
fn run<T: Future<Output = ()>>(test: impl FnOnce(LocalScope, Tally) -> T) {
    let tally = Tally::default();
    let rt = Runtime::builder().model(Model::Single).build().unwrap();
    rt.block_on_local(|scope| test(scope.clone(), tally.clone()));
    drop(rt);
    assert_eq!(tally.living(), 0);
}

#[test]
fn another_task_completes_it() {
    run(|scope, tally| async move {
        for (lives, polled_before) in [(true, true), (true, false), (false, true), (false, false)] {
            let (tx, rx) = used(&tally);
            let (mut moved, _task) = parked(&scope, &rx, lives).await;
            if polled_before {
                assert!(once(&mut moved).await.is_pending());
            }
            tx.send(tally.value(1)).await.unwrap();
            assert_eq!(once(&mut moved).await, Poll::Ready(1));
            // What the first task is woken for is gone.
            yield_now().await;
            assert!(rx.is_empty());
        }
    });
}

#[test]
fn dropped_it_leaves_the_message() {
    run(|scope, tally| async move {
        for lives in [true, false] {
            let (tx, rx) = used(&tally);
            let (dropped, _task) = parked(&scope, &rx, lives).await;
            drop(dropped);
            tx.send(tally.value(1)).await.unwrap();
            assert_eq!(rx.recv().await.unwrap().id, 1);

            let (dropped, _task) = parked(&scope, &rx, lives).await;
            tx.send(tally.value(2)).await.unwrap();
            drop(dropped);
            assert_eq!(rx.len(), 1);
            assert_eq!(rx.recv().await.unwrap().id, 2);
        }
    });
}

#[test]
fn the_last_receiver_goes_with_the_message() {
    run(|scope, tally| async move {
        let (tx, rx) = used(&tally);
        let (dropped, _task) = parked(&scope, &rx, true).await;
        tx.send(tally.value(1)).await.unwrap();
        drop(dropped);
        drop(rx);
        assert_eq!(tally.living(), 0);
        assert!(tx.send(tally.value(2)).await.is_err());
    });
}

#[test]
fn forgotten_it_leaves_the_message() {
    run(|scope, tally| async move {
        let (tx, rx) = used(&tally);
        let (forgotten, _task) = parked(&scope, &rx, false).await;
        std::mem::forget(forgotten);
        tx.send(tally.value(1)).await.unwrap();
        assert_eq!(rx.try_recv().unwrap().id, 1);
    });
}

#[test]
fn one_that_was_overtaken_waits_beside_the_next() {
    run(|scope, tally| async move {
        let (tx, rx) = used(&tally);
        let (mut first, _task) = parked(&scope, &rx, true).await;
        tx.send(tally.value(1)).await.unwrap();
        assert_eq!(rx.try_recv().unwrap().id, 1);
        let (mut second, _other) = parked(&scope, &rx, true).await;
        tx.send(tally.value(2)).await.unwrap();
        let got = [once(&mut first).await, once(&mut second).await];
        assert_eq!(got.iter().filter(|got| got.is_ready()).count(), 1);
        assert!(got.contains(&Poll::Ready(2)));
        tx.send(tally.value(3)).await.unwrap();
        let mut other = if got[0].is_ready() { second } else { first };
        assert_eq!(once(&mut other).await, Poll::Ready(3));
    });
}

#[test]
fn several_are_called_in_one_poll() {
    run(|scope, tally| async move {
        let channels: Vec<_> = (0..4).map(|_| used(&tally)).collect();
        let waiting: Vec<_> = channels
            .iter()
            .map(|(_, rx)| {
                let rx = rx.clone();
                scope.spawn_local(async move { rx.recv().await.unwrap().id })
            })
            .collect();
        yield_now().await;
        for (number, (tx, _)) in (0..).zip(&channels) {
            tx.send(tally.value(number)).await.unwrap();
        }
        for (number, waiting) in (0..).zip(waiting) {
            assert_eq!(waiting.await.unwrap(), number);
        }
    });
}
