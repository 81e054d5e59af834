//! Gossamer's sets of ports, and shared senders: `gossamer-ports WORKLOAD --kind KIND …`.
//!
//! Kinds of `ports`: a runtime, or `array-` and a runtime: no set, who receives knows the order. Kinds of `msgsend`:
//! `port_set-` or `shared_chan-` and a runtime.

#![forbid(unsafe_code)]

use std::process::ExitCode;

use channels::{
    Asked, Ports, Tasks, from_array, from_set, from_set_at_once, to_one_at_once, to_set,
};
use gossamer_contender::args::Args;
use gossamer_contender::flavours::{Local, Shared};
use gossamer_contender::sets::{LocalShares, Shares};
use gossamer_contender::{Failure, args, end, spawned, spawned_here};

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
            (true, _) => spawned_here(two(from_array::<Local>(&asked))),
            (false, false) => spawned_here(two(from_set::<Local>(&asked))),
            (false, true) => spawned_here(two(from_set_at_once::<Local>(&asked))),
        };
    }
    let rt = args.runtime_of(kind)?;
    match (is_array, asked.many) {
        (true, _) => spawned(rt, two(from_array::<Shared>(&asked))),
        (false, false) => spawned(rt, two(from_set::<Shared>(&asked))),
        (false, true) => spawned(rt, two(from_set_at_once::<Shared>(&asked))),
    }
}

fn msgsend(args: &Args) -> Result<u64, Failure> {
    args.only(Asked::options("msgsend"))?;
    let number = |name: &str, usual| args.number(name, usual);
    let asked = Asked::of("msgsend", number, "one")?;
    let kind = args.kind();
    if let Some(kind) = kind.strip_prefix("port_set-") {
        return match kind {
            "single-local" => spawned_here(to_set::<Local>(&asked)),
            _ => spawned(args.runtime_of(kind)?, to_set::<Shared>(&asked)),
        };
    }
    let Some(kind) = kind.strip_prefix("shared_chan-") else {
        return Err(format!("--kind {kind}: expected port_set-…, shared_chan-…").into());
    };
    match kind {
        "single-local" => spawned_here(to_one_at_once::<LocalShares>(&asked)),
        _ => spawned(args.runtime_of(kind)?, to_one_at_once::<Shares>(&asked)),
    }
}

/// One that sends, and one that receives.
fn two<S, R>((sender, receiver): (S, R)) -> Tasks<S, R> {
    Tasks {
        senders: vec![sender],
        receivers: vec![receiver],
    }
}

fn main() -> ExitCode {
    end(run(std::env::args().skip(1)))
}
