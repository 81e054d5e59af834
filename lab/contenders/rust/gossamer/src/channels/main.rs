//! Gossamer's workloads about channels: `gossamer-channels WORKLOAD --kind KIND …`.

#![forbid(unsafe_code)]

mod flavours;
mod ring;

use std::process::ExitCode;

use channels::{
    Asked, Tasks, one_to_one, ring_of_threads, thread_to_thread, threads_to_one,
    threads_to_several, to_one, to_one_at_once, to_several,
};
use gossamer::{JoinHandle, Model, Runtime, Wait};

use flavours::{Local, LocalSpsc, Shared, Spsc};
use gossamer_contender::args::{Args, runtime, said};
use gossamer_contender::{Failure, args, end};

fn run(words: impl Iterator<Item = String>) -> Result<u64, Failure> {
    let args = args::parse(words)?;
    if args.workload == "ring" {
        return ring::run(&args).map(|number| number as u64);
    }
    args.only(Asked::options(&args.workload))?;
    let number = |name: &str, usual| args.number(name, usual);
    let asked = Asked::of(&args.workload, number, args.text("--receive", "one"))?;
    match args.kind() {
        "single-local" => on_one_thread(&args.workload, &asked),
        "threads-wait" => threads(&args.workload, &asked),
        _ => shared(&args, &asked),
    }
}

fn shared(args: &Args, asked: &Asked) -> Result<u64, Failure> {
    let rt = args.runtime()?;
    match args.workload.as_str() {
        "spsc" => spawned(rt, one_to_one::<Spsc>(asked)),
        "mpmc" => spawned(rt, to_several::<Shared>(asked)),
        "message-ring" => spawned(rt, channels::ring::<Shared>(asked)),
        _ if asked.many => spawned(rt, to_one_at_once::<Shared>(asked)),
        _ => spawned(rt, to_one::<Shared>(asked)),
    }
}

/// OS threads that wait for each operation.
fn threads(workload: &str, asked: &Asked) -> Result<u64, Failure> {
    let threads = match workload {
        "spsc" => thread_to_thread::<Spsc>(asked),
        "mpmc" => threads_to_several::<Shared>(asked),
        "message-ring" => ring_of_threads::<Shared>(asked),
        _ => threads_to_one::<Shared>(asked),
    };
    threads.map_err(said)?.join().map_err(Failure::Ran)
}

fn on_one_thread(workload: &str, asked: &Asked) -> Result<u64, Failure> {
    match workload {
        "spsc" => spawned_here(one_to_one::<LocalSpsc>(asked)),
        "mpmc" => spawned_here(to_several::<Local>(asked)),
        "message-ring" => spawned_here(channels::ring::<Local>(asked)),
        _ if asked.many => spawned_here(to_one_at_once::<Local>(asked)),
        _ => spawned_here(to_one::<Local>(asked)),
    }
}

/// The sum of what all receivers got.
fn spawned<S, R>(rt: &Runtime, tasks: Tasks<S, R>) -> Result<u64, Failure>
where
    S: Future<Output = ()> + Send + 'static,
    R: Future<Output = u64> + Send + 'static,
{
    let senders: Vec<JoinHandle<()>> = tasks.senders.into_iter().map(|f| rt.spawn(f)).collect();
    let receivers: Vec<JoinHandle<u64>> =
        tasks.receivers.into_iter().map(|f| rt.spawn(f)).collect();
    for sender in senders {
        sender.wait().map_err(said)?;
    }
    let mut sum = 0_u64;
    for receiver in receivers {
        sum = sum.wrapping_add(receiver.wait().map_err(said)?);
    }
    Ok(sum)
}

/// The same with tasks that stay on this thread.
fn spawned_here<S, R>(tasks: Tasks<S, R>) -> Result<u64, Failure>
where
    S: Future<Output = ()> + 'static,
    R: Future<Output = u64> + 'static,
{
    runtime(Model::Single)?.block_on_local(|scope| {
        let senders: Vec<_> = tasks
            .senders
            .into_iter()
            .map(|f| scope.spawn_local(f))
            .collect();
        let receivers: Vec<_> = tasks
            .receivers
            .into_iter()
            .map(|f| scope.spawn_local(f))
            .collect();
        async {
            for sender in senders {
                sender.await.map_err(said)?;
            }
            let mut sum = 0_u64;
            for receiver in receivers {
                sum = sum.wrapping_add(receiver.await.map_err(said)?);
            }
            Ok(sum)
        }
    })
}

fn main() -> ExitCode {
    end(run(std::env::args().skip(1)))
}
