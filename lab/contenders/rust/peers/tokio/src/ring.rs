//! The thread ring: one task a member; the main task waits for the answer.

use std::sync::Arc;

use peer_ring::mvar::MVar;
use peer_ring::{Failure, creation_order, put};
use tokio::sync::{mpsc, oneshot};

use tokio_contender::options::{Link, Options};
use tokio_contender::send;

struct Ring {
    threads: usize,
    hops: u64,
}

/// The number of the member that received the zero, counted from 1.
pub fn run(options: &Options) -> Result<u64, Failure> {
    options.only(&["--kind", "--threads", "--hops", "--order"])?;
    let ring = Ring {
        threads: usize::try_from(options.number("--threads", 503)?)?,
        hops: options.number("--hops", 10_000_000)?,
    };
    let order = creation_order(ring.threads, options.text("--order", "forward"));
    let order = order.map_err(Failure::Asked)?;
    let runtime = options.runtime()?;
    let member = match options.link() {
        Link::Channel => runtime.block_on(ring_of_channels(&ring, &order))?,
        Link::MVar => runtime.block_on(ring_of_mvars(&ring, &order))?,
    };
    Ok(member as u64)
}

async fn ring_of_channels(ring: &Ring, order: &[usize]) -> Result<usize, Failure> {
    let (mut inputs, outputs): (Vec<_>, Vec<_>) = (0..ring.threads)
        .map(|_| mpsc::channel::<u64>(1))
        .map(|(tx, rx)| (Some(rx), tx))
        .unzip();
    let (answer, answered) = oneshot::channel();
    let answer = Arc::new(std::sync::Mutex::new(Some(answer)));
    for &member in order {
        let mut input = inputs[member]
            .take()
            .ok_or_else(|| Failure::Ran("a member created twice".into()))?;
        let output = outputs[(member + 1) % ring.threads].clone();
        let answer = answer.clone();
        tokio::spawn(async move {
            while let Some(token) = input.recv().await {
                if token == 0 {
                    let answer = answer.lock().ok().and_then(|mut slot| slot.take());
                    return answer
                        .map(|answer| answer.send(member + 1))
                        .unwrap_or(Ok(()));
                }
                if !send!(output, token - 1) {
                    break;
                }
            }
            Ok(())
        });
    }
    outputs[0].send(ring.hops).await?;
    Ok(answered.await?)
}

async fn ring_of_mvars(ring: &Ring, order: &[usize]) -> Result<usize, Failure> {
    let links: Vec<_> = (0..ring.threads)
        .map(|_| Arc::new(MVar::default()))
        .collect();
    let answer = Arc::new(MVar::default());
    for &member in order {
        let input = links[member].clone();
        let output = links[(member + 1) % ring.threads].clone();
        let answer = answer.clone();
        tokio::spawn(async move {
            loop {
                let token: u64 = input.take().await;
                if token == 0 {
                    return answer.put(member + 1).await;
                }
                put!(output, token - 1);
            }
        });
    }
    links[0].put(ring.hops).await;
    Ok(answer.take().await)
}
