//! Ends of pipes in a set: what is received has the next endpoint, and the set keeps its place ([`super::serving`]).

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::rc::Rc;
use std::task::Poll;

use gossamer::Wait;
use gossamer::channel::Closed;
use gossamer::channel::port_set::Key;
use gossamer::raw::channel::{Port, PortSet};
use gossamer_sim::spawn;

use super::Sets;
use crate::exploring::{Cut, abort_all, explore_flavour, quiet};
use crate::flavour::{Flavour, Local, Shared, both};
use crate::hand::{Hand, parked};
use crate::pipe::{Ask, Client, Pipes, Reply, Server, server};

both! {
    a_message_and_the_next_endpoint,
    pipes_and_channels_in_one_set,
    what_was_said_before_comes_too,
    a_conversion_that_panics_leaves_the_others,
    a_conversion_meets_another_receiver,
    its_end_is_reported_once,
    it_leaves_while_it_waits,
    the_other_side_is_told_when_the_set_goes,
    a_set_serves_all_clients,
}

/// What is heard as a server, or a number of a channel.
pub(super) enum Item<F: Flavour<P: Ends>> {
    Heard(Ask<u32, F::P>),
    Number(u32),
}

/// What is not heard without a panic.
pub(super) const UNLUCKY: u32 = 13;

/// What is heard only with the help of somebody else.
const HELPED: u32 = 14;

thread_local! {
    static HELP: RefCell<Box<dyn FnMut()>> = RefCell::new(Box::new(|| ()));
}

/// What both kinds of ports ask for.
pub(super) trait Ends:
    gossamer::channel::pipe::PipePolicy + gossamer::raw::channel::spsc::RingPolicy
{
}
impl<P: gossamer::channel::pipe::PipePolicy + gossamer::raw::channel::spsc::RingPolicy> Ends for P {}

impl<F: Flavour<P: Ends>> From<Ask<u32, F::P>> for Item<F> {
    fn from(heard: Ask<u32, F::P>) -> Self {
        if let Ask::Ask(UNLUCKY, _) = heard {
            resume_unwind(Box::new("planned"));
        }
        if let Ask::Ask(HELPED, _) = heard {
            HELP.with_borrow_mut(|help| help());
        }
        Self::Heard(heard)
    }
}

pub(super) type Set<F> = PortSet<Item<F>, <F as Flavour>::P>;

/// Flavours whose sets take the ends of their pipes.
pub(super) trait Serves: Sets + Pipes + Flavour<P: Ends> {
    fn add(set: &Set<Self>, end: Server<u32, Self>) -> Key
    where
        Self: Sized;
}

impl Serves for Shared {
    fn add(set: &Set<Self>, end: Server<u32, Self>) -> Key {
        set.add(end).unwrap()
    }
}

impl Serves for Local {
    fn add(set: &Set<Self>, end: Server<u32, Self>) -> Key {
        set.add(end).unwrap()
    }
}

/// A question, and where it is answered.
#[track_caller]
pub(super) fn asked<F: Serves>(
    item: Option<(Key, Result<Item<F>, Closed>)>,
) -> (Key, u32, Asked<F>) {
    match item {
        Some((key, Ok(Item::Heard(Ask::Ask(number, reply))))) => (key, number, reply),
        Some((_, Ok(Item::Number(number)))) => panic!("the number {number}"),
        Some((_, Ok(_))) => panic!("another message"),
        Some((_, Err(Closed))) => panic!("closed"),
        None => panic!("nothing"),
    }
}

pub(super) type Asked<F> = server::Reply<u32, <F as Flavour>::P>;

fn a_message_and_the_next_endpoint<F: Serves>() {
    let (set, (mut client, mut server)) = (F::set(), F::pipe());
    for round in 0..3 {
        let key = F::add(&set, server);
        assert!(set.contains(key));
        let mut waits = parked(set.recv());
        let replied = client.ask(round).unwrap();
        assert_eq!(waits.wakes(), 1);
        let Poll::Ready(event) = waits.poll() else {
            panic!("it was asked");
        };
        let (from, number, reply) = asked::<F>(event);
        assert_eq!((from, number), (key, round));
        assert!(set.contains(key) && set.len() == 1 && set.remove(key).is_none());
        server = reply.reply(10 * number).unwrap();
        let mut heard = Hand::new(replied.recv());
        let Poll::Ready(Ok(Reply::Reply(number, next))) = heard.poll() else {
            panic!("it was answered");
        };
        assert_eq!(number, 10 * round);
        client = next;
    }
}

