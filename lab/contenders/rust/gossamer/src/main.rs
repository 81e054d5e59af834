//! Gossamer's own contender: `gossamer-contender WORKLOAD --kind KIND …`, and
//! `gossamer-contender count OPERATION N` for `cargo xtask counts`.

#![forbid(unsafe_code)]

mod args;
mod count;
mod cpu;
mod fixed;
mod generator;
mod pingpong;
mod places;
mod ring;
mod skynet;
mod slot;
mod spawn;
mod workers;
mod yielding;

use std::process::ExitCode;

fn run(words: Vec<String>) -> Result<u64, String> {
    if let [count, operation, times] = words.as_slice()
        && count == "count"
    {
        return count::run(operation, args::number("count", times)?).map(u64::from);
    }
    let args = args::parse(words.into_iter())?;
    match args.workload.as_str() {
        "ring" => ring::run(&args).map(|number| number as u64),
        "spawn" => spawn::run(&args),
        "yield" => yielding::run(&args),
        "pingpong" => pingpong::run(&args),
        "skynet" => skynet::run(&args),
        "cpu" => cpu::run(&args),
        "resize" => yielding::resizing(&args),
        "workers" => workers::run(&args),
        "slot" => slot::run(&args),
        other => Err(format!("unknown workload '{other}'")),
    }
}

fn main() -> ExitCode {
    match run(std::env::args().skip(1).collect()) {
        Ok(number) => {
            println!("{number}");
            ExitCode::SUCCESS
        }
        Err(message) => {
            eprintln!("gossamer-contender: {message}");
            ExitCode::from(2)
        }
    }
}
