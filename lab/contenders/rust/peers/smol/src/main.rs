//! smol's contender, the ring on one thread: `smol-contender ring …`.
//!
//! It is made of the parts that the crate `smol` re-exports, without its reactor, which has nothing to do here.

use std::process::ExitCode;

use async_channel::bounded;
use async_executor::LocalExecutor;
use futures_lite::future::block_on;
use peer_ring::Ring;

fn main() -> ExitCode {
    peer_ring::main(run)
}

/// A link holds one value: a sender never waits, since there is one token.
fn run(ring: Ring) -> Result<usize, String> {
    // Tasks may wait for ever; dropping the executor would only walk over them.
    let executor: &LocalExecutor = Box::leak(Box::default());
    let (outputs, mut inputs): (Vec<_>, Vec<_>) = (0..ring.threads)
        .map(|_| bounded::<u64>(1))
        .map(|(output, input)| (output, Some(input)))
        .unzip();
    let (answer, answered) = bounded(1);
    for &member in &ring.order {
        let input = inputs[member].take().ok_or("a member created twice")?;
        let output = outputs[(member + 1) % ring.threads].clone();
        let answer = answer.clone();
        let task = executor.spawn(async move {
            // A lost token would leave the ring without an answer, which the lab sees.
            while let Ok(token) = input.recv().await {
                let sent = match token {
                    0 => answer.send(member + 1).await.is_ok(),
                    token => output.send(token - 1).await.is_ok(),
                };
                if !sent {
                    break;
                }
            }
        });
        task.detach();
    }
    let ended = block_on(executor.run(async {
        outputs[0].send(ring.hops).await.ok()?;
        answered.recv().await.ok()
    }));
    ended.ok_or_else(|| "a link was closed".into())
}
