//! TCP.

mod connect;

use std::io::{self, ErrorKind};
use std::net::{self, SocketAddr};
use std::panic::Location;

use rustix::net::sockopt::set_socket_reuseaddr;
use rustix::net::{bind, listen};

pub use self::connect::Connect;
use crate::connection::Connection;
use crate::listener::Listener;
use crate::socket::{family, new_socket};

/// A connection by TCP: see [`Connection`].
pub type TcpStream = Connection<net::TcpStream>;

/// A socket that takes connections by TCP: see [`Listener`].
pub type TcpListener = Listener<net::TcpListener>;

/// As many connections as the system permits may wait to be taken (`net.core.somaxconn`).
pub(crate) const BACKLOG: i32 = -1;

impl TcpStream {
    /// Connects to this address. It begins when it is first polled.
    ///
    /// # Cancellation
    /// Dropped unfinished, it makes no connection; one that has been made by then is closed.
    ///
    /// # Errors
    /// Nobody listens there, nothing leads there, or the process has no descriptors left: the text has the address. By
    /// itself it gives up after some minutes: give it a [`timeout`](https://docs.rs/gossamer-rt/latest/gossamer/trait.TimeoutExt.html).
    #[track_caller]
    pub fn connect(address: SocketAddr) -> Connect {
        Connect::new(address, Location::caller())
    }

    /// Whether small writes are sent at once (`TCP_NODELAY`), and not held back until earlier ones are acknowledged.
    ///
    /// # Errors
    /// The system's.
    pub fn set_nodelay(&self, nodelay: bool) -> io::Result<()> {
        self.source.socket().set_nodelay(nodelay)
    }
}

impl TcpListener {
    /// Listens at this address; port 0 is any that is free. (As the standard library's, with `SO_REUSEADDR`.)
    ///
    /// # Errors
    /// The port is taken or forbidden, or the address is not this machine's: the text says which.
    pub fn bind(address: SocketAddr) -> io::Result<Self> {
        let failed = |error: rustix::io::Errno| cannot_bind(address, error.into());
        let socket = new_socket::<net::TcpListener>(family(address))?;
        set_socket_reuseaddr(&socket, true)?;
        bind(&socket, &address).map_err(failed)?;
        listen(&socket, BACKLOG).map_err(failed)?;
        Ok(Self::of(socket.into()))
    }
}

/// What to do about an address of IP that cannot be had.
pub(crate) fn cannot_bind(address: SocketAddr, error: io::Error) -> io::Error {
    let advice = match error.kind() {
        ErrorKind::AddrInUse => {
            "another socket has it: stop that program, or choose another port (0: any that is free)"
        }
        ErrorKind::PermissionDenied => {
            "ports below 1024 are reserved: choose a higher one, or run with CAP_NET_BIND_SERVICE"
        }
        ErrorKind::AddrNotAvailable => {
            "no interface of this machine has that address: 0.0.0.0 and [::] mean all that it has"
        }
        _ => "see the system's message",
    };
    let text = format!("cannot bind a socket to {address}: {error}; {advice}");
    io::Error::new(error.kind(), text)
}
