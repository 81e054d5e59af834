//! Senders and receivers as futures.

use crate::asked::Asked;
use crate::ports::SetMany;

/// A channel for tasks.
pub trait Channel: 'static {
    /// The side that sends.
    type Tx: 'static;
    /// The side that receives.
    type Rx: 'static;

    /// A new one that holds so many messages; `None`: as many as come.
    fn pair(capacity: Option<usize>) -> (Self::Tx, Self::Rx);
    /// Sends: the channel's own operation, with nothing around it.
    fn send(tx: &mut Self::Tx, message: u64) -> impl Future<Output: Went>;
    /// Receives.
    fn recv(rx: &mut Self::Rx) -> impl Future<Output: Came>;
}

/// A channel whose receiver takes several messages at once.
pub trait Many: Channel {
    /// Waits for a message, and takes what else is there, as far as `most` if it can be told; whether there was any.
    fn recv_many(rx: &mut Self::Rx, into: &mut Vec<u64>, most: usize)
    -> impl Future<Output = bool>;
}

/// What sending says in the end.
pub trait Went {
    /// Whether somebody is there on the other side.
    fn went(&self) -> bool;
}

impl<T, E> Went for Result<T, E> {
    fn went(&self) -> bool {
        self.is_ok()
    }
}

/// What is received.
pub trait Came {
    /// The message; `None` when nobody is there any more to send.
    fn message(self) -> Option<u64>;
}

impl<E> Came for Result<u64, E> {
    fn message(self) -> Option<u64> {
        self.ok()
    }
}

impl Came for Option<u64> {
    fn message(self) -> Option<u64> {
        self
    }
}

impl<K, E> Came for Option<(K, Result<u64, E>)> {
    fn message(self) -> Option<u64> {
        self?.1.ok()
    }
}

/// What is to be spawned, in this order: the senders, and the receivers, which give their sums.
#[derive(Debug)]
pub struct Tasks<S, R> {
    /// They end when they have sent all.
    pub senders: Vec<S>,
    /// They end when the senders have.
    pub receivers: Vec<R>,
}

/// One sender and one receiver.
pub fn one_to_one<C: Channel>(
    asked: &Asked,
) -> Tasks<impl Future<Output = ()> + use<C>, impl Future<Output = u64> + use<C>> {
    let (tx, rx) = C::pair(asked.capacity);
    Tasks {
        senders: vec![sender::<C>(tx, asked.of_sender(0))],
        receivers: vec![receiver::<C>(rx)],
    }
}

/// Some senders and one receiver.
pub fn to_one<C: Channel<Tx: Clone>>(
    asked: &Asked,
) -> Tasks<impl Future<Output = ()> + use<C>, impl Future<Output = u64> + use<C>> {
    let (tx, rx) = C::pair(asked.capacity);
    Tasks {
        senders: senders::<C>(asked, tx),
        receivers: vec![receiver::<C>(rx)],
    }
}

/// The same, and the receiver takes what is there at once.
pub fn to_one_at_once<C: Many<Tx: Clone>>(
    asked: &Asked,
) -> Tasks<impl Future<Output = ()> + use<C>, impl Future<Output = u64> + use<C>> {
    let (tx, rx) = C::pair(asked.capacity);
    let most = asked.capacity.unwrap_or(1_024).max(1);
    Tasks {
        senders: senders::<C>(asked, tx),
        receivers: vec![greedy::<C>(rx, most)],
    }
}

/// Some senders and some receivers.
pub fn to_several<C: Channel<Tx: Clone, Rx: Clone>>(
    asked: &Asked,
) -> Tasks<impl Future<Output = ()> + use<C>, impl Future<Output = u64> + use<C>> {
    let (tx, rx) = C::pair(asked.capacity);
    let clones = (1..asked.receivers).map(|_| rx.clone()).collect::<Vec<_>>();
    Tasks {
        senders: senders::<C>(asked, tx),
        receivers: clones.into_iter().chain([rx]).map(receiver::<C>).collect(),
    }
}

