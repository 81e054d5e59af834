//! Datagrams within the machine.

use std::io;
use std::os::unix::net::{self as unix, SocketAddr};
use std::path::Path;
use std::pin::Pin;
use std::task::{Context, Poll};

use rustix::net::{AddressFamily, SocketAddrUnix, SocketType, bind, connect};

use super::{cannot_bind, pair};
use crate::datagram::DatagramSocket;
use crate::op::send_one_to;
use crate::pauses::Pauses;
use crate::socket::{new_socket, to_unix};
use crate::source::Source;

/// A socket of datagrams within the machine, which are neither lost nor overtaken: see [`DatagramSocket`].
pub type UnixDatagram = DatagramSocket<unix::UnixDatagram>;

impl UnixDatagram {
    /// Receives at this path, where a file appears. Nobody removes that: whoever ends does.
    ///
    /// # Errors
    /// Something has that path already, or its folder is not there: the text says which.
    pub fn bind(path: impl AsRef<Path>) -> io::Result<Self> {
        let path = path.as_ref();
        let failed = |error| cannot_bind(&path.display().to_string(), error);
        let bound = || {
            let (socket, address) = (new()?, SocketAddrUnix::new(path)?);
            bind(socket.source.socket(), &address)?;
            Ok(socket)
        };
        bound().map_err(failed)
    }

    /// Without an address: it can send, and receive from a peer that it is connected to.
    ///
    /// # Errors
    /// The process has no descriptors left.
    pub fn unbound() -> io::Result<Self> {
        new()
    }

    /// Two that are connected to each other.
    ///
    /// # Errors
    /// The process has no descriptors left.
    pub fn pair() -> io::Result<(Self, Self)> {
        let (one, other) = pair(SocketType::DGRAM)?;
        Ok((Self::of(one.into()), Self::of(other.into())))
    }

    /// From now on it sends to the socket with this path, and receives only from there.
    ///
    /// # Errors
    /// There is no such socket, or it may not be opened.
    pub fn connect(&self, path: impl AsRef<Path>) -> io::Result<()> {
        Ok(connect(
            self.source.socket(),
            &SocketAddrUnix::new(path.as_ref())?,
        )?)
    }

    /// Sends a datagram to the socket with this path; waits until there is room. The output is the datagram's length.
    ///
    /// While that socket has as many datagrams as it may keep, this tries again after pauses, of 64 ms at most: the system
    /// does not tell when there is room. (Of one that is connected it does: [`send`](DatagramSocket::send).)
    ///
    /// # Cancellation
    /// Dropped unfinished, it has sent none.
    ///
    /// # Errors
    /// There is no such socket, or it may not be opened; the datagram is too long.
    pub fn send_to<'a>(&'a self, buffer: &'a [u8], path: impl AsRef<Path>) -> SendToUnix<'a> {
        SendToUnix::new(&self.source, buffer, SocketAddrUnix::new(path.as_ref()))
    }

    /// As [`send_to`](UnixDatagram::send_to), to an address that may have no path, as of
    /// [`recv_from`](DatagramSocket::recv_from).
    ///
    /// # Errors
    /// As of [`send_to`](UnixDatagram::send_to).
    pub fn send_to_addr<'a>(&'a self, buffer: &'a [u8], address: &SocketAddr) -> SendToUnix<'a> {
        SendToUnix::new(&self.source, buffer, to_unix(address))
    }

    /// Sends a datagram to the socket with this path, if there is room.
    ///
    /// # Errors
    /// [`WouldBlock`](io::ErrorKind::WouldBlock): there is none. Others as of [`send_to`](UnixDatagram::send_to).
    pub fn try_send_to(&self, buffer: &[u8], path: impl AsRef<Path>) -> io::Result<usize> {
        let address = SocketAddrUnix::new(path.as_ref())?;
        // That the peer has no room says nothing of this socket.
        Ok(send_one_to(self.source.socket(), buffer, &address)?.0)
    }
}

fn new() -> io::Result<UnixDatagram> {
    let socket = new_socket::<unix::UnixDatagram>(AddressFamily::UNIX)?;
    Ok(UnixDatagram::of(socket.into()))
}

pin_project_lite::pin_project! {
    /// [`UnixDatagram::send_to`](DatagramSocket::send_to). Dropped unfinished, it has sent nothing.
    #[must_use = "operations do nothing until they are awaited or waited for"]
    #[derive(Debug)]
    pub struct SendToUnix<'a> {
        source: &'a Source<unix::UnixDatagram>,
        buffer: &'a [u8],
        // What the system cannot take is told when it is polled.
        address: rustix::io::Result<SocketAddrUnix>,
        #[pin]
        pauses: Pauses,
    }
}

impl<'a> SendToUnix<'a> {
    fn new(
        source: &'a Source<unix::UnixDatagram>,
        buffer: &'a [u8],
        address: rustix::io::Result<SocketAddrUnix>,
    ) -> Self {
        Self {
            source,
            buffer,
            address,
            pauses: Pauses::new(),
        }
    }
}

impl Future for SendToUnix<'_> {
    type Output = io::Result<usize>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let (source, buffer, address) = (this.source, this.buffer, this.address);
        this.pauses.poll(cx, || {
            let address = address.as_ref().map_err(|error| *error)?;
            let (sent, moved) = send_one_to(source.socket(), buffer, address)?;
            moved.spend();
            Ok(sent)
        })
    }
}
