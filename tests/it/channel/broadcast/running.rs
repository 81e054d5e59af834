//! Tasks in all schedules, operations dropped after any poll, and threads under every model.

use std::cell::RefCell;
use std::future::poll_fn;
use std::pin::pin;
use std::rc::Rc;

use futures_core::Stream;
use gossamer::Wait;
use gossamer::channel::broadcast::{Lagged, RecvError, broadcast};
use gossamer::raw::LockPolicy;
use gossamer::raw::channel::broadcast::Receiver;
use gossamer_sim::spawn;

use super::Broadcasts;
use crate::exploring::{Cut, abort_all, exhaust_flavour, explore_flavour, quiet};
use crate::flavour::both;
use crate::models::{MODELS, runtime, watched};
use crate::tally::{Tally, Value};

both! {
    small_programs,
    receivers_agree_in_every_schedule,
    a_receive_dropped_after_any_poll,
    any_task_aborted_at_any_time,
}

/// What one receiver has been given, each missed message as `None`.
type Got = Rc<RefCell<Vec<Option<u32>>>>;

/// Notes what was received; whether more may come.
fn note(received: Result<Vec<Value>, RecvError>, got: &Got) -> bool {
    let mut got = got.borrow_mut();
    match received {
        Ok(values) => got.extend(values.iter().map(|value| Some(value.id))),
        Err(RecvError::Lagged(number)) => got.extend((0..number).map(|_| None)),
        Err(RecvError::Closed) => return false,
    }
    true
}

/// One by one, or several at once.
async fn receive<P: LockPolicy>(
    rx: &mut Receiver<Value, P>,
    many: bool,
) -> Result<Vec<Value>, RecvError> {
    if !many {
        return rx.recv().await.map(|value| vec![value]);
    }
    let mut values = Vec::new();
    let number = rx.recv_many(&mut values, 2).await?;
    assert!(number == values.len() && (1..=2).contains(&number));
    Ok(values)
}

/// Receives until the end, in one of three ways.
async fn receive_all<P: LockPolicy>(mut rx: Receiver<Value, P>, way: usize, got: Got) {
    if way % 3 == 2 {
        let mut stream = pin!(rx.stream());
        while let Some(item) = poll_fn(|cx| stream.as_mut().poll_next(cx)).await {
            let item = item.map_err(|Lagged(number)| RecvError::Lagged(number));
            note(item.map(|value| vec![value]), &got);
        }
        return;
    }
    while note(receive(&mut rx, way % 3 == 1).await, &got) {}
}

/// All have been given the same messages, where they have not missed them, and each sender's are in its order.
fn agree(all: &[Vec<Option<u32>>], senders: u32, each: u32) {
    let mut order = vec![None; (senders * each) as usize];
    for got in all {
        assert_eq!(got.len(), order.len(), "{all:?}");
        for (before, now) in order.iter_mut().zip(got) {
            assert!(
                before.is_none() || now.is_none() || before == now,
                "{all:?}"
            );
            *before = before.or(*now);
        }
    }
    for sender in 0..senders {
        let own = order.iter().flatten().filter(|id| *id / each == sender);
        assert!(own.is_sorted(), "{all:?}");
    }
}

/// Some senders of some messages each, some receivers, and one that drops some of its operations.
async fn run<F: Broadcasts>(
    capacity: usize,
    (senders, each, receivers): (u32, u32, u32),
    cut: Option<Cut>,
) {
    let tally = Tally::default();
    let (tx, mut rx) = F::broadcast::<Value>(capacity);
    let mut got = Vec::new();
    let mut tasks = Vec::new();
    for receiver in 0..receivers as usize {
        let own = Got::default();
        got.push(own.clone());
        tasks.push(spawn(receive_all(rx.clone(), capacity + receiver, own)));
    }
    if let Some(cut) = cut {
        let own = Got::default();
        got.push(own.clone());
        tasks.push(spawn(async move {
            for many in [false, true] {
                if let Some(received) = cut.apply(receive(&mut rx, many)).await {
                    note(received, &own);
                }
            }
            receive_all(rx, capacity, own).await;
        }));
    } else {
        drop(rx);
    }
    for sender in 0..senders {
        let (tx, tally) = (tx.clone(), tally.clone());
        tasks.push(spawn(async move {
            for message in 0..each {
                gossamer::yield_now().await;
                assert!(tx.send(tally.value(sender * each + message)).is_ok());
            }
        }));
    }
    drop(tx);
    quiet().await;
    for task in tasks {
        task.await.expect("no panic");
    }
    let got: Vec<_> = got.iter().map(|got| got.take()).collect();
    agree(&got, senders, each);
    assert_eq!(tally.living(), 0);
}

