//! Others' channels: `channels-contender WORKLOAD --kind CHANNEL-PLACE …`. Channels: `async-channel`, `async-unsync`,
//! `crossbeam`, `flume`, `kanal`, `rtrb`, `std`, `tokio`; places: `threads`, and on tokio `current` and `tasks-N` for N
//! workers.

mod for_tasks;
mod for_threads;
mod parking;
mod ports;

use std::process::ExitCode;

use channels::{
    Asked, Blocking, Ports, Tasks, Threads, ring, ring_of_threads, thread_to_thread,
    threads_to_and_fro, threads_to_one, threads_to_several, to_and_fro, to_one, to_one_at_once,
    to_several,
};
use peer_ring::{Failure, end};
use tokio::runtime::{Builder, Runtime};
use tokio::task::{LocalSet, spawn_local};
use waiting::Options;

use for_tasks::{
    AsyncChannel, AsyncUnsync, AsyncUnsyncUnbounded, Flume, Kanal, Tokio, TokioUnbounded,
};
use for_threads::{Crossbeam, Std, StdUnbounded};
use parking::Rtrb;

fn main() -> ExitCode {
    end(run())
}

fn run() -> Result<u64, Failure> {
    let options = Options::read().map_err(Failure::Asked)?;
    let workload = options.workload.as_str();
    let number = |name: &str, usual| options.number(name, usual);
    let (kind, receive) = (options.text("--kind", ""), options.text("--receive", "one"));
    if workload == "ports" {
        options.only(Ports::OPTIONS).map_err(Failure::Asked)?;
        return ports::run(kind, &Ports::of(number, receive).map_err(Failure::Asked)?);
    }
    options
        .only(Asked::options(workload))
        .map_err(Failure::Asked)?;
    let asked = Asked::of(workload, number, receive).map_err(Failure::Asked)?;
    match kind.strip_suffix("-threads") {
        Some(channel) if !asked.many => as_threads(channel, workload, &asked),
        Some(_) => Err(unknown(kind)),
        None => as_tasks(kind, workload, &asked),
    }
}

fn unknown(kind: &str) -> Failure {
    Failure::Asked(format!("--kind {kind}: there is none in this workload"))
}

/// What is run with any number of receivers. (A function could not tell that the futures may go to another thread.)
macro_rules! tasks {
    ($channel:ty, $runtime:ident, $workload:ident, $asked:ident) => {
        match $workload {
            "mpmc" => spawned($runtime, to_several::<$channel>($asked)),
            "message-ring" => spawned($runtime, ring::<$channel>($asked)),
            "pipe" => spawned($runtime, to_and_fro::<$channel>($asked)),
            _ => spawned($runtime, to_one::<$channel>($asked)),
        }
    };
}

fn as_tasks(kind: &str, workload: &str, asked: &Asked) -> Result<u64, Failure> {
    let (channel, runtime) = on_tokio(kind)?;
    match (channel, asked.many) {
        ("async-channel", false) => tasks!(AsyncChannel, runtime, workload, asked),
        ("async-unsync", false) if kind.ends_with("-current") => match workload {
            "mpmc" | "rendezvous" => Err(unknown(kind)),
            "message-ring" => spawned_here(runtime, ring::<AsyncUnsync>(asked)),
            "pipe" => spawned_here(runtime, to_and_fro::<AsyncUnsync>(asked)),
            _ if asked.capacity.is_none() => {
                spawned_here(runtime, to_one::<AsyncUnsyncUnbounded>(asked))
            }
            _ => spawned_here(runtime, to_one::<AsyncUnsync>(asked)),
        },
        ("flume", false) => tasks!(Flume, runtime, workload, asked),
        ("flume", true) => spawned(runtime, to_one_at_once::<Flume>(asked)),
        ("kanal", false) => tasks!(Kanal, runtime, workload, asked),
        ("kanal", true) => spawned(runtime, to_one_at_once::<Kanal>(asked)),
        ("tokio", true) => spawned(runtime, to_one_at_once::<Tokio>(asked)),
        ("tokio", false) => match workload {
            "mpmc" | "rendezvous" => Err(unknown(kind)),
            "message-ring" => spawned(runtime, ring::<Tokio>(asked)),
            "pipe" => spawned(runtime, to_and_fro::<Tokio>(asked)),
            _ if asked.capacity.is_none() => spawned(runtime, to_one::<TokioUnbounded>(asked)),
            _ => spawned(runtime, to_one::<Tokio>(asked)),
        },
        _ => Err(unknown(kind)),
    }
}

