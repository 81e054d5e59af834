//! hyper's server on tokio's multi-thread scheduler: `tokio-hyper-multi http --workers WORKERS …`.

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
    let workers = options.number("--workers", 2).map_err(Failure::Asked)?;
    let runtime = Builder::new_multi_thread()
        .worker_threads(usize::try_from(workers)?)
        .enable_io()
        .build()?;
    // In a task: what `block_on` itself runs is on no worker.
    runtime.block_on(async { tokio::spawn(accept()).await })??;
    Ok(0)
}
