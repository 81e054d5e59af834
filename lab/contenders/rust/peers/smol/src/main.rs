//! smol's contender, the ring on one thread: `smol-contender ring …`. Kinds: `channel`, or `mvar` for the hand-made
//! MVar.

use std::process::ExitCode;
use std::rc::Rc;

use async_channel::{TrySendError, bounded};
use async_executor::StaticLocalExecutor;
use peer_ring::mvar::LocalMVar;
use peer_ring::{Failure, Ring, put};
use smol_contender::executor;

fn main() -> ExitCode {
    peer_ring::main(run)
}

fn run(ring: Ring) -> Result<usize, Failure> {
    let executor = executor();
    match ring.kind.as_str() {
        "" | "channel" => ring_of_channels(&ring, executor),
        "mvar" => ring_of_mvars(&ring, executor),
        other => Err(Failure::Asked(format!(
            "--kind {other}: expected channel, mvar"
        ))),
    }
}

/// A link holds one value; what can be sent at once is not waited for, and there is one token.
fn ring_of_channels(ring: &Ring, executor: &'static StaticLocalExecutor) -> Result<usize, Failure> {
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
    let (first, hops) = (outputs[0].clone(), ring.hops);
    let ended = smol_contender::run(executor, async move {
        first.send(hops).await.ok()?;
        answered.recv().await.ok()
    });
    ended.ok_or_else(|| Failure::Ran("a link was closed".into()))
}

fn ring_of_mvars(ring: &Ring, executor: &'static StaticLocalExecutor) -> Result<usize, Failure> {
    let links: Vec<_> = (0..ring.threads)
        .map(|_| Rc::new(LocalMVar::default()))
        .collect();
    let answer = Rc::new(LocalMVar::default());
    for &member in &ring.order {
        let input = links[member].clone();
        let output = links[(member + 1) % ring.threads].clone();
        let answer = answer.clone();
        let task = executor.spawn(async move {
            loop {
                let token: u64 = input.take().await;
                if token == 0 {
                    return answer.put(member + 1).await;
                }
                put!(output, token - 1);
            }
        });
        task.detach();
    }
    let (first, hops) = (links[0].clone(), ring.hops);
    Ok(smol_contender::run(executor, async move {
        first.put(hops).await;
        answer.take().await
    }))
}