fn pipes_and_channels_in_one_set<F: Serves>() {
    let (set, (client, server), (tx, rx)) = (F::set(), F::pipe(), F::channel(2));
    let numbers = set.add(rx).unwrap();
    let key = F::add(&set, server);
    assert!(set.try_recv().is_none());
    tx.try_send(Item::Number(1)).map_err(drop).unwrap();
    let _replied = client.ask(2).unwrap();
    let Some((from, Ok(Item::Number(1)))) = set.try_recv() else {
        panic!("the number came first");
    };
    assert_eq!(from, numbers);
    let (from, number, _reply) = asked::<F>(set.try_recv());
    assert_eq!((from, number, set.len()), (key, 2, 2));
}

fn what_was_said_before_comes_too<F: Serves>() {
    let (set, (client, server)) = (F::set(), F::pipe());
    let _replied = client.ask(7).unwrap();
    F::add(&set, server);
    let (_, number, _reply) = asked::<F>(set.try_recv());
    assert_eq!(number, 7);
}

/// Its end of the pipe is gone, and what the same call has taken from the queue behind it is there for the next one.
fn a_conversion_that_panics_leaves_the_others<F: Serves>() {
    let (set, (client, server)) = (F::set(), F::pipe());
    let channels = [F::channel(2), F::channel(2)];
    let [(first, one), (last, two)] = channels;
    set.add(one).unwrap();
    F::add(&set, server);
    set.add(two).unwrap();
    assert!(set.try_recv().is_none());
    first.try_send(Item::Number(1)).map_err(drop).unwrap();
    let _replied = client.ask(UNLUCKY).unwrap();
    last.try_send(Item::Number(2)).map_err(drop).unwrap();
    let mut events = Vec::new();
    let received = catch_unwind(AssertUnwindSafe(|| {
        Hand::new(set.recv_many(&mut events, 8)).poll().is_ready()
    }));
    assert!(received.is_err());
    assert!(matches!(events[..], [(_, Ok(Item::Number(1)))]));
    let Some((_, Ok(Item::Number(2)))) = set.try_recv() else {
        panic!("it was left behind");
    };
}

/// What the same call would have received next is there for others while the conversion runs, in its order; of what
/// they leave nothing is forgotten.
fn a_conversion_meets_another_receiver<F: Serves>() {
    let (set, (mut client, mut server)) = (Rc::new(F::set()), F::pipe());
    let senders = [(); 4].map(|()| {
        let (tx, rx) = F::channel(2);
        set.add(rx).unwrap();
        tx
    });
    let met = Rc::new(RefCell::new(Vec::new()));
    let (others, found) = (set.clone(), met.clone());
    HELP.set(Box::new(move || {
        let event = others.try_recv();
        found.borrow_mut().push(event.map(|(_, item)| match item {
            Ok(Item::Number(number)) => number,
            _ => HELPED,
        }));
    }));
    for _ in 0..20 {
        F::add(&set, server);
        assert!(set.try_recv().is_none());
        let sends = |number: usize| {
            let item = Item::Number(number as u32);
            senders[number].try_send(item).map_err(drop).unwrap();
        };
        sends(0);
        let replied = client.ask(HELPED).unwrap();
        (1..4).for_each(sends);
        let mut events = Vec::new();
        assert_eq!(set.recv_many(&mut events, 9).wait(), 4);
        assert_eq!(met.take(), [Some(1)]);
        let mut events = events.into_iter().map(|(_, item)| item.ok());
        assert!(matches!(events.next(), Some(Some(Item::Number(0)))));
        let Some(Some(Item::Heard(Ask::Ask(HELPED, reply)))) = events.next() else {
            panic!("it was asked");
        };
        assert!(matches!(events.next(), Some(Some(Item::Number(2)))));
        assert!(matches!(events.next(), Some(Some(Item::Number(3)))));
        server = reply.reply(1).unwrap();
        let Poll::Ready(Ok(Reply::Reply(1, next))) = Hand::new(replied.recv()).poll() else {
            panic!("it was answered");
        };
        client = next;
    }
    HELP.set(Box::new(|| ()));
}

