//! An echo server by TLS, in tasks: rustls over the traits of futures-io. At most a thousand connections at a time; a peer
//! has ten seconds for the handshake, and is given up when it neither sends nor takes anything for half a minute.
//!
//! `cargo run --release -p gossamer-rt --example tls_task [ADDRESS]`

mod shared;
#[path = "shared/tls.rs"]
mod tls;

use std::error::Error;
use std::io;
use std::time::Duration;

use futures_rustls::TlsAcceptor;
use futures_util::io::{AsyncReadExt, AsyncWriteExt};
use gossamer::net::TcpStream;
use gossamer::{Handle, TimeoutExt};

const CONNECTIONS: usize = 1_000;
const FOR_THE_HANDSHAKE: Duration = Duration::from_secs(10);
const LIMIT: Duration = Duration::from_secs(30);

async fn echo(connection: TcpStream, acceptor: TlsAcceptor) -> io::Result<()> {
    let accepted = acceptor.accept(connection);
    let mut connection = accepted.timeout(FOR_THE_HANDSHAKE).await??;
    let mut buffer = vec![0; 1 << 10];
    loop {
        let read = connection.read(&mut buffer).timeout(LIMIT).await??;
        if read == 0 {
            return connection.close().timeout(LIMIT).await?;
        }
        let echoed = async {
            connection.write_all(&buffer[..read]).await?;
            connection.flush().await
        };
        echoed.timeout(LIMIT).await??;
    }
}

#[gossamer::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let acceptor = TlsAcceptor::from(tls::config()?);
    let listener = shared::listener(tls::hear_the_echo)?;
    let tasks = Handle::current().limited(CONNECTIONS);
    loop {
        let Some((connection, peer)) = shared::taken(listener.accept().await) else {
            continue;
        };
        let acceptor = acceptor.clone();
        let echoing = async move { shared::report(peer, echo(connection, acceptor).await) };
        drop(tasks.spawn(echoing).await);
    }
}
