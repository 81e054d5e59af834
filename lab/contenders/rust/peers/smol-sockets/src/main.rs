//! smol's servers, its executor and its reactor on one thread: `smol-sockets WORKLOAD …`.

use std::io::{self, Read};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::process::ExitCode;

use async_executor::StaticLocalExecutor;
use async_io::Async;
use futures_lite::AsyncWriteExt;
use peer_ring::{Failure, end};
use sockets::{Options, Stream, Talk, listens_at, serve};

fn main() -> ExitCode {
    end(run())
}

fn run() -> Result<u64, Failure> {
    let options = Options::read().map_err(Failure::Asked)?;
    let talk = Talk::of(&options).map_err(Failure::Asked)?;
    let executor = Box::leak(Box::new(StaticLocalExecutor::new()));
    async_io::block_on(executor.run(accept(executor, talk)))?;
    Ok(0)
}

async fn accept(executor: &'static StaticLocalExecutor, talk: Talk) -> io::Result<()> {
    let listener = Async::<TcpListener>::bind((Ipv4Addr::LOCALHOST, 0))?;
    listens_at(listener.get_ref().local_addr()?.port());
    loop {
        let (stream, _) = listener.accept().await?;
        stream.get_ref().set_nodelay(true)?;
        executor.spawn(serve(Connection(stream), talk)).detach();
    }
}

struct Connection(Async<TcpStream>);

impl Stream for Connection {
    async fn readable(&self) -> io::Result<()> {
        self.0.readable().await
    }

    fn try_read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.get_ref().read(buffer)
    }

    async fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.0.write_all(bytes).await
    }
}
