//! Making a connection.

use std::io;
use std::net::{self, SocketAddr};
use std::os::fd::AsFd;
use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use gossamer_core::context;
use gossamer_core::waiter::RawWakerParts;
use rustix::io::Errno;
use rustix::net::connect;
use rustix::net::sockopt::socket_error;

use crate::attempt::{Attempt, Moved};
use crate::connection::Connection;
use crate::slot::Kind;
use crate::socket::{family, new_socket};
use crate::source::{Source, Way};

pin_project_lite::pin_project! {
    /// [`TcpStream::connect`](crate::TcpStream::connect). Dropped unfinished, it makes no connection, or breaks it.
    #[must_use = "operations do nothing until they are awaited or waited for"]
    #[derive(Debug)]
    pub struct Connect {
        address: SocketAddr,
        caller: &'static Location<'static>,
        yielded: bool,
        // None before it has begun.
        #[pin]
        attempt: Option<Attempt<Connecting>>,
    }
}

/// The socket of a connection in the making.
#[derive(Debug)]
struct Connecting(Option<Source<net::TcpStream>>);

impl crate::attempt::HasSource for Connecting {
    type Socket = net::TcpStream;

    fn source(&self) -> &Source<net::TcpStream> {
        self.0.as_ref().expect("it is there until it is connected")
    }
}

impl Connect {
    pub(super) fn new(address: SocketAddr, caller: &'static Location<'static>) -> Self {
        Self {
            address,
            caller,
            yielded: false,
            attempt: None,
        }
    }

    /// Where it connects to.
    pub(super) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Gives errors as they are, without the address.
    pub(super) fn poll_bare(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<Connection<net::TcpStream>>> {
        let mut this = self.project();
        let address = *this.address;
        if this.attempt.as_ref().as_pin_ref().is_none() {
            // It may fail at once, each time.
            if !*this.yielded && context::must_yield() {
                *this.yielded = true;
                context::yield_to_others(RawWakerParts::new(cx.waker()));
                return Poll::Pending;
            }
            let source = begin(address)?;
            let connecting = Connecting(Some(source));
            let attempt = Attempt::new(connecting, Way::Out, this.caller);
            this.attempt.set(Some(attempt));
        }
        let mut attempt = this.attempt.as_mut().as_pin_mut().expect("it has begun");
        let connected = ready!(attempt.as_mut().poll(cx, |socket| {
            socket_error(socket)??;
            // It may be too early: only an event told, and another socket's perhaps.
            match socket.peer_addr() {
                Ok(_) => Ok(((), Moved::ONE)),
                Err(error) if error.kind() == io::ErrorKind::NotConnected => {
                    Err(Errno::AGAIN.into())
                }
                Err(error) => Err(error),
            }
        }));
        let source = attempt.owner().0.take();
        connected?;
        let source = source.expect("it is taken once");
        Poll::Ready(Ok(Connection::over(source)))
    }
}

impl Future for Connect {
    type Output = io::Result<Connection<net::TcpStream>>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let address = self.address;
        self.poll_bare(cx).map_err(|error| {
            let text = format!("cannot connect to {address}: {error}");
            io::Error::new(error.kind(), text)
        })
    }
}

/// Asks for the connection.
fn begin(address: SocketAddr) -> io::Result<Source<net::TcpStream>> {
    let socket = new_socket::<net::TcpStream>(family(address))?;
    match connect(socket.as_fd(), &address) {
        Ok(()) | Err(Errno::INPROGRESS | Errno::INTR) => {
            Ok(Source::new(socket.into(), Kind::Socket))
        }
        Err(error) => Err(error.into()),
    }
}
