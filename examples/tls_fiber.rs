//! An echo server by TLS, in fibers: rustls over `std::io::{Read, Write}`, as for blocking sockets. At most a thousand
//! connections at a time; a peer has ten seconds for the whole handshake, and is given up when it neither sends nor takes
//! anything for ten seconds.
//!
//! `cargo run --release -p gossamer-rt --example tls_fiber [ADDRESS]`

mod shared;
#[path = "shared/tls.rs"]
mod tls;

use std::error::Error;
use std::io::{self, Read, Write};
use std::sync::Arc;
use std::time::{Duration, Instant};

use gossamer::net::{BlockingConnection, TcpStream};
use gossamer::{Fibers, Runtime, Wait, sync::Semaphore};
use rustls::{ServerConfig, ServerConnection, StreamOwned};

type Blocking = BlockingConnection<std::net::TcpStream>;

const CONNECTIONS: usize = 1_000;
const FOR_THE_HANDSHAKE: Duration = Duration::from_secs(10);
const LIMIT: Option<Duration> = Some(Duration::from_secs(10));

/// Bytes from the peer, and to it, until both know who they are. Each step has the time that is left: a limit for each
/// alone would let a peer that sends byte by byte take for ever.
fn shake_hands(session: &mut ServerConnection, connection: &mut Blocking) -> io::Result<()> {
    let end = Instant::now() + FOR_THE_HANDSHAKE;
    while session.is_handshaking() {
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            // What need not wait is never late by itself.
            return Err(io::ErrorKind::TimedOut.into());
        }
        connection.set_read_timeout(Some(left));
        connection.set_write_timeout(Some(left));
        if session.wants_write() {
            session.write_tls(connection)?;
            continue;
        }
        if session.read_tls(connection)? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        if let Err(error) = session.process_new_packets() {
            // What is wrong, for the peer.
            session.write_tls(connection)?;
            return Err(io::Error::other(error));
        }
    }
    Ok(())
}

fn echo(connection: TcpStream, config: Arc<ServerConfig>) -> io::Result<()> {
    let mut connection = connection.into_blocking();
    let mut session = ServerConnection::new(config).map_err(io::Error::other)?;
    shake_hands(&mut session, &mut connection).map_err(|error| match error.kind() {
        io::ErrorKind::TimedOut => {
            let text = format!("the handshake has not ended within {FOR_THE_HANDSHAKE:?}");
            io::Error::new(io::ErrorKind::TimedOut, text)
        }
        _ => error,
    })?;
    connection.set_read_timeout(LIMIT);
    connection.set_write_timeout(LIMIT);
    let mut connection = StreamOwned::new(session, connection);
    let mut buffer = [0; 1 << 10];
    loop {
        match connection.read(&mut buffer)? {
            0 => break,
            read => connection.write_all(&buffer[..read])?,
        }
        connection.flush()?;
    }
    // So that the peer knows that it has heard all.
    connection.conn.send_close_notify();
    connection.flush()
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
