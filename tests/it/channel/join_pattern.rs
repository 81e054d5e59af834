//! Receiving from several channels at once, or from none.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake};

use gossamer::Wait;
use gossamer::channel::{Closed, PortSet, bounded, join_pattern, unbounded};
use gossamer_sim::{Sim, spawn};

use super::Channels;
use crate::exploring::{Cut, abort_all, exhaust_flavour, explore_seeded, quiet};
use crate::flavour::both;
use crate::hand::parked;
use crate::models::{MODELS, runtime, watched};

both! {
    it_takes_all_or_none,
    others_may_take_meanwhile,
    a_closed_channel,
    a_channel_that_closes_where_others_are_missing_too,
    a_channel_that_is_over_when_another_receiver_has_emptied_it,
    receivers_and_joins_are_told_of_the_same_end,
    a_join_that_waited_for_an_end_leaves_nothing_behind,
    a_sender_that_is_let_go_uses_the_other_channel,
    senders_that_wait_go_on,
    a_join_dropped_after_any_poll,
    joins_that_cross,
    a_small_case,
    a_small_end,
}

fn it_takes_all_or_none<F: Channels>() {
    let ((a, ones), (b, twos), (c, threes)) =
        (F::channel(9), F::channel(1), F::channel(usize::MAX));
    let mut waits = parked(join_pattern((&ones, &twos, &threes)));
    a.try_send(1).unwrap();
    c.try_send('c').unwrap();
    assert!(waits.poll().is_pending());
    assert_eq!((ones.len(), threes.len()), (1, 1));
    b.try_send("b").unwrap();
    assert_eq!(waits.poll(), Poll::Ready(Ok((1, "b", 'c'))));
    assert!(ones.is_empty() && twos.is_empty() && threes.is_empty());
}

/// A message for which a join waits is not kept from others, and a receiver that stands behind it is called too.
fn others_may_take_meanwhile<F: Channels>() {
    let ((a, ones), (b, twos)) = (F::channel(9), F::channel(9));
    let mut joins = parked(join_pattern((&ones, &twos)));
    let mut receives = parked(ones.recv());
    a.try_send(1).unwrap();
    assert!(joins.poll().is_pending());
    assert_eq!(receives.poll(), Poll::Ready(Ok(1)));
    b.try_send(2).unwrap();
    assert!(joins.poll().is_pending());
    a.try_send(3).unwrap();
    assert_eq!(joins.poll(), Poll::Ready(Ok((3, 2))));
    // It waited at the first; dropped, it passes the call on.
    let joins = parked(join_pattern((&ones, &twos)));
    let mut receives = parked(ones.recv());
    a.try_send(4).unwrap();
    assert_eq!((joins.wakes(), receives.wakes()), (1, 0));
    drop(joins);
    assert_eq!(receives.poll(), Poll::Ready(Ok(4)));
}

fn a_closed_channel<F: Channels>() {
    let ((a, ones), (b, twos)) = (F::channel(1), F::channel::<i32>(1));
    a.try_send(1).unwrap();
    let mut waits = parked(join_pattern((&ones, &twos)));
    drop(b);
    assert_eq!(waits.poll(), Poll::Ready(Err(Closed)));
    assert_eq!(ones.try_recv(), Ok(1));
}

fn a_channel_that_closes_where_others_are_missing_too<F: Channels>() {
    for closed in 0..2 {
        let ((a, ones), (b, twos)) = (F::channel::<i32>(1), F::channel::<i32>(1));
        let mut waits = parked(join_pattern((&ones, &twos)));
        let mut senders = vec![a, b];
        drop(senders.remove(closed));
        assert_eq!(waits.poll(), Poll::Ready(Err(Closed)));
    }
}