/// The channel's name, and the runtime, which lives as long as the process.
fn on_tokio(kind: &str) -> Result<(&str, &'static Runtime), Failure> {
    let (channel, built) = if let Some(channel) = kind.strip_suffix("-current") {
        (channel, Builder::new_current_thread().build()?)
    } else {
        let (channel, workers) = kind.split_once("-tasks-").ok_or_else(|| unknown(kind))?;
        let workers = workers.parse().ok().filter(|workers| *workers > 0);
        let mut builder = Builder::new_multi_thread();
        builder.worker_threads(workers.ok_or_else(|| unknown(kind))?);
        (channel, builder.build()?)
    };
    Ok((channel, Box::leak(Box::new(built))))
}

/// The sum of what all receivers got.
fn spawned<S, R>(runtime: &Runtime, tasks: Tasks<S, R>) -> Result<u64, Failure>
where
    S: Future<Output = ()> + Send + 'static,
    R: Future<Output = u64> + Send + 'static,
{
    runtime.block_on(async {
        let senders: Vec<_> = tasks.senders.into_iter().map(tokio::spawn).collect();
        let receivers: Vec<_> = tasks.receivers.into_iter().map(tokio::spawn).collect();
        for sender in senders {
            sender.await?;
        }
        let mut sum = 0_u64;
        for receiver in receivers {
            sum = sum.wrapping_add(receiver.await?);
        }
        Ok(sum)
    })
}

/// The same for tasks that stay on their thread.
fn spawned_here<S, R>(runtime: &Runtime, tasks: Tasks<S, R>) -> Result<u64, Failure>
where
    S: Future<Output = ()> + 'static,
    R: Future<Output = u64> + 'static,
{
    LocalSet::new().block_on(runtime, async {
        let senders: Vec<_> = tasks.senders.into_iter().map(spawn_local).collect();
        let receivers: Vec<_> = tasks.receivers.into_iter().map(spawn_local).collect();
        for sender in senders {
            sender.await?;
        }
        let mut sum = 0_u64;
        for receiver in receivers {
            sum = sum.wrapping_add(receiver.await?);
        }
        Ok(sum)
    })
}

fn as_threads(channel: &str, workload: &str, asked: &Asked) -> Result<u64, Failure> {
    let threads = match channel {
        "crossbeam" => threads::<Crossbeam>(workload, asked)?,
        "flume" => threads::<Flume>(workload, asked)?,
        "kanal" => threads::<Kanal>(workload, asked)?,
        "rtrb" if workload == "spsc" => thread_to_thread::<Rtrb>(asked)?,
        "std" => match workload {
            "mpmc" => return Err(unknown("std-threads")),
            "message-ring" => ring_of_threads::<Std>(asked)?,
            "pipe" => threads_to_and_fro::<Std>(asked)?,
            _ if asked.capacity.is_none() => threads_to_one::<StdUnbounded>(asked)?,
            _ => threads_to_one::<Std>(asked)?,
        },
        other => return Err(unknown(&format!("{other}-threads"))),
    };
    threads.join().map_err(Failure::Ran)
}

fn threads<C: Blocking<Tx: Clone, Rx: Clone>>(
    workload: &str,
    asked: &Asked,
) -> std::io::Result<Threads> {
    match workload {
        "mpmc" => threads_to_several::<C>(asked),
        "message-ring" => ring_of_threads::<C>(asked),
        "pipe" => threads_to_and_fro::<C>(asked),
        _ => threads_to_one::<C>(asked),
    }
}
