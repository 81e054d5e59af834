//! What smol's programs share: the executor, and how one thread drives it.
//!
//! It is made of the parts that the crate `smol` re-exports, without its reactor, which has nothing to do here.
#![forbid(unsafe_code)]

use async_executor::{LocalExecutor, StaticLocalExecutor};
use futures_lite::future::block_on;

/// One for the whole process: then a task that is spawned need not be entered in a list, and tasks may wait for ever.
pub fn executor() -> &'static StaticLocalExecutor {
    LocalExecutor::new().leak()
}

/// Runs a future as a task, as the others are.
///
/// `executor.run` is made for several threads: it moves tasks into a queue of its own, and looks into those of others
/// to steal from. One thread alone ticks, and sleeps when nothing is runnable.
pub fn run<T: 'static>(
    executor: &'static StaticLocalExecutor,
    future: impl Future<Output = T> + 'static,
) -> T {
    let task = executor.spawn(future);
    loop {
        while executor.try_tick() {}
        if task.is_finished() {
            return block_on(task);
        }
        block_on(executor.tick());
    }
}
