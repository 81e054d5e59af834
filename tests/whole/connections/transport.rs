//! Connections by TCP, over both families of addresses, and within the machine.

use std::io;
use std::net::{self, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::unix::net as unix;
use std::path::PathBuf;
use std::process;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use gossamer::net::{
    Connection, Listener, ListeningSocket, Socket, TcpListener, TcpStream, UnixListener, UnixStream,
};
use rustix::net::sockopt::set_socket_linger;

/// How a connection is made.
pub(super) trait Transport: Send + 'static {
    const NAME: &'static str;
    type Address: Clone + Send + Sync + 'static;
    type Socket: Socket<Address: Send> + Send + Sync + 'static;
    type Listening: ListeningSocket<Connection = Self::Socket, Address: Send>
        + Send
        + Sync
        + 'static;

    fn listen() -> (Listener<Self::Listening>, Self::Address);

    fn connect(
        to: &Self::Address,
    ) -> impl Future<Output = io::Result<Connection<Self::Socket>>> + Send;

    /// What the peer has not been sent by then, or has not read, is lost. `false`: this kind has no such end.
    fn reset_when_dropped(_connection: &Connection<Self::Socket>) -> bool {
        false
    }

    /// Nobody listens there any more.
    fn end(_address: &Self::Address) {}
}

fn listen_by_tcp(address: SocketAddr) -> (TcpListener, SocketAddr) {
    let listener = TcpListener::bind(address).expect("a free port");
    let address = listener.local_addr().expect("it is bound");
    (listener, address)
}

/// Declares TCP over a family of addresses.
macro_rules! tcp {
    ($name:ident, $text:literal, $localhost:expr) => {
        pub(super) struct $name;

        impl Transport for $name {
            const NAME: &'static str = $text;
            type Address = SocketAddr;
            type Socket = net::TcpStream;
            type Listening = net::TcpListener;

            fn listen() -> (TcpListener, SocketAddr) {
                listen_by_tcp(($localhost, 0).into())
            }

            fn connect(to: &SocketAddr) -> impl Future<Output = io::Result<TcpStream>> + Send {
                TcpStream::connect(*to)
            }

            fn reset_when_dropped(connection: &TcpStream) -> bool {
                set_socket_linger(connection, Some(Duration::ZERO)).expect("an option");
                true
            }
        }
    };
}

tcp!(Tcp4, "TCP", Ipv4Addr::LOCALHOST);
tcp!(Tcp6, "TCP over IPv6", Ipv6Addr::LOCALHOST);

/// Within the machine, where the end of a connection loses nothing that was sent.
pub(super) struct Unix;

impl Transport for Unix {
    const NAME: &'static str = "Unix";
    type Address = PathBuf;
    type Socket = unix::UnixStream;
    type Listening = unix::UnixListener;

    fn listen() -> (UnixListener, PathBuf) {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        // Relaxed: another one each time.
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("gossamer-{}-cut-{number}.socket", process::id());
        let path = std::env::temp_dir().join(name);
        let listener = UnixListener::bind(&path).expect("a free path");
        (listener, path)
    }

    fn connect(to: &PathBuf) -> impl Future<Output = io::Result<UnixStream>> + Send {
        UnixStream::connect(to)
    }

    fn end(path: &PathBuf) {
        std::fs::remove_file(path).expect("it is there");
    }
}
