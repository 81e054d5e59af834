//! Gossamer's ring: `gossamer-contender ring --kind KIND …`, and `gossamer-contender count OPERATION N` for
//! `cargo xtask counts`.

#![deny(unsafe_code)]

mod count;
mod fixed;
mod ring;
#[allow(unsafe_code)]
mod section;

use std::process::ExitCode;

use gossamer_contender::{Failure, args, end};

fn run(words: Vec<String>) -> Result<u64, Failure> {
    if let [count, operation, times] = words.as_slice()
        && count == "count"
    {
        return count::run(operation, args::number("count", times)?).map(u64::from);
    }
    let args = args::parse(words.into_iter())?;
    match args.workload.as_str() {
        "ring" => ring::run(&args).map(|number| number as u64),
        other => Err(format!("unknown workload '{other}'").into()),
    }
}

fn main() -> ExitCode {
    end(run(std::env::args().skip(1).collect()))
}
