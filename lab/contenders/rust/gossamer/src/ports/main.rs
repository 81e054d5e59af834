//! Gossamer's sets of ports, and shared senders: `gossamer-ports WORKLOAD --kind KIND …`.
//!
//! Kinds of `ports`: a runtime, or `array-` and a runtime: no set, who receives knows the order. Kinds of `msgsend`:
//! `port_set-` or `shared_chan-` and a runtime.

#![forbid(unsafe_code)]

mod flavours;

use std::process::ExitCode;

use channels::{
    Asked, Ports, Tasks, from_array, from_set, from_set_at_once, to_one_at_once, to_set,
};
use gossamer::{Model, Runtime, Wait};

use flavours::{Local, LocalShares, Shared, Shares};
use gossamer_contender::args::{Args, runtime, said};
use gossamer_contender::{Failure, args, end};

fn run(words: impl Iterator<Item = String>) -> Result<u64, Failure> {
    let args = args::parse(words)?;
    match args.workload.as_str() {
        "ports" => ports(&args),
        "msgsend" => msgsend(&args),
        other => Err(format!("unknown workload '{other}'").into()),
    }
}

fn ports(args: &Args) -> Result<u64, Failure> {
    args.only(Ports::OPTIONS)?;
    let number = |name: &str, usual| args.number(name, usual);
    let asked = Ports::of(number, args.text("--receive", "one"))?;
    let (is_array, kind) = match args.kind().strip_prefix("array-") {
        Some(kind) => (true, kind),
        None => (false, args.kind()),
    };
    if kind == "single-local" {
        return match (is_array, asked.many) {
            (true, _) => two_here(from_array::<Local>(&asked)),
            (false, false) => two_here(from_set::<Local>(&asked)),
            (false, true) => two_here(from_set_at_once::<Local>(&asked)),
        };
    }
    let rt = args.runtime_of(kind)?;
    match (is_array, asked.many) {
        (true, _) => two(rt, from_array::<Shared>(&asked)),
        (false, false) => two(rt, from_set::<Shared>(&asked)),
        (false, true) => two(rt, from_set_at_once::<Shared>(&asked)),
    }
}

fn msgsend(args: &Args) -> Result<u64, Failure> {
    args.only(Asked::options("msgsend"))?;
    let number = |name: &str, usual| args.number(name, usual);
    let asked = Asked::of("msgsend", number, "one")?;
    let kind = args.kind();
    if let Some(kind) = kind.strip_prefix("port_set-") {
        return match kind {
            "single-local" => here(to_set::<Local>(&asked)),
            _ => all(args.runtime_of(kind)?, to_set::<Shared>(&asked)),
        };
    }
    let Some(kind) = kind.strip_prefix("shared_chan-") else {
        return Err(format!("--kind {kind}: expected port_set-…, shared_chan-…").into());
    };
    match kind {
        "single-local" => here(to_one_at_once::<LocalShares>(&asked)),
        _ => all(args.runtime_of(kind)?, to_one_at_once::<Shares>(&asked)),
    }
}

fn two<S, R>(rt: &'static Runtime, (sender, receiver): (S, R)) -> Result<u64, Failure>
where
    S: Future<Output = ()> + Send + 'static,
    R: Future<Output = u64> + Send + 'static,
{
    let tasks = Tasks {
        senders: vec![sender],
        receivers: vec![receiver],
    };
    all(rt, tasks)
}

fn two_here<S, R>((sender, receiver): (S, R)) -> Result<u64, Failure>
where
    S: Future<Output = ()> + 'static,
    R: Future<Output = u64> + 'static,
{
    let tasks = Tasks {
        senders: vec![sender],
        receivers: vec![receiver],
    };
    here(tasks)
}

fn all<S, R>(rt: &'static Runtime, tasks: Tasks<S, R>) -> Result<u64, Failure>
where
    S: Future<Output = ()> + Send + 'static,
    R: Future<Output = u64> + Send + 'static,
{
    let senders: Vec<_> = tasks.senders.into_iter().map(|f| rt.spawn(f)).collect();
    let receivers: Vec<_> = tasks.receivers.into_iter().map(|f| rt.spawn(f)).collect();
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
fn here<S, R>(tasks: Tasks<S, R>) -> Result<u64, Failure>
where
    S: Future<Output = ()> + 'static,
    R: Future<Output = u64> + 'static,
{
    runtime(Model::Single)?.block_on_local(|scope| {
        for sender in tasks.senders {
            drop(scope.spawn_local(sender));
        }
        let receivers = tasks.receivers.into_iter().map(|f| scope.spawn_local(f));
        let receivers: Vec<_> = receivers.collect();
        async {
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
