//! tokio's other workloads: `tokio-workloads WORKLOAD --kind KIND …`.

mod arithmetic;
mod messages;
mod parallel;
mod tasks;

use std::process::ExitCode;

use peer_ring::{Failure, end};
use tokio_contender::options::Options;

fn run() -> Result<u64, Failure> {
    let options = Options::parse(std::env::args().skip(1))?;
    match options.workload.as_str() {
        "spawn" => tasks::spawn(&options),
        "yield" | "resize" => tasks::yields(&options),
        "fib" => parallel::fib(&options),
        "quicksort" => parallel::quicksort(&options),
        "skynet" => tasks::skynet(&options),
        "pingpong" => messages::pingpong(&options),
        "slot" => messages::slot(&options),
        "cpu" => arithmetic::cpu(&options),
        "workers" => arithmetic::workers(&options),
        other => Err(Failure::Asked(format!("unknown workload '{other}'"))),
    }
}

fn main() -> ExitCode {
    end(run())
}
