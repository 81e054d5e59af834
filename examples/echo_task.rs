//! An echo server with a task for each connection, at most a thousand at a time. A peer that neither sends nor takes
//! anything for half a minute is given up.
//!
//! `cargo run --release -p gossamer-rt --example echo_task [ADDRESS]`

mod shared;

use std::io;
use std::time::Duration;

use gossamer::net::TcpStream;
use gossamer::{Handle, TimeoutExt};

const CONNECTIONS: usize = 1_000;
const LIMIT: Duration = Duration::from_secs(30);

async fn echo(connection: TcpStream) -> io::Result<()> {
    let mut buffer = [0; 1 << 10];
    loop {
        let read = connection.read(&mut buffer).timeout(LIMIT).await??;
        if read == 0 {
            return Ok(());
        }
        let write = connection.write_all(&buffer[..read]);
        write.timeout(LIMIT).await??;
    }
}

#[gossamer::main]
async fn main() -> io::Result<()> {
    let listener = shared::listener(shared::hear_the_echo)?;
    let tasks = Handle::current().limited(CONNECTIONS);
    loop {
        let Some((connection, peer)) = shared::taken(listener.accept().await) else {
            continue;
        };
        let echoing = async move { shared::report(peer, echo(connection).await) };
        drop(tasks.spawn(echoing).await);
    }
}
