//! `forkjoin`, Savina's `fjthrput`: one sends to each of some actors by turns, and each calculates for each message.

use crate::{MOST, NoSecond, Number, Stream, Tasks};

/// Savina's.
const ANGLE: f64 = 37.2;
/// How many messages a channel holds.
const CAPACITY: usize = 1_024;

/// What is asked for.
#[derive(Debug, Clone, Copy)]
pub struct ForkJoin {
    messages: u64,
    actors: u64,
}

impl ForkJoin {
    /// Its options, `--kind` first.
    pub const OPTIONS: &[&str] = &["--kind", "--messages", "--actors"];

    /// The numbers of the options, or the published ones.
    ///
    /// # Errors
    /// What `number` says.
    pub fn of(number: impl Number) -> Result<Self, String> {
        Ok(Self {
            messages: number("--messages", 600_000)?,
            actors: number("--actors", 60)?,
        })
    }
}

/// The actors give how often they have calculated.
pub fn fork_join<S: Stream>(
    asked: ForkJoin,
) -> Tasks<impl Future<Output = u64> + use<S>, NoSecond, impl Future<Output = u64> + use<S>> {
    let pairs = (0..asked.actors).map(|_| S::pair(CAPACITY));
    let (txs, rxs): (Vec<_>, Vec<_>) = pairs.unzip();
    Tasks {
        first: rxs.into_iter().map(actor::<S>).collect(),
        second: Vec::new(),
        one: sends::<S>(txs, asked.messages),
    }
}

async fn sends<S: Stream>(mut txs: Vec<S::Tx<f64>>, messages: u64) -> u64 {
    let mut left = messages;
    while left > 0 {
        for tx in txs.iter_mut().take(left as usize) {
            if !S::send(tx, ANGLE).await {
                return 0;
            }
            left -= 1;
        }
    }
    0
}

async fn actor<S: Stream>(mut rx: S::Rx<f64>) -> u64 {
    let (mut calculated, mut angles) = (0, Vec::with_capacity(MOST));
    while S::recv_many(&mut rx, &mut angles, MOST).await {
        for angle in angles.drain(..) {
            let sine = f64::sin(angle);
            calculated += u64::from(sine * sine > 0.0);
        }
    }
    calculated
}
