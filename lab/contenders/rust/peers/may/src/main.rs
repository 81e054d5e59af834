//! may's contender, the ring: `may-contender ring --kind WORKERS …`.

use std::process::ExitCode;

use may::coroutine::Builder;
use may::go;
use may::sync::mpsc;
use peer_ring::{Failure, Ring};

fn main() -> ExitCode {
    peer_ring::main(run)
}

/// A link is may's `mpsc`, which is unbounded, but there is one token.
fn run(ring: Ring) -> Result<usize, Failure> {
    let workers = ring.kind.parse().ok().filter(|workers| *workers > 0);
    let workers = workers
        .ok_or_else(|| Failure::Asked(format!("--kind {}: expected a number", ring.kind)))?;
    may::config().set_workers(workers);
    let (outputs, mut inputs): (Vec<_>, Vec<_>) = (0..ring.threads)
        .map(|_| mpsc::channel::<u64>())
        .map(|(output, input)| (output, Some(input)))
        .unzip();
    let (answer, answered) = std::sync::mpsc::channel();
    for &member in &ring.order {
        let input = inputs[member]
            .take()
            .ok_or_else(|| Failure::Ran("a member created twice".into()))?;
        let output = outputs[(member + 1) % ring.threads].clone();
        let answer = answer.clone();
        let spawned = go!(Builder::new(), move || {
            // A lost token would leave the ring without an answer, which the lab sees.
            while let Ok(token) = input.recv() {
                let sent = match token {
                    0 => answer.send(member + 1).is_ok(),
                    token => output.send(token - 1).is_ok(),
                };
                if !sent {
                    break;
                }
            }
        });
        spawned?;
    }
    outputs[0].send(ring.hops)?;
    Ok(answered.recv()?)
}
