//! Connections.

use std::io::{self, IoSlice, IoSliceMut};
use std::net::{self, Shutdown, SocketAddr};
use std::os::fd::{AsFd, BorrowedFd};
use std::panic::Location;

use rustix::net::{RecvFlags, SendFlags, recv, send};

use crate::attempt::Moved;
use crate::op::{Peek, Read, ReadVectored, Ready, Write, WriteVectored, try_now};
use crate::source::{Source, Way};

/// A connection.
///
/// # Blocking
/// Each operation is a future: `.await` it in a task, `.wait()` for it in a fiber or a thread. One task may read while
/// another one writes: all operations take `&self`. Of several that wait in one direction all try when something comes.
///
/// # Examples
/// ```
/// use gossamer::Wait;
/// use gossamer::net::{TcpListener, TcpStream};
///
/// let listener = TcpListener::bind("127.0.0.1:0".parse()?)?;
/// let client = TcpStream::connect(listener.local_addr()?).wait()?;
/// let (server, _) = listener.accept().wait()?;
/// client.write(b"hello").wait()?;
/// let mut buffer = [0; 16];
/// let read = server.read(&mut buffer).wait()?;
/// assert_eq!(&buffer[..read], b"hello");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct TcpStream {
    source: Source<net::TcpStream>,
}

impl TcpStream {
    /// Of a socket that does not block.
    pub(super) fn of(stream: net::TcpStream) -> Self {
        Self::from_source(Source::new(stream))
    }

    pub(super) fn from_source(source: Source<net::TcpStream>) -> Self {
        Self { source }
    }

    /// Reads what is there, at most as much as the buffer takes; waits until something is. Zero: the peer sends no more (or
    /// the buffer has no room).
    ///
    /// # Cancellation
    /// Dropped unfinished, it has read nothing.
    ///
    /// # Errors
    /// The connection is broken.
    #[track_caller]
    #[inline]
    pub fn read<'a>(&'a self, buffer: &'a mut [u8]) -> Read<'a, net::TcpStream> {
        Read::new(&self.source, buffer, Location::caller())
    }

    /// As [`read`](TcpStream::read), into several buffers, one after the other.
    #[track_caller]
    pub fn read_vectored<'a>(
        &'a self,
        buffers: &'a mut [IoSliceMut<'a>],
    ) -> ReadVectored<'a, net::TcpStream> {
        ReadVectored::new(&self.source, buffers, Location::caller())
    }

    /// As [`read`](TcpStream::read), but leaves there what it reads.
    #[track_caller]
    pub fn peek<'a>(&'a self, buffer: &'a mut [u8]) -> Peek<'a, net::TcpStream> {
        Peek::new(&self.source, buffer, Location::caller())
    }

    /// Writes as much as there is room for, and says how much that was; waits until there is some.
    ///
    /// # Cancellation
    /// Dropped unfinished, it has written nothing.
    ///
    /// # Errors
    /// The connection is broken, or this end closed for writing. (There is no signal.)
    #[track_caller]
    #[inline]
    pub fn write<'a>(&'a self, buffer: &'a [u8]) -> Write<'a, net::TcpStream> {
        Write::new(&self.source, buffer, Location::caller())
    }

    /// As [`write`](TcpStream::write), of several buffers, one after the other.
    #[track_caller]
    pub fn write_vectored<'a>(
        &'a self,
        buffers: &'a [IoSlice<'a>],
    ) -> WriteVectored<'a, net::TcpStream> {
        WriteVectored::new(&self.source, buffers, Location::caller())
    }

    /// Waits until [`try_read`](TcpStream::try_read) is worth a try. It may be in vain even so.
    #[track_caller]
    pub fn readable(&self) -> Ready<'_, net::TcpStream> {
        Ready::new(&self.source, Way::In, Location::caller())
    }

    /// Waits until [`try_write`](TcpStream::try_write) is worth a try. It may be in vain even so.
    #[track_caller]
    pub fn writable(&self) -> Ready<'_, net::TcpStream> {
        Ready::new(&self.source, Way::Out, Location::caller())
    }

    /// Reads what is there.
    ///
    /// # Errors
    /// [`WouldBlock`](io::ErrorKind::WouldBlock): nothing is. Others as of [`read`](TcpStream::read).
    pub fn try_read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        let asked = buffer.len();
        try_now(&self.source, Way::In, |socket| {
            let (read, _) = recv(socket, buffer, RecvFlags::empty())?;
            Ok((read, Moved::of(read, asked)))
        })
    }

    /// Writes as much as there is room for.
    ///
    /// # Errors
    /// [`WouldBlock`](io::ErrorKind::WouldBlock): there is none. Others as of [`write`](TcpStream::write).
    pub fn try_write(&self, buffer: &[u8]) -> io::Result<usize> {
        try_now(&self.source, Way::Out, |socket| {
            let written = send(socket, buffer, SendFlags::NOSIGNAL)?;
            Ok((written, Moved::of(written, buffer.len())))
        })
    }

    /// Closes one direction, or both. Operations that wait there go on: to read gives zero, to write an error.
    ///
    /// # Errors
    /// The connection is broken.
    pub fn shutdown(&self, how: Shutdown) -> io::Result<()> {
        self.source.socket().shutdown(how)
    }

    /// The address of the peer.
    ///
    /// # Errors
    /// The connection is broken.
    pub fn peer_addr(&self) -> io::Result<SocketAddr> {
        self.source.socket().peer_addr()
    }

    /// The address of this end.
    ///
    /// # Errors
    /// The system's.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.source.socket().local_addr()
    }

    /// Whether small writes are sent at once (`TCP_NODELAY`), and not held back until earlier ones are acknowledged.
    ///
    /// # Errors
    /// The system's.
    pub fn set_nodelay(&self, nodelay: bool) -> io::Result<()> {
        self.source.socket().set_nodelay(nodelay)
    }
}

impl TryFrom<net::TcpStream> for TcpStream {
    type Error = io::Error;

    /// Takes a connection, which does not block from now on.
    fn try_from(stream: net::TcpStream) -> io::Result<Self> {
        stream.set_nonblocking(true)?;
        Ok(Self::of(stream))
    }
}

impl TryFrom<TcpStream> for net::TcpStream {
    type Error = io::Error;

    /// The standard library's connection, which blocks.
    fn try_from(stream: TcpStream) -> io::Result<Self> {
        let stream = stream.source.into_socket();
        stream.set_nonblocking(false)?;
        Ok(stream)
    }
}

impl AsFd for TcpStream {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.source.socket().as_fd()
    }
}
