//! What carries values from one actor to the other: channels, cells, pipes.

use std::sync::Arc;
use std::vec;

use gossamer::channel::{
    self, PortSet, Receiver, Sender, SharedSender, bounded, join_pattern, oneshot, spsc,
};
use gossamer::sync::{IVar, MVar};

use super::{TURNS, meet};
use crate::conform::{Kind, World};
use crate::pipe::{Ask, Reply, chat};

/// A sending end.
trait Sends: Sized + Send + 'static {
    fn send_as(&mut self, kind: Kind, number: u32) -> impl Future<Output = ()> + Send;

    /// Tells the other end that nothing comes any more.
    fn end_as(self, _: Kind) -> impl Future<Output = ()> + Send {
        async move { drop(self) }
    }
}

/// A receiving end, which gives `None` when nothing comes any more.
trait Receives: Send + 'static {
    fn recv_as(&mut self, kind: Kind) -> impl Future<Output = Option<u32>> + Send;
}

/// One sends so many numbers ahead, which the other takes; then it asks, and the other echoes; then both have gone.
async fn messages<S: Sends, R: Receives>(
    (world, one, two): (World, Kind, Kind),
    ahead: u32,
    ends: impl Fn() -> (S, R),
) {
    let ((mut there, mut asked), (mut back, mut echoed)) = (ends(), ends());
    let asks = async move {
        for number in 0..ahead {
            there.send_as(one, number).await;
        }
        for number in 1..=TURNS {
            there.send_as(one, number).await;
            assert_eq!(echoed.recv_as(one).await, Some(number));
        }
        there.end_as(one).await;
        assert_eq!(echoed.recv_as(one).await, None);
    };
    let echoes = async move {
        for number in 0..ahead {
            assert_eq!(asked.recv_as(two).await, Some(number));
        }
        for number in 1..=TURNS {
            assert_eq!(asked.recv_as(two).await, Some(number));
            back.send_as(two, number).await;
        }
        assert_eq!(asked.recv_as(two).await, None);
        back.end_as(two).await;
    };
    meet(&world, (one, asks), (two, echoes)).await;
}

/// Makes rules of pairs of ends.
macro_rules! rules {
    ($($rule:ident: $ahead:expr, $ends:expr;)*) => {$(
        pub(super) async fn $rule(world: World, one: Kind, two: Kind, _: u64) {
            messages((world, one, two), $ahead, || $ends).await;
        }
    )*};
}

rules! {
    rendezvous_channel: TURNS, channel::rendezvous();
    bounded_channel: TURNS, bounded(2);
    unbounded_channel: TURNS, channel::unbounded();
    shared_sender: TURNS, shared(bounded(1));
    ring: TURNS, spsc(2);
    // It waits for nobody: so much room that nothing is missed.
    broadcast_channel: TURNS, channel::broadcast(TURNS as usize + 1);
    port_set: TURNS, in_set(bounded(1));
    joined_channels: TURNS, joined(bounded(1), bounded(2));
    // A value that is replaced is not seen.
    watch_channel: 0, channel::watch(0);
    mvar: TURNS, both(Arc::new(MVar::empty()));
    ivar: TURNS, both(series(|| Arc::new(IVar::new())));
    one_shots: TURNS, one_shot_series();
}

fn shared<T>((tx, rx): (Sender<T>, Receiver<T>)) -> (SharedSender<T>, Receiver<T>) {
    (SharedSender::new(tx), rx)
}

fn in_set((tx, rx): (Sender<u32>, Receiver<u32>)) -> (Sender<u32>, PortSet<u32>) {
    let set = PortSet::new();
    assert!(set.add(rx).is_ok(), "it is the only receiver");
    (tx, set)
}

fn joined<S, R>(one: (S, R), two: (S, R)) -> ((S, S), (R, R)) {
    ((one.0, two.0), (one.1, two.1))
}

fn both<T: Clone>(end: T) -> (T, T) {
    (end.clone(), end)
}

/// One for each number, and for the end.
type Series<T> = vec::IntoIter<T>;

fn series<T>(make: impl Fn() -> T) -> Series<T> {
    let all: Vec<_> = (0..=2 * TURNS).map(|_| make()).collect();
    all.into_iter()
}

fn one_shot_series() -> (Series<oneshot::Sender<u32>>, Series<oneshot::Receiver<u32>>) {
    let (senders, receivers): (Vec<_>, Vec<_>) = series(oneshot).unzip();
    (senders.into_iter(), receivers.into_iter())
}

