//! Sockets: operations that wait for the operating system, and the poller that wakes them.
//!
//! | | |
//! | --- | --- |
//! | [`TcpListener`], [`TcpStream`] | connections by TCP |
//! | [`UnixListener`], [`UnixStream`] | connections within the machine |
//! | [`Listener`], [`Connection`] | what can be done with both |
//! | [`OwnedReadHalf`], [`OwnedWriteHalf`] | the two directions of a connection, for two owners |
//! | [`BufReader`], [`copy()`] | lines, and all bytes from one connection to another; what ends early goes on there |
//! | [`BlockingConnection`] | a connection for libraries that block, by `std::io::{Read, Write}`, in fibers and threads |
//! | [`UdpSocket`], [`UnixDatagram`] | datagrams; what can be done with both: [`DatagramSocket`] |
//! | [`lookup_host`] | the addresses of a name; [`TcpStream::connect_to`](Connection::connect_to) looks them up and connects |
//! | [`AsyncFd`] | any other descriptor that can be polled: pipes, eventfd, timerfd |
//!
//! Every operation is a future, `.await`ed in a task, or waited for in a fiber or a thread. An operation of one step, such
//! as [`Connection::read`], has done nothing when it is dropped unfinished. Those of several steps have a sibling that keeps
//! how far it came in a cursor of the caller's ([`Connection::write_all_from`], [`Connection::read_exact_into`]), or keep
//! it in a [`BufReader`] ([`BufReader::next_line`], [`copy()`]), so that a time limit loses nothing.
//!
//! All sockets convert from and into those of the standard library, and from and into descriptors. Options that have no
//! method here can be set by other crates through [`AsFd`](std::os::fd::AsFd).
//!
//! # Traits of other libraries
//!
//! A connection, and each half of one, has the traits of `futures-io` (by the feature of that name, which is on by default),
//! of `tokio` and of `hyper`; the latter two need nothing of tokio's runtime. They poll the connection itself, not a wrapper.
//!
//! | feature | traits |
//! | --- | --- |
//! | `futures-io` | `AsyncRead`, `AsyncWrite` |
//! | `tokio` | `AsyncRead`, `AsyncWrite` |
//! | `hyper` | `rt::Read`, `rt::Write` |
//!
//! A future that polls so and is dropped unfinished has read and written nothing. To close by such a trait closes the
//! direction that writes. With `poll_read_with` and `poll_write_with` ([`Connection`]) others can be written.
//!
//! An internal part of `gossamer-rt`: nothing is promised of this crate alone. How it works is in its
//! [README](https://docs.rs/crate/gossamer-io).
#![deny(unsafe_code)]

#[cfg(not(target_os = "linux"))]
compile_error!(
    "gossamer's sockets wait by epoll, which only Linux has: build without the feature `net`, or for Linux"
);

mod async_fd;
mod attempt;
mod blocking;
mod buffered;
mod connection;
mod convert;
mod datagram;
mod epoll;
mod halves;
mod here;
mod listener;
mod names;
mod op;
#[allow(unsafe_code)]
mod open;
mod pauses;
mod poll_nodes;
#[cfg_attr(
    not(any(feature = "futures-io", feature = "tokio", feature = "hyper")),
    expect(dead_code, reason = "by the traits alone")
)]
mod polled;
mod registry;
mod slot;
mod socket;
mod source;
mod steps;
mod tcp;
mod udp;
mod unix;
mod whole;
#[cfg(feature = "futures-io")]
mod with_futures_io;
#[cfg(feature = "hyper")]
mod with_hyper;
#[cfg(feature = "tokio")]
mod with_tokio;

pub use self::async_fd::{AsyncFd, AttemptWith};
pub use self::blocking::BlockingConnection;
pub use self::buffered::copy::{CopyAll, copy};
pub use self::buffered::line::NextLine;
pub use self::buffered::{BufReader, Fill, Reader, Writer};
pub use self::connection::Connection;
pub use self::datagram::DatagramSocket;
pub use self::halves::{OwnedReadHalf, OwnedWriteHalf, ReuniteError};
pub use self::listener::{Accept, Listener};
pub use self::names::{LookupHost, lookup_host};
pub use self::op::{
    Peek, PeekFrom, Read, ReadVectored, Ready, Recv, RecvFrom, SendDatagram, Write, WriteVectored,
};
pub use self::socket::{ListeningSocket, Socket};
pub use self::tcp::{Connect, ConnectAny, ConnectTo, TcpListener, TcpStream};
pub use self::udp::{SendTo, UdpSocket};
pub use self::unix::{ConnectUnix, SendToUnix, UnixDatagram, UnixListener, UnixStream};
pub use self::whole::{ReadExact, ReadExactInto, WriteAll, WriteAllFrom};
