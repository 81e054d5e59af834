//! Cancellation, and ports that come and go while others send and receive: every message is counted.

use std::cell::RefCell;
use std::future::{pending, poll_fn};
use std::rc::Rc;
use std::task::Poll;

use gossamer::channel::oneshot;
use gossamer::raw::channel::{Port, PortSet};
use gossamer_sim::spawn;

use super::Sets;
use crate::exploring::{Cut, abort_all, explore_flavour, quiet};
use crate::flavour::both;

both! {
    an_operation_that_was_forgotten,
    a_receive_dropped_after_any_poll,
    ports_come_and_go,
}

/// A receive that was forgotten: its task is not looked at when the queue that it waits in has gone.
fn an_operation_that_was_forgotten<F: Sets>() {
    let ran = gossamer_sim::run(0, || async {
        let set = F::set::<u32>();
        let (_tx, rx) = F::channel(1);
        set.add(rx).unwrap();
        let mut receives = Box::pin(set.recv());
        // At its scheduling point first.
        let mut yielded = false;
        poll_fn(|cx| {
            assert!(receives.as_mut().poll(cx).is_pending());
            match std::mem::replace(&mut yielded, true) {
                true => Poll::Ready(()),
                false => Poll::Pending,
            }
        })
        .await;
        std::mem::forget(receives);
        drop(set);
        pending::<()>().await;
    });
    let said = ran.expect_err("a deadlock").to_string();
    assert!(!said.contains("PortSet::recv"), "{said}");
}

/// Two receivers, one of which is cut, and senders into three ports of different kinds.
fn a_receive_dropped_after_any_poll<F: Sets>() {
    explore_flavour::<F, _>(|seed| async move {
        let (cut, many) = (Cut::nth(seed), seed / 8 % 2 == 0);
        let (set, got) = (Rc::new(F::set()), Rc::new(RefCell::new(Vec::new())));
        let mut tasks = Vec::new();
        for (port, capacity) in [0, 1, usize::MAX].into_iter().enumerate() {
            let (tx, rx) = F::channel(capacity);
            set.add(rx).unwrap();
            tasks.push(spawn(async move {
                for number in 0..2 {
                    tx.send(10 * port + number).await.unwrap();
                }
            }));
        }
        let (tx, rx) = oneshot();
        set.add(rx).unwrap();
        tasks.push(spawn(async move { tx.send(30).unwrap() }));
        let (own, into) = (set.clone(), got.clone());
        tasks.push(spawn(async move {
            let mut events = Vec::new();
            if many {
                cut.apply(own.recv_many(&mut events, 3)).await;
            } else {
                events.extend(cut.apply(own.recv()).await.flatten());
            }
            into.borrow_mut()
                .extend(events.into_iter().map(|event| event.1));
        }));
        let (own, into) = (set.clone(), got.clone());
        tasks.push(spawn(async move {
            while let Some((_, event)) = own.recv().await {
                into.borrow_mut().push(event);
            }
        }));
        quiet().await;
        abort_all(tasks).await;
        assert!(set.is_empty(), "{set:?}");
        let mut got: Vec<_> = got.take().into_iter().filter_map(Result::ok).collect();
        got.sort_unstable();
        assert_eq!(got, [0, 1, 10, 11, 20, 21, 30]);
    });
}

/// What a port has, taken out of the set.
fn rest<F: Sets>(port: Option<Port<u32, F::P>>) -> Vec<u32> {
    match port {
        Some(Port::Channel(rx)) => rx.try_iter().collect(),
        _ => Vec::new(),
    }
}

/// One that receives until there is no port.
async fn receive<F: Sets>(set: Rc<PortSet<u32, F::P>>, got: Rc<RefCell<Vec<u32>>>) {
    while let Some((_, event)) = set.recv().await {
        got.borrow_mut().extend(event.ok());
    }
}

/// Nothing is lost or comes twice, those of a port come in their order, and in the end nobody waits.
fn ports_come_and_go<F: Sets>() {
    explore_flavour::<F, _>(|seed| async move {
        let (set, got) = (Rc::new(F::set()), Rc::new(RefCell::new(Vec::new())));
        // Keeps the receivers from ending too early.
        let (held, holds) = F::channel(1);
        let hold = set.add(holds).unwrap();
        let mut tasks = vec![
            spawn(receive::<F>(set.clone(), got.clone())),
            spawn(receive::<F>(set.clone(), got.clone())),
        ];
        for port in 0..3 {
            let (set, got) = (set.clone(), got.clone());
            let (tx, rx) = F::channel([0, 1, usize::MAX][(seed as usize + port) % 3]);
            tasks.push(spawn(async move {
                for number in 0..3 {
                    if tx.send(10 * port as u32 + number).await.is_err() {
                        break;
                    }
                }
            }));
            tasks.push(spawn(async move {
                let key = set.add(rx).unwrap();
                gossamer::yield_now().await;
                if port == 2 {
                    return;
                }
                // Out, and in again: perhaps into the place of another one.
                let Some(Port::Channel(rx)) = set.remove(key) else {
                    return;
                };
                gossamer::yield_now().await;
                let again = set.add(rx).unwrap();
                if port == 1 {
                    let rest = rest::<F>(set.remove(again));
                    got.borrow_mut().extend(rest);
                }
            }));
        }
        quiet().await;
        drop(held);
        quiet().await;
        assert!(set.is_empty() && !set.contains(hold), "{set:?}");
        abort_all(tasks).await;
        let got = got.take();
        for port in 0..3 {
            let own = |message: &&u32| **message / 10 == port;
            let numbers: Vec<_> = got.iter().filter(own).collect();
            assert!(numbers.is_sorted(), "{got:?}");
            assert!(port == 1 || numbers.len() == 3, "{got:?}");
        }
    });
}
