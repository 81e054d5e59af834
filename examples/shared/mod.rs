//! What the servers among the examples share: their address, and a client where they are given none.

use std::error::Error;
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use gossamer::net::TcpListener;

/// How long the client waits for an answer.
const LIMIT: Duration = Duration::from_secs(30);

/// Listens at the address that is the first argument. Without one it listens at any port, and starts a client, which says
/// what it does, and ends the program.
pub(crate) fn listener<E>(
    client: impl FnOnce(SocketAddr) -> Result<(), E> + Send + 'static,
) -> io::Result<TcpListener>
where
    E: Into<Box<dyn Error + Send + Sync>>,
{
    if let Some(address) = std::env::args().nth(1) {
        let expected = "an IP address with a port, as 127.0.0.1:7000 or [::1]:7000";
        let wrong = |_| io::Error::other(format!("ADDRESS is {address:?}; expected {expected}"));
        return TcpListener::bind(address.parse().map_err(wrong)?);
    }
    let listener = TcpListener::bind(SocketAddr::from(([127, 0, 0, 1], 0)))?;
    let address = listener.local_addr()?;
    gossamer::spawn_thread(move || match client(address).map_err(Into::into) {
        Ok(()) => std::process::exit(0),
        Err(error) => {
            eprintln!("the client failed: {error}");
            std::process::exit(1);
        }
    });
    Ok(listener)
}

/// What has been accepted. An error is printed, as of a process without descriptors: then the listener pauses by itself, and
/// the loop goes on.
#[allow(dead_code, reason = "not all examples use it")]
pub(crate) fn taken<T>(accepted: io::Result<T>) -> Option<T> {
    let report = |error: &io::Error| eprintln!("cannot take a connection: {error}");
    accepted.inspect_err(report).ok()
}

/// Prints how a connection has failed, if it has.
#[allow(dead_code, reason = "not all examples use it")]
pub(crate) fn report(peer: SocketAddr, ended: io::Result<()>) {
    ended.unwrap_or_else(|error| eprintln!("{peer}: {error}"));
}

/// A blocking connection, as other programs have it.
pub(crate) fn connect(address: SocketAddr) -> io::Result<TcpStream> {
    let connection = TcpStream::connect_timeout(&address, LIMIT)?;
    connection.set_read_timeout(Some(LIMIT))?;
    connection.set_write_timeout(Some(LIMIT))?;
    Ok(connection)
}

/// A client of an echo server.
#[allow(dead_code, reason = "not all examples echo")]
pub(crate) fn hear_the_echo(address: SocketAddr) -> io::Result<()> {
    talk(connect(address)?)
}

/// Says something, and prints what comes back.
#[allow(dead_code, reason = "not all examples echo")]
pub(crate) fn talk(mut connection: impl Read + Write) -> io::Result<()> {
    for said in ["hello", "and good-bye"] {
        connection.write_all(said.as_bytes())?;
        connection.flush()?;
        let mut heard = vec![0; said.len()];
        connection.read_exact(&mut heard)?;
        println!("said {said:?}, heard {:?}", String::from_utf8_lossy(&heard));
    }
    Ok(())
}
