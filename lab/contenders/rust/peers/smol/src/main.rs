//! smol's contender, the ring on one thread: `smol-contender ring …`.
//!
//! It is made of the parts that the crate `smol` re-exports, without its reactor, which has nothing to do here.

use std::process::ExitCode;

use async_channel::{TrySendError, bounded};
use async_executor::LocalExecutor;
use futures_lite::future::block_on;
use peer_ring::{Failure, Ring};

fn main() -> ExitCode {
    peer_ring::main(run)
}

/// A link holds one value; what can be sent at once is not waited for, and there is one token.
fn run(ring: Ring) -> Result<usize, Failure> {
    // Tasks may wait for ever; dropping the executor would only walk over them.
    let executor: &LocalExecutor = Box::leak(Box::default());
    let (outputs, mut inputs): (Vec<_>, Vec<_>) = (0..ring.threads)
        .map(|_| bounded::<u64>(1))
        .map(|(output, input)| (output, Some(input)))
        .unzip();
    let (answer, answered) = bounded(1);
    for &member in &ring.order {
        let input = inputs[member]
            .take()
            .ok_or_else(|| Failure::Ran("a member created twice".into()))?;
        let output = outputs[(member + 1) % ring.threads].clone();
        let answer = answer.clone();
        let task = executor.spawn(async move {
            // A lost token would leave the ring without an answer, which the lab sees.
            while let Ok(token) = input.recv().await {
                let sent = match token {
                    0 => answer.send(member + 1).await.is_ok(),
                    token => match output.try_send(token - 1) {
                        Ok(()) => true,
                        Err(TrySendError::Full(token)) => output.send(token).await.is_ok(),
                        Err(TrySendError::Closed(_)) => false,
                    },
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
    ended.ok_or_else(|| Failure::Ran("a link was closed".into()))
}
