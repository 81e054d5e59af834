//! Pairs of tasks send a number to and fro; each way adds one.

use std::rc::Rc;

use async_channel::{Sender, TrySendError, bounded};
use async_executor::{StaticLocalExecutor, Task};
use peer_ring::mvar::LocalMVar;
use peer_ring::{Failure, put};
use smol_contender::executor;
use waiting::{Options, part};

use crate::number;

type Pair = fn(&'static StaticLocalExecutor, u64) -> Task<u64>;

/// The sum of what the pairs end with.
pub fn run(options: &Options) -> Result<u64, Failure> {
    let known = ["--kind", "--trips", "--pairs"];
    options.only(&known).map_err(Failure::Asked)?;
    let trips = number(options, "--trips", 1_000)?;
    let pairs = number(options, "--pairs", 1)?;
    let pair: Pair = match options.text("--kind", "channel") {
        "channel" => pair_of_channels,
        "mvar" => pair_of_mvars,
        other => {
            let message = format!("--kind {other}: expected channel, mvar");
            return Err(Failure::Asked(message));
        }
    };
    let executor = executor();
    Ok(smol_contender::run(executor, async move {
        let firsts: Vec<Task<u64>> = (0..pairs)
            .map(|number| pair(executor, part(trips, pairs, number)))
            .collect();
        let mut all = 0;
        for first in firsts {
            all += first.await;
        }
        all
    }))
}

/// Waits only if it must, as our `put!` does; whether the other end is there.
async fn sent(to: &Sender<u64>, number: u64) -> bool {
    match to.try_send(number) {
        Ok(()) => true,
        Err(TrySendError::Full(number)) => to.send(number).await.is_ok(),
        Err(TrySendError::Closed(_)) => false,
    }
}

fn pair_of_channels(executor: &'static StaticLocalExecutor, trips: u64) -> Task<u64> {
    let (ping, pinged) = bounded::<u64>(1);
    let (pong, ponged) = bounded::<u64>(1);
    let answers = executor.spawn(async move {
        while let Ok(number) = pinged.recv().await {
            if !sent(&pong, number + 1).await {
                break;
            }
        }
    });
    answers.detach();
    executor.spawn(async move {
        let mut number = 0;
        for _ in 0..trips {
            // A message that got lost would make the number wrong, which the lab sees.
            if !sent(&ping, number).await {
                break;
            }
            number = ponged.recv().await.map_or(0, |number| number + 1);
        }
        number
    })
}

fn pair_of_mvars(executor: &'static StaticLocalExecutor, trips: u64) -> Task<u64> {
    let mvars = Rc::new([LocalMVar::<u64>::default(), LocalMVar::default()]);
    let others = mvars.clone();
    let answers = executor.spawn(async move {
        let [ping, pong] = &*others;
        for _ in 0..trips {
            put!(pong, ping.take().await + 1);
        }
    });
    answers.detach();
    executor.spawn(async move {
        let [ping, pong] = &*mvars;
        let mut number = 0;
        for _ in 0..trips {
            put!(ping, number);
            number = pong.take().await + 1;
        }
        number
    })
}
