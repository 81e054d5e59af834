//! Many channels, of which some have messages, and one that receives from all of them.

use crate::tasks::{Came, Channel, Went};

/// Who sends where.
#[derive(Debug)]
pub struct Ports {
    /// How many messages are sent together.
    pub messages: u64,
    /// How many channels there are; each holds one message.
    pub ports: usize,
    /// Those that get messages, in the order in which they do, over and over.
    pub order: Vec<usize>,
    /// Whether it is received as many as there are at once.
    pub many: bool,
}

impl Ports {
    /// The options of the workload, `--kind` first.
    pub const OPTIONS: &[&str] = &["--kind", "--messages", "--ports", "--active", "--receive"];

    /// The number of an option or the usual one.
    ///
    /// # Errors
    /// More active ports than there are, or what `number` says.
    pub fn of(
        number: impl Fn(&str, u64) -> Result<u64, String>,
        receive: &str,
    ) -> Result<Self, String> {
        let many = match receive {
            "one" => false,
            "many" => true,
            other => return Err(format!("--receive {other}: expected one, many")),
        };
        let count = |name| {
            let number = number(name, 10)?;
            usize::try_from(number).map_err(|error| format!("{name} {number}: {error}"))
        };
        let (ports, active) = (count("--ports")?, count("--active")?);
        let mut order = waiting::order(ports, "shuffled")?;
        order.truncate(active);
        Ok(Self {
            messages: number("--messages", 1_000)?,
            ports,
            order,
            many,
        })
    }
}

/// A set of receiving ends, whatever a library has for that.
pub trait Set: Channel {
    /// The set.
    type Set: 'static;

    /// Of all these.
    fn set(rxs: Vec<Self::Rx>) -> Self::Set;
    /// Receives from any of them: the set's own operation.
    fn recv_any(set: &mut Self::Set) -> impl Future<Output: Came>;
}

/// A set that gives several messages at once.
pub trait SetMany: Set {
    /// What they are put into.
    type Events: Default + 'static;

    /// Waits for a message, or an end, and takes what else is there; how many messages, and their sum. `None`: no more
    /// come.
    fn recv_all(
        set: &mut Self::Set,
        events: &mut Self::Events,
    ) -> impl Future<Output = Option<(u64, u64)>>;
}

/// The channels, and the one that sends.
fn sender<C: Channel>(asked: &Ports) -> (Vec<C::Rx>, impl Future<Output = ()> + use<C>) {
    let (txs, rxs) = (0..asked.ports).map(|_| C::pair(Some(1))).unzip();
    (rxs, sends::<C>(txs, asked.order.clone(), asked.messages))
}

async fn sends<C: Channel>(mut txs: Vec<C::Tx>, order: Vec<usize>, messages: u64) {
    for (number, port) in (0..messages).zip(order.iter().cycle()) {
        // A message that got lost would keep the receiver from ending.
        if !C::send(&mut txs[*port], number).await.went() {
            break;
        }
    }
    // They end with the process: it is not their end that is measured.
    std::mem::forget(txs);
}

/// One that sends, and one that receives from a set and gives the sum.
pub fn from_set<C: Set>(
    asked: &Ports,
) -> (
    impl Future<Output = ()> + use<C>,
    impl Future<Output = u64> + use<C>,
) {
    let (rxs, sender) = sender::<C>(asked);
    let (mut set, messages) = (C::set(rxs), asked.messages);
    let receiver = async move {
        let mut sum = 0_u64;
        for _ in 0..messages {
            match C::recv_any(&mut set).await.message() {
                Some(message) => sum = sum.wrapping_add(message),
                None => break,
            }
        }
        std::mem::forget(set);
        sum
    };
    (sender, receiver)
}

/// The same, and it takes what is there at once.
pub fn from_set_at_once<C: SetMany>(
    asked: &Ports,
) -> (
    impl Future<Output = ()> + use<C>,
    impl Future<Output = u64> + use<C>,
) {
    let (rxs, sender) = sender::<C>(asked);
    let (mut set, messages) = (C::set(rxs), asked.messages);
    let receiver = async move {
        let (mut sum, mut received, mut events) = (0_u64, 0, C::Events::default());
        while received < messages {
            let Some((count, of_them)) = C::recv_all(&mut set, &mut events).await else {
                break;
            };
            (received, sum) = (received + count, sum.wrapping_add(of_them));
        }
        std::mem::forget(set);
        sum
    };
    (sender, receiver)
}

/// The bare array: the receiver is told the order, and receives from one channel after the other.
pub fn from_array<C: Channel>(
    asked: &Ports,
) -> (
    impl Future<Output = ()> + use<C>,
    impl Future<Output = u64> + use<C>,
) {
    let (mut rxs, sender) = sender::<C>(asked);
    let (order, messages) = (asked.order.clone(), asked.messages);
    let receiver = async move {
        let mut sum = 0_u64;
        for (_, port) in (0..messages).zip(order.iter().cycle()) {
            match C::recv(&mut rxs[*port]).await.message() {
                Some(message) => sum = sum.wrapping_add(message),
                None => break,
            }
        }
        std::mem::forget(rxs);
        sum
    };
    (sender, receiver)
}