/// Makes ends of what sends and what receives.
macro_rules! ends {
    (
        senders($kind:ident, $number:ident) { $($tx:ident: $sender:ty => $send:expr;)* }
        receivers { $($rx:ident: $receiver:ty => $recv:expr;)* }
    ) => {
        $(impl Sends for $sender {
            async fn send_as(&mut self, $kind: Kind, $number: u32) {
                // Some wait for nobody.
                let ($tx, _) = (self, $kind);
                let sent = $send;
                sent.expect("the other end is there");
            }
        })*
        $(impl Receives for $receiver {
            async fn recv_as(&mut self, $kind: Kind) -> Option<u32> {
                let $rx = self;
                $recv
            }
        })*
    };
}

ends! {
    senders(kind, number) {
        tx: Sender<u32> => kind.finish(tx.send(number)).await;
        tx: SharedSender<u32> => kind.finish(tx.send(number)).await;
        tx: spsc::Sender<u32> => kind.finish(tx.send(number)).await;
        tx: channel::broadcast::Sender<u32> => tx.send(number);
        tx: channel::watch::Sender<u32> => { tx.send(number); Some(()) };
        tx: Series<oneshot::Sender<u32>> => tx.next().and_then(|tx| tx.send(number).ok());
    }
    receivers {
        rx: Receiver<u32> => kind.finish(rx.recv()).await.ok();
        rx: spsc::Receiver<u32> => kind.finish(rx.recv()).await.ok();
        rx: channel::broadcast::Receiver<u32> => kind.finish(rx.recv()).await.ok();
        rx: channel::watch::Receiver<u32> => kind.finish(rx.changed()).await.ok().map(|value| *value);
        rx: PortSet<u32> => kind.finish(rx.recv()).await.and_then(|(_, event)| event.ok());
        rx: Arc<MVar<Option<u32>>> => kind.finish(rx.take()).await;
        rx: Series<Arc<IVar<Option<u32>>>> => match rx.next() {
            Some(cell) => *kind.finish(cell.read()).await,
            None => None,
        };
        rx: Series<oneshot::Receiver<u32>> => match rx.next() {
            Some(rx) => kind.finish(rx).await.ok(),
            None => None,
        };
    }
}

// A cell is never closed: the end is a value.
impl Sends for Arc<MVar<Option<u32>>> {
    async fn send_as(&mut self, kind: Kind, number: u32) {
        kind.finish(self.put(Some(number))).await;
    }

    async fn end_as(self, kind: Kind) {
        kind.finish(self.put(None)).await;
    }
}

impl Sends for Series<Arc<IVar<Option<u32>>>> {
    async fn send_as(&mut self, _: Kind, number: u32) {
        let cell = self.next().expect("one for each number");
        assert!(cell.put(Some(number)).is_ok(), "it is assigned");
    }

    async fn end_as(mut self, _: Kind) {
        let cell = self.next().expect("one for the end");
        assert!(cell.put(None).is_ok(), "it is assigned");
    }
}

/// Two channels, which a join receives from.
impl Sends for (Sender<u32>, Sender<u32>) {
    async fn send_as(&mut self, kind: Kind, number: u32) {
        self.0.send_as(kind, number).await;
        self.1.send_as(kind, number + 1_000).await;
    }
}

impl Receives for (Receiver<u32>, Receiver<u32>) {
    async fn recv_as(&mut self, kind: Kind) -> Option<u32> {
        let joined = kind.finish(join_pattern((&self.0, &self.1))).await;
        let (number, other) = joined.ok()?;
        assert_eq!(other, number + 1_000);
        Some(number)
    }
}

/// One asks, and the other replies.
pub(super) async fn pipe(world: World, one: Kind, two: Kind, _: u64) {
    let (mut client, mut server) = chat::pipe();
    let asks = async move {
        for number in 0..TURNS {
            let asked = client.ask(number).expect("it is there");
            let Ok(Reply::Reply(reply, next)) = one.finish(asked.recv()).await else {
                panic!("it replies")
            };
            assert_eq!(reply, number);
            client = next;
        }
    };
    let replies = async move {
        let mut asked = Vec::new();
        while let Ok(Ask::Ask(number, reply)) = two.finish(server.recv()).await {
            asked.push(number);
            server = reply.reply(number).expect("it waits");
        }
        asked
    };
    let ((), asked) = meet(&world, (one, asks), (two, replies)).await;
    assert!(asked.into_iter().eq(0..TURNS));
}
