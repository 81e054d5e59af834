//! From and into the standard library's sockets, and descriptors.

use std::io;
use std::net;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::os::unix::net as unix;

use rustix::io::ioctl_fionbio;

use crate::connection::Connection;
use crate::datagram::DatagramSocket;
use crate::listener::Listener;
use crate::socket::{ListeningSocket, Socket, checked};

/// Of one of our types, over all sockets that it can have.
macro_rules! descriptors {
    ($($ours:ident over $bound:ident;)*) => {$(
        impl<S: AsFd> AsFd for $ours<S> {
            fn as_fd(&self) -> BorrowedFd<'_> {
                self.source.socket().as_fd()
            }
        }

        impl<S: AsFd> AsRawFd for $ours<S> {
            fn as_raw_fd(&self) -> RawFd {
                self.as_fd().as_raw_fd()
            }
        }

        impl<S: $bound> TryFrom<OwnedFd> for $ours<S> {
            type Error = io::Error;

            /// Takes a socket of this kind, which does not block from now on. One of another kind is an error that says
            /// which it is, and is closed.
            fn try_from(descriptor: OwnedFd) -> io::Result<Self> {
                Ok(Self::of(checked(descriptor)?))
            }
        }

        impl<S: $bound + Into<OwnedFd>> From<$ours<S>> for OwnedFd {
            /// The descriptor, which still does not block.
            fn from(ours: $ours<S>) -> OwnedFd {
                ours.into_socket().into()
            }
        }
    )*};
}

descriptors! {
    Connection over Socket;
    DatagramSocket over Socket;
    Listener over ListeningSocket;
}

/// Of one socket of the standard library's.
macro_rules! standard {
    ($($ours:ident of $theirs:ty;)*) => {$(
        impl TryFrom<$theirs> for $ours<$theirs> {
            type Error = io::Error;

            /// Takes the standard library's socket, which does not block from now on.
            fn try_from(theirs: $theirs) -> io::Result<Self> {
                ioctl_fionbio(&theirs, true)?;
                Ok(Self::of(theirs))
            }
        }

        impl TryFrom<$ours<$theirs>> for $theirs {
            type Error = io::Error;

            /// The standard library's socket, which blocks.
            fn try_from(ours: $ours<$theirs>) -> io::Result<Self> {
                let theirs = ours.into_socket();
                ioctl_fionbio(&theirs, false)?;
                Ok(theirs)
            }
        }
    )*};
}

standard! {
    Connection of net::TcpStream;
    Connection of unix::UnixStream;
    Listener of net::TcpListener;
    Listener of unix::UnixListener;
    DatagramSocket of net::UdpSocket;
    DatagramSocket of unix::UnixDatagram;
}
