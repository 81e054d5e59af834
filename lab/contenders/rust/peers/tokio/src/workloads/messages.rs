//! Workloads of tasks that send to each other: ping-pong, and what the slot is worth.

use std::sync::Arc;

use peer_ring::mvar::MVar;
use peer_ring::{Failure, put};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio_contender::options::{Link, Options, as_task};
use tokio_contender::send;

use crate::arithmetic::{part, steps};

/// Pairs of tasks send a number to and fro; each way adds one. The sum of what they end with.
pub fn pingpong(options: &Options) -> Result<u64, Failure> {
    options.only(&["--kind", "--trips", "--pairs"])?;
    let (trips, pairs) = (
        options.number("--trips", 1_000)?,
        options.number("--pairs", 1)?,
    );
    let link = options.link();
    options.runtime()?.block_on(async {
        let firsts: Vec<JoinHandle<u64>> = (0..pairs)
            .map(|pair| match link {
                Link::Channel => pair_of_channels(part(trips, pairs, pair)),
                Link::MVar => pair_of_mvars(part(trips, pairs, pair)),
            })
            .collect();
        let mut all = 0;
        for first in firsts {
            all += first.await?;
        }
        Ok(all)
    })
}

fn pair_of_channels(trips: u64) -> JoinHandle<u64> {
    let (ping, mut pinged) = mpsc::channel::<u64>(1);
    let (pong, mut ponged) = mpsc::channel::<u64>(1);
    tokio::spawn(async move {
        while let Some(number) = pinged.recv().await {
            if !send!(pong, number + 1) {
                break;
            }
        }
    });
    tokio::spawn(async move {
        let mut number = 0;
        for _ in 0..trips {
            // A message that got lost would make the number wrong, which the lab sees.
            if !send!(ping, number) {
                break;
            }
            number = ponged.recv().await.map_or(0, |number| number + 1);
        }
        number
    })
}

fn pair_of_mvars(trips: u64) -> JoinHandle<u64> {
    let places = Arc::new([MVar::<u64>::default(), MVar::default()]);
    let others = places.clone();
    tokio::spawn(async move {
        let [ping, pong] = &*others;
        for _ in 0..trips {
            put!(pong, ping.take().await + 1);
        }
    });
    tokio::spawn(async move {
        let [ping, pong] = &*places;
        let mut number = 0;
        for _ in 0..trips {
            put!(ping, number);
            number = pong.take().await + 1;
        }
        number
    })
}

/// The states that the tasks end with, xor-ed.
pub fn slot(options: &Options) -> Result<u64, Failure> {
    options.only(&["--kind", "--which", "--wakes", "--work"])?;
    let (wakes, work) = (
        options.number("--wakes", 100)?,
        options.number("--work", 1_000)?,
    );
    let runtime = options.runtime()?;
    match options.text("--which", "busy") {
        "busy" => as_task(runtime, busy(wakes, work)),
        "short" => as_task(runtime, short(wakes, work)),
        other => Err(Failure::Asked(format!(
            "--which {other}: expected busy, short"
        ))),
    }
}

/// tokio#4941: one task wakes the other and calculates on; the other one calculates as long.
async fn busy(wakes: u64, work: u64) -> u64 {
    let (ask, mut asked) = mpsc::channel::<u64>(1);
    let (answer, mut answered) = mpsc::channel::<u64>(1);
    tokio::spawn(async move {
        while let Some(state) = asked.recv().await {
            if !send!(answer, steps(state, work)) {
                break;
            }
        }
    });
    let (mut own, mut others) = (1, 2);
    for _ in 0..wakes {
        if !send!(ask, others) {
            break;
        }
        own = steps(own, work);
        others = answered.recv().await.unwrap_or(0);
    }
    own ^ others
}

/// tokio#8065: short handlers, each spawned and joined.
async fn short(wakes: u64, work: u64) -> u64 {
    let mut state = 1;
    for _ in 0..wakes {
        let handler = tokio::spawn(async move { steps(state, work) });
        state = handler.await.unwrap_or(0);
    }
    state
}
