//! An echo server by TLS, in fibers: rustls over `std::io::{Read, Write}`, as for blocking sockets. At most a thousand
//! connections at a time; a peer that neither sends nor takes anything for ten seconds is given up.
//!
//! `cargo run --release -p gossamer-rt --example tls_fiber [ADDRESS]`

mod shared;
#[path = "shared/tls.rs"]
mod tls;

use std::error::Error;
use std::io::{self, Read, Write};
use std::sync::Arc;
use std::time::Duration;

use gossamer::net::TcpStream;
use gossamer::{Fibers, Runtime, Wait, sync::Semaphore};
use rustls::{ServerConfig, ServerConnection, StreamOwned};

const CONNECTIONS: usize = 1_000;
const LIMIT: Option<Duration> = Some(Duration::from_secs(10));

fn echo(connection: TcpStream, config: Arc<ServerConfig>) -> io::Result<()> {
    let mut connection = connection.into_blocking();
    connection.set_read_timeout(LIMIT);
    connection.set_write_timeout(LIMIT);
    let session = ServerConnection::new(config).map_err(io::Error::other)?;
    let mut connection = StreamOwned::new(session, connection);
    let mut buffer = [0; 1 << 10];
    loop {
        match connection.read(&mut buffer)? {
            0 => return Ok(()),
            read => connection.write_all(&buffer[..read])?,
        }
        connection.flush()?;
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    // SAFETY: no code here, nor in the dependencies, waits while it uses a thread-local like a stack, or initialises one:
    // rustls knows no waiting but that of the connection it is given.
    let fibers = unsafe { Fibers::contract() };
    let rt = Runtime::builder().fibers(fibers).build()?;
    let config = tls::config()?;
    let listener = shared::listener(tls::hear_the_echo)?;
    let places = Arc::new(Semaphore::new(CONNECTIONS));
    loop {
        let place = places.clone().acquire_owned().wait();
        let Some((connection, peer)) = shared::taken(listener.accept().wait()) else {
            continue;
        };
        let config = config.clone();
        drop(rt.spawn_fiber(move || {
            shared::report(peer, echo(connection, config));
            drop(place);
        }));
    }
}
