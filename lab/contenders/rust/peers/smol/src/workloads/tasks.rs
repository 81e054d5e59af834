//! Workloads of tasks that send nothing: spawn and join, yield, skynet.

use async_executor::{StaticLocalExecutor, Task};
use futures_lite::future::yield_now;
use peer_ring::Failure;
use smol_contender::{executor, run};
use waiting::{Options, part};

use crate::number;

/// A task spawns tasks that return a number, and adds up in 32 bits what they return.
pub fn spawn(options: &Options) -> Result<u64, Failure> {
    let known = ["--kind", "--spawns", "--batch"];
    options.only(&known).map_err(Failure::Asked)?;
    let spawns = number(options, "--spawns", 1_000)?;
    let executor = executor();
    let sum = match number(options, "--batch", 1)? {
        1 => run(executor, one_by_one(executor, spawns)),
        batch => run(executor, in_batches(executor, spawns, batch)),
    };
    Ok(sum.into())
}

async fn one_by_one(executor: &'static StaticLocalExecutor, spawns: u64) -> u32 {
    let mut sum = 0_u32;
    for number in 0..spawns {
        sum = sum.wrapping_add(executor.spawn(async move { number as u32 }).await);
    }
    sum
}

async fn in_batches(executor: &'static StaticLocalExecutor, spawns: u64, batch: u64) -> u32 {
    let (mut sum, mut next) = (0_u32, 0);
    let mut tasks = Vec::with_capacity(batch as usize);
    while next < spawns {
        let end = spawns.min(next + batch);
        tasks.extend((next..end).map(|number| executor.spawn(async move { number as u32 })));
        for task in tasks.drain(..) {
            sum = sum.wrapping_add(task.await);
        }
        next = end;
    }
    sum
}

/// Tasks that do nothing but give way; how many yields there were.
pub fn yields(options: &Options) -> Result<u64, Failure> {
    let known = ["--kind", "--yields", "--tasks"];
    options.only(&known).map_err(Failure::Asked)?;
    let total = number(options, "--yields", 1_000)?;
    let count = number(options, "--tasks", 20)?;
    let executor = executor();
    Ok(run(executor, async move {
        let tasks: Vec<Task<u64>> = (0..count)
            .map(|task| executor.spawn(yield_times(part(total, count, task))))
            .collect();
        let mut all = 0;
        for task in tasks {
            all += task.await;
        }
        all
    }))
}

async fn yield_times(times: u64) -> u64 {
    let mut done = 0;
    while done < times {
        yield_now().await;
        done += 1;
    }
    done
}

const CHILDREN: u64 = 10;

/// A tree of tasks with ten children each; the sum of the leaves' numbers.
pub fn skynet(options: &Options) -> Result<u64, Failure> {
    options
        .only(&["--kind", "--leaves"])
        .map_err(Failure::Asked)?;
    let leaves = number(options, "--leaves", 1_000)?;
    let executor = executor();
    Ok(run(executor, tree(executor, 0, leaves)))
}

/// Spawns the task that stands for `leaves` leaves from number `first` on.
fn tree(executor: &'static StaticLocalExecutor, first: u64, leaves: u64) -> Task<u64> {
    executor.spawn(async move {
        if leaves == 1 {
            return first;
        }
        let each = leaves / CHILDREN;
        let children: [Task<u64>; CHILDREN as usize] =
            std::array::from_fn(|child| tree(executor, first + child as u64 * each, each));
        let mut sum = 0;
        for child in children {
            sum += child.await;
        }
        sum
    })
}
