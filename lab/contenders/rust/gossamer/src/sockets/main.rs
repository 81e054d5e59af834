//! Gossamer's servers: `gossamer-sockets WORKLOAD --kind KIND …`. Kinds: `single`, `pool-1`, `pool` for as many workers as
//! `--workers` says, `threads`, and `fibers`, a pool of one whose connections are served by fibers.

#![deny(unsafe_code)]

#[allow(unsafe_code)]
#[path = "../fibers/promise.rs"]
mod promise;

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::process::ExitCode;
use std::task::{Context, Poll, Waker};

use gossamer::net::{TcpListener, TcpStream};
use gossamer::{Model, Runtime, Wait, spawn, spawn_fiber};
use gossamer_contender::args::said;
use gossamer_contender::{Failure, end};
use sockets::{Options, Stream, Talk, listens_at, serve};

use self::promise::FIBERS;

fn main() -> ExitCode {
    end(run())
}

fn run() -> Result<u64, Failure> {
    let options = Options::read()?;
    let talk = Talk::of(&options)?;
    let kind = options.text("--kind", "single");
    let workers = options.number("--workers", 2)? as usize;
    let model = match kind {
        "single" => Model::Single,
        "pool-1" | "fibers" => Model::Pool { workers: 1 },
        "pool" => Model::Pool { workers },
        "threads" => Model::Threads,
        other => {
            let expected = "expected single, pool-1, pool, threads or fibers";
            return Err(format!("--kind {other}: {expected}").into());
        }
    };
    let in_fibers = kind == "fibers";
    let runtime = Runtime::builder().model(model).fibers(FIBERS).build();
    let runtime = runtime.map_err(said)?;
    // In a task: in a pool, what `block_on` itself runs is on no worker.
    let accepting = runtime.block_on(async { spawn(accept(talk, in_fibers)).await });
    accepting.map_err(said)?.map_err(said)?;
    Ok(0)
}

async fn accept(talk: Talk, in_fibers: bool) -> io::Result<()> {
    let listener = TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)))?;
    listens_at(listener.local_addr()?.port());
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        if in_fibers {
            drop(spawn_fiber(move || serve_here(stream, talk)));
        } else {
            drop(spawn(serve(Connection(stream), talk)));
        }
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

/// Serves a connection in a fiber, which stands still where it waits: so nothing is ever pending.
fn serve_here(stream: TcpStream, talk: Talk) {
    let mut serving = std::pin::pin!(serve(InFiber(stream), talk));
    let polled = serving
        .as_mut()
        .poll(&mut Context::from_waker(Waker::noop()));
    assert_eq!(polled, Poll::Ready(()), "a fiber waits by standing still");
}

struct InFiber(TcpStream);

impl Stream for InFiber {
    async fn readable(&self) -> io::Result<()> {
        self.0.readable().wait()
    }

    fn try_read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.try_read(buffer)
    }

    async fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.0.write_all(bytes).wait()
    }
}
