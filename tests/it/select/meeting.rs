//! Selects meet joins, port sets, other selects and `try_send` over rendezvous channels, also by branches that are
//! references.

use std::cell::Cell;
use std::future::Future;
use std::pin::pin;
use std::rc::Rc;
use std::task::Poll;
use std::time::Duration;

use gossamer::channel::{Closed, TryRecvError, join_pattern};
use gossamer::{TimeoutExt, Wait, select};
use gossamer_sim::spawn;

use crate::exploring::{explore_flavour, quiet};
use crate::flavour::both;
use crate::hand::{Hand, parked};
use crate::ports::Sets;

both! {
    a_send_by_reference_goes_on_in_the_next_select,
    a_join_does_not_take_both,
    a_join_of_what_one_select_sends,
    a_set_takes_one,
    two_sets,
    a_reference_to_a_pinned_send_is_a_branch,
    try_send_finds_a_receiver_in_a_select_that_sends_too,
}

/// A join that could be served by one select alone waits for another sender.
fn a_join_does_not_take_both<F: Sets>() {
    for joins_first in [true, false] {
        let ((a, ones), (b, twos)) = (F::channel(0), F::channel(0));
        let mut join = Hand::new(join_pattern((&ones, &twos)));
        let mut waits = Hand::new(async {
            select! {
                sent = a.send(1) => (1, sent),
                sent = b.send(2) => (2, sent),
            }
        });
        for _ in 0..2 {
            if joins_first {
                assert!(join.poll().is_pending());
            }
            assert!(waits.poll().is_pending());
            assert!(join.poll().is_pending());
        }
        let mut sends = parked(a.send(10));
        assert_eq!(join.poll(), Poll::Ready(Ok((10, 2))));
        assert_eq!(waits.poll(), Poll::Ready((2, Ok(()))));
        assert_eq!(sends.poll(), Poll::Ready(Ok(())));
    }
}

/// One message, though both are ports of it.
fn a_set_takes_one<F: Sets>() {
    let (set, (a, one), (b, two)) = (F::set(), F::channel(0), F::channel(0));
    set.add(one).unwrap();
    set.add(two).unwrap();
    let mut waits = parked(async {
        select! {
            sent = a.send(1) => (1, sent),
            sent = b.send(2) => (2, sent),
        }
    });
    let (_, got) = set.recv().wait().unwrap();
    let mut receives = parked(set.recv());
    assert_eq!(waits.poll(), Poll::Ready((got.unwrap(), Ok(()))));
    drop(waits);
    assert!(receives.poll().is_pending());
}

/// One select sends on both channels of a join, which therefore waits for another sender; one of the three is left.
fn a_join_of_what_one_select_sends<F: Sets>() {
    explore_flavour::<F, _>(|seed| async move {
        let ((a, ones), (b, twos)) = (F::channel(0), F::channel(0));
        let others = [seed % 2 == 0, seed % 3 > 0 || seed % 2 == 1];
        let sent = Rc::new(Cell::new(Vec::new()));
        let says = |number: u32, sends: std::pin::Pin<Box<dyn Future<Output = bool>>>| {
            let sent = sent.clone();
            spawn(async move {
                if sends.await {
                    let mut all = sent.take();
                    all.push(number);
                    sent.set(all);
                }
            })
        };
        let mut tasks = Vec::new();
        let joins = spawn(async move {
            let joined = join_pattern((&ones, &twos)).await;
            (joined, ones, twos)
        });
        let (tx, too) = (a.clone(), b.clone());
        let either = Rc::new(Cell::new(0));
        let chosen = either.clone();
        tasks.push(says(
            0,
            Box::pin(async move {
                let (branch, sent) = select! {
                    sent = tx.send(1) => (1, sent),
                    sent = too.send(2) => (2, sent),
                };
                chosen.set(branch);
                sent.is_ok()
            }),
        ));
        for (number, (tx, sends)) in (10_u32..).zip([(a, others[0]), (b, others[1])]) {
            if sends {
                tasks.push(says(
                    number,
                    Box::pin(async move { tx.send(number).await.is_ok() }),
                ));
            }
        }
        quiet().await;
        let (joined, ones, twos) = joins.await.unwrap();
        let (one, two) = joined.expect("both are open");
        let mut sent = sent.take();
        sent.sort_unstable();
        let wanted = match (one, two) {
            (1, 11) => [0, 11],
            (10, 2) => [0, 10],
            (10, 11) => [10, 11],
            _ => panic!("{one} and {two} are of one sender"),
        };
        assert_eq!(sent, wanted);
        if wanted[0] == 0 {
            assert_eq!(either.get(), if one == 1 { 1 } else { 2 });
        }
        // What is left is there for others.
        let left = tasks.len() - 2;
        let more = [ones.try_recv(), twos.try_recv()];
        assert_eq!(more.iter().flatten().count(), left);
        for task in tasks {
            task.await.unwrap();
        }
    });
}

