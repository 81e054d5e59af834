//! Making a connection within the machine.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net as unix;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use rustix::net::{AddressFamily, SocketAddrUnix, connect};

use crate::connection::Connection;
use crate::pauses::Pauses;
use crate::socket::new_socket;

pin_project_lite::pin_project! {
    /// [`UnixStream::connect`](crate::UnixStream::connect). Dropped unfinished, it makes no connection.
    #[must_use = "operations do nothing until they are awaited or waited for"]
    #[derive(Debug)]
    pub struct ConnectUnix {
        // What the system cannot take is told when it is polled.
        address: rustix::io::Result<SocketAddrUnix>,
        in_words: String,
        // None before it has begun.
        socket: Option<OwnedFd>,
        #[pin]
        pauses: Pauses,
    }
}

impl ConnectUnix {
    pub(super) fn new(address: rustix::io::Result<SocketAddrUnix>, in_words: String) -> Self {
        Self {
            address,
            in_words,
            socket: None,
            pauses: Pauses::new(),
        }
    }
}

impl Future for ConnectUnix {
    type Output = io::Result<Connection<unix::UnixStream>>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let (address, socket) = (this.address, this.socket);
        let connected = ready!(this.pauses.poll(cx, || {
            let address = address.as_ref().map_err(|error| *error)?;
            let socket = match socket {
                Some(socket) => socket,
                None => socket.insert(new_socket::<unix::UnixStream>(AddressFamily::UNIX)?),
            };
            Ok(connect(socket, address)?)
        }));
        let socket = socket.take();
        match connected {
            Ok(()) => {
                let socket = socket.expect("it is connected");
                Poll::Ready(Ok(Connection::of(socket.into())))
            }
            Err(error) => {
                let text = format!("cannot connect to {}: {error}", this.in_words);
                Poll::Ready(Err(io::Error::new(error.kind(), text)))
            }
        }
    }
}
