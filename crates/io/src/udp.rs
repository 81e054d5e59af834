//! UDP.

use std::io;
use std::net::{self, SocketAddr};
use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll};

use rustix::net::bind;

use crate::attempt::Attempt;
use crate::datagram::DatagramSocket;
use crate::op::{send_one_to, try_now};
use crate::socket::{family, new_socket};
use crate::source::{Source, Way};
use crate::tcp::cannot_bind;

/// A socket of UDP: see [`DatagramSocket`].
pub type UdpSocket = DatagramSocket<net::UdpSocket>;

impl UdpSocket {
    /// Receives at this address, and sends from it; port 0 is any that is free.
    ///
    /// # Errors
    /// The port is taken or forbidden, or the address is not this machine's: the text says which.
    pub fn bind(address: SocketAddr) -> io::Result<Self> {
        let socket = new_socket::<net::UdpSocket>(family(address))?;
        bind(&socket, &address).map_err(|error| cannot_bind(address, error.into()))?;
        Ok(Self::of(socket.into()))
    }

    /// From now on it sends to this address, and receives only what comes from there. (That needs no answer, so it waits for
    /// nothing.)
    ///
    /// # Errors
    /// Nothing leads there.
    pub fn connect(&self, address: SocketAddr) -> io::Result<()> {
        self.source.socket().connect(address)
    }

    /// Sends a datagram to this address; waits until there is room. The output is the datagram's length.
    ///
    /// # Cancellation
    /// Dropped unfinished, it has sent none.
    ///
    /// # Errors
    /// The datagram is too long, or nothing leads there.
    #[track_caller]
    pub fn send_to<'a>(&'a self, buffer: &'a [u8], address: SocketAddr) -> SendTo<'a> {
        SendTo {
            attempt: Attempt::new(&self.source, Way::Out, Location::caller()),
            buffer,
            address,
        }
    }

    /// Sends a datagram to this address, if there is room.
    ///
    /// # Errors
    /// [`WouldBlock`](io::ErrorKind::WouldBlock): there is none. Others as of [`send_to`](UdpSocket::send_to).
    pub fn try_send_to(&self, buffer: &[u8], address: SocketAddr) -> io::Result<usize> {
        let send = |socket: &net::UdpSocket| send_one_to(socket, buffer, &address);
        try_now(&self.source, Way::Out, send)
    }
}

pin_project_lite::pin_project! {
    /// [`UdpSocket::send_to`](DatagramSocket::send_to). Dropped unfinished, it has sent nothing.
    #[must_use = "operations do nothing until they are awaited or waited for"]
    #[derive(Debug)]
    pub struct SendTo<'a> {
        #[pin]
        attempt: Attempt<&'a Source<net::UdpSocket>>,
        buffer: &'a [u8],
        address: SocketAddr,
    }
}

impl Future for SendTo<'_> {
    type Output = io::Result<usize>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let (buffer, address) = (this.buffer, this.address);
        this.attempt
            .poll(cx, |socket| send_one_to(socket, buffer, address))
    }
}
