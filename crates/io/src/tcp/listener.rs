//! Listening for connections.

use std::io::{self, ErrorKind};
use std::net::{self, SocketAddr};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll};

use rustix::io::Errno;
use rustix::net::{SocketFlags, acceptfrom_with};

use super::TcpStream;
use crate::attempt::{Attempt, Moved};
use crate::source::{Source, Way};

/// A socket that takes connections.
///
/// # Examples
/// ```
/// use gossamer::Wait;
/// use gossamer::net::{TcpListener, TcpStream};
///
/// let listener = TcpListener::bind("127.0.0.1:0".parse()?)?;
/// let client = TcpStream::connect(listener.local_addr()?);
/// let server = listener.accept();
/// let client = client.wait()?;
/// let (server, address) = server.wait()?;
/// assert_eq!(address, client.local_addr()?);
/// assert_eq!(server.peer_addr()?, address);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct TcpListener {
    source: Source<net::TcpListener>,
}

impl TcpListener {
    /// Listens at this address; port 0 is any that is free. (As the standard library's, with `SO_REUSEADDR`.)
    ///
    /// # Errors
    /// The port is taken or forbidden, or the address is not this machine's: the text says which.
    pub fn bind(address: SocketAddr) -> io::Result<Self> {
        let listener = net::TcpListener::bind(address).map_err(|error| {
            let advice = match error.kind() {
                ErrorKind::AddrInUse => "another socket has it: stop that program, or choose another port (0: any that is free)",
                ErrorKind::PermissionDenied => "ports below 1024 are reserved: choose a higher one, or run with CAP_NET_BIND_SERVICE",
                ErrorKind::AddrNotAvailable => "no interface of this machine has that address: 0.0.0.0 or [::] listens at all",
                _ => "see the system's message",
            };
            io::Error::new(error.kind(), format!("cannot listen at {address}: {error}; {advice}"))
        })?;
        Self::try_from(listener)
    }

    /// Takes the next connection; who it is from comes with it.
    ///
    /// # Cancellation
    /// Dropped unfinished, it has taken none.
    ///
    /// # Errors
    /// The process or the system has no descriptors left, or no memory. A connection that was broken before it was taken is
    /// no error: the next one is waited for.
    #[track_caller]
    pub fn accept(&self) -> Accept<'_> {
        Accept {
            attempt: Attempt::new(&self.source, Way::In, Location::caller()),
        }
    }

    /// The address that it listens at.
    ///
    /// # Errors
    /// The system's.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.source.socket().local_addr()
    }
}

impl TryFrom<net::TcpListener> for TcpListener {
    type Error = io::Error;

    /// Takes a listener, which does not block from now on.
    fn try_from(listener: net::TcpListener) -> io::Result<Self> {
        listener.set_nonblocking(true)?;
        Ok(Self {
            source: Source::new(listener),
        })
    }
}

impl TryFrom<TcpListener> for net::TcpListener {
    type Error = io::Error;

    /// The standard library's listener, which blocks.
    fn try_from(listener: TcpListener) -> io::Result<Self> {
        let listener = listener.source.into_socket();
        listener.set_nonblocking(false)?;
        Ok(listener)
    }
}

impl AsFd for TcpListener {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.source.socket().as_fd()
    }
}

pin_project_lite::pin_project! {
    /// [`TcpListener::accept`]. Dropped unfinished, it has taken no connection.
    #[must_use = "operations do nothing until they are awaited or waited for"]
    #[derive(Debug)]
    pub struct Accept<'a> {
        #[pin]
        attempt: Attempt<&'a Source<net::TcpListener>>,
    }
}

impl Future for Accept<'_> {
    type Output = io::Result<(TcpStream, SocketAddr)>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        self.project().attempt.poll(cx, |listener| {
            let (stream, address) = accept(listener.as_fd())?;
            Ok(((TcpStream::of(stream.into()), address), Moved::ONE))
        })
    }
}

/// A connection that was not broken meanwhile, with a socket that does not block.
fn accept(listener: BorrowedFd<'_>) -> io::Result<(OwnedFd, SocketAddr)> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    loop {
        match acceptfrom_with(listener, flags) {
            Ok((stream, address)) => {
                let address = address.and_then(|address| SocketAddr::try_from(address).ok());
                let unknown = || io::Error::other("the connection has no address of IP");
                return Ok((stream, address.ok_or_else(unknown)?));
            }
            Err(Errno::CONNABORTED | Errno::PROTO) => {}
            Err(error) => return Err(error.into()),
        }
    }
}
