//! Spawning and joining: a task spawns tasks that return a number, and adds up what they return.

use gossamer::{Runtime, Wait};

use gossamer_contender::Failure;
use gossamer_contender::args::{Args, said};

/// The sum, in 32 bits.
pub(crate) fn run(args: &Args) -> Result<u64, Failure> {
    args.only(&["--kind", "--spawns", "--batch"])?;
    let spawns = args.number("--spawns", 1_000)?;
    let batch = args.count("--batch", 1)?;
    let rt = args.runtime()?;
    let all = match batch {
        1 => rt.spawn(one_by_one(rt, spawns)),
        _ => rt.spawn(in_batches(rt, spawns, batch)),
    };
    all.wait().map(u64::from).map_err(said)
}

async fn one_by_one(rt: &'static Runtime, spawns: u64) -> u32 {
    let mut sum = 0_u32;
    for number in 0..spawns {
        // A lost task would make the sum wrong, which the lab sees.
        sum = sum.wrapping_add(rt.spawn(async move { number as u32 }).await.unwrap_or(0));
    }
    sum
}

async fn in_batches(rt: &'static Runtime, spawns: u64, batch: usize) -> u32 {
    let (mut sum, mut next) = (0_u32, 0);
    let mut tasks = Vec::with_capacity(batch);
    while next < spawns {
        let end = spawns.min(next + batch as u64);
        tasks.extend((next..end).map(|number| rt.spawn(async move { number as u32 })));
        for task in tasks.drain(..) {
            sum = sum.wrapping_add(task.await.unwrap_or(0));
        }
        next = end;
    }
    sum
}
