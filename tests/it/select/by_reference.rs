//! A branch by reference lives on after its select. It waits nowhere then, and keeps nothing from others.

use std::cell::Cell;
use std::future::pending;
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use gossamer::channel::{join_pattern, rendezvous, unbounded};
use gossamer::sync::{Condvar, FairMutex, Mutex, OnceCell, RwLock, Semaphore};
use gossamer::{TimeoutExt, limit::ConcurrencyLimit, select, yield_now};
use gossamer_sim::spawn;

use crate::bad_wakers::{may_fail, panics_in_drop};
use crate::exploring::explore_flavour;
use crate::flavour::both;
use crate::hand::{Hand, parked, ready};
use crate::ports::Sets;

both! {
    a_place_for_a_message,
    a_call_for_a_message,
    the_value_of_an_mvar,
    a_port_of_a_set,
    tasks_that_send_what_they_have_begun_to_send,
}

/// One of ours, by reference, in a select that waits.
macro_rules! waits {
    ($operation:expr, $stopped:expr) => {
        parked(async {
            select! {
                biased;
                _ = $stopped.recv() => {}
                _ = $operation => panic!("it was not polled"),
            }
        })
    };
}

/// Both operations wait for what `give` gives. A select that has the first by reference takes another branch, or is
/// dropped: the second one goes on. The first one does so afterwards. `take` takes before, so that they wait. (A macro, as
/// a select in a function of any future does not know whose it is.)
macro_rules! passes_on {
    ($first:expr, $second:expr, $give:expr) => {
        passes_on!($first, $second, || {}, $give)
    };
    ($first:expr, $second:expr, $take:expr, $give:expr) => {{
        let (stop, stopped) = unbounded();
        let (take, give) = ($take, $give);
        let mut first = pin!($first);
        take();
        let mut select = waits!(first.as_mut(), stopped);
        let mut second = parked($second);
        give();
        stop.try_send(()).unwrap();
        assert_eq!(select.poll(), Poll::Ready(()));
        assert!(second.wakes() > 0, "it waits for what nobody uses");
        drop(select);
        let got = ready(second.poll());
        drop((got, second));
        take();
        drop(waits!(&mut first, stopped));
        let mut select = waits!(first.as_mut().timeout(Duration::from_secs(1)), stopped);
        give();
        stop.try_send(()).unwrap();
        assert_eq!(select.poll(), Poll::Ready(()));
        drop(select);
        let _got = ready(Hand::new(first).poll());
    }};
}

fn a_place_for_a_message<F: Sets>() {
    let (tx, rx) = F::channel(1);
    let (mut one, mut two) = (Some(1), Some(2));
    for by_send in [true, false] {
        tx.try_send(0).unwrap();
        let give = || assert!(rx.try_recv().is_ok());
        if by_send {
            passes_on!(tx.send(1), tx.send(2), give);
        } else {
            passes_on!(tx.send_from(&mut one), tx.send_from(&mut two), give);
        }
        assert_eq!(rx.try_recv(), Ok(1));
    }
    assert_eq!((one, two), (None, None));
}

fn a_call_for_a_message<F: Sets>() {
    for capacity in [0, 1] {
        let (tx, rx) = F::channel(capacity);
        passes_on!(rx.recv(), rx.recv(), || tx.try_send(()).unwrap());
        let (mut one, mut two) = (Vec::new(), Vec::new());
        let (first, second) = (rx.recv_many(&mut one, 1), rx.recv_many(&mut two, 1));
        passes_on!(first, second, || tx.try_send(()).unwrap());
        assert_eq!((one.len(), two.len()), (1, 1));
    }
    let ((tx, rx), (other, others)) = (F::channel(1), F::channel(1));
    other.try_send(()).unwrap();
    let joins = join_pattern((&rx, &others));
    passes_on!(joins, rx.recv(), || tx.try_send(()).unwrap());
}

fn the_value_of_an_mvar<F: Sets>() {
    let mvar = F::empty();
    let (put, take) = (
        || mvar.try_put(1).unwrap(),
        || assert!(mvar.try_take().is_some()),
    );
    passes_on!(mvar.take(), mvar.take(), put);
    put();
    passes_on!(mvar.put(2), mvar.put(3), take);
    take();
    passes_on!(mvar.read(), mvar.take(), put);
}

fn a_port_of_a_set<F: Sets>() {
    let (set, (tx, rx)) = (F::set(), F::channel(9));
    set.add(rx).unwrap();
    passes_on!(set.recv(), set.recv(), || tx.try_send(()).unwrap());
    let (mut one, mut two) = (Vec::new(), Vec::new());
    let (first, second) = (set.recv_many(&mut one, 1), set.recv_many(&mut two, 1));
    passes_on!(first, second, || tx.try_send(()).unwrap());
}

#[test]
fn a_lock_or_a_permit() {
    let (mutex, fair) = (Mutex::new(()), FairMutex::new(()));
    let held = Cell::new(None);
    let take = || held.set(mutex.try_lock().ok());
    passes_on!(mutex.lock(), mutex.lock(), take, || drop(held.take()));
    let held = Cell::new(None);
    let take = || held.set(fair.try_lock().ok());
    passes_on!(fair.lock(), fair.lock(), take, || drop(held.take()));
    let lock = RwLock::new(());
    let held = Cell::new(None);
    let take = || held.set(lock.try_write().ok());
    passes_on!(lock.write(), lock.write(), take, || drop(held.take()));
    passes_on!(lock.read(), lock.write(), take, || drop(held.take()));
    let permits = Semaphore::new(0);
    let (one, two) = (permits.acquire_many(2), permits.acquire_many(2));
    let take = || {
        if let Ok(permit) = permits.try_acquire_many(2) {
            permit.forget();
        }
    };
    passes_on!(one, two, take, || permits.add_permits(2));
    let limit = ConcurrencyLimit::new(1);
    let held = Cell::new(None);
    let take = || held.set(limit.try_acquire());
    passes_on!(limit.acquire(), limit.acquire(), take, || drop(held.take()));
}

