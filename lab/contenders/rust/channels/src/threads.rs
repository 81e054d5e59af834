//! The same as OS threads.

use std::thread;

use crate::asked::{Asked, Messages};

/// A channel for threads.
pub trait Blocking: 'static {
    /// The side that sends.
    type Tx: Send + 'static;
    /// The side that receives.
    type Rx: Send + 'static;

    /// A new one that holds so many messages; `None`: as many as come.
    fn pair(capacity: Option<usize>) -> (Self::Tx, Self::Rx);
    /// Sends; whether somebody is there to receive.
    fn send(tx: &mut Self::Tx, message: u64) -> bool;
    /// Receives; `None` when nobody is there any more to send.
    fn recv(rx: &mut Self::Rx) -> Option<u64>;
}

/// Threads that have begun.
#[derive(Debug)]
pub struct Threads {
    senders: Vec<thread::JoinHandle<()>>,
    receivers: Vec<thread::JoinHandle<u64>>,
}

impl Threads {
    /// One that ends when the other one has, which gives the sum.
    ///
    /// # Errors
    /// There are no more threads.
    pub fn of_two(
        sender: impl FnOnce() + Send + 'static,
        receiver: impl FnOnce() -> u64 + Send + 'static,
    ) -> std::io::Result<Self> {
        Ok(Self {
            senders: vec![begin(sender)?],
            receivers: vec![begin(receiver)?],
        })
    }

    /// Waits for all; the sum of what was received.
    ///
    /// # Errors
    /// A thread that panicked.
    pub fn join(self) -> Result<u64, String> {
        let panicked = |_| "a thread panicked".to_owned();
        for sender in self.senders {
            sender.join().map_err(panicked)?;
        }
        let mut sum = 0_u64;
        for receiver in self.receivers {
            sum = sum.wrapping_add(receiver.join().map_err(panicked)?);
        }
        Ok(sum)
    }
}

/// One sender and one receiver.
///
/// # Errors
/// There are no more threads.
pub fn thread_to_thread<C: Blocking>(asked: &Asked) -> std::io::Result<Threads> {
    let (mut tx, mut rx) = C::pair(asked.capacity);
    let messages = asked.of_sender(0);
    Threads::of_two(
        move || sender::<C>(&mut tx, messages),
        move || receiver::<C>(&mut rx),
    )
}

/// Some senders and one receiver.
///
/// # Errors
/// There are no more threads.
pub fn threads_to_one<C: Blocking<Tx: Clone>>(asked: &Asked) -> std::io::Result<Threads> {
    let (tx, rx) = C::pair(asked.capacity);
    threads::<C>(asked, tx, vec![rx])
}

/// Some senders and some receivers.
///
/// # Errors
/// There are no more threads.
pub fn threads_to_several<C: Blocking<Tx: Clone, Rx: Clone>>(
    asked: &Asked,
) -> std::io::Result<Threads> {
    let (tx, rx) = C::pair(asked.capacity);
    let clones = (1..asked.receivers).map(|_| rx.clone()).collect::<Vec<_>>();
    threads::<C>(asked, tx, clones.into_iter().chain([rx]).collect())
}

/// Threads in a ring, each with a channel to the next one: it sends, then receives, and so on.
///
/// # Errors
/// There are no more threads.
pub fn ring_of_threads<C: Blocking>(asked: &Asked) -> std::io::Result<Threads> {
    let (mut outputs, inputs): (Vec<_>, Vec<_>) =
        (0..asked.senders).map(|_| C::pair(asked.capacity)).unzip();
    outputs.rotate_left(1);
    let ends = (0..asked.senders).zip(outputs).zip(inputs);
    let receivers = ends.map(|((member, mut tx), mut rx)| {
        let counts = asked.of_member(member);
        begin(move || self::member::<C>(counts, &mut tx, &mut rx))
    });
    Ok(Threads {
        senders: Vec::new(),
        receivers: receivers.collect::<std::io::Result<_>>()?,
    })
}

/// Two threads and two channels: a number goes to and fro, each way adds one, and who began gives it.
///
/// # Errors
/// There are no more threads.
pub fn threads_to_and_fro<C: Blocking>(asked: &Asked) -> std::io::Result<Threads> {
    let ((ping, pinged), (pong, ponged)) = (C::pair(asked.capacity), C::pair(asked.capacity));
    let trips = asked.messages;
    Threads::of_two(
        move || answers::<C>(pinged, pong),
        move || asks::<C>(trips, ping, ponged),
    )
}

fn begin<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> std::io::Result<thread::JoinHandle<T>> {
    thread::Builder::new().spawn(work)
}

fn threads<C: Blocking<Tx: Clone>>(
    asked: &Asked,
    tx: C::Tx,
    rxs: Vec<C::Rx>,
) -> std::io::Result<Threads> {
    let clones = (1..asked.senders).map(|_| tx.clone()).collect::<Vec<_>>();
    let senders = clones
        .into_iter()
        .chain([tx])
        .zip(0..)
        .map(|(mut tx, index)| {
            let messages = asked.of_sender(index);
            begin(move || sender::<C>(&mut tx, messages))
        });
    let senders = senders.collect::<std::io::Result<_>>()?;
    let receivers = rxs
        .into_iter()
        .map(|mut rx| begin(move || receiver::<C>(&mut rx)));
    Ok(Threads {
        senders,
        receivers: receivers.collect::<std::io::Result<_>>()?,
    })
}

fn sender<C: Blocking>(tx: &mut C::Tx, messages: Messages) {
    for message in messages {
        if !C::send(tx, message) {
            break;
        }
    }
}

fn receiver<C: Blocking>(rx: &mut C::Rx) -> u64 {
    let mut sum = 0_u64;
    while let Some(message) = C::recv(rx) {
        sum = sum.wrapping_add(message);
    }
    sum
}

fn member<C: Blocking>([sends, receives]: [u64; 2], tx: &mut C::Tx, rx: &mut C::Rx) -> u64 {
    let mut sum = 0_u64;
    for number in 0..sends.max(receives) {
        if number < sends && !C::send(tx, number) {
            break;
        }
        if number < receives {
            sum = sum.wrapping_add(C::recv(rx).unwrap_or(0));
        }
    }
    sum
}

fn answers<C: Blocking>(mut rx: C::Rx, mut tx: C::Tx) {
    while let Some(number) = C::recv(&mut rx) {
        if !C::send(&mut tx, number + 1) {
            break;
        }
    }
}

fn asks<C: Blocking>(trips: u64, mut tx: C::Tx, mut rx: C::Rx) -> u64 {
    let mut number = 0_u64;
    for _ in 0..trips {
        if !C::send(&mut tx, number) {
            break;
        }
        number = C::recv(&mut rx).map_or(0, |back| back + 1);
    }
    number
}
