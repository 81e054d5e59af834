//! One operation, again and again, for counting its instructions: `count OPERATION N`.

use gossamer::{Model, Runtime, local, sync, yield_now};

use gossamer_contender::Failure;
use gossamer_contender::args::said;

/// The operations that are counted.
const OPERATIONS: [&str; 5] = ["spawn", "wake", "yield", "take-put", "take-put-shared"];

/// Does `operation` `times` times; gives a number that depends on all of them.
pub(crate) fn run(operation: &str, times: u32) -> Result<u32, Failure> {
    let rt = Runtime::builder()
        .model(Model::Single)
        .build()
        .map_err(said)?;
    match operation {
        "spawn" => Ok(rt.block_on(spawn(&rt, times))),
        "yield" => Ok(rt.block_on(yields(times))),
        "wake" => Ok(rt.block_on_local(|scope| wakes(scope.clone(), times))),
        "take-put" => Ok(rt.block_on(take_put(&local::MVar::empty(), times))),
        "take-put-shared" => Ok(rt.block_on(take_put(&sync::MVar::empty(), times))),
        other => Err(format!("{other}: expected one of {}", OPERATIONS.join(", ")).into()),
    }
}

/// Spawns a task and joins it.
async fn spawn(rt: &Runtime, times: u32) -> u32 {
    let mut sum = 0_u32;
    for number in 0..times {
        sum = sum.wrapping_add(rt.spawn(async move { number }).await.unwrap_or(0));
    }
    sum
}

/// Yields to nobody.
async fn yields(times: u32) -> u32 {
    for _ in 0..times {
        yield_now().await;
    }
    times
}

/// Wakes a task, by its waker, from another one; each time both are polled once.
async fn wakes(scope: gossamer::runtime::LocalScope, times: u32) -> u32 {
    let (ask, answer) = (
        leak(local::MVar::<u32>::empty()),
        leak(local::MVar::<u32>::empty()),
    );
    let other = scope.spawn_local(async {
        loop {
            let asked = ask.take().await;
            answer.put(asked + 1).await;
        }
    });
    let mut last = 0;
    for number in 0..times {
        ask.put(number).await;
        last = answer.take().await;
    }
    other.abort();
    last
}

/// Puts and takes, never waiting.
async fn take_put<P: gossamer::raw::LockPolicy>(
    mvar: &gossamer::raw::MVar<u32, P>,
    times: u32,
) -> u32 {
    let mut last = 0;
    for number in 0..times {
        mvar.put(number).await;
        last = mvar.take().await;
    }
    last
}

fn leak<T>(thing: T) -> &'static T {
    Box::leak(Box::new(thing))
}
