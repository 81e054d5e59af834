//! Any descriptor that can be polled.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};
use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll};

use crate::attempt::{Attempt, Moved};
use crate::op::{Ready, try_now};
use crate::slot::Kind;
use crate::source::{Source, Way};

/// A descriptor to wait for: a pipe, an eventfd, a timerfd, a device, another library's socket.
///
/// It must not block (`O_NONBLOCK`): what blocks keeps its thread, and so other tasks. Nobody sets that here: the mode is
/// that of all who share the open file, in other processes too, so only its owner can know. Of a standard input or output
/// that was inherited one is not the owner. Leave that as it is, and let a thread read from it
/// (`gossamer::spawn_blocking`), or let the closure ask poll(2) first, without a time limit, and say
/// [`WouldBlock`](io::ErrorKind::WouldBlock) where that has nothing.
///
/// A file on a disk cannot be waited for, and is always ready. One descriptor can be in one [`AsyncFd`] at a time; two that
/// wait with it fail ([`AlreadyExists`](io::ErrorKind::AlreadyExists)).
///
/// # Examples
/// ```
/// use std::io::{Read, Write};
/// use std::os::unix::net::UnixStream;
/// use gossamer::{Wait, net::AsyncFd, spawn_thread};
///
/// let (reads, mut writes) = UnixStream::pair()?;
/// reads.set_nonblocking(true)?;
/// let reads = AsyncFd::new(reads);
/// let wrote = spawn_thread(move || writes.write_all(b"hello"));
/// let mut buffer = [0; 16];
/// let read = reads.read_with(|mut reads| reads.read(&mut buffer)).wait()?;
/// assert_eq!(&buffer[..read], b"hello");
/// # wrote.wait().expect("no panic")?;
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct AsyncFd<T: AsFd> {
    source: Source<T>,
}

impl<T: AsFd> AsyncFd<T> {
    /// Takes a descriptor, which must not block.
    pub fn new(descriptor: T) -> Self {
        Self {
            source: Source::new(descriptor, Kind::Other),
        }
    }

    /// The descriptor.
    pub fn get_ref(&self) -> &T {
        self.source.socket()
    }

    /// The descriptor, which nobody waits for any more.
    pub fn into_inner(self) -> T {
        self.source.into_socket()
    }

    /// Waits until [`try_read_with`](AsyncFd::try_read_with) is worth a try. It may be in vain even so.
    ///
    /// # Cancellation
    /// Dropped unfinished, it has no effect.
    ///
    /// # Errors
    /// The descriptor cannot be polled, or the system has no memory.
    #[track_caller]
    pub fn readable(&self) -> Ready<'_, T> {
        Ready::new(&self.source, Way::In, Location::caller())
    }

    /// Waits until [`try_write_with`](AsyncFd::try_write_with) is worth a try. It may be in vain even so.
    ///
    /// # Cancellation
    /// Dropped unfinished, it has no effect.
    ///
    /// # Errors
    /// The descriptor cannot be polled, or the system has no memory.
    #[track_caller]
    pub fn writable(&self) -> Ready<'_, T> {
        Ready::new(&self.source, Way::Out, Location::caller())
    }

    /// Calls `read` whenever something may have come, until it does not say
    /// [`WouldBlock`](io::ErrorKind::WouldBlock). (When it says [`Interrupted`](io::ErrorKind::Interrupted), it is called
    /// again at once.)
    ///
    /// # Cancellation
    /// Dropped unfinished, `read` has said `WouldBlock` each time.
    ///
    /// # Errors
    /// Those of `read`; or the descriptor cannot be polled.
    #[track_caller]
    pub fn read_with<R, F>(&self, read: F) -> AttemptWith<'_, T, F>
    where
        F: FnMut(&T) -> io::Result<R>,
    {
        AttemptWith {
            attempt: Attempt::new(&self.source, Way::In, Location::caller()),
            call: read,
        }
    }

    /// Calls `write` whenever there may be room, until it does not say [`WouldBlock`](io::ErrorKind::WouldBlock). (When it
    /// says [`Interrupted`](io::ErrorKind::Interrupted), it is called again at once.)
    ///
    /// # Cancellation
    /// Dropped unfinished, `write` has said `WouldBlock` each time.
    ///
    /// # Errors
    /// Those of `write`; or the descriptor cannot be polled.
    #[track_caller]
    pub fn write_with<R, F>(&self, write: F) -> AttemptWith<'_, T, F>
    where
        F: FnMut(&T) -> io::Result<R>,
    {
        AttemptWith {
            attempt: Attempt::new(&self.source, Way::Out, Location::caller()),
            call: write,
        }
    }

    /// Calls `read`, once. When it says [`WouldBlock`](io::ErrorKind::WouldBlock), those that come later wait.
    ///
    /// # Errors
    /// Those of `read`.
    pub fn try_read_with<R>(&self, read: impl FnOnce(&T) -> io::Result<R>) -> io::Result<R> {
        try_now(&self.source, Way::In, |inner| {
            Ok((read(inner)?, Moved::ONE))
        })
    }

    /// Calls `write`, once. When it says [`WouldBlock`](io::ErrorKind::WouldBlock), those that come later wait.
    ///
    /// # Errors
    /// Those of `write`.
    pub fn try_write_with<R>(&self, write: impl FnOnce(&T) -> io::Result<R>) -> io::Result<R> {
        try_now(&self.source, Way::Out, |inner| {
            Ok((write(inner)?, Moved::ONE))
        })
    }
}

impl<T: AsFd> AsFd for AsyncFd<T> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.get_ref().as_fd()
    }
}

impl<T: AsFd> AsRawFd for AsyncFd<T> {
    fn as_raw_fd(&self) -> RawFd {
        self.as_fd().as_raw_fd()
    }
}

pin_project_lite::pin_project! {
    /// [`AsyncFd::read_with`], [`AsyncFd::write_with`]. Dropped unfinished, its closure has done nothing.
    #[must_use = "operations do nothing until they are awaited or waited for"]
    pub struct AttemptWith<'a, T: AsFd, F> {
        #[pin]
        attempt: Attempt<&'a Source<T>>,
        call: F,
    }
}

impl<T: AsFd, R, F: FnMut(&T) -> io::Result<R>> Future for AttemptWith<'_, T, F> {
    type Output = io::Result<R>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let call = this.call;
        this.attempt
            .poll(cx, |inner| Ok((call(inner)?, Moved::ONE)))
    }
}