/// Each has one of the channels that a select sends on; a set, too, is received from by a select, or for some time.
fn two_sets<F: Sets>() {
    explore_flavour::<F, _>(|seed| async move {
        let selects = 1 + (seed % 2) as u32;
        let [(a, one), (b, two)] = [(); 2].map(|()| F::channel(0));
        let mut tasks = Vec::new();
        for rx in [one, two] {
            let set = F::set();
            set.add(rx).unwrap();
            tasks.push(spawn(async move {
                let (_silent, never) = F::channel::<u32>(0);
                let mut got = Vec::new();
                loop {
                    let event = match seed / 2 % 3 {
                        0 => set.recv().await,
                        1 => select! {
                            event = set.recv() => event,
                            _ = never.recv() => unreachable!("nobody sends"),
                        },
                        _ => match set.recv().timeout(Duration::from_millis(1)).await {
                            Ok(event) => event,
                            Err(_) => continue,
                        },
                    };
                    match event {
                        Some((_, Ok(number))) => got.push(number),
                        Some((_, Err(Closed))) | None => return got,
                    }
                }
            }));
        }
        let mut sending = Vec::new();
        for number in 0..selects {
            let (a, b) = (a.clone(), b.clone());
            sending.push(spawn(async move {
                select! {
                    sent = a.send(number) => sent,
                    sent = b.send(number) => sent,
                }
            }));
        }
        drop((a, b));
        for send in sending {
            send.await.unwrap().unwrap();
        }
        let mut got = Vec::new();
        for task in tasks {
            got.extend(task.await.unwrap());
        }
        got.sort_unstable();
        assert_eq!(got, Vec::from_iter(0..selects));
    });
}

fn a_reference_to_a_pinned_send_is_a_branch<F: Sets>() {
    let ((tx, rx), (other, others)) = (F::channel(0), F::channel(9));
    let mut send = pin!(tx.send(1));
    let mut waits = parked(async {
        select! {
            biased;
            _ = others.recv() => false,
            sent = &mut send => sent.is_ok(),
        }
    });
    assert_eq!(rx.try_recv(), Ok(1));
    other.try_send(()).unwrap();
    assert_eq!(waits.poll(), Poll::Ready(true));
}

fn try_send_finds_a_receiver_in_a_select_that_sends_too<F: Sets>() {
    let (tx, rx) = F::channel(0);
    let mut waits = parked(async {
        select! {
            number = rx.recv() => number.unwrap(),
            _ = tx.send(1) => 0,
        }
    });
    assert_eq!(tx.try_send(2), Ok(()));
    assert_eq!(waits.poll(), Poll::Ready(2));
}

/// It waits while a select polls it, or its owner, and goes on after a select that it lost.
fn a_send_by_reference_goes_on_in_the_next_select<F: Sets>() {
    let ((tx, rx), (other, others)) = (F::channel(0), F::channel(9));
    let mut send = pin!(tx.send(1));
    for _ in 0..2 {
        let mut waits = parked(async {
            select! {
                sent = send.as_mut() => sent.is_ok(),
                _ = others.recv() => false,
            }
        });
        other.try_send(()).unwrap();
        assert_eq!(waits.poll(), Poll::Ready(false));
        drop(waits);
        assert_eq!(rx.try_recv(), Err(TryRecvError::Empty));
    }
    let mut waits = parked(async {
        select! {
            sent = send.as_mut() => sent.is_ok(),
            _ = others.recv() => false,
        }
    });
    assert_eq!(rx.try_recv(), Ok(1));
    assert_eq!(waits.poll(), Poll::Ready(true));
}
