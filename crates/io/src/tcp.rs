//! TCP.

mod connect;
mod connect_any;
mod connect_to;

use std::io::{self, ErrorKind};
use std::net::{self, SocketAddr};
use std::panic::Location;

use rustix::net::sockopt::set_socket_reuseaddr;
use rustix::net::{bind, listen};

pub use self::connect::Connect;
pub use self::connect_any::ConnectAny;
pub use self::connect_to::ConnectTo;
use crate::connection::Connection;
use crate::listener::Listener;
use crate::names::LookupHost;
use crate::socket::{family, new_socket};

/// A connection by TCP: see [`Connection`].
pub type TcpStream = Connection<net::TcpStream>;

/// A socket that takes connections by TCP: see [`Listener`].
pub type TcpListener = Listener<net::TcpListener>;

/// As many connections as the system permits may wait to be taken (`net.core.somaxconn`).
pub(crate) const BACKLOG: i32 = -1;

impl TcpStream {
    /// Connects to this address. It begins when it is first polled. For the name of a host there is
    /// [`connect_to`](Connection::connect_to).
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

    /// Looks up the addresses of a host ([`lookup_host`](crate::lookup_host)), and connects to one of them
    /// ([`connect_any`](Connection::connect_any)). The host is a name and a port, as `"localhost:80"`, or an address and a
    /// port. It begins when it is first polled.
    ///
    /// # Cancellation
    /// Dropped unfinished, it makes no connection; one that has been made by then is closed. A look-up that has begun is
    /// finished by its thread.
    ///
    /// # Errors
    /// As of [`lookup_host`](crate::lookup_host). Or no address took the connection: the text has the host, and each address
    /// with its reason; its kind is that of the first address. By itself it gives up after some minutes: give it a
    /// [`timeout`](https://docs.rs/gossamer-rt/latest/gossamer/trait.TimeoutExt.html).
    ///
    /// # Panics
    /// As [`lookup_host`](crate::lookup_host).
    ///
    /// # Examples
    /// ```
    /// use std::time::Duration;
    /// use gossamer::{TimeoutExt, Wait};
    /// use gossamer::net::{TcpListener, TcpStream};
    ///
    /// let listener = TcpListener::bind("127.0.0.1:0".parse()?)?;
    /// let host = format!("localhost:{}", listener.local_addr()?.port());
    /// let connect = TcpStream::connect_to(host).timeout(Duration::from_secs(60));
    /// let client = connect.wait()??;
    /// assert_eq!(client.peer_addr()?, listener.local_addr()?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn connect_to(host: impl Into<String>) -> ConnectTo {
        let caller = Location::caller();
        ConnectTo::new(LookupHost::new(host.into(), caller), caller)
    }

    /// Connects to one of these addresses: the one that takes the connection first. It begins when it is first polled.
    ///
    /// It follows RFC 8305 ("Happy Eyeballs"), so that a family of addresses which leads nowhere costs little time. The
    /// addresses are tried one after the other: the next attempt begins 250 ms after the one before, or at once when one
    /// fails; earlier attempts go on meanwhile. The first connection ends the other attempts. The order is that of the
    /// addresses, but the families take turns, beginning with that of the first address. At most 16 addresses are tried.
    ///
    /// # Cancellation
    /// Dropped unfinished, it makes no connection; those that have been made by then are closed.
    ///
    /// # Errors
    /// No address took the connection: the text has each with its reason, and the kind is that of the first address. Or there
    /// is no address: [`InvalidInput`](ErrorKind::InvalidInput). By itself it gives up after some minutes: give it a
    /// [`timeout`](https://docs.rs/gossamer-rt/latest/gossamer/trait.TimeoutExt.html).
    ///
    /// # Examples
    /// ```
    /// use gossamer::Wait;
    /// use gossamer::net::{TcpListener, TcpStream};
    ///
    /// let [closed, open] = [(); 2].map(|()| TcpListener::bind("127.0.0.1:0".parse().unwrap()).unwrap());
    /// let addresses = [closed.local_addr()?, open.local_addr()?];
    /// drop(closed);
    /// let client = TcpStream::connect_any(addresses).wait()?;
    /// assert_eq!(client.peer_addr()?, addresses[1]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn connect_any(addresses: impl IntoIterator<Item = SocketAddr>) -> ConnectAny {
        ConnectAny::new(addresses, None, Location::caller())
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
