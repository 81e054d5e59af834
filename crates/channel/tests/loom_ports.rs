//! Models of port sets: who announces, who looks, and who has a place when a port comes or goes.
//!
//! Run by `cargo xtask loom`; what loom cannot see is told in `crates/core/tests/loom.rs`.
#![cfg(loom)]

use std::sync::Arc;

use gossamer_channel::pipe::{Endpoint, Hears, Receiving, ReceivingEnd, Second, SendingEnd, pair};
use gossamer_channel::raw::Port;
use gossamer_channel::{Closed, PortSet, bounded, oneshot, rendezvous, spsc, unbounded};
use gossamer_core::platform::model::{explore, joined};
use gossamer_core::platform::{Mutex, thread};
use gossamer_core::policy::Shared;
use gossamer_core::wait::Wait;

/// Two messages against one that looks, finds nothing, and waits; and the end.
#[test]
fn sends_against_looks() {
    explore("sends_against_looks", || {
        let set = PortSet::new();
        let (tx, rx) = unbounded();
        let key = set.add(rx).unwrap();
        let sends = thread::spawn(move || {
            tx.try_send(1).unwrap();
            tx.try_send(2).unwrap();
        });
        assert_eq!(set.recv().wait(), Some((key, Ok(1))));
        assert_eq!(set.recv().wait(), Some((key, Ok(2))));
        assert_eq!(set.recv().wait(), Some((key, Err(Closed))));
        assert_eq!(set.recv().wait(), None);
        joined(sends);
    });
}

/// Two ports that announce at once.
#[test]
fn two_ports() {
    explore("two_ports", || {
        let set = PortSet::new();
        let ((one, ones), (two, twos)) = (bounded(1), bounded(1));
        let keys = [set.add(ones).unwrap(), set.add(twos).unwrap()];
        let sends = thread::spawn(move || {
            one.try_send(1).unwrap();
            one
        });
        two.try_send(2).unwrap();
        let mut got = [set.recv().wait(), set.recv().wait()].map(Option::unwrap);
        got.sort_by_key(|event| event.0);
        assert_eq!(got, [(keys[0], Ok(1)), (keys[1], Ok(2))]);
        joined(sends);
    });
}

/// Two that receive, one message: one has it, and the other one is told when the port goes.
#[test]
fn two_receivers() {
    explore("two_receivers", || {
        let set = Arc::new(PortSet::new());
        let (tx, rx) = unbounded();
        set.add(rx).unwrap();
        let other = set.clone();
        let receives = thread::spawn(move || other.recv().wait().map(|event| event.1));
        tx.try_send(1).unwrap();
        drop(tx);
        let got = [set.recv().wait().map(|event| event.1), joined(receives)];
        let both = [Some(Ok(1)), Some(Err(Closed))];
        assert!(got == both || got == [both[1].clone(), both[0].clone()]);
        assert!(set.is_empty());
    });
}

/// A port is taken out while it gets a message: the message goes with it, or has been received.
#[test]
fn a_port_that_leaves() {
    explore("a_port_that_leaves", || {
        let set = Arc::new(PortSet::new());
        let (tx, rx) = unbounded();
        let key = set.add(rx).unwrap();
        let other = set.clone();
        let removes = thread::spawn(move || match other.remove(key) {
            Some(Port::Channel(rx)) => rx.recv().wait(),
            _ => Err(Closed),
        });
        tx.try_send(1).unwrap();
        let here = set.try_recv().map(|event| event.1);
        drop(tx);
        let there = joined(removes);
        assert!(here == Some(Ok(1)) || there == Ok(1), "{here:?} {there:?}");
        assert!(here != Some(Ok(1)) || there != Ok(1), "{here:?} {there:?}");
    });
}

