//! The order in which messages of several senders come: A sends to C, then to B, which then sends to C.
//!
//! With one queue, what A has sent to C comes first. With a port for each sender it need not: the ports take turns, and
//! what A has sent before keeps its port busy. The remedy is to wait for the ends: when all workers have closed theirs,
//! nothing comes after.

use gossamer::raw::channel::{PortSet, Receiver, Sender};
use gossamer_sim::{Sim, spawn};

use super::{SharedOf, Shares};
use crate::exploring::{explore_flavour, explore_seeded};
use crate::flavour::{Flavour, both};
use crate::ports::Sets;

both! {
    one_queue_keeps_causal_order,
    ports_of_their_own_do_not,
    the_server_answers_when_all_ends_are_closed,
}

/// How several send to one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    Channel,
    Shared,
    /// A channel for each sender, all in one set.
    Ports,
}

/// The end of one sender.
enum To<F: Shares> {
    Channel(Sender<u32, F::P>),
    Shared(SharedOf<F, u32>),
}

impl<F: Shares> To<F> {
    async fn send(&self, message: u32) {
        let sent = match self {
            Self::Channel(tx) => tx.send(message).await,
            Self::Shared(tx) => tx.send(message).await,
        };
        sent.expect("there is a receiver");
    }
}

/// The end of the one that receives: one, or one for each sender.
enum From<F: Flavour> {
    Channel(Receiver<u32, F::P>),
    Ports(PortSet<u32, F::P>),
}

impl<F: Flavour> From<F> {
    /// The next message, or `None`: all ends are closed.
    async fn recv(&self) -> Option<u32> {
        match self {
            Self::Channel(rx) => rx.recv().await.ok(),
            Self::Ports(set) => loop {
                if let Ok(message) = set.recv().await?.1 {
                    return Some(message);
                }
            },
        }
    }
}

fn connect<F: Shares + Sets>(way: Way, capacity: usize, senders: usize) -> (Vec<To<F>>, From<F>) {
    let mut ends = Vec::new();
    if way == Way::Ports {
        let set = F::set();
        for _ in 0..senders {
            let (tx, rx) = F::channel(capacity);
            ends.push(To::Channel(tx));
            set.add(rx).expect("it is the only one");
        }
        return (ends, From::Ports(set));
    }
    let (tx, rx) = F::channel(capacity);
    if way == Way::Channel {
        ends.extend((0..senders).map(|_| To::Channel(tx.clone())));
    } else {
        let tx = F::shared(tx);
        ends.extend((0..senders).map(|_| To::Shared(tx.clone())));
    }
    (ends, From::Channel(rx))
}

/// Whether C sees A's messages first.
async fn is_causal<F: Shares + Sets>(way: Way, capacity: usize) -> bool {
    let (mut ends, from) = connect::<F>(way, capacity, 2);
    let (b_to_c, a_to_c) = (ends.pop(), ends.pop());
    let (a_to_b, b) = F::channel(1);
    let a = spawn(async move {
        let a_to_c = a_to_c.expect("two ends");
        a_to_c.send(0).await;
        a_to_c.send(1).await;
        a_to_b.send(()).await.expect("B is there");
    });
    let b = spawn(async move {
        b.recv().await.expect("A sends");
        b_to_c.expect("two ends").send(2).await;
    });
    let mut seen = Vec::new();
    while let Some(message) = from.recv().await {
        seen.push(message);
    }
    a.await.expect("no panic");
    b.await.expect("no panic");
    match seen[..] {
        [0, 1, 2] => true,
        [0, 2, 1] => false,
        _ => panic!("{seen:?}"),
    }
}

fn one_queue_keeps_causal_order<F: Shares + Sets>() {
    explore_flavour::<F, _>(|seed| async move {
        let way = [Way::Channel, Way::Shared][(seed % 2) as usize];
        let capacity = [0, 1, usize::MAX][(seed / 2 % 3) as usize];
        assert!(is_causal::<F>(way, capacity).await);
    });
}

fn ports_of_their_own_do_not<F: Shares + Sets>() {
    let mut seen = [0; 2];
    for seed in 0..300 {
        let ran = Sim::new().run(seed, || is_causal::<F>(Way::Ports, usize::MAX));
        seen[usize::from(ran.expect("no failure"))] += 1;
    }
    assert!(seen[0] > 0 && seen[1] > 0, "{seen:?}");
}

/// A client may ask at any time; the answer counts all that the workers have sent.
fn the_server_answers_when_all_ends_are_closed<F: Shares + Sets>() {
    explore_seeded(Sim::new(), |seed| async move {
        let way = [Way::Channel, Way::Shared, Way::Ports][(seed % 3) as usize];
        let capacity = [0, 1, usize::MAX][(seed / 3 % 3) as usize];
        let (ends, from) = connect::<F>(way, capacity, 3);
        let (asks, asked) = F::channel::<gossamer::channel::oneshot::Sender<u32>>(1);
        let mut tasks: Vec<_> = ends
            .into_iter()
            .map(|end| {
                spawn(async move {
                    end.send(1).await;
                    end.send(10).await;
                })
            })
            .collect();
        tasks.push(spawn(async move {
            let mut total = 0;
            while let Some(count) = from.recv().await {
                total += count;
            }
            let reply = asked.recv().await.expect("the client asks");
            reply.send(total).expect("the client waits");
        }));
        let (reply, answer) = gossamer::channel::oneshot();
        assert!(asks.send(reply).await.is_ok());
        assert_eq!(answer.await, Ok(33));
        for task in tasks {
            task.await.expect("no panic");
        }
    });
}
