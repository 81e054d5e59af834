//! Sockets of datagrams, by UDP or within the machine: what they have in common.

use std::io;
use std::os::fd::AsFd;
use std::panic::Location;

use crate::op::{
    PeekFrom, Ready, Recv, RecvFrom, SendDatagram, look_from, send_one, take, take_from, try_now,
};
use crate::slot::Kind;
use crate::socket::{Socket, local_address, peer_address};
use crate::source::{Source, Way};

/// A socket of datagrams: a [`UdpSocket`](crate::UdpSocket) or a [`UnixDatagram`](crate::UnixDatagram).
///
/// # Blocking
/// Each operation is a future: `.await` it in a task, `.wait()` for it in a fiber or a thread. All take `&self`. Of several
/// that wait to receive each datagram goes to one.
///
/// # Examples
/// ```
/// use gossamer::Wait;
/// use gossamer::net::UdpSocket;
///
/// let one = UdpSocket::bind("127.0.0.1:0".parse()?)?;
/// let other = UdpSocket::bind("127.0.0.1:0".parse()?)?;
/// one.send_to(b"hello", other.local_addr()?).wait()?;
/// let mut buffer = [0; 16];
/// let (length, from) = other.recv_from(&mut buffer).wait()?;
/// assert_eq!((&buffer[..length], from), (&b"hello"[..], one.local_addr()?));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct DatagramSocket<S: AsFd> {
    pub(crate) source: Source<S>,
}

impl<S: Socket> DatagramSocket<S> {
    /// Of a socket that does not block.
    pub(crate) fn of(socket: S) -> Self {
        Self {
            source: Source::new(socket, Kind::Socket),
        }
    }

    /// The socket, which no poller tells of any more.
    pub(crate) fn into_socket(self) -> S {
        self.source.into_socket()
    }

    /// Takes the next datagram, and says how long it is; waits for one. Of one longer than the buffer the rest is lost.
    ///
    /// # Cancellation
    /// Dropped unfinished, it has taken none.
    ///
    /// # Errors
    /// Of a UDP socket that is connected: what it sent before has not arrived, as nobody has the peer's port
    /// ([`ConnectionRefused`](io::ErrorKind::ConnectionRefused)). That is told once.
    #[track_caller]
    pub fn recv<'a>(&'a self, buffer: &'a mut [u8]) -> Recv<'a, S> {
        Recv::new(&self.source, buffer, Location::caller())
    }

    /// As [`recv`](DatagramSocket::recv), and says who sent it.
    #[track_caller]
    pub fn recv_from<'a>(&'a self, buffer: &'a mut [u8]) -> RecvFrom<'a, S> {
        RecvFrom::new(&self.source, buffer, Location::caller())
    }

    /// As [`recv_from`](DatagramSocket::recv_from), but leaves the datagram there.
    #[track_caller]
    pub fn peek_from<'a>(&'a self, buffer: &'a mut [u8]) -> PeekFrom<'a, S> {
        PeekFrom::new(&self.source, buffer, Location::caller())
    }

    /// Sends a datagram to the peer that it is connected to; waits until there is room. The output is the datagram's length.
    ///
    /// # Cancellation
    /// Dropped unfinished, it has sent none.
    ///
    /// # Errors
    /// It is not connected; the datagram is too long; or as of [`recv`](DatagramSocket::recv).
    #[track_caller]
    pub fn send<'a>(&'a self, buffer: &'a [u8]) -> SendDatagram<'a, S> {
        SendDatagram::new(&self.source, buffer, Location::caller())
    }

    /// Waits until [`try_recv`](DatagramSocket::try_recv) is worth a try. It may be in vain even so.
    #[track_caller]
    pub fn readable(&self) -> Ready<'_, S> {
        Ready::new(&self.source, Way::In, Location::caller())
    }

    /// Waits until [`try_send`](DatagramSocket::try_send) is worth a try. It may be in vain even so.
    #[track_caller]
    pub fn writable(&self) -> Ready<'_, S> {
        Ready::new(&self.source, Way::Out, Location::caller())
    }

    /// Takes the next datagram, if there is one.
    ///
    /// # Errors
    /// [`WouldBlock`](io::ErrorKind::WouldBlock): there is none. Others as of [`recv`](DatagramSocket::recv).
    pub fn try_recv(&self, mut buffer: &mut [u8]) -> io::Result<usize> {
        try_now(&self.source, Way::In, |socket| take(socket, &mut buffer))
    }

    /// As [`try_recv`](DatagramSocket::try_recv), and says who sent it.
    ///
    /// # Errors
    /// As of [`try_recv`](DatagramSocket::try_recv).
    pub fn try_recv_from(&self, mut buffer: &mut [u8]) -> io::Result<(usize, S::Address)> {
        try_now(&self.source, Way::In, |socket| {
            take_from(socket, &mut buffer)
        })
    }

    /// As [`try_recv_from`](DatagramSocket::try_recv_from), but leaves the datagram there.
    ///
    /// # Errors
    /// As of [`try_recv`](DatagramSocket::try_recv).
    pub fn try_peek_from(&self, mut buffer: &mut [u8]) -> io::Result<(usize, S::Address)> {
        try_now(&self.source, Way::In, |socket| {
            look_from(socket, &mut buffer)
        })
    }

    /// Sends a datagram to the peer that it is connected to, if there is room.
    ///
    /// # Errors
    /// [`WouldBlock`](io::ErrorKind::WouldBlock): there is none. Others as of [`send`](DatagramSocket::send).
    pub fn try_send(&self, mut buffer: &[u8]) -> io::Result<usize> {
        try_now(&self.source, Way::Out, |socket| {
            send_one(socket, &mut buffer)
        })
    }

    /// The address of the peer.
    ///
    /// # Errors
    /// It is not connected.
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
