//! Tasks, fibers and threads on one channel, under every model.

use std::collections::HashMap;
use std::thread;

use gossamer::Wait;
use gossamer::channel::{bounded, rendezvous, unbounded};

use crate::models::{MODELS, runtime, watched};

/// Senders and receivers of all three kinds: each message comes once, and those of one sender in their order.
#[test]
fn tasks_fibers_and_threads() {
    const EACH: u64 = 2_000;
    for model in MODELS {
        for capacity in [0, 1, 16, usize::MAX] {
            watched("channel", move || {
                let rt = runtime(model);
                let (tx, rx) = match capacity {
                    0 => rendezvous(),
                    usize::MAX => unbounded(),
                    capacity => bounded(capacity),
                };
                let (one, two, three) = (tx.clone(), tx.clone(), tx);
                let senders = (
                    rt.spawn(async move {
                        for number in 0..EACH {
                            one.send((0, number)).await.expect("there are receivers");
                        }
                    }),
                    rt.spawn_fiber(move || {
                        for number in 0..EACH {
                            two.send((1, number)).wait().expect("there are receivers");
                        }
                    }),
                    rt.spawn_thread(move || {
                        for number in 0..EACH {
                            three.send((2, number)).wait().expect("there are receivers");
                        }
                    }),
                );
                let (one, two, three) = (rx.clone(), rx.clone(), rx);
                let receivers = (
                    rt.spawn(async move {
                        let mut got = Vec::new();
                        while let Ok(message) = one.recv().await {
                            got.push(message);
                        }
                        got
                    }),
                    rt.spawn_fiber(move || two.iter().collect::<Vec<_>>()),
                    rt.spawn_thread(move || {
                        let mut got = Vec::new();
                        while three.recv_many(&mut got, 100).wait().is_ok() {}
                        got
                    }),
                );
                senders.0.wait().expect("no panic");
                senders.1.wait().expect("no panic");
                senders.2.wait().expect("no panic");
                let got = [
                    receivers.0.wait().expect("no panic"),
                    receivers.1.wait().expect("no panic"),
                    receivers.2.wait().expect("no panic"),
                ];
                let mut count = 0;
                let mut all = HashMap::<_, u64>::new();
                for got in got {
                    let mut last = HashMap::new();
                    for (sender, number) in got {
                        let before = last.insert(sender, number);
                        assert!(before.is_none_or(|before| before < number));
                        *all.entry((sender, number)).or_default() += 1;
                        count += 1;
                    }
                }
                assert_eq!((count, all.len() as u64), (3 * EACH, 3 * EACH));
            });
        }
    }
}

/// The channel goes with its last handle, whichever thread has that.
#[test]
fn the_last_handles_go_at_once() {
    for _ in 0..2_000 {
        let (tx, rx) = bounded(1);
        let other = tx.clone();
        let sends = thread::spawn(move || drop(tx.try_send(Box::new(1))));
        drop(other);
        drop(rx);
        sends.join().expect("no panic");
    }
}