/// It had a message when the join began to wait elsewhere; another receiver takes that, before the last sender goes or
/// after.
fn a_channel_that_is_over_when_another_receiver_has_emptied_it<F: Channels>() {
    let (third, thirds) = F::channel(usize::MAX);
    for case in 0..16 {
        let capacity = if case & 1 == 0 { 1 } else { usize::MAX };
        let ((a, ones), (_b, twos)) = (F::channel(capacity), F::channel::<i32>(1));
        a.try_send(1).unwrap();
        let mut waits = parked(join_pattern((&ones, &twos)));
        let mut last = Some(a);
        if case & 2 == 0 {
            drop(last.take());
        }
        assert_eq!(waits.wakes(), 0);
        third.try_send(3).unwrap();
        let mut many = Vec::new();
        match case / 4 {
            0 => assert_eq!(ones.try_recv(), Ok(1)),
            1 => assert_eq!(ones.recv().wait(), Ok(1)),
            2 => assert_eq!(ones.recv_many(&mut many, 9).wait(), Ok(1)),
            _ => assert_eq!(join_pattern((&thirds, &ones)).wait(), Ok((3, 1))),
        }
        drop(last);
        assert_eq!(waits.wakes(), 1, "case {case}");
        assert_eq!(waits.poll(), Poll::Ready(Err(Closed)));
    }
    // What was offered has been taken.
    let ((a, ones), (_b, twos)) = (F::channel(0), F::channel::<i32>(1));
    let mut offers = parked(a.send(1));
    let mut waits = parked(join_pattern((&ones, &twos)));
    assert_eq!(ones.try_recv(), Ok(1));
    assert_eq!(offers.poll(), Poll::Ready(Ok(())));
    drop(offers);
    drop(a);
    assert_eq!((waits.wakes(), waits.poll()), (1, Poll::Ready(Err(Closed))));
}

/// Joins that wait for another channel are not told of messages, though of the end, together with the receivers there;
/// those that have gone meanwhile are not missed.
fn receivers_and_joins_are_told_of_the_same_end<F: Channels>() {
    let ((a, ones), (_b, twos)) = (F::channel(9), F::channel::<i32>(9));
    a.try_send(1).unwrap();
    let mut joins: Vec<_> = (0..3)
        .map(|_| parked(join_pattern((&ones, &twos))))
        .collect();
    for number in 2..9 {
        a.try_send(number).unwrap();
        assert_eq!(ones.try_recv(), Ok(number - 1));
    }
    assert_eq!(ones.try_recv(), Ok(8));
    let (mut first, mut second) = (parked(ones.recv()), parked(ones.recv()));
    a.try_send(9).unwrap();
    drop(joins.remove(1));
    drop(a);
    assert!(joins.iter().all(|join| join.wakes() == 0));
    assert_eq!((first.wakes(), second.wakes()), (1, 0));
    assert_eq!(first.poll(), Poll::Ready(Ok(9)));
    assert_eq!(
        (second.wakes(), second.poll()),
        (1, Poll::Ready(Err(Closed)))
    );
    for join in &mut joins {
        assert_eq!((join.wakes(), join.poll()), (1, Poll::Ready(Err(Closed))));
    }
}

/// Another channel gets its message at last: the join does not wait for the end any more.
fn a_join_that_waited_for_an_end_leaves_nothing_behind<F: Channels>() {
    let ((a, ones), (b, twos)) = (F::channel(9), F::channel(9));
    a.try_send(1).unwrap();
    let mut waits = parked(join_pattern((&ones, &twos)));
    b.try_send(2).unwrap();
    assert_eq!((waits.wakes(), waits.poll()), (1, Poll::Ready(Ok((1, 2)))));
    a.try_send(3).unwrap();
    drop((parked(join_pattern((&ones, &twos))), a));
    assert_eq!(ones.try_recv(), Ok(3));
    assert_eq!(join_pattern((&ones, &twos)).wait(), Err(Closed));
}

