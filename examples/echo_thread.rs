//! An echo server with a thread for each connection, at most a hundred at a time, and no runtime. A peer that neither
//! sends nor takes anything for half a minute is given up.
//!
//! `cargo run --release -p gossamer-rt --example echo_thread [ADDRESS]`

mod shared;

use std::io;
use std::sync::Arc;
use std::time::Duration;

use gossamer::net::TcpStream;
use gossamer::{Wait, spawn_thread, sync::Semaphore};

const CONNECTIONS: usize = 100;
const LIMIT: Option<Duration> = Some(Duration::from_secs(30));

fn echo(connection: TcpStream) -> io::Result<()> {
    let mut connection = connection.into_blocking();
    connection.set_read_timeout(LIMIT);
    connection.set_write_timeout(LIMIT);
    io::copy(&mut &connection, &mut &connection).map(drop)
}

fn main() -> io::Result<()> {
    let listener = shared::listener(shared::hear_the_echo)?;
    let places = Arc::new(Semaphore::new(CONNECTIONS));
    loop {
        let place = places.clone().acquire_owned().wait();
        let Some((connection, peer)) = shared::taken(listener.accept().wait()) else {
            continue;
        };
        drop(spawn_thread(move || {
            shared::report(peer, echo(connection));
            drop(place);
        }));
    }
}
