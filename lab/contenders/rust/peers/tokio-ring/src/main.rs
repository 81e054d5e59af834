//! The thread ring on tokio: `tokio-ring ring --kind KIND --threads N --hops H --order O`.
//!
//! Kinds: `mpsc` and `mvar`, each with `-current`, `-multi-1` and `-multi-2` for the scheduler
//! and its worker count. One task a member; the main task waits for the answer.

mod mvar;

use std::sync::Arc;

use mvar::MVar;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::{mpsc, oneshot};

type Failure = Box<dyn std::error::Error>;

struct Options {
    kind: String,
    threads: usize,
    hops: u64,
    order: String,
}

fn parse() -> Result<Options, Failure> {
    let mut options = Options {
        kind: String::new(),
        threads: 503,
        hops: 10_000_000,
        order: "forward".into(),
    };
    let mut arguments = std::env::args().skip(1);
    if arguments.next().as_deref() != Some("ring") {
        return Err("unknown workload (this program knows: ring)".into());
    }
    while let Some(name) = arguments.next() {
        let value = arguments
            .next()
            .ok_or_else(|| format!("{name} needs a value"))?;
        match name.as_str() {
            "--kind" => options.kind = value,
            "--threads" => options.threads = value.parse()?,
            "--hops" => options.hops = value.parse()?,
            "--order" => options.order = value,
            _ => return Err(format!("unknown option {name}").into()),
        }
    }
    if options.threads == 0 {
        return Err("--threads 0: a ring has at least one member".into());
    }
    Ok(options)
}

/// The order in which members are spawned: splitmix64 with the seed that all contenders use.
fn creation_order(options: &Options) -> Result<Vec<usize>, Failure> {
    let mut order: Vec<usize> = (0..options.threads).collect();
    match options.order.as_str() {
        "forward" => {}
        "reverse" => order.reverse(),
        "shuffled" => {
            let mut state = 503_u64;
            for k in (1..order.len()).rev() {
                state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
                let z = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
                let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
                order.swap(k, ((z ^ (z >> 31)) % (k as u64 + 1)) as usize);
            }
        }
        other => return Err(format!("unknown order {other}").into()),
    }
    Ok(order)
}

fn runtime(scheduler: &str) -> Result<Runtime, Failure> {
    let built = match scheduler {
        "current" => Builder::new_current_thread().build(),
        "multi-1" => Builder::new_multi_thread().worker_threads(1).build(),
        "multi-2" => Builder::new_multi_thread().worker_threads(2).build(),
        other => return Err(format!("unknown scheduler {other}").into()),
    };
    Ok(built?)
}

async fn ring_of_channels(options: &Options, order: &[usize]) -> Result<usize, Failure> {
    let (mut inputs, outputs): (Vec<_>, Vec<_>) = (0..options.threads)
        .map(|_| mpsc::channel::<u64>(1))
        .map(|(tx, rx)| (Some(rx), tx))
        .unzip();
    let (answer, answered) = oneshot::channel();
    let answer = Arc::new(std::sync::Mutex::new(Some(answer)));
    for &member in order {
        let mut input = inputs[member].take().ok_or("a member created twice")?;
        let output = outputs[(member + 1) % options.threads].clone();
        let answer = answer.clone();
        tokio::spawn(async move {
            while let Some(token) = input.recv().await {
                if token == 0 {
                    let answer = answer.lock().ok().and_then(|mut slot| slot.take());
                    return answer
                        .map(|answer| answer.send(member + 1))
                        .unwrap_or(Ok(()));
                }
                if output.send(token - 1).await.is_err() {
                    break;
                }
            }
            Ok(())
        });
    }
    outputs[0].send(options.hops).await?;
    Ok(answered.await?)
}

async fn ring_of_mvars(options: &Options, order: &[usize]) -> Result<usize, Failure> {
    let links: Vec<_> = (0..options.threads)
        .map(|_| Arc::new(MVar::new()))
        .collect();
    let answer = Arc::new(MVar::new());
    for &member in order {
        let input = links[member].clone();
        let output = links[(member + 1) % options.threads].clone();
        let answer = answer.clone();
        tokio::spawn(async move {
            loop {
                let token: u64 = input.take().await;
                if token == 0 {
                    return answer.put(member + 1).await;
                }
                output.put(token - 1).await;
            }
        });
    }
    links[0].put(options.hops).await;
    Ok(answer.take().await)
}

fn main() -> Result<(), Failure> {
    let options = parse()?;
    let order = creation_order(&options)?;
    let (link, scheduler) = options
        .kind
        .split_once('-')
        .ok_or("--kind is LINK-SCHEDULER")?;
    let runtime = runtime(scheduler)?;
    let answer = match link {
        "mpsc" => runtime.block_on(ring_of_channels(&options, &order))?,
        "mvar" => runtime.block_on(ring_of_mvars(&options, &order))?,
        other => return Err(format!("unknown link {other} (mpsc, mvar)").into()),
    };
    println!("{answer}");
    // The other members wait for ever; dropping the runtime would only walk over them.
    std::process::exit(0)
}