/// A sender's waker is called by the join, and uses the channel of the other sender, whose message has been taken too.
fn a_sender_that_is_let_go_uses_the_other_channel<F: Channels>() {
    thread_local! {
        static LEFT: Cell<usize> = const { Cell::new(usize::MAX) };
        static USE: RefCell<Option<Box<dyn Fn()>>> = const { RefCell::new(None) };
    }
    struct Uses;
    impl Wake for Uses {
        fn wake(self: Arc<Self>) {
            USE.with_borrow(|uses| uses.as_ref().expect("it is there")());
        }
    }
    let ((a, ones), (b, twos)) = (F::channel(0), F::channel(0));
    let (mut first, mut second) = (parked(a.send(1)), parked(b.send(2)));
    let other = twos.clone();
    USE.set(Some(Box::new(move || LEFT.set(other.try_iter().count()))));
    assert!(first.poll_with(&Arc::new(Uses).into()).is_pending());
    assert_eq!(join_pattern((&ones, &twos)).wait(), Ok((1, 2)));
    assert_eq!(LEFT.get(), 0);
    assert_eq!(first.poll(), Poll::Ready(Ok(())));
    assert_eq!(second.poll(), Poll::Ready(Ok(())));
    USE.set(None);
}

fn senders_that_wait_go_on<F: Channels>() {
    let ((a, ones), (b, twos)) = (F::channel(0), F::channel(1));
    b.try_send(2).unwrap();
    let (mut offers, mut waits) = (parked(a.send(1)), parked(b.send(3)));
    assert_eq!(join_pattern((&ones, &twos)).wait(), Ok((1, 2)));
    assert_eq!(offers.poll(), Poll::Ready(Ok(())));
    assert_eq!(waits.poll(), Poll::Ready(Ok(())));
    assert_eq!(twos.try_recv(), Ok(3));
}

#[test]
#[should_panic(expected = "there twice")]
fn a_channel_that_is_there_twice() {
    let (_tx, rx) = unbounded::<i32>();
    let clone = rx.clone();
    drop(join_pattern((&rx, &clone)));
}

const CAPACITIES: [usize; 3] = [0, 1, usize::MAX];

/// A join that is cut among other receivers: what it did not take is there.
fn a_join_dropped_after_any_poll<F: Channels>() {
    explore_seeded(Sim::new(), |seed| async move {
        let capacity = |number: u64| CAPACITIES[(seed / 8 / number % 3) as usize];
        let ((a, ones), (b, twos)) = (F::channel(capacity(1)), F::channel(capacity(3)));
        let got = Rc::new(RefCell::new(Vec::new()));
        let mut tasks = vec![
            spawn(async move { a.send(1).await.unwrap() }),
            spawn(async move { b.send(2).await.unwrap() }),
        ];
        let (own, into) = ((ones.clone(), twos.clone()), got.clone());
        tasks.push(spawn(async move {
            let both = Cut::nth(seed).apply(join_pattern((&own.0, &own.1))).await;
            if let Some(Ok((one, two))) = both {
                into.borrow_mut().extend([one, two]);
            }
        }));
        for rx in [ones, twos] {
            let into = got.clone();
            tasks.push(spawn(async move {
                let message = rx.recv().await;
                into.borrow_mut().extend(message);
            }));
        }
        quiet().await;
        abort_all(tasks).await;
        let mut got = got.take();
        got.sort_unstable();
        assert_eq!(got, [1, 2]);
    });
}

/// Joins that share channels in a ring take all, each as often as the others' leftovers allow, and nobody has a part.
fn joins_that_cross<F: Channels>() {
    explore_seeded(Sim::new(), |seed| async move {
        let capacity = |number: u64| CAPACITIES[(seed / number % 3) as usize];
        let channels = [1, 3, 9].map(|number| F::channel::<u32>(capacity(number)));
        let joined = Rc::new(RefCell::new(Vec::new()));
        let mut tasks = Vec::new();
        for (at, (tx, rx)) in channels.iter().enumerate() {
            let (tx, rx, next) = (tx.clone(), rx.clone(), channels[(at + 1) % 3].1.clone());
            tasks.push(spawn(async move {
                for number in 0..2 {
                    tx.send(10 * at as u32 + number).await.unwrap();
                }
            }));
            let joined = joined.clone();
            tasks.push(spawn(async move {
                let both = join_pattern((&rx, &next)).await.unwrap();
                joined.borrow_mut().push(both);
            }));
        }
        quiet().await;
        // Two messages a channel, three joins of two: each has found its own.
        let mut all: Vec<_> = joined
            .take()
            .into_iter()
            .flat_map(|(a, b)| [a, b])
            .collect();
        assert_eq!(all.len(), 6, "{all:?}");
        all.sort_unstable();
        assert_eq!(all, [0, 1, 10, 11, 20, 21]);
        abort_all(tasks).await;
    });
}

