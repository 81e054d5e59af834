//! hyper's server on Gossamer: `gossamer-hyper http --kind KIND …`. Kinds: `single`, and `pool` for as many workers as
//! `--workers` says.
//!
//! A program of its own, as tokio's is, so that the bare servers are what they are without hyper.

#![forbid(unsafe_code)]

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::process::ExitCode;

use gossamer::net::TcpListener;
use gossamer::{Model, Runtime, spawn};
use gossamer_contender::args::said;
use gossamer_contender::{Failure, end};
use sockets::with_hyper::{check, serve};
use sockets::{Options, listens_at};

fn main() -> ExitCode {
    end(run())
}

fn run() -> Result<u64, Failure> {
    let options = Options::read()?;
    check(&options)?;
    let workers = options.number("--workers", 2)? as usize;
    let model = match options.text("--kind", "single") {
        "single" => Model::Single,
        "pool" => Model::Pool { workers },
        other => return Err(format!("--kind {other}: expected single or pool").into()),
    };
    let runtime = Runtime::builder().model(model).build().map_err(said)?;
    // In a task: in a pool, what `block_on` itself runs is on no worker.
    let accepting = runtime.block_on(async { spawn(accept()).await });
    accepting.map_err(said)?.map_err(said)?;
    Ok(0)
}

async fn accept() -> io::Result<()> {
    let listener = TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)))?;
    listens_at(listener.local_addr()?.port());
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        drop(spawn(serve(stream)));
    }
}