/// Its place goes to another port while somebody looks there.
#[test]
fn a_place_taken_anew() {
    explore("a_place_taken_anew", || {
        let set = Arc::new(PortSet::new());
        let ((old, olds), (new, news)) = (unbounded(), unbounded());
        let key = set.add(olds).unwrap();
        old.try_send(1).unwrap();
        let other = set.clone();
        let looks = thread::spawn(move || other.try_recv());
        let removed = set.remove(key);
        let next = set.add(news).unwrap();
        new.try_send(2).unwrap();
        let there = joined(looks);
        let mut got = Vec::from_iter(there);
        while let Some(event) = set.try_recv() {
            got.push(event);
        }
        let mut all = vec![(next, Ok(2))];
        if let Some(Port::Channel(rx)) = removed {
            if rx.try_recv().is_err() {
                all.insert(0, (key, Ok(1)));
            }
        }
        assert_eq!(got, all);
    });
}

/// The set goes while a message comes: the sender is told, or the message goes with the set.
#[test]
fn the_set_goes() {
    explore("the_set_goes", || {
        let set = PortSet::new();
        let (tx, rx) = bounded(1);
        set.add(rx).unwrap();
        let sends = thread::spawn(move || {
            let sent = tx.try_send(loom::alloc::Track::new(())).is_ok();
            (sent, tx)
        });
        drop(set);
        let (_sent, tx) = joined(sends);
        assert!(tx.is_closed());
    });
}

/// A sender that offers its message in a rendezvous channel, and goes.
#[test]
fn a_rendezvous() {
    explore("a_rendezvous", || {
        let set = PortSet::new();
        let (tx, rx) = rendezvous();
        let key = set.add(rx).unwrap();
        let sends = thread::spawn(move || tx.send(5).wait());
        assert_eq!(set.recv().wait(), Some((key, Ok(5))));
        assert_eq!(joined(sends), Ok(()));
        assert_eq!(set.recv().wait(), Some((key, Err(Closed))));
    });
}

/// A one-shot is sent while the set looks at it.
#[test]
fn a_oneshot_is_sent() {
    explore("a_oneshot_is_sent", || {
        let set = PortSet::new();
        let (tx, rx) = oneshot();
        let key = set.add(rx).unwrap();
        let sends = thread::spawn(move || tx.send(5));
        assert_eq!(set.recv().wait(), Some((key, Ok(5))));
        assert_eq!(joined(sends), Ok(()));
        assert_eq!(set.recv().wait(), None);
    });
}

/// A one-shot is taken out while it is sent, and a channel takes its place.
#[test]
fn a_oneshot_leaves() {
    explore("a_oneshot_leaves", || {
        let set = PortSet::new();
        let (tx, rx) = oneshot();
        let key = set.add(rx).unwrap();
        assert_eq!(set.try_recv(), None);
        let sends = thread::spawn(move || tx.send(5));
        let removed = set.remove(key);
        let (next, nexts) = unbounded();
        let new = set.add(nexts).unwrap();
        next.try_send(1).unwrap();
        assert_eq!(set.recv().wait(), Some((new, Ok(1))));
        joined(sends).unwrap();
        next.try_send(2).unwrap();
        assert_eq!(set.try_recv(), Some((new, Ok(2))));
        assert_eq!(set.try_recv(), None);
        drop(removed);
    });
}

/// Two messages over a ring against one that looks, finds nothing, and waits; and the end.
#[test]
fn a_ring_against_looks() {
    explore("a_ring_against_looks", || {
        let set = PortSet::new();
        let (mut tx, rx) = spsc(2);
        let key = set.add(rx).unwrap();
        let sends = thread::spawn(move || {
            tx.try_send(1).unwrap();
            tx.try_send(2).unwrap();
        });
        assert_eq!(set.recv().wait(), Some((key, Ok(1))));
        assert_eq!(set.recv().wait(), Some((key, Ok(2))));
        assert_eq!(set.recv().wait(), Some((key, Err(Closed))));
        assert_eq!(set.recv().wait(), None);
        joined(sends);
    });
}

