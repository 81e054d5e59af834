//! hyper's server on tokio's current-thread scheduler: `tokio-hyper http …`.

use std::process::ExitCode;

use peer_ring::{Failure, end};
use sockets::Options;
use sockets::with_hyper::check;
use tokio::runtime::Builder;
use tokio_hyper::accept;

fn main() -> ExitCode {
    end(run())
}

fn run() -> Result<u64, Failure> {
    let options = Options::read().map_err(Failure::Asked)?;
    check(&options).map_err(Failure::Asked)?;
    let runtime = Builder::new_current_thread().enable_io().build()?;
    runtime.block_on(accept())?;
    Ok(0)
}
