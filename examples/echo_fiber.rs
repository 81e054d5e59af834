//! An echo server with a fiber for each connection, at most a thousand at a time: blocking code, parked as a task is. A
//! peer that neither sends nor takes anything for half a minute is given up.
//!
//! `cargo run --release -p gossamer-rt --example echo_fiber [ADDRESS]`

mod shared;

use std::io;
use std::sync::Arc;
use std::time::Duration;

use gossamer::net::TcpStream;
use gossamer::{Fibers, Runtime, Wait, sync::Semaphore};

const CONNECTIONS: usize = 1_000;
const LIMIT: Option<Duration> = Some(Duration::from_secs(30));

fn echo(connection: TcpStream) -> io::Result<()> {
    let mut connection = connection.into_blocking();
    connection.set_read_timeout(LIMIT);
    connection.set_write_timeout(LIMIT);
    io::copy(&mut &connection, &mut &connection).map(drop)
}

fn main() -> io::Result<()> {
    // SAFETY: no code here waits while it uses a thread-local like a stack, or initialises one.
    let fibers = unsafe { Fibers::contract() };
    let rt = Runtime::builder().fibers(fibers).build()?;
    let listener = shared::listener(shared::hear_the_echo)?;
    let places = Arc::new(Semaphore::new(CONNECTIONS));
    loop {
        let place = places.clone().acquire_owned().wait();
        let Some((connection, peer)) = shared::taken(listener.accept().wait()) else {
            continue;
        };
        drop(rt.spawn_fiber(move || {
            shared::report(peer, echo(connection));
            drop(place);
        }));
    }
}