/// Tasks in a ring, each with a channel to the next one: it sends, then receives, and so on. They give their sums.
pub fn ring<C: Channel>(
    asked: &Asked,
) -> Tasks<std::future::Ready<()>, impl Future<Output = u64> + use<C>> {
    let (mut outputs, inputs): (Vec<_>, Vec<_>) =
        (0..asked.senders).map(|_| C::pair(asked.capacity)).unzip();
    // The first one's input is what the last one sends to.
    outputs.rotate_left(1);
    let ends = (0..asked.senders).zip(outputs).zip(inputs);
    Tasks {
        senders: Vec::new(),
        receivers: ends
            .map(|((member, tx), rx)| self::member::<C>(asked.of_member(member), tx, rx))
            .collect(),
    }
}

/// Some senders, each with a channel of its own, and one receiver of a set of them, which takes what is there at once.
pub fn to_set<C: SetMany>(
    asked: &Asked,
) -> Tasks<impl Future<Output = ()> + use<C>, impl Future<Output = u64> + use<C>> {
    let pairs = (0..asked.senders).map(|_| C::pair(asked.capacity));
    let (txs, rxs): (Vec<_>, Vec<_>) = pairs.unzip();
    let mut set = C::set(rxs);
    let senders = (0..).zip(txs);
    let senders = senders.map(|(index, tx)| sender::<C>(tx, asked.of_sender(index)));
    let receiver = async move {
        let (mut sum, mut events) = (0_u64, C::Events::default());
        while let Some((_, of_them)) = C::recv_all(&mut set, &mut events).await {
            sum = sum.wrapping_add(of_them);
        }
        sum
    };
    Tasks {
        senders: senders.collect(),
        receivers: vec![receiver],
    }
}

/// Two tasks and two channels: a number goes to and fro, each way adds one, and who began gives it.
pub fn to_and_fro<C: Channel>(
    asked: &Asked,
) -> Tasks<impl Future<Output = ()> + use<C>, impl Future<Output = u64> + use<C>> {
    let ((ping, pinged), (pong, ponged)) = (C::pair(asked.capacity), C::pair(asked.capacity));
    Tasks {
        senders: vec![answers::<C>(pinged, pong)],
        receivers: vec![asks::<C>(asked.messages, ping, ponged)],
    }
}

fn senders<C: Channel<Tx: Clone>>(
    asked: &Asked,
    tx: C::Tx,
) -> Vec<impl Future<Output = ()> + use<C>> {
    // The last one gets the sender itself, so that none is left when all have ended.
    let clones = (1..asked.senders).map(|_| tx.clone()).collect::<Vec<_>>();
    let all = clones.into_iter().chain([tx]).zip(0..);
    all.map(|(tx, index)| sender::<C>(tx, asked.of_sender(index)))
        .collect()
}

async fn sender<C: Channel>(mut tx: C::Tx, messages: crate::asked::Messages) {
    for message in messages {
        // A message that got lost would make the sum wrong, which the lab sees.
        if !C::send(&mut tx, message).await.went() {
            break;
        }
    }
}

async fn receiver<C: Channel>(mut rx: C::Rx) -> u64 {
    let mut sum = 0_u64;
    while let Some(message) = C::recv(&mut rx).await.message() {
        sum = sum.wrapping_add(message);
    }
    sum
}

async fn greedy<C: Many>(mut rx: C::Rx, most: usize) -> u64 {
    let (mut sum, mut messages) = (0_u64, Vec::with_capacity(most));
    while C::recv_many(&mut rx, &mut messages, most).await {
        for message in messages.drain(..) {
            sum = sum.wrapping_add(message);
        }
    }
    sum
}

async fn member<C: Channel>([sends, receives]: [u64; 2], mut tx: C::Tx, mut rx: C::Rx) -> u64 {
    let mut sum = 0_u64;
    for number in 0..sends.max(receives) {
        if number < sends && !C::send(&mut tx, number).await.went() {
            break;
        }
        if number < receives {
            sum = sum.wrapping_add(C::recv(&mut rx).await.message().unwrap_or(0));
        }
    }
    sum
}

async fn answers<C: Channel>(mut rx: C::Rx, mut tx: C::Tx) {
    while let Some(number) = C::recv(&mut rx).await.message() {
        if !C::send(&mut tx, number + 1).await.went() {
            break;
        }
    }
}

async fn asks<C: Channel>(trips: u64, mut tx: C::Tx, mut rx: C::Rx) -> u64 {
    let mut number = 0_u64;
    for _ in 0..trips {
        if !C::send(&mut tx, number).await.went() {
            break;
        }
        number = C::recv(&mut rx).await.message().map_or(0, |back| back + 1);
    }
    number
}
