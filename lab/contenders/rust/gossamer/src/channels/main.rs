//! Gossamer's workloads about channels: `gossamer-channels WORKLOAD --kind KIND …`.

#![forbid(unsafe_code)]

mod ring;
mod slot;

use std::process::ExitCode;

use channels::{
    Asked, one_to_one, ring_of_threads, thread_to_thread, threads_to_one, threads_to_several,
    to_one, to_one_at_once, to_several,
};
use gossamer::{Runtime, raw};

use gossamer_contender::args::said;
use gossamer_contender::flavours::{Local, LocalSpsc, Shared, Spsc};
use gossamer_contender::{Failure, args, end, pipes, spawned, spawned_here};

fn run(words: impl Iterator<Item = String>) -> Result<u64, Failure> {
    let args = args::parse(words)?;
    if args.workload == "ring" {
        return ring::run(&args);
    }
    args.only(Asked::options(&args.workload))?;
    let number = |name: &str, usual| args.number(name, usual);
    let asked = Asked::of(&args.workload, number, args.text("--receive", "one"))?;
    let (kind, link) = link(args.kind(), &args.workload);
    match kind {
        "single-local" => on_one_thread(&args.workload, link, &asked),
        "threads-wait" => threads(&args.workload, link, &asked),
        _ => shared(args.runtime_of(kind)?, &args.workload, link, &asked),
    }
}

/// What a kind is without that by which the tasks are linked; and that, or what the workload usually has.
fn link<'a>(kind: &'a str, workload: &str) -> (&'a str, &'a str) {
    let usual = match workload {
        "pipe" => "pipe",
        _ => "channel",
    };
    let links = ["pipe", "spsc", "slot"].into_iter();
    let named = |link| Some((kind.strip_suffix(link)?.strip_suffix('-')?, link));
    links.filter_map(named).next().unwrap_or((kind, usual))
}

fn shared(rt: &Runtime, workload: &str, link: &str, asked: &Asked) -> Result<u64, Failure> {
    match (workload, link) {
        ("spsc", "spsc") => spawned(rt, one_to_one::<Spsc>(asked)),
        ("mpmc", "channel") => spawned(rt, to_several::<Shared>(asked)),
        ("message-ring", "channel") => spawned(rt, channels::ring::<Shared>(asked)),
        ("message-ring", "spsc") => spawned(rt, channels::ring::<Spsc>(asked)),
        ("message-ring", "pipe") => spawned(rt, pipes::message_ring::<raw::Shared>(asked)),
        ("pipe", "pipe") => spawned(rt, pipes::to_and_fro::<raw::Shared>(asked)),
        ("pipe", "slot") => spawned(rt, slot::to_and_fro::<slot::Shared>(asked)),
        (_, "channel") if asked.many => spawned(rt, to_one_at_once::<Shared>(asked)),
        (_, "channel") => spawned(rt, to_one::<Shared>(asked)),
        _ => Err(unknown(workload, link)),
    }
}

fn unknown(workload: &str, link: &str) -> Failure {
    Failure::Asked(format!("--kind …-{link}: {workload} has none"))
}

/// OS threads that wait for each operation.
fn threads(workload: &str, link: &str, asked: &Asked) -> Result<u64, Failure> {
    let threads = match (workload, link) {
        ("spsc", "spsc") => thread_to_thread::<Spsc>(asked),
        ("mpmc", "channel") => threads_to_several::<Shared>(asked),
        ("message-ring", "channel") => ring_of_threads::<Shared>(asked),
        ("pipe", "pipe") => pipes::threads_to_and_fro(asked),
        (_, "channel") => threads_to_one::<Shared>(asked),
        _ => return Err(unknown(workload, link)),
    };
    threads.map_err(said)?.join().map_err(Failure::Ran)
}

fn on_one_thread(workload: &str, link: &str, asked: &Asked) -> Result<u64, Failure> {
    match (workload, link) {
        ("spsc", "spsc") => spawned_here(one_to_one::<LocalSpsc>(asked)),
        ("mpmc", "channel") => spawned_here(to_several::<Local>(asked)),
        ("message-ring", "channel") => spawned_here(channels::ring::<Local>(asked)),
        ("message-ring", "spsc") => spawned_here(channels::ring::<LocalSpsc>(asked)),
        ("message-ring", "pipe") => spawned_here(pipes::message_ring::<raw::Local>(asked)),
        ("pipe", "pipe") => spawned_here(pipes::to_and_fro::<raw::Local>(asked)),
        ("pipe", "slot") => spawned_here(slot::to_and_fro::<slot::Local>(asked)),
        (_, "channel") if asked.many => spawned_here(to_one_at_once::<Local>(asked)),
        (_, "channel") => spawned_here(to_one::<Local>(asked)),
        _ => Err(unknown(workload, link)),
    }
}

fn main() -> ExitCode {
    end(run(std::env::args().skip(1)))
}