/// Also the one that follows a message.
fn its_end_is_reported_once<F: Serves>() {
    let (_held, holds) = F::channel(1);
    let (set, (client, server)) = (F::set(), F::pipe());
    set.add(holds).unwrap();
    let key = F::add(&set, server);
    assert!(set.try_recv().is_none());
    drop(client.ask(7).unwrap());
    let (from, _, reply) = asked::<F>(set.try_recv());
    assert_eq!(from, key);
    assert!(reply.reply(1).is_err());
    let (client, server) = F::pipe();
    let key = F::add(&set, server);
    drop(client);
    assert!(matches!(set.try_recv(), Some((from, Err(Closed))) if from == key));
    assert!(set.try_recv().is_none() && set.remove(key).is_none());
    // Its place is announced anew by the next one.
    let (client, server) = F::pipe();
    let next = F::add(&set, server);
    assert!(set.try_recv().is_none());
    let _replied = client.ask(8).unwrap();
    let (from, number, _reply) = asked::<F>(set.try_recv());
    assert_eq!((from, number, set.len()), (next, 8, 2));
}

fn it_leaves_while_it_waits<F: Serves>() {
    let (set, (client, server)) = (F::set(), F::pipe());
    let key = F::add(&set, server);
    assert!(set.try_recv().is_none());
    let Some(Port::Pipe(end)) = set.remove(key) else {
        panic!("it is there");
    };
    // It is known by its type.
    let end = end.into_endpoint::<crate::pipe::Told<u32, F>>();
    let server = end.expect_err("another state");
    let server = server.into_endpoint::<Server<u32, F>>().expect("this one");
    let mut waits = parked(server.recv());
    let _replied = client.ask(3).unwrap();
    assert!(set.try_recv().is_none());
    assert!(matches!(waits.poll(), Poll::Ready(Ok(Ask::Ask(3, _)))));
}

fn the_other_side_is_told_when_the_set_goes<F: Serves>() {
    let (set, (client, server)) = (F::set(), F::pipe());
    F::add(&set, server);
    assert!(set.try_recv().is_none());
    drop(set);
    assert!(client.ask(1).is_err());
    // And one that waits for its reply.
    let (set, (client, server)) = (F::set(), F::pipe());
    F::add(&set, server);
    let mut waits = parked(client.ask(1).unwrap().recv());
    drop(set);
    assert!(matches!(waits.poll(), Poll::Ready(Err(Closed))));
}

/// Asks three times, and leaves or goes.
async fn asks<F: Serves>(mut client: Client<u32, F>, number: u32) {
    for round in 0..3 {
        let replied = client.ask(10 * number + round).unwrap();
        let Ok(Reply::Reply(answer, next)) = replied.recv().await else {
            panic!("it is answered");
        };
        assert_eq!(answer, 10 * number + round + 1);
        client = next;
    }
    if number.is_multiple_of(2) {
        client.leave().unwrap();
    }
}

/// Answers, one question at a time; the first wait is cut, and one end goes out and in again.
fn a_set_serves_all_clients<F: Serves>() {
    explore_flavour::<F, _>(|seed| async move {
        let cut = Cut::nth(seed);
        let (set, ended) = (Rc::new(F::set()), Rc::new(RefCell::new([0, 0])));
        let mut tasks = Vec::new();
        let keys = [0, 1, 2].map(|number| {
            let (client, server) = F::pipe();
            tasks.push(spawn(asks::<F>(client, number)));
            F::add(&set, server)
        });
        let (own, count) = (set.clone(), ended.clone());
        tasks.push(spawn(async move {
            let mut first = cut.apply(own.recv()).await.flatten();
            loop {
                let event = match first.take() {
                    Some(event) => event,
                    None => match own.recv().await {
                        Some(event) => event,
                        None => break,
                    },
                };
                match event.1 {
                    Ok(Item::Heard(Ask::Ask(number, reply))) => {
                        F::add(&own, reply.reply(number + 1).unwrap());
                    }
                    Ok(Item::Heard(Ask::Leave)) => count.borrow_mut()[0] += 1,
                    Err(Closed) => count.borrow_mut()[1] += 1,
                    Ok(_) => panic!("nobody says that"),
                }
            }
        }));
        let own = set.clone();
        let (_held, holds) = F::channel(1);
        let hold = set.add(holds).unwrap();
        tasks.push(spawn(async move {
            if let Some(Port::Pipe(end)) = own.remove(keys[1]) {
                gossamer::yield_now().await;
                let server = end.into_endpoint::<Server<u32, F>>().expect("a server");
                F::add(&own, server);
            }
        }));
        quiet().await;
        drop(set.remove(hold));
        quiet().await;
        abort_all(tasks).await;
        assert!(set.is_empty(), "{set:?}");
        assert_eq!(ended.take(), [2, 1]);
    });
}
