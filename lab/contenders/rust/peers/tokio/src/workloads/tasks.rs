//! Workloads of tasks that send nothing: spawn and join, yield, skynet.

use std::future::poll_fn;
use std::task::Poll;

use peer_ring::Failure;
use tokio::task::{JoinHandle, yield_now};
use tokio_contender::options::{Options, as_task};

use crate::arithmetic::part;

/// A task spawns tasks that return a number, and adds up in 32 bits what they return.
pub fn spawn(options: &Options) -> Result<u64, Failure> {
    options.only(&["--kind", "--spawns", "--batch"])?;
    let spawns = options.number("--spawns", 1_000)?;
    let runtime = options.runtime()?;
    let sum = match options.number("--batch", 1)? {
        1 => as_task(runtime, one_by_one(spawns))?,
        batch => as_task(runtime, in_batches(spawns, batch))?,
    };
    Ok(sum.into())
}

async fn one_by_one(spawns: u64) -> u32 {
    let mut sum = 0_u32;
    for number in 0..spawns {
        // A lost task would make the sum wrong, which the lab sees.
        let task = tokio::spawn(async move { number as u32 });
        sum = sum.wrapping_add(task.await.unwrap_or(0));
    }
    sum
}

async fn in_batches(spawns: u64, batch: u64) -> u32 {
    let (mut sum, mut next) = (0_u32, 0);
    let mut tasks = Vec::with_capacity(batch as usize);
    while next < spawns {
        let end = spawns.min(next + batch);
        tasks.extend((next..end).map(|number| tokio::spawn(async move { number as u32 })));
        for task in tasks.drain(..) {
            sum = sum.wrapping_add(task.await.unwrap_or(0));
        }
        next = end;
    }
    sum
}

/// Tasks that do nothing but give way; how many yields there were.
pub fn yields(options: &Options) -> Result<u64, Failure> {
    options.only(&["--kind", "--yields", "--tasks"])?;
    let (total, tasks) = (
        options.number("--yields", 1_000)?,
        options.number("--tasks", 20)?,
    );
    let wakes_itself = options.wakes_itself();
    options.runtime()?.block_on(async {
        let tasks: Vec<JoinHandle<u64>> = (0..tasks)
            .map(|task| part(total, tasks, task))
            .map(|times| match wakes_itself {
                false => tokio::spawn(yield_times(times, yield_now)),
                true => tokio::spawn(yield_times(times, wake_itself)),
            })
            .collect();
        let mut all = 0;
        for task in tasks {
            all += task.await?;
        }
        Ok(all)
    })
}

async fn yield_times<Y: Future<Output = ()>>(times: u64, give_way: impl Fn() -> Y) -> u64 {
    let mut done = 0;
    while done < times {
        give_way().await;
        done += 1;
    }
    done
}

/// Goes to the end of the queue at once, where `yield_now` first lets the runtime look at timers and the outside.
fn wake_itself() -> impl Future<Output = ()> {
    let mut is_awake = false;
    poll_fn(move |context| {
        if is_awake {
            return Poll::Ready(());
        }
        is_awake = true;
        context.waker().wake_by_ref();
        Poll::Pending
    })
}

const CHILDREN: u64 = 10;

/// A tree of tasks with ten children each; the sum of the leaves' numbers.
pub fn skynet(options: &Options) -> Result<u64, Failure> {
    options.only(&["--kind", "--leaves"])?;
    let leaves = options.number("--leaves", 1_000)?;
    let runtime = options.runtime()?;
    Ok(runtime.block_on(async { tree(0, leaves).await })?)
}

/// Spawns the task that stands for `leaves` leaves from number `first` on.
fn tree(first: u64, leaves: u64) -> JoinHandle<u64> {
    tokio::spawn(async move {
        if leaves == 1 {
            return first;
        }
        let each = leaves / CHILDREN;
        let children: [JoinHandle<u64>; CHILDREN as usize] =
            std::array::from_fn(|child| tree(first + child as u64 * each, each));
        let mut sum = 0;
        for child in children {
            sum += child.await.unwrap_or(0);
        }
        sum
    })
}