/// One join, one receiver, one message each and one more, in all schedules.
fn a_small_case<F: Channels>() {
    exhaust_flavour::<F, _>(|| async {
        let ((a, ones), (b, twos)) = (F::channel(1), F::channel(1));
        let receives = spawn({
            let ones = ones.clone();
            async move { ones.recv().await.unwrap() }
        });
        let joins = spawn(async move { join_pattern((&ones, &twos)).await.unwrap() });
        a.send(1).await.unwrap();
        b.send(5).await.unwrap();
        a.send(2).await.unwrap();
        let (one, (two, five)) = (receives.await.unwrap(), joins.await.unwrap());
        assert_eq!((one + two, five), (3, 5));
    });
}

/// The last sender goes, another receiver takes the message, a join waits for another channel too: it is told, in all
/// schedules.
fn a_small_end<F: Channels>() {
    exhaust_flavour::<F, _>(|| async {
        let ((a, ones), (_b, twos)) = (F::channel(1), F::channel::<i32>(1));
        let other = ones.clone();
        let joins = spawn(async move { join_pattern((&ones, &twos)).await });
        let receives = spawn(async move { other.recv().await });
        a.send(1).await.unwrap();
        drop(a);
        assert_eq!(receives.await.unwrap(), Ok(1));
        assert_eq!(joins.await.unwrap(), Err(Closed));
    });
}

/// Under every model: two joins over the same channels in different orders, and a thread that receives.
#[test]
fn under_every_model() {
    const EACH: u64 = 1_000;
    for model in MODELS {
        watched("join", move || {
            let rt = runtime(model);
            let ((a, ones), (b, twos)) = (bounded(3), unbounded());
            let senders = [a, b].map(|tx| {
                rt.spawn(async move {
                    for number in 0..2 * EACH {
                        tx.send(number).await.unwrap();
                    }
                })
            });
            let (left, right) = ((ones.clone(), twos.clone()), (twos.clone(), ones.clone()));
            let joins = [left, right].map(|(one, two)| {
                rt.spawn(async move {
                    let mut sum = 0;
                    for _ in 0..EACH - 100 {
                        let (a, b) = join_pattern((&one, &two)).await.unwrap();
                        sum += a + b;
                    }
                    sum
                })
            });
            let thread = rt.spawn_thread(move || {
                let mut sum = 0;
                for rx in [ones, twos] {
                    for _ in 0..200 {
                        sum += rx.recv().wait().unwrap();
                    }
                }
                sum
            });
            let mut sum = thread.wait().unwrap();
            for task in joins {
                sum += task.wait().unwrap();
            }
            for task in senders {
                task.wait().unwrap();
            }
            assert_eq!(sum, 2 * (2 * EACH - 1) * EACH);
        });
    }
}

/// A join that was forgotten goes before its channel does, also if the receiver has come into a set since: its task
/// must not be left with the name of a channel that is gone.
#[test]
fn a_forgotten_join_is_told_though_the_receiver_is_in_a_set() {
    struct Counts(AtomicUsize);
    impl Wake for Counts {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }
    let ((tx, rx), (_other, others)) = (unbounded(), unbounded::<u32>());
    tx.send(1).wait().unwrap();
    let wakes = Arc::new(Counts(AtomicUsize::new(0)));
    let mut joins = Box::pin(join_pattern((&rx, &others)));
    let waker = wakes.clone().into();
    assert!(
        joins
            .as_mut()
            .poll(&mut Context::from_waker(&waker))
            .is_pending()
    );
    std::mem::forget(joins);
    let set = PortSet::new();
    let key = set.add(rx).unwrap();
    assert_eq!(set.recv().wait(), Some((key, Ok(1))));
    assert_eq!(wakes.0.load(Ordering::Relaxed), 0);
    drop(tx);
    assert_eq!(set.recv().wait(), Some((key, Err(Closed))));
    assert_eq!(wakes.0.load(Ordering::Relaxed), 1);
}