/// A ring is taken out while it gets a message: the message goes with it, or has been received.
#[test]
fn a_ring_that_leaves() {
    explore("a_ring_that_leaves", || {
        let set = Arc::new(PortSet::new());
        let (mut tx, rx) = spsc(2);
        let key = set.add(rx).unwrap();
        assert_eq!(set.try_recv(), None);
        let other = set.clone();
        let removes = thread::spawn(move || match other.remove(key) {
            Some(Port::Spsc(mut rx)) => rx.recv().wait(),
            _ => Err(Closed),
        });
        tx.try_send(1).unwrap();
        let here = set.try_recv().map(|event| event.1);
        drop(tx);
        let there = joined(removes);
        let closed = Err(Closed);
        assert!(
            here == Some(Ok(1)) && there == closed || here.is_none() && there == Ok(1),
            "{here:?} {there:?}"
        );
    });
}

/// A sender that waits for room, against a look that makes it.
#[test]
fn a_full_ring() {
    explore("a_full_ring", || {
        let set = PortSet::new();
        let (mut tx, rx) = spsc(1);
        let key = set.add(rx).unwrap();
        tx.try_send(1).unwrap();
        let sends = thread::spawn(move || tx.send(2).wait());
        assert_eq!(set.recv().wait(), Some((key, Ok(1))));
        assert_eq!(joined(sends), Ok(()));
        assert_eq!(set.recv().wait(), Some((key, Ok(2))));
        assert_eq!(set.recv().wait(), Some((key, Err(Closed))));
    });
}

/// The simplest protocol: any message, any number of times, by turns.
struct Hearing<M = u32>(ReceivingEnd<M, Shared, Second>);

impl<M> Endpoint for Hearing<M> {
    type Message = M;
    type Flavour = Shared;
    type Side = Second;
}

impl<M> Hears for Hearing<M> {
    type Heard = (M, SendingEnd<M, Shared, Second>);

    fn of_receiving_end(end: ReceivingEnd<M, Shared, Second>) -> Self {
        Self(end)
    }

    fn into_receiving_end(self) -> ReceivingEnd<M, Shared, Second> {
        self.0
    }

    fn hear(message: Option<M>, end: SendingEnd<M, Shared, Second>) -> Self::Heard {
        (message.expect("there is one"), end)
    }
}

type Heard = <Hearing as Hears>::Heard;

/// What a pipe has, or a channel.
enum Item {
    Heard(Heard),
    Number(u32),
}

impl From<Heard> for Item {
    fn from(heard: Heard) -> Self {
        Self::Heard(heard)
    }
}

/// A message over a pipe while the set looks; the next endpoint is put in, and the other end goes.
#[test]
fn a_pipe_against_looks() {
    explore("a_pipe_against_looks", || {
        let set = PortSet::<Item>::new();
        let (speaks, listens) = pair();
        let key = set.add(Hearing(listens)).unwrap();
        let says = thread::spawn(move || drop(speaks.say(5).unwrap()));
        let Some((from, Ok(Item::Heard((5, next))))) = set.recv().wait() else {
            panic!("it was said");
        };
        assert_eq!((from, set.len()), (key, 1));
        assert_eq!(set.add(Hearing(next.pass())).unwrap(), key);
        assert!(matches!(set.recv().wait(), Some((_, Err(Closed)))));
        assert!(set.recv().wait().is_none());
        joined(says);
    });
}

/// An end that is being served goes, while another receiver waits for it to come back: that is told.
#[test]
fn a_served_end_that_goes() {
    explore("a_served_end_that_goes", || {
        let set = Arc::new(PortSet::<Item>::new());
        let (speaks, listens) = pair();
        set.add(Hearing(listens)).unwrap();
        let says = thread::spawn(move || speaks.say(5).map(drop));
        let Some((_, Ok(Item::Heard((5, end))))) = set.recv().wait() else {
            panic!("it was said");
        };
        let waits = set.clone();
        let waits = thread::spawn(move || waits.recv().wait().is_none());
        drop(end);
        assert!(joined(waits));
        assert!(set.is_empty());
        joined(says).unwrap();
    });
}