fn small_programs<F: Broadcasts>() {
    for capacity in [1, 2] {
        exhaust_flavour::<F, _>(|| run::<F>(capacity, (1, 2, 1), None));
        exhaust_flavour::<F, _>(|| run::<F>(capacity, (1, 1, 2), None));
        exhaust_flavour::<F, _>(|| run::<F>(capacity, (2, 1, 1), None));
        for cut in Cut::all() {
            exhaust_flavour::<F, _>(|| run::<F>(capacity, (1, 2, 0), Some(cut)));
        }
    }
}

fn receivers_agree_in_every_schedule<F: Broadcasts>() {
    explore_flavour::<F, _>(|seed| run::<F>([1, 2, 3, 8][(seed % 4) as usize], (2, 2, 2), None));
}

fn a_receive_dropped_after_any_poll<F: Broadcasts>() {
    explore_flavour::<F, _>(|seed| {
        let capacity = [1, 2, 8][(seed / 8 % 3) as usize];
        run::<F>(capacity, (1, 3, 1), Some(Cut::nth(seed)))
    });
}

/// Also while a task is in the run queue: who stays misses nothing, and no message stays.
fn any_task_aborted_at_any_time<F: Broadcasts>() {
    explore_flavour::<F, _>(|seed| async move {
        let tally = Tally::default();
        let (tx, mut rx) = F::broadcast::<Value>(4);
        let mut tasks = Vec::new();
        for way in 0..3 {
            tasks.push(spawn(receive_all(rx.clone(), way, Got::default())));
        }
        for id in 0..4 {
            assert!(tx.send(tally.value(id)).is_ok());
            for _ in 0..seed % 3 {
                gossamer::yield_now().await;
            }
            if let Some(task) = tasks.get(id as usize) {
                task.abort();
            }
        }
        drop(tx);
        abort_all(tasks).await;
        for id in 0..4 {
            assert!(rx.recv().await.is_ok_and(|value| value.id == id));
        }
        assert!(matches!(rx.recv().await, Err(RecvError::Closed)));
        assert_eq!(tally.living(), 0);
    });
}

/// Receivers of all three kinds, under every model, none of which misses anything; and one that does.
#[test]
fn tasks_fibers_and_threads() {
    const EACH: usize = 500;
    for model in MODELS {
        watched("broadcast", move || {
            let rt = runtime(model);
            let (tx, one) = broadcast(3 * EACH);
            let (two, three, other) = (one.clone(), one.clone(), tx.clone());
            let received = |mut rx: gossamer::channel::broadcast::Receiver<(u8, usize)>| {
                let got = rx.iter().map(|message| message.expect("none is missed"));
                got.collect::<Vec<_>>()
            };
            let task = rt.spawn(async move {
                let mut one = one;
                let mut got = Vec::new();
                while let Ok(message) = one.recv().await {
                    got.push(message);
                }
                got
            });
            let fiber = rt.spawn_fiber(move || received(two));
            let thread = rt.spawn_thread(move || received(three));
            let (small, mut slow) = broadcast(1);
            let sends = rt.spawn_thread(move || {
                for number in 0..EACH {
                    other.send((1, number)).expect("there are receivers");
                    small.send(number).expect("there is a receiver");
                }
            });
            for number in 0..EACH {
                tx.send((0, number)).expect("there are receivers");
            }
            drop(tx);
            let got = [task.wait(), fiber.wait(), thread.wait()].map(|got| got.expect("no panic"));
            assert_eq!(got[0].len(), 2 * EACH);
            assert!(got[1] == got[0] && got[2] == got[0]);
            sends.wait().expect("no panic");
            let mut count = 0;
            for received in slow.iter() {
                count += received.map_or_else(|Lagged(number)| number as usize, |_| 1);
            }
            assert_eq!(count, EACH);
        });
    }
}

/// A message that may not be used by two threads at once stays on its own.
#[test]
fn ends_go_to_other_threads_if_messages_may() {
    fn may<T: Send + Sync>(_: &T) {}
    let (tx, mut rx) = broadcast::<String>(1);
    may(&tx);
    may(&rx);
    may(&rx.recv());
    may(&rx.recv_many(&mut Vec::new(), 1));
    may(&rx.stream());
    let (tx, mut rx) = gossamer::channel::watch(String::new());
    may(&tx);
    may(&rx.stream());
}
