//! hyper's server in tasks of tokio's, on whichever scheduler.

use std::io;
use std::net::Ipv4Addr;

use hyper_util::rt::TokioIo;
use sockets::listens_at;
use sockets::with_hyper::serve;
use tokio::net::TcpListener;

/// Serves for as long as connections can be accepted.
///
/// # Errors
/// Those of the system, from listening and accepting.
pub async fn accept() -> io::Result<()> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    listens_at(listener.local_addr()?.port());
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        tokio::spawn(serve(TokioIo::new(stream)));
    }
}
