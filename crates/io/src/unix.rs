//! Sockets within the machine.

mod connect;
mod datagram;

use std::io::{self, ErrorKind};
use std::os::fd::OwnedFd;
use std::os::unix::net::{self as unix, SocketAddr};
use std::path::Path;

use rustix::net::{AddressFamily, SocketAddrUnix, SocketType, bind, listen, socketpair};

pub use self::connect::ConnectUnix;
pub use self::datagram::{SendToUnix, UnixDatagram};
use crate::connection::Connection;
use crate::listener::Listener;
use crate::socket::{FLAGS, new_socket, to_unix};
use crate::tcp::BACKLOG;

/// A connection within the machine: see [`Connection`].
pub type UnixStream = Connection<unix::UnixStream>;

/// A socket that takes connections within the machine: see [`Listener`].
pub type UnixListener = Listener<unix::UnixListener>;

impl UnixStream {
    /// Connects to the socket with this path. It begins when it is first polled.
    ///
    /// While as many connections as the listener permits wait to be taken, it tries again after pauses, of 64 ms at most: the
    /// system does not tell when there is room.
    ///
    /// # Cancellation
    /// Dropped unfinished, it makes no connection.
    ///
    /// # Errors
    /// There is no such socket, nobody listens there, it may not be opened, or the process has no descriptors left: the text
    /// has the path.
    pub fn connect(path: impl AsRef<Path>) -> ConnectUnix {
        let path = path.as_ref();
        ConnectUnix::new(SocketAddrUnix::new(path), path.display().to_string())
    }

    /// As [`connect`](UnixStream::connect), to an address that may have no path.
    ///
    /// # Errors
    /// As of [`connect`](UnixStream::connect).
    pub fn connect_addr(address: &SocketAddr) -> ConnectUnix {
        ConnectUnix::new(to_unix(address), format!("{address:?}"))
    }

    /// Two ends of a connection without a name.
    ///
    /// # Errors
    /// The process has no descriptors left.
    pub fn pair() -> io::Result<(Self, Self)> {
        let (one, other) = pair(SocketType::STREAM)?;
        Ok((Self::of(one.into()), Self::of(other.into())))
    }
}

impl UnixListener {
    /// Listens at this path, where a file appears. Nobody removes that: whoever ends does.
    ///
    /// # Errors
    /// Something has that path already, or its folder is not there: the text says which.
    ///
    /// # Examples
    /// ```
    /// use gossamer::Wait;
    /// use gossamer::net::{UnixListener, UnixStream};
    ///
    /// let path = std::env::temp_dir().join(format!("gossamer-{}.socket", std::process::id()));
    /// let listener = UnixListener::bind(&path)?;
    /// let client = UnixStream::connect(&path).wait()?;
    /// let (server, _) = listener.accept().wait()?;
    /// std::fs::remove_file(&path)?;
    /// client.write_all(b"hello").wait()?;
    /// assert_eq!(server.read(&mut [0; 16]).wait()?, 5);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn bind(path: impl AsRef<Path>) -> io::Result<Self> {
        let path = path.as_ref();
        let failed = |error| cannot_bind(&path.display().to_string(), error);
        Self::listen(SocketAddrUnix::new(path)).map_err(failed)
    }

    /// Listens at this address, which may have no path.
    ///
    /// # Errors
    /// As of [`bind`](UnixListener::bind).
    pub fn bind_addr(address: &SocketAddr) -> io::Result<Self> {
        let failed = |error| cannot_bind(&format!("{address:?}"), error);
        Self::listen(to_unix(address)).map_err(failed)
    }

    fn listen(address: rustix::io::Result<SocketAddrUnix>) -> io::Result<Self> {
        let address = address?;
        let socket = new_socket::<unix::UnixListener>(AddressFamily::UNIX)?;
        bind(&socket, &address)?;
        listen(&socket, BACKLOG)?;
        Ok(Self::of(socket.into()))
    }
}

/// Two sockets that are connected to each other.
fn pair(kind: SocketType) -> io::Result<(OwnedFd, OwnedFd)> {
    Ok(socketpair(AddressFamily::UNIX, kind, FLAGS, None)?)
}

/// What to do about a path that cannot be had.
fn cannot_bind(address: &str, error: io::Error) -> io::Error {
    let advice = match error.kind() {
        ErrorKind::AddrInUse => {
            "something is there: remove the file if the program that made it has ended"
        }
        ErrorKind::NotFound => "its folder is not there",
        ErrorKind::InvalidFilename => {
            "a socket's path has at most 107 bytes, and none that is zero"
        }
        _ => "see the system's message",
    };
    let text = format!("cannot bind a socket to {address}: {error}; {advice}");
    io::Error::new(error.kind(), text)
}
