//! Ping-pong: pairs of tasks send a number to and fro through two `MVar`s; each way adds one.

use gossamer::{JoinHandle, Model, Wait, local, sync};

use gossamer_contender::Failure;
use gossamer_contender::args::{Args, runtime, said};
use gossamer_contender::mvars::leak;
use gossamer_contender::put;

/// The futures of one pair, over `MVar`s of either flavour.
macro_rules! pair {
    ($places:expr, $trips:expr) => {{
        let ([ping, pong], trips): (&'static [_; 2], u64) = ($places, $trips);
        let first = async move {
            let mut number = 0_u64;
            for _ in 0..trips {
                put!(ping, number);
                number = pong.take().await + 1;
            }
            number
        };
        let second = async move {
            for _ in 0..trips {
                let number: u64 = ping.take().await;
                put!(pong, number + 1);
            }
        };
        (first, second)
    }};
}

/// The sum of what all pairs end with.
pub(crate) fn run(args: &Args) -> Result<u64, Failure> {
    args.only(&["--kind", "--trips", "--pairs"])?;
    let (trips, pairs) = (args.number("--trips", 1_000)?, args.count("--pairs", 1)?);
    match args.kind() {
        "single-local" => on_one_thread(trips, pairs),
        _ => shared(args, trips, pairs),
    }
}

fn shared(args: &Args, trips: u64, pairs: usize) -> Result<u64, Failure> {
    let rt = args.runtime()?;
    let mvars = leak((0..pairs).map(|_| [sync::MVar::empty(), sync::MVar::empty()]));
    let firsts: Vec<JoinHandle<u64>> = (0..pairs)
        .map(|index| {
            let own = waiting::part(trips, pairs as u64, index as u64);
            let (first, second) = pair!(&mvars[index], own);
            drop(rt.spawn(second));
            rt.spawn(first)
        })
        .collect();
    let mut total = 0;
    for first in firsts {
        total += first.wait().map_err(said)?;
    }
    Ok(total)
}

fn on_one_thread(trips: u64, pairs: usize) -> Result<u64, Failure> {
    let rt = runtime(Model::Single)?;
    let mvars = leak((0..pairs).map(|_| [local::MVar::empty(), local::MVar::empty()]));
    rt.block_on_local(|scope| {
        let firsts: Vec<_> = (0..pairs)
            .map(|index| {
                let own = waiting::part(trips, pairs as u64, index as u64);
                let (first, second) = pair!(&mvars[index], own);
                drop(scope.spawn_local(second));
                scope.spawn_local(first)
            })
            .collect();
        async {
            let mut total = 0;
            for first in firsts {
                total += first.await.map_err(said)?;
            }
            Ok(total)
        }
    })
}
