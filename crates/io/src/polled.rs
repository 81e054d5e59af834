//! A connection, or a half of one, that is polled: what the traits of futures-io, tokio and hyper have in common.

use std::io::{self, ErrorKind, IoSlice, IoSliceMut};
#[cfg(any(feature = "tokio", feature = "hyper"))]
use std::mem::MaybeUninit;
use std::net::Shutdown;
use std::panic::Location;
use std::task::{Context, Poll};

#[cfg(any(feature = "tokio", feature = "hyper"))]
use rustix::net::{RecvFlags, recv};

use crate::connection::Connection;
use crate::halves::{OwnedReadHalf, OwnedWriteHalf};
use crate::op::{self, Tried};
use crate::poll_nodes::PollNodes;
use crate::socket::Socket;
use crate::source::{Source, Way};

/// What is read at a time into memory of the caller's that is not initialised, and by way of the stack, as the code here
/// is safe code.
#[cfg(any(feature = "tokio", feature = "hyper"))]
pub(crate) const AT_A_TIME: usize = 8 << 10;

/// What can be polled.
pub(crate) trait Polled {
    type Socket: Socket;

    /// What it keeps, and its socket.
    fn parts(&mut self) -> (&mut PollNodes, &Source<Self::Socket>);

    /// Tries, one way, until the system does not say that it would have to wait.
    #[track_caller]
    fn poll_try<R>(
        &mut self,
        way: Way,
        cx: &mut Context<'_>,
        attempt: impl FnMut(&Self::Socket) -> Tried<R>,
    ) -> Poll<io::Result<R>> {
        let (nodes, source) = self.parts();
        nodes.poll(source, way, Location::caller(), cx, attempt)
    }

    #[allow(dead_code, reason = "not all traits have a use for it")]
    #[track_caller]
    fn receive(&mut self, cx: &mut Context<'_>, mut buffer: &mut [u8]) -> Poll<io::Result<usize>> {
        self.poll_try(Way::In, cx, |socket| op::receive(socket, &mut buffer))
    }

    /// Gives `take` what has come, at most so many bytes.
    #[cfg(any(feature = "tokio", feature = "hyper"))]
    #[track_caller]
    fn receive_by_stack(
        &mut self,
        cx: &mut Context<'_>,
        most: usize,
        mut take: impl FnMut(&[u8]),
    ) -> Poll<io::Result<()>> {
        let mut buffer = [MaybeUninit::uninit(); AT_A_TIME];
        let asked = most.min(AT_A_TIME);
        let polled = self.poll_try(Way::In, cx, |socket| {
            let ((came, _), _) = recv(socket, &mut buffer[..asked], RecvFlags::empty())?;
            take(came);
            op::read::<Self::Socket>(came.len(), asked)
        });
        polled.map_ok(|_| ())
    }

    #[allow(dead_code, reason = "not all traits have a use for it")]
    #[track_caller]
    fn receive_vectored(
        &mut self,
        cx: &mut Context<'_>,
        mut buffers: &mut [IoSliceMut<'_>],
    ) -> Poll<io::Result<usize>> {
        self.poll_try(Way::In, cx, |socket| {
            op::receive_vectored(socket, &mut buffers)
        })
    }

    #[track_caller]
    fn transmit(&mut self, cx: &mut Context<'_>, mut buffer: &[u8]) -> Poll<io::Result<usize>> {
        self.poll_try(Way::Out, cx, |socket| op::transmit(socket, &mut buffer))
    }

    #[track_caller]
    fn transmit_vectored(
        &mut self,
        cx: &mut Context<'_>,
        mut buffers: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.poll_try(Way::Out, cx, |socket| {
            op::transmit_vectored(socket, &mut buffers)
        })
    }

    /// Closes the direction that writes, if that has not been done. A connection that the peer has broken has none.
    fn close(&mut self) -> Poll<io::Result<()>> {
        Poll::Ready(match self.parts().1.shutdown(Shutdown::Write) {
            Err(error) if error.kind() == ErrorKind::NotConnected => Ok(()),
            closed => closed,
        })
    }
}

/// Declares what can be polled, and its connection.
macro_rules! polled {
    ($($name:ident by $($connection:ident)?;)*) => {$(
        impl<S: Socket> Polled for $name<S> {
            type Socket = S;

            fn parts(&mut self) -> (&mut PollNodes, &Source<S>) {
                (&mut self.poll_nodes, &self$(.$connection)?.source)
            }
        }
    )*};
}

polled! {
    Connection by;
    OwnedReadHalf by connection;
    OwnedWriteHalf by connection;
}

impl<S: Socket> Connection<S> {
    /// As [`AsyncFd::read_with`](crate::AsyncFd::read_with), for a `poll` that is written by hand: calls `read` whenever
    /// something may have come, until it does not say [`WouldBlock`](io::ErrorKind::WouldBlock). It says how many bytes it
    /// has read: a poll that moves many yields soon, so that others have their turn.
    ///
    /// When it gives [`Poll::Pending`], the waker of the latest call is woken once it is worth calling again.
    ///
    /// # Errors
    /// Those of `read`; or the system has no memory, or no descriptors left for a poller.
    ///
    /// # Panics
    /// If `read` does. The connection can be used as before.
    #[track_caller]
    pub fn poll_read_with(
        &mut self,
        cx: &mut Context<'_>,
        mut read: impl FnMut(&S) -> io::Result<usize>,
    ) -> Poll<io::Result<usize>> {
        self.poll_try(Way::In, cx, |socket| {
            let came = read(socket)?;
            Ok((came, op::one_of(came)))
        })
    }

    /// As [`poll_read_with`](Connection::poll_read_with), for writing, also by calls such as sendfile(2).
    ///
    /// # Errors
    /// Those of `write`; or the system has no memory, or no descriptors left for a poller.
    ///
    /// # Panics
    /// If `write` does. The connection can be used as before.
    ///
    /// # Examples
    /// ```
    /// use std::future::poll_fn;
    /// use std::io::Write;
    /// use gossamer::{Wait, net::UnixStream};
    ///
    /// let (mut one, other) = UnixStream::pair()?;
    /// let sent = poll_fn(|cx| one.poll_write_with(cx, |mut socket| socket.write(b"over"))).wait()?;
    /// assert_eq!(sent, 4);
    /// assert_eq!(other.read(&mut [0; 9]).wait()?, 4);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[track_caller]
    pub fn poll_write_with(
        &mut self,
        cx: &mut Context<'_>,
        mut write: impl FnMut(&S) -> io::Result<usize>,
    ) -> Poll<io::Result<usize>> {
        self.poll_try(Way::Out, cx, |socket| {
            let sent = write(socket)?;
            Ok((sent, op::one_of(sent)))
        })
    }
}
