//! Connections, by TCP or within the machine: what they have in common.

use std::io::{self, IoSlice, IoSliceMut};
use std::net::Shutdown;
use std::os::fd::AsFd;
use std::panic::Location;

use crate::op::{
    Peek, Read, ReadVectored, Ready, Write, WriteVectored, receive, transmit, try_now,
};
use crate::poll_nodes::PollNodes;
use crate::slot::Kind;
use crate::socket::{Socket, local_address, peer_address};
use crate::source::{Source, Way};

/// A connection: a [`TcpStream`](crate::TcpStream) or a [`UnixStream`](crate::UnixStream).
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
pub struct Connection<S: AsFd> {
    // Goes before the socket, whose place in the table the next socket gets.
    pub(crate) poll_nodes: PollNodes,
    pub(crate) source: Source<S>,
}

impl<S: Socket> Connection<S> {
    /// Of a socket that does not block.
    pub(crate) fn of(socket: S) -> Self {
        Self::over(Source::new(socket, Kind::Socket))
    }

    pub(crate) fn over(source: Source<S>) -> Self {
        Self {
            poll_nodes: PollNodes::default(),
            source,
        }
    }

    /// The socket, which no poller tells of any more.
    pub(crate) fn into_socket(self) -> S {
        drop(self.poll_nodes);
        self.source.into_socket()
    }

    /// Reads what is there, at most as much as the buffer takes; waits until something is, even if the buffer has no room.
    /// Zero: the peer sends no more (or the buffer has no room).
    ///
    /// # Cancellation
    /// Dropped unfinished, it has read nothing.
    ///
    /// # Errors
    /// The connection is broken.
    #[track_caller]
    #[inline]
    pub fn read<'a>(&'a self, buffer: &'a mut [u8]) -> Read<'a, S> {
        Read::new(&self.source, buffer, Location::caller())
    }

    /// As [`read`](Connection::read), into several buffers, one after the other.
    #[track_caller]
    pub fn read_vectored<'a, 'b>(
        &'a self,
        buffers: &'a mut [IoSliceMut<'b>],
    ) -> ReadVectored<'a, 'b, S> {
        ReadVectored::new(&self.source, buffers, Location::caller())
    }

    /// As [`read`](Connection::read), but leaves there what it reads.
    #[track_caller]
    pub fn peek<'a>(&'a self, buffer: &'a mut [u8]) -> Peek<'a, S> {
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
    pub fn write<'a>(&'a self, buffer: &'a [u8]) -> Write<'a, S> {
        Write::new(&self.source, buffer, Location::caller())
    }

    /// As [`write`](Connection::write), of several buffers, one after the other.
    #[track_caller]
    pub fn write_vectored<'a>(&'a self, buffers: &'a [IoSlice<'a>]) -> WriteVectored<'a, S> {
        WriteVectored::new(&self.source, buffers, Location::caller())
    }

    /// Waits until [`try_read`](Connection::try_read) is worth a try. It may be in vain even so.
    #[track_caller]
    pub fn readable(&self) -> Ready<'_, S> {
        Ready::new(&self.source, Way::In, Location::caller())
    }

    /// Waits until [`try_write`](Connection::try_write) is worth a try. It may be in vain even so.
    #[track_caller]
    pub fn writable(&self) -> Ready<'_, S> {
        Ready::new(&self.source, Way::Out, Location::caller())
    }

    /// Reads what is there.
    ///
    /// # Errors
    /// [`WouldBlock`](io::ErrorKind::WouldBlock): nothing is. Others as of [`read`](Connection::read).
    pub fn try_read(&self, mut buffer: &mut [u8]) -> io::Result<usize> {
        try_now(&self.source, Way::In, |socket| receive(socket, &mut buffer))
    }

    /// Writes as much as there is room for.
    ///
    /// # Errors
    /// [`WouldBlock`](io::ErrorKind::WouldBlock): there is none. Others as of [`write`](Connection::write).
    pub fn try_write(&self, mut buffer: &[u8]) -> io::Result<usize> {
        try_now(&self.source, Way::Out, |socket| {
            transmit(socket, &mut buffer)
        })
    }

    /// Closes one direction, or both. Operations that wait there go on: to read gives zero, to write an error.
    ///
    /// # Errors
    /// The connection is broken.
    pub fn shutdown(&self, how: Shutdown) -> io::Result<()> {
        self.source.shutdown(how)
    }

    /// The address of the peer.
    ///
    /// # Errors
    /// The connection is broken.
    pub fn peer_addr(&self) -> io::Result<S::Address> {
        peer_address(self.source.socket())
    }

    /// The address of this end.
    ///
    /// # Errors
    /// The system's.
    pub fn local_addr(&self) -> io::Result<S::Address> {
        local_address(self.source.socket())
    }
}
