//! Gossamer's other workloads: `gossamer-workloads WORKLOAD --kind KIND …`.

#![forbid(unsafe_code)]

mod cpu;
mod pingpong;
mod skynet;
mod slot;
mod spawn;
mod workers;
mod yielding;

use std::process::ExitCode;

use gossamer_contender::{Failure, args, end};

fn run(words: impl Iterator<Item = String>) -> Result<u64, Failure> {
    let args = args::parse(words)?;
    match args.workload.as_str() {
        "spawn" => spawn::run(&args),
        "yield" => yielding::run(&args),
        "pingpong" => pingpong::run(&args),
        "skynet" => skynet::run(&args),
        "cpu" => cpu::run(&args),
        "resize" => yielding::resizing(&args),
        "workers" => workers::run(&args),
        "slot" => slot::run(&args),
        other => Err(format!("unknown workload '{other}'").into()),
    }
}

fn main() -> ExitCode {
    end(run(std::env::args().skip(1)))
}