/// The making of a value. One that has begun to make it keeps that.
#[test]
fn the_making_of_a_value() {
    let passes_on = |cell: &OnceCell<u32>| {
        let (stop, stopped) = unbounded();
        let mut maker = Box::pin(cell.get_or_init(pending));
        drop(waits!(maker.as_mut(), stopped));
        let mut first = pin!(cell.get_or_try_init(async || Err(())));
        let mut select = waits!(first.as_mut(), stopped);
        let mut second = parked(cell.get_or_init(async || 2));
        drop(maker);
        stop.try_send(()).unwrap();
        assert_eq!(select.poll(), Poll::Ready(()));
        assert_eq!(
            second.poll(),
            Poll::Ready(&2),
            "it waits for what nobody makes"
        );
        drop(select);
        assert_eq!(Hand::new(first).poll(), Poll::Ready(Ok(&2)));
    };
    passes_on(&OnceCell::new());
    let (cell, (stop, stopped), (tx, rx)) = (OnceCell::new(), unbounded(), rendezvous());
    let mut maker = pin!(cell.get_or_try_init(async || rx.recv().await));
    let mut select = waits!(&mut maker, stopped);
    let mut other = parked(cell.get_or_init(async || 2));
    stop.try_send(()).unwrap();
    assert_eq!(select.poll(), Poll::Ready(()));
    drop(select);
    assert!(other.poll().is_pending());
    tx.try_send(1).unwrap();
    assert_eq!(Hand::new(maker).poll(), Poll::Ready(Ok(&1)));
    assert_eq!(other.poll(), Poll::Ready(&1));
}

/// Each begins to send, sends something else when that has lost, and goes on with the first one: none waits for ever, and
/// each message comes once.
fn tasks_that_send_what_they_have_begun_to_send<F: Sets>() {
    explore_flavour::<F, _>(|seed| async move {
        let (tx, rx) = F::channel((seed % 3) as usize);
        let receives = spawn(async move {
            let mut got = Vec::new();
            while let Ok(number) = rx.recv().await {
                got.push(number);
            }
            got
        });
        for task in 0..3 {
            let tx = tx.clone();
            let _sends = spawn(async move {
                let mut first = pin!(tx.send(10 * task));
                let mut yields = 0;
                let sent = select! {
                    sent = &mut first => Some(sent),
                    () = async {
                        while yields < (seed >> (2 * task)) % 4 {
                            yields += 1;
                            yield_now().await;
                        }
                    } => None,
                };
                tx.send(10 * task + 1).await.unwrap();
                if sent.is_none() {
                    first.await.unwrap();
                }
            });
        }
        drop(tx);
        let mut got = receives.await.unwrap();
        got.sort_unstable();
        assert_eq!(got, [0, 1, 10, 11, 20, 21]);
    });
}

/// The mutex goes to others, and the notification does not.
#[test]
fn a_notification_and_its_mutex() {
    let (mutex, condvar, (stop, stopped)) = (FairMutex::new(()), Condvar::new(), unbounded());
    let mut first = pin!(condvar.notified(mutex.try_lock().unwrap()));
    let mut select = waits!(first.as_mut(), stopped);
    let held = mutex.try_lock();
    condvar.notify_one();
    assert!(select.poll().is_pending());
    let mut second = parked(mutex.lock());
    drop(held);
    stop.try_send(()).unwrap();
    assert_eq!(select.poll(), Poll::Ready(()));
    drop(select);
    drop(ready(second.poll()));
    drop(ready(Hand::new(first).poll()));
}

/// A waker that panics keeps nothing from the branches behind it, and what an operation asked for stays the same.
#[test]
fn though_a_waker_panics() {
    let permits = Semaphore::new(5);
    let held = permits.try_acquire_many(5);
    let (tx, rx) = rendezvous();
    let mut acquire = pin!(permits.acquire_many(5));
    let mut receive = pin!(rx.recv());
    let mut select = Hand::new(async {
        select! {
            _ = acquire.as_mut() => {}
            _ = receive.as_mut() => {}
        }
    });
    assert!(select.poll_with(&panics_in_drop()).is_pending());
    let mut later = parked(rx.recv());
    may_fail(move || drop(select));
    assert_eq!(tx.try_send(1), Ok(()));
    assert_eq!(later.poll(), Poll::Ready(Ok(1)));
    let mut acquire = parked(acquire);
    drop(held);
    let _permits = ready(acquire.poll());
    assert_eq!(permits.available_permits(), 0);
}

/// Oxide's RFD 609: a lock by reference loses, and the body of the branch that is taken wants the same lock.
#[test]
fn no_futurelock() {
    let (mutex, (stop, stopped)) = (FairMutex::new(0), unbounded());
    let guard = mutex.try_lock().unwrap();
    let mut waits = parked(async {
        let mut lock = pin!(mutex.lock());
        select! {
            biased;
            _ = stopped.recv() => *mutex.lock().await += 1,
            _ = &mut lock => panic!("the other one is first"),
        }
        *lock.await += 1;
    });
    drop(guard);
    stop.try_send(()).unwrap();
    assert_eq!(waits.poll(), Poll::Ready(()), "it waits for itself");
    drop(waits);
    assert_eq!(*mutex.try_lock().unwrap(), 2);
}
