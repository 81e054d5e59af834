//! What a slot for the next task is worth: a woken task beside one that works on, and short handlers.

use gossamer::{Runtime, Wait, sync};

use gossamer_contender::Failure;
use gossamer_contender::args::{Args, said};
use gossamer_contender::generator::steps;
use gossamer_contender::mvars::leak;
use gossamer_contender::put;

/// The states that the tasks end with, xor-ed.
pub(crate) fn run(args: &Args) -> Result<u64, Failure> {
    args.only(&["--kind", "--which", "--wakes", "--work"])?;
    let (wakes, work) = (args.number("--wakes", 100)?, args.number("--work", 1_000)?);
    let rt = args.runtime()?;
    match args.text("--which", "busy") {
        "busy" => busy(rt, wakes, work),
        "short" => rt.spawn(short(rt, wakes, work)).wait().map_err(said),
        other => Err(format!("--which {other}: expected busy, short").into()),
    }
}

/// tokio#4941: one task wakes the other and calculates on; the other one calculates as long.
fn busy(rt: &Runtime, wakes: u64, work: u64) -> Result<u64, Failure> {
    let mvars = leak([sync::MVar::<u64>::empty(), sync::MVar::empty()]);
    let (ask, answer) = (&mvars[0], &mvars[1]);
    drop(rt.spawn(async move {
        loop {
            let state = ask.take().await;
            put!(answer, steps(state, work));
        }
    }));
    let waking = rt.spawn(async move {
        let (mut own, mut others) = (1, 2);
        for _ in 0..wakes {
            put!(ask, others);
            own = steps(own, work);
            others = answer.take().await;
        }
        own ^ others
    });
    waking.wait().map_err(said)
}

/// tokio#8065: short handlers, each spawned and joined.
async fn short(rt: &'static Runtime, wakes: u64, work: u64) -> u64 {
    let mut state = 1;
    for _ in 0..wakes {
        state = rt
            .spawn(async move { steps(state, work) })
            .await
            .unwrap_or(0);
    }
    state
}
