//! smol's other workloads on one thread that ask for no reactor: `smol-workloads WORKLOAD --kind KIND …`. Kinds:
//! `channel`, or in ping-pong `mvar` for the hand-made MVar.

mod pingpong;
mod tasks;

use std::process::ExitCode;

use peer_ring::{Failure, end};
use waiting::Options;

fn run() -> Result<u64, Failure> {
    let options = Options::read().map_err(Failure::Asked)?;
    match options.workload.as_str() {
        "spawn" => tasks::spawn(&options),
        "yield" => tasks::yields(&options),
        "skynet" => tasks::skynet(&options),
        "pingpong" => pingpong::run(&options),
        other => Err(Failure::Asked(format!("unknown workload '{other}'"))),
    }
}

fn number(options: &Options, name: &str, usual: u64) -> Result<u64, Failure> {
    options.number(name, usual).map_err(Failure::Asked)
}

fn main() -> ExitCode {
    end(run())
}
