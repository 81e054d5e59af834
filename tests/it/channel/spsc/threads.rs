//! Tasks, fibers and threads on the two sides, under every model.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use gossamer::channel::spsc;
use gossamer::channel::spsc::{Receiver, Sender};
use gossamer::{JoinHandle, Model, Runtime, Wait};

use crate::models::{MODELS, runtime, watched};

#[derive(Debug, Clone, Copy)]
enum Kind {
    Task,
    Fiber,
    Thread,
}

const KINDS: [Kind; 3] = [Kind::Task, Kind::Fiber, Kind::Thread];

fn send_all(rt: &Runtime, kind: Kind, mut tx: Sender<u64>, number: u64) -> JoinHandle<()> {
    match kind {
        Kind::Task => rt.spawn(async move {
            for message in 0..number {
                tx.send(message).await.expect("there is a receiver");
            }
        }),
        Kind::Fiber | Kind::Thread => {
            let all = move || {
                for message in 0..number {
                    tx.send(message).wait().expect("there is a receiver");
                }
            };
            match kind {
                Kind::Fiber => rt.spawn_fiber(all),
                _ => rt.spawn_thread(all),
            }
        }
    }
}

fn receive_all(rt: &Runtime, kind: Kind, mut rx: Receiver<u64>) -> JoinHandle<Vec<u64>> {
    match kind {
        Kind::Task => rt.spawn(async move {
            let mut got = Vec::new();
            while let Ok(message) = rx.recv().await {
                got.push(message);
                let _more = rx.recv_many(&mut got, 3).await;
            }
            got
        }),
        Kind::Fiber => rt.spawn_fiber(move || rx.iter().collect()),
        Kind::Thread => rt.spawn_thread(move || {
            let mut got = Vec::new();
            while rx.recv_many(&mut got, 5).wait().is_ok() {}
            got
        }),
    }
}

/// Each pair, each message once and in order.
#[test]
fn tasks_fibers_and_threads() {
    const NUMBER: u64 = 1_000;
    for model in MODELS {
        watched("spsc", move || {
            let rt = runtime(model);
            for capacity in [1, 3, 64] {
                for sends in KINDS {
                    for receives in KINDS {
                        let (tx, rx) = gossamer::channel::spsc(capacity);
                        let sent = send_all(&rt, sends, tx, NUMBER);
                        let got = receive_all(&rt, receives, rx);
                        sent.wait().expect("no panic");
                        let got = got.wait().expect("no panic");
                        assert!(got.into_iter().eq(0..NUMBER), "{sends:?} to {receives:?}");
                    }
                }
            }
        });
    }
}

/// Handles that go from worker to worker, and to bare threads, while the other side waits.
#[test]
fn sides_that_move() {
    watched("spsc", || {
        let rt = runtime(gossamer::Model::Pool { workers: 2 });
        for round in 0..300_u64 {
            let (mut tx, mut rx) = gossamer::channel::spsc(2);
            let got = rt.spawn(async move {
                let mut sum = 0;
                while let Ok(message) = rx.recv().await {
                    sum += message;
                    gossamer::yield_now().await;
                }
                sum
            });
            for part in 0..4 {
                let send = async move {
                    for number in 0..3 {
                        tx.send(number).await.expect("there is a receiver");
                    }
                    tx
                };
                tx = if (round + part) % 3 == 0 {
                    thread::spawn(|| send.wait()).join().expect("no panic")
                } else {
                    rt.spawn(send).wait().expect("no panic")
                };
            }
            drop(tx);
            assert_eq!(got.wait().expect("no panic"), 12);
        }
    });
}

/// The receiver goes as the sender sends: what was accepted is dropped once, what was not comes back.
#[test]
fn the_receiver_goes_at_any_time() {
    use std::sync::Arc;
    for round in 0..500 {
        let counted = Arc::new(());
        let (mut tx, mut rx) = gossamer::channel::spsc(4);
        let message = counted.clone();
        let sends = thread::spawn(move || while tx.send(message.clone()).wait().is_ok() {});
        for _ in 0..round % 7 {
            assert!(rx.recv().wait().is_ok());
        }
        drop(rx);
        sends.join().expect("no panic");
        assert_eq!(Arc::strong_count(&counted), 1);
    }
}

/// The channel goes with its last handle, whichever thread has that.
#[test]
fn both_sides_go_at_once() {
    for _ in 0..1_000 {
        let (mut tx, rx) = gossamer::channel::spsc(1);
        let sends = thread::spawn(move || drop(tx.try_send(Box::new(1))));
        drop(rx);
        sends.join().expect("no panic");
    }
}

/// A fiber that goes through many messages has another task run in between.
#[test]
fn an_iterator_yields() {
    let rt = runtime(Model::Single);
    let (mut tx, mut rx) = spsc(5_000);
    for number in 0..5_000 {
        tx.try_send(number).unwrap();
    }
    drop(tx);
    let has_run = Arc::new(AtomicBool::new(false));
    let seen = has_run.clone();
    let fiber = rt.spawn_fiber(move || rx.iter().find(|_| seen.load(Ordering::Relaxed)));
    let other = rt.spawn(async move { has_run.store(true, Ordering::Relaxed) });
    assert!(fiber.wait().unwrap().is_some());
    other.wait().unwrap();
}
