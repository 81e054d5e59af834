//! tokio's ring: `tokio-contender ring --kind KIND …`.

mod ring;

use std::process::ExitCode;

use peer_ring::{Failure, end};
use tokio_contender::options::Options;

fn run() -> Result<u64, Failure> {
    let options = Options::parse(std::env::args().skip(1))?;
    match options.workload.as_str() {
        "ring" => ring::run(&options),
        other => Err(Failure::Asked(format!("unknown workload '{other}'"))),
    }
}

fn main() -> ExitCode {
    end(run())
}
