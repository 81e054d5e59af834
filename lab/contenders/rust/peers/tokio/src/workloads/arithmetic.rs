//! Bare arithmetic, and workloads that do little else: cpu, idle workers.

use std::time::Duration;

use peer_ring::Failure;
use tokio::task::JoinHandle;
use tokio_contender::options::{Options, multi};

/// The state of xorshift (Marsaglia 2003) after so many steps. A linear congruence would not do: the compiler
/// makes one step of many.
#[inline(never)]
pub fn steps(mut state: u64, steps: u64) -> u64 {
    for _ in 0..steps {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
    }
    state
}

/// What one of `parts` gets of `total`.
pub fn part(total: u64, parts: u64, index: u64) -> u64 {
    total / parts + u64::from(index < total % parts)
}

/// The states that all tasks end with, xor-ed.
pub fn cpu(options: &Options) -> Result<u64, Failure> {
    options.only(&["--kind", "--rounds", "--tasks"])?;
    let (rounds, tasks) = (
        options.number("--rounds", 1_000)?,
        options.number("--tasks", 2)?,
    );
    options.runtime()?.block_on(async {
        let tasks: Vec<JoinHandle<u64>> = (0..tasks)
            .map(|task| tokio::spawn(async move { steps(task + 1, part(rounds, tasks, task)) }))
            .collect();
        let mut all = 0;
        for task in tasks {
            all ^= task.await?;
        }
        Ok(all)
    })
}

/// Steps of a small task, about twenty microseconds.
const SMALL: u64 = 10_000;

/// Workers that run a small task each and are idle then; how many tasks have run.
pub fn workers(options: &Options) -> Result<u64, Failure> {
    options.only(&["--workers", "--idle-ms"])?;
    let workers = options.number("--workers", 64)?;
    let idle = Duration::from_millis(options.number("--idle-ms", 1_000)?);
    let runtime = multi(usize::try_from(workers)?, true)?;
    let ran = runtime.block_on(async {
        let tasks: Vec<JoinHandle<u64>> = (0..workers)
            .map(|task| tokio::spawn(async move { steps(task, SMALL) }))
            .collect();
        let mut ran = 0;
        for task in tasks {
            std::hint::black_box(task.await?);
            ran += 1;
        }
        Ok::<u64, Failure>(ran)
    })?;
    std::thread::sleep(idle);
    Ok(ran)
}