/// An end that is being served comes back, while another receiver waits for it.
#[test]
fn a_served_end_that_comes_back() {
    explore("a_served_end_that_comes_back", || {
        let set = Arc::new(PortSet::<Item>::new());
        let (speaks, listens) = pair();
        let key = set.add(Hearing(listens)).unwrap();
        let hears = speaks.say(5).unwrap();
        let Some((_, Ok(Item::Heard((5, end))))) = set.try_recv() else {
            panic!("it was said");
        };
        let waits = set.clone();
        let waits = thread::spawn(move || match waits.recv().wait() {
            Some((key, Err(Closed))) => key,
            _ => panic!("its end is reported"),
        });
        assert_eq!(set.add(Hearing(end.pass())).unwrap(), key);
        drop(hears);
        assert_eq!(joined(waits), key);
    });
}

/// A pipe is taken out while something is said, and a channel takes its place.
#[test]
fn a_pipe_that_leaves() {
    explore("a_pipe_that_leaves", || {
        let set = PortSet::<Item>::new();
        let (speaks, listens) = pair();
        let key = set.add(Hearing(listens)).unwrap();
        assert!(set.try_recv().is_none());
        let says = thread::spawn(move || speaks.say(5).map(drop));
        let removed = set.remove(key);
        let (next, nexts) = unbounded();
        let new = set.add(nexts).unwrap();
        assert!(next.try_send(Item::Number(1)).is_ok());
        assert!(matches!(set.recv().wait(), Some((from, Ok(Item::Number(1)))) if from == new));
        joined(says).unwrap();
        assert!(set.try_recv().is_none());
        let Some(Port::Pipe(end)) = removed else {
            panic!("it was there");
        };
        let end = end.into_endpoint::<Hearing>().expect("of this type");
        assert!(matches!(Receiving::new(end).wait(), Ok((5, _))));
    });
}

/// A number of a channel; zero is of a pipe, and comes when somebody else has received another one.
#[derive(Debug, PartialEq)]
struct Helped(u32);

type Help = oneshot::Receiver<()>;

impl From<<Hearing<Help> as Hears>::Heard> for Helped {
    fn from((help, _end): <Hearing<Help> as Hears>::Heard) -> Self {
        help.wait().expect("somebody helps");
        Self(0)
    }
}

/// Two receive, and what one has taken to look at next is what the other one waits for, and the other way round.
#[test]
fn a_conversion_that_waits_for_another_receiver() {
    explore("a_conversion_that_waits", || {
        let set = Arc::new(PortSet::<Helped>::new());
        let ((speaks, listens), (helps, help)) = (pair(), oneshot());
        let ((one, ones), (two, twos)) = (unbounded(), unbounded());
        set.add(ones).unwrap();
        set.add(Hearing(listens)).unwrap();
        set.add(twos).unwrap();
        assert!(set.try_recv().is_none());
        one.try_send(Helped(1)).unwrap();
        let _hears = speaks.say(help).unwrap();
        two.try_send(Helped(2)).unwrap();
        let helps = Arc::new(Mutex::new(Some(helps)));
        let help_for = |number: u32, helps: &Mutex<Option<oneshot::Sender<()>>>| {
            if number != 0
                && let Some(helps) = helps.lock().take()
            {
                helps.send(()).unwrap();
            }
        };
        let (other, others) = (set.clone(), helps.clone());
        let receives = thread::spawn(move || {
            let Some((_, Ok(Helped(number)))) = other.recv().wait() else {
                panic!("there is something for both");
            };
            help_for(number, &others);
            number
        });
        let mut got = Vec::new();
        set.recv_many(&mut got, 9).wait();
        let mut got: Vec<_> = got.into_iter().map(|(_, item)| item.unwrap().0).collect();
        help_for(got.iter().copied().max().unwrap(), &helps);
        got.push(joined(receives));
        got.extend(std::iter::from_fn(|| set.try_recv()).map(|(_, item)| item.unwrap().0));
        got.sort_unstable();
        assert_eq!(got, [0, 1, 2]);
    });
}
