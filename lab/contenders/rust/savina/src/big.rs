//! `big`: each actor sends pings to random ones, itself included, one after the other as the pongs come; a sink is told
//! when one has sent all of its, and ends them.

use std::sync::Arc;

use waiting::part;

use crate::random::Random;
use crate::{MOST, Mail, NoSecond, Number, Tasks, count};

/// What is asked for.
#[derive(Debug, Clone, Copy)]
pub struct Big {
    pings: u64,
    actors: usize,
}

impl Big {
    /// Its options, `--kind` first.
    pub const OPTIONS: &[&str] = &["--kind", "--pings", "--actors"];

    /// The numbers of the options, or the published ones.
    ///
    /// # Errors
    /// What `number` says.
    pub fn of(number: impl Number) -> Result<Self, String> {
        Ok(Self {
            pings: number("--pings", 2_400_000)?,
            actors: count(&number, "--actors", 120)?,
        })
    }
}

enum Message {
    /// Of the actor with this number.
    Ping(usize),
    Pong(usize),
    Exit,
}

/// The actors give how many pongs came from where the ping went.
pub fn big<M: Mail>(
    asked: Big,
) -> Tasks<impl Future<Output = u64> + use<M>, NoSecond, impl Future<Output = u64> + use<M>> {
    // Each has one ping on its way, so in a mailbox are at most one of each, a pong, and the exit.
    let room = asked.actors + 2;
    let (txs, inboxes): (Vec<_>, Vec<_>) = (0..asked.actors)
        .map(|_| M::mailbox::<Message>(room))
        .unzip();
    let txs: Arc<[_]> = txs.into();
    let (ended, ends) = M::mailbox::<()>(asked.actors);
    let actors = (0..).zip(inboxes).map(|(id, inbox)| {
        let pings = part(asked.pings, asked.actors as u64, id as u64);
        actor::<M>(id, pings, txs.clone(), inbox, ended.clone())
    });
    Tasks {
        first: actors.collect(),
        second: Vec::new(),
        one: sink::<M>(ends, txs.clone()),
    }
}

async fn actor<M: Mail>(
    id: usize,
    pings: u64,
    txs: Arc<[M::Tx<Message>]>,
    mut inbox: M::Rx<Message>,
    ended: M::Tx<()>,
) -> u64 {
    let (mut random, mut asked, mut left, mut answered) = (Random::new(id as u64), id, pings, 0);
    let mut messages = Vec::with_capacity(MOST);
    // As Savina has it, a pong is what an actor begins with; it counts for none.
    messages.push(Message::Pong(id));
    loop {
        for message in messages.drain(..) {
            match message {
                Message::Ping(from) => M::send(&txs[from], Message::Pong(id)),
                Message::Pong(from) => {
                    answered += u64::from(from == asked);
                    if left == 0 {
                        M::send(&ended, ());
                        continue;
                    }
                    left -= 1;
                    asked = random.below(txs.len());
                    M::send(&txs[asked], Message::Ping(id));
                }
                Message::Exit => return answered - 1,
            }
        }
        if !M::recv_many(&mut inbox, &mut messages, MOST).await {
            return answered - 1;
        }
    }
}

async fn sink<M: Mail>(mut ends: M::Rx<()>, txs: Arc<[M::Tx<Message>]>) -> u64 {
    for _ in 0..txs.len() {
        M::recv(&mut ends).await;
    }
    for tx in txs.iter() {
        M::send(tx, Message::Exit);
    }
    0
}
