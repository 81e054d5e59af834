//! Skynet: a tree of tasks with ten children each; every leaf returns its number, all others the sum.

use gossamer::{JoinHandle, Runtime, Wait};

use gossamer_contender::Failure;
use gossamer_contender::args::{Args, said};

const CHILDREN: u64 = 10;

/// The sum of all leaves' numbers.
pub(crate) fn run(args: &Args) -> Result<u64, Failure> {
    args.only(&["--kind", "--leaves"])?;
    let leaves = args.number("--leaves", 1_000)?;
    tree(args.runtime()?, 0, leaves).wait().map_err(said)
}

/// Spawns the task that stands for `leaves` leaves from number `first` on.
fn tree(rt: &'static Runtime, first: u64, leaves: u64) -> JoinHandle<u64> {
    rt.spawn(async move {
        if leaves == 1 {
            return first;
        }
        let each = leaves / CHILDREN;
        let children: [JoinHandle<u64>; CHILDREN as usize] =
            std::array::from_fn(|child| tree(rt, first + child as u64 * each, each));
        let mut sum = 0;
        for child in children {
            // A lost task would make the sum wrong, which the lab sees.
            sum += child.await.unwrap_or(0);
        }
        sum
    })
}
