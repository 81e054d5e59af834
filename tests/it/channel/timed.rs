//! Sends in a `select!` against a timeout, of which many win and many lose: what was sent is what came, and what is left.
//!
//! Both sides count, and keep the numbers of the messages in a sum that depends on their order. No outcome is rare: by
//! the shares so far the receiver holds back, or the sender is patient, so that both are between a third and two thirds
//! however fast the machine is.
//!
//! A second or two by default. `GOSSAMER_TIMED_SENDS=10000000 GOSSAMER_PATIENCE=3600`, in release, is ten million
//! messages for each kind of channel and model.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use gossamer::channel::{self, Receiver, Sender, TryRecvError, bounded, rendezvous, spsc};
use gossamer::time::sleep as rest;
use gossamer::{Model, TimeoutExt, Wait, select};

use crate::models::{runtime, watched};

const MODELS: [Model; 3] = [Model::Single, Model::Pool { workers: 2 }, Model::Threads];

/// Channels at a time, with a task at each end.
const PAIRS: u64 = 32;

/// The longest limit of a send, and pause of a receiver: so much as two wakes of a thread take.
const LONGEST_NS: u64 = 40_000;

/// The limit of a send that shall not be given up.
const PATIENT: Duration = Duration::from_secs(100);

/// Messages of all pairs together.
fn messages() -> u64 {
    let given = std::env::var("GOSSAMER_TIMED_SENDS").ok();
    given.map_or(8_000, |given| given.parse().expect("a number of messages"))
}

/// A sending end.
trait Sends: Send + 'static {
    /// Sends a message within this time; whether it has.
    fn send_within(&mut self, number: u64, limit: Duration) -> impl Future<Output = bool> + Send;
}

/// A receiving end.
trait Receives: Send + 'static {
    /// A message that comes within this time.
    fn recv_within(&mut self, limit: Duration) -> impl Future<Output = Option<u64>> + Send;

    fn try_recv(&mut self) -> Result<u64, TryRecvError>;
}

/// The ends of a channel, whose operations stand in the `select!` themselves.
macro_rules! ends {
    ($($sender:ty, $receiver:ty;)*) => {$(
        impl Sends for $sender {
            async fn send_within(&mut self, number: u64, limit: Duration) -> bool {
                if number.is_multiple_of(2) {
                    select! {
                        sent = self.send(number) => sent.is_ok(),
                        _ = rest(limit) => false,
                    }
                } else {
                    self.send(number).timeout(limit).await == Ok(Ok(()))
                }
            }
        }

        impl Receives for $receiver {
            async fn recv_within(&mut self, limit: Duration) -> Option<u64> {
                select! {
                    message = self.recv() => message.ok(),
                    _ = rest(limit) => None,
                }
            }

            fn try_recv(&mut self) -> Result<u64, TryRecvError> {
                <$receiver>::try_recv(self)
            }
        }
    )*};
}

ends! {
    Sender<u64>, Receiver<u64>;
    spsc::Sender<u64>, spsc::Receiver<u64>;
}

/// Messages: how many, and a sum that no other messages have, nor these in another order.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Books {
    count: u64,
    sum: u64,
}

impl Books {
    fn enter(&mut self, number: u64) {
        self.count += 1;
        // FNV-1a (Fowler, Noll and Vo), a word at a time.
        self.sum = (self.sum ^ number).wrapping_mul(0x0100_0000_01B3);
    }
}

/// How the sends of a pair have ended so far.
#[derive(Default)]
struct Shares {
    sent: AtomicU64,
    given_up: AtomicU64,
    is_over: AtomicBool,
}

impl Shares {
    fn sent(&self) -> u64 {
        self.sent.load(Ordering::SeqCst)
    }

    fn given_up(&self) -> u64 {
        self.given_up.load(Ordering::SeqCst)
    }
}

fn short(random: &mut fastrand::Rng) -> Duration {
    Duration::from_nanos(random.u64(..LONGEST_NS))
}

/// Sends this many messages, each within a time. One that is given up is gone.
async fn send_all(mut tx: impl Sends, each: u64, shares: Arc<Shares>, seed: u64) -> Books {
    let (mut books, mut random) = (Books::default(), fastrand::Rng::with_seed(seed));
    for number in 0..each {
        let limit = match shares.given_up() > 2 * shares.sent() {
            true => PATIENT,
            false => short(&mut random),
        };
        if tx.send_within(number, limit).await {
            books.enter(number);
            shares.sent.fetch_add(1, Ordering::SeqCst);
        } else {
            shares.given_up.fetch_add(1, Ordering::SeqCst);
        }
    }
    shares.is_over.store(true, Ordering::SeqCst);
    books
}

/// Receives until the sender has ended, and leaves the rest.
async fn receive<R: Receives>(mut rx: R, shares: Arc<Shares>, seed: u64) -> (Books, R) {
    let (mut books, mut random) = (Books::default(), fastrand::Rng::with_seed(seed));
    while !shares.is_over.load(Ordering::SeqCst) {
        let (sent, given_up) = (shares.sent(), shares.given_up());
        if sent > given_up {
            rest(short(&mut random)).await;
        }
        if sent > 2 * given_up {
            continue;
        }
        if let Some(number) = rx.recv_within(short(&mut random)).await {
            books.enter(number);
        }
    }
    (books, rx)
}

/// Does it under a model, and gives what was sent, given up, and left.
fn under<S: Sends, R: Receives>(model: Model, make: fn() -> (S, R)) -> [u64; 3] {
    let rt = runtime(model);
    let each = messages() / PAIRS;
    let pairs: Vec<_> = (0..PAIRS)
        .map(|pair| {
            let ((tx, rx), shares) = (make(), Arc::<Shares>::default());
            let sends = rt.spawn(send_all(tx, each, shares.clone(), 2 * pair));
            let receives = rt.spawn(receive(rx, shares.clone(), 2 * pair + 1));
            (shares, sends, receives)
        })
        .collect();
    let mut all = [0; 3];
    for (shares, sends, receives) in pairs {
        let sent = sends.wait().expect("no panic");
        let (mut came, mut rx) = receives.wait().expect("no panic");
        let received = came.count;
        while let Ok(number) = rx.try_recv() {
            came.enter(number);
        }
        assert_eq!(sent, came, "{model}: sent, and received or left");
        for (all, one) in all
            .iter_mut()
            .zip([sent.count, shares.given_up(), came.count - received])
        {
            *all += one;
        }
    }
    all
}

/// Does it under each model.
fn what_was_sent_is_what_came<S: Sends, R: Receives>(kind: &'static str, make: fn() -> (S, R)) {
    for model in MODELS {
        watched(kind, move || {
            let [sent, given_up, left] = under(model, make);
            println!("{kind}, {model}: {sent} sent, of which {left} left; {given_up} given up");
            let percent = 100 * sent / (sent + given_up);
            assert!(
                (20..=80).contains(&percent),
                "{kind}, {model}: {percent} % sent"
            );
        });
    }
}

#[test]
fn bounded_to_one() {
    what_was_sent_is_what_came("bounded(1)", || bounded(1));
}

#[test]
fn bounded_to_sixteen() {
    what_was_sent_is_what_came("bounded(16)", || bounded(16));
}

#[test]
fn ring() {
    what_was_sent_is_what_came("spsc(2)", || channel::spsc(2));
}

#[test]
fn at_a_rendezvous() {
    what_was_sent_is_what_came("rendezvous()", rendezvous);
}
