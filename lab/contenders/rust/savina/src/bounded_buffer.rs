//! `bounded-buffer`, Savina's `bndbuffer`: a manager takes items from producers and hands them to consumers, and keeps
//! only so many; both calculate for each item.

use std::collections::VecDeque;

use waiting::part;

use crate::random::Random;
use crate::{Mail, Number, Tasks, count};

/// What is asked for.
#[derive(Debug, Clone, Copy)]
pub struct BoundedBuffer {
    items: u64,
    producers: usize,
    consumers: usize,
    buffer: usize,
    cost: u64,
}

impl BoundedBuffer {
    /// Its options, `--kind` first.
    pub const OPTIONS: &[&str] = &[
        "--kind",
        "--items",
        "--producers",
        "--consumers",
        "--buffer",
        "--cost",
    ];

    /// The numbers of the options, or the published ones.
    ///
    /// # Errors
    /// What `number` says.
    pub fn of(number: impl Number) -> Result<Self, String> {
        Ok(Self {
            items: number("--items", 40_000)?,
            producers: count(&number, "--producers", 40)?,
            consumers: count(&number, "--consumers", 40)?,
            buffer: count(&number, "--buffer", 50)?,
            cost: number("--cost", 25)?,
        })
    }
}

enum Message {
    /// Made by the producer with this number.
    Item(f64, usize),
    /// The producer has made all of its items.
    Ended,
    /// The consumer with this number wants another one.
    Available(usize),
}

/// The consumers give how many items they got.
pub fn bounded_buffer<M: Mail>(
    asked: BoundedBuffer,
) -> Tasks<
    impl Future<Output = u64> + use<M>,
    impl Future<Output = u64> + use<M>,
    impl Future<Output = u64> + use<M>,
> {
    // Of each there is one message at most, and a producer's end.
    let (to_manager, inbox) = M::mailbox(2 * asked.producers + asked.consumers);
    let (go_on, wishes): (Vec<_>, Vec<_>) = (0..asked.producers).map(|_| M::mailbox(1)).unzip();
    let (items, inboxes): (Vec<_>, Vec<_>) = (0..asked.consumers).map(|_| M::mailbox(1)).unzip();
    let producers = (0..).zip(wishes).map(|(id, wishes)| {
        let items = part(asked.items, asked.producers as u64, id as u64);
        producer::<M>(id, items, asked.cost, wishes, to_manager.clone())
    });
    let consumers = (0..)
        .zip(inboxes)
        .map(|(id, inbox)| consumer::<M>(id, asked.cost, inbox, to_manager.clone()));
    Tasks {
        first: producers.collect(),
        second: consumers.collect(),
        one: manager::<M>(inbox, go_on, items, asked.buffer),
    }
}

async fn producer<M: Mail>(
    id: usize,
    items: u64,
    cost: u64,
    mut wishes: M::Rx<()>,
    manager: M::Tx<Message>,
) -> u64 {
    let mut item = 0.0;
    for _ in 0..items {
        if M::recv(&mut wishes).await.is_none() {
            break;
        }
        item = process(item, cost);
        M::send(&manager, Message::Item(item, id));
    }
    M::send(&manager, Message::Ended);
    0
}

async fn consumer<M: Mail>(
    id: usize,
    cost: u64,
    mut inbox: M::Rx<f64>,
    manager: M::Tx<Message>,
) -> u64 {
    let (mut sum, mut consumed) = (0.0, 0);
    while let Some(item) = M::recv(&mut inbox).await {
        sum = process(sum + item, cost);
        // Every item, and what is made of it, is a sum of logarithms that is less than 0.
        consumed += u64::from(item < 0.0 && sum < 0.0);
        M::send(&manager, Message::Available(id));
    }
    consumed
}

async fn manager<M: Mail>(
    mut inbox: M::Rx<Message>,
    go_on: Vec<M::Tx<()>>,
    consumers: Vec<M::Tx<f64>>,
    buffer: usize,
) -> u64 {
    // Each producer may send one more, so that much room is kept for them.
    let full = buffer.saturating_sub(go_on.len()).max(1);
    let (mut held, mut waiting) = (VecDeque::with_capacity(buffer), VecDeque::new());
    let mut available: VecDeque<_> = (0..consumers.len()).collect();
    let mut producing = go_on.len();
    go_on.iter().for_each(|tx| M::send(tx, ()));
    while producing > 0 || available.len() < consumers.len() {
        match M::recv(&mut inbox).await {
            Some(Message::Item(item, producer)) => {
                match available.pop_front() {
                    Some(consumer) => M::send(&consumers[consumer], item),
                    None => held.push_back(item),
                }
                if held.len() >= full {
                    waiting.push_back(producer);
                } else {
                    M::send(&go_on[producer], ());
                }
            }
            Some(Message::Available(consumer)) => match held.pop_front() {
                None => available.push_back(consumer),
                Some(item) => {
                    M::send(&consumers[consumer], item);
                    if let Some(producer) = waiting.pop_front() {
                        M::send(&go_on[producer], ());
                    }
                }
            },
            Some(Message::Ended) => producing -= 1,
            None => break,
        }
    }
    0
}

/// Savina's calculation: logarithms of the same numbers each time.
fn process(mut item: f64, cost: u64) -> f64 {
    let mut random = Random::new(cost);
    for _ in 0..cost * 100 {
        item += f64::ln(random.fraction().abs() + 0.01);
    }
    item
}
