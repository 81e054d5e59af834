//! tokio's servers: `tokio-sockets WORKLOAD --kind KIND …`. Kinds: `current`, `multi-1`, and `multi` for as many workers
//! as `--workers` says.

use std::io;
use std::net::Ipv4Addr;
use std::process::ExitCode;

use peer_ring::{Failure, end};
use sockets::{Options, Stream, Talk, listens_at, serve};
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::{Builder, Runtime};

fn main() -> ExitCode {
    end(run())
}

fn run() -> Result<u64, Failure> {
    let options = Options::read().map_err(Failure::Asked)?;
    let talk = Talk::of(&options).map_err(Failure::Asked)?;
    let runtime = runtime(&options)?;
    // In a task: what `block_on` itself runs is on no worker.
    runtime.block_on(async { tokio::spawn(accept(talk)).await })??;
    Ok(0)
}

fn runtime(options: &Options) -> Result<Runtime, Failure> {
    let workers = match options.text("--kind", "current") {
        "current" => return Ok(Builder::new_current_thread().enable_io().build()?),
        "multi-1" => 1,
        "multi" => options.number("--workers", 2).map_err(Failure::Asked)?,
        other => {
            let expected = format!("--kind {other}: expected current, multi-1 or multi");
            return Err(Failure::Asked(expected));
        }
    };
    let mut builder = Builder::new_multi_thread();
    builder
        .worker_threads(usize::try_from(workers)?)
        .enable_io();
    Ok(builder.build()?)
}

async fn accept(talk: Talk) -> io::Result<()> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    listens_at(listener.local_addr()?.port());
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        tokio::spawn(serve(Connection(stream), talk));
    }
}

struct Connection(TcpStream);

impl Stream for Connection {
    async fn readable(&self) -> io::Result<()> {
        self.0.readable().await
    }

    fn try_read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.try_read(buffer)
    }

    async fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.0.write_all(bytes).await
    }
}
