//! The ends of each kind of channel.

use gossamer::channel::{self, Receiver, Sender, SharedSender, spsc};

use super::ledger::Message;

/// Ends of one kind.
pub(super) trait Ends: 'static {
    type Tx: Send;
    type Rx: Send;

    /// Whether sending can leave the message where it is until it is sent.
    const KEEPS: bool = false;

    /// The messages of so many senders, of the first ones, come in any order.
    const UNORDERED: u32 = 0;

    fn name() -> String;

    fn ends() -> (Vec<Self::Tx>, Vec<Self::Rx>);

    /// Whether it was sent; else the message is in its place again. If it `keeps`, also when it is dropped.
    fn send(
        tx: &mut Self::Tx,
        message: &mut Option<Message>,
        keeps: bool,
    ) -> impl Future<Output = bool> + Send;

    /// One, or as many as there are; whether there may be more.
    fn recv(
        rx: &mut Self::Rx,
        into: &mut Vec<Message>,
        many: bool,
    ) -> impl Future<Output = bool> + Send;

    fn try_recv(rx: &mut Self::Rx) -> Option<Message>;
}

/// Three senders, two receivers.
pub(super) struct Mpmc<const CAPACITY: usize>;
pub(super) struct Spsc<const CAPACITY: usize>;
/// Three senders, which share one.
pub(super) struct SharedMpmc<const CAPACITY: usize>;
pub(super) struct SharedSpsc<const CAPACITY: usize>;

fn mpmc(capacity: usize) -> (Sender<Message>, Receiver<Message>) {
    match capacity {
        0 => channel::rendezvous(),
        usize::MAX => channel::unbounded(),
        capacity => channel::bounded(capacity),
    }
}

fn named(kind: &str, capacity: usize) -> String {
    match capacity {
        0 => format!("{kind}rendezvous"),
        usize::MAX => format!("{kind}unbounded"),
        capacity => format!("{kind}bounded({capacity})"),
    }
}

fn three<T: Clone>(one: T) -> Vec<T> {
    vec![one.clone(), one.clone(), one]
}

/// How all but the first kind send.
macro_rules! sends {
    () => {
        async fn send(tx: &mut Self::Tx, message: &mut Option<Message>, _keeps: bool) -> bool {
            let sent = tx.send(message.take().expect("a message")).await;
            sent.map_err(|error| *message = Some(error.0)).is_ok()
        }
    };
}

/// How all receive.
macro_rules! receives {
    () => {
        async fn recv(rx: &mut Self::Rx, into: &mut Vec<Message>, many: bool) -> bool {
            if many {
                return rx.recv_many(into, 8).await.is_ok();
            }
            let received = rx.recv().await;
            received.map(|message| into.push(message)).is_ok()
        }

        fn try_recv(rx: &mut Self::Rx) -> Option<Message> {
            rx.try_recv().ok()
        }
    };
}

impl<const CAPACITY: usize> Ends for Mpmc<CAPACITY> {
    type Tx = Sender<Message>;
    type Rx = Receiver<Message>;
    const KEEPS: bool = true;

    fn name() -> String {
        named("", CAPACITY)
    }

    fn ends() -> (Vec<Self::Tx>, Vec<Self::Rx>) {
        let (tx, rx) = mpmc(CAPACITY);
        (three(tx), vec![rx.clone(), rx])
    }

    async fn send(tx: &mut Self::Tx, message: &mut Option<Message>, keeps: bool) -> bool {
        if keeps {
            return tx.send_from(message).await.is_ok();
        }
        let sent = tx.send(message.take().expect("a message")).await;
        sent.map_err(|error| *message = Some(error.0)).is_ok()
    }

    receives!();
}

impl<const CAPACITY: usize> Ends for Spsc<CAPACITY> {
    type Tx = spsc::Sender<Message>;
    type Rx = spsc::Receiver<Message>;

    fn name() -> String {
        format!("spsc({CAPACITY})")
    }

    fn ends() -> (Vec<Self::Tx>, Vec<Self::Rx>) {
        let (tx, rx) = channel::spsc(CAPACITY);
        (vec![tx], vec![rx])
    }

    sends!();
    receives!();
}

impl<const CAPACITY: usize> Ends for SharedMpmc<CAPACITY> {
    type Tx = SharedSender<Message>;
    type Rx = Receiver<Message>;

    fn name() -> String {
        named("shared ", CAPACITY)
    }

    fn ends() -> (Vec<Self::Tx>, Vec<Self::Rx>) {
        let (tx, rx) = mpmc(CAPACITY);
        (three(SharedSender::new(tx)), vec![rx])
    }

    sends!();
    receives!();
}

impl<const CAPACITY: usize> Ends for SharedSpsc<CAPACITY> {
    type Tx = SharedSender<Message, spsc::Sender<Message>>;
    type Rx = spsc::Receiver<Message>;

    fn name() -> String {
        format!("shared spsc({CAPACITY})")
    }

    fn ends() -> (Vec<Self::Tx>, Vec<Self::Rx>) {
        let (tx, rx) = channel::spsc(CAPACITY);
        (three(SharedSender::new(tx)), vec![rx])
    }

    sends!();
    receives!();
}
