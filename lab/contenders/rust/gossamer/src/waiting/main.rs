//! Gossamer's workloads about waiting: `gossamer-waiting WORKLOAD --kind KIND …`.

#![forbid(unsafe_code)]

mod crowd;
mod fixed;
mod hostage;
mod mutex;
mod parked;
mod timers;

use std::process::ExitCode;

use gossamer_contender::{Failure, args, end};

fn run(words: impl Iterator<Item = String>) -> Result<u64, Failure> {
    let args = args::parse(words)?;
    match args.workload.as_str() {
        "park" if args.kind() == "fixed" => fixed::run(&args),
        "park" => parked::run(&args),
        "mutex" => mutex::run(&args),
        "timers" => timers::run(&args),
        "crowd" => crowd::run(&args),
        "hostage" => hostage::run(&args),
        other => Err(format!("unknown workload '{other}'").into()),
    }
}

fn main() -> ExitCode {
    end(run(std::env::args().skip(1)))
}
