//! One set, used by tasks, fibers and threads, under every model.

use std::collections::HashMap;
use std::sync::Arc;

use gossamer::channel::{PortSet, Sender, bounded, oneshot, rendezvous, unbounded};
use gossamer::raw::channel::Port;
use gossamer::{Model, Runtime, Wait};

use crate::models::{MODELS, runtime, watched};

/// A port, and a number.
type Message = (u64, u64);

const EACH: u64 = 500;
const PORTS: u64 = 9;

/// Senders of all three kinds into many ports, two receivers, ports that come late, and one that goes in and out: each
/// message comes once, and those of one port in their order.
#[test]
fn tasks_fibers_and_threads() {
    for model in MODELS {
        watched("ports", move || one_model(model));
    }
}

fn one_model(model: Model) {
    let rt = runtime(model);
    let set = Arc::new(PortSet::new());
    let (hold, holds) = unbounded();
    set.add(holds).unwrap();
    let receivers = [false, true].map(|many| {
        let set = set.clone();
        rt.spawn(async move {
            let mut got = Vec::new();
            if many {
                while set.recv_many(&mut got, 100).await > 0 {}
            }
            while let Some(event) = set.recv().await {
                got.push(event);
            }
            got
        })
    });
    let mut ends: Vec<Box<dyn FnOnce()>> = Vec::new();
    for port in 0..PORTS {
        let (tx, rx) = match port / 3 {
            0 => rendezvous(),
            1 => bounded(7),
            _ => unbounded(),
        };
        let mut key = set.add(rx).unwrap();
        ends.push(sends(&rt, port, tx));
        if port == 4 {
            let set = set.clone();
            let wanders = rt.spawn(async move {
                while let Some(Port::Channel(rx)) = set.remove(key) {
                    gossamer::yield_now().await;
                    key = set.add(rx).unwrap();
                    gossamer::yield_now().await;
                }
            });
            ends.push(Box::new(|| wanders.wait().unwrap()));
        }
        let (tx, rx) = oneshot();
        set.add(rx).unwrap();
        let once = rt.spawn(async move { tx.send((PORTS + port, 0)).unwrap() });
        ends.push(Box::new(|| once.wait().unwrap()));
    }
    ends.into_iter().for_each(|end| end());
    drop(hold);
    let mut all = HashMap::<_, u64>::new();
    for receiver in receivers {
        let mut last = HashMap::new();
        let messages = receiver.wait().unwrap().into_iter();
        for (port, number) in messages.filter_map(|event| event.1.ok()) {
            let before = last.insert(port, number);
            assert!(before.is_none_or(|before| before < number));
            *all.entry((port, number)).or_default() += 1;
        }
    }
    assert!(all.values().all(|count| *count == 1));
    assert_eq!(all.len() as u64, PORTS * EACH + PORTS);
    assert!(set.is_empty());
}

/// Sends from a task, a fiber or a thread; gives what waits for its end.
fn sends(rt: &Runtime, port: u64, tx: Sender<Message>) -> Box<dyn FnOnce()> {
    match port % 3 {
        0 => {
            let task = rt.spawn(async move {
                for number in 0..EACH {
                    tx.send((port, number)).await.unwrap();
                }
            });
            Box::new(|| task.wait().unwrap())
        }
        1 => {
            let fiber = rt.spawn_fiber(move || {
                for number in 0..EACH {
                    tx.send((port, number)).wait().unwrap();
                }
            });
            Box::new(|| fiber.wait().unwrap())
        }
        _ => {
            let thread = rt.spawn_thread(move || {
                for number in 0..EACH {
                    tx.send((port, number)).wait().unwrap();
                }
            });
            Box::new(|| thread.wait().unwrap())
        }
    }
}
