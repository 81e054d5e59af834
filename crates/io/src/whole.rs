//! Operations of several steps: all of the bytes.
//!
//! Each step has its effect. How far it has come is kept in the operation itself, and lost with it; or in a cursor of the
//! caller's, who can go on from there.

use std::io::{self, Cursor, ErrorKind};
use std::os::fd::AsFd;
use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use crate::attempt::Moved;
use crate::connection::Connection;
use crate::op::{receive, transmit};
use crate::socket::Socket;
use crate::source::Way;
use crate::steps::Steps;

impl<S: Socket> Connection<S> {
    /// Writes all of these bytes.
    ///
    /// # Cancellation
    /// Dropped unfinished, it has written some of them, and nobody knows how many: where that matters there is
    /// [`write_all_from`](Connection::write_all_from).
    ///
    /// # Errors
    /// The connection is broken, or this end closed for writing. Some bytes may have been written.
    ///
    /// # Examples
    /// ```
    /// use gossamer::Wait;
    /// use gossamer::net::UnixStream;
    ///
    /// let (one, other) = UnixStream::pair()?;
    /// one.write_all(b"all of it").wait()?;
    /// let mut buffer = [0; 9];
    /// other.read_exact(&mut buffer).wait()?;
    /// assert_eq!(&buffer, b"all of it");
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[track_caller]
    pub fn write_all<'a>(&'a self, bytes: &'a [u8]) -> WriteAll<'a, S> {
        WriteAll {
            steps: Steps::new(&self.source, Way::Out, Location::caller()),
            bytes,
            written: 0,
        }
    }

    /// Writes all bytes behind the cursor's position, which follows.
    ///
    /// # Cancellation
    /// Dropped unfinished, it has written those before the cursor's position, and no others. With the same cursor another
    /// one goes on from there.
    ///
    /// # Errors
    /// As of [`write_all`](Connection::write_all); the cursor's position says how many bytes were written.
    ///
    /// # Examples
    /// ```
    /// use std::{io::Cursor, time::Duration};
    /// use gossamer::{TimeoutExt, Wait, net::UnixStream};
    ///
    /// let (one, other) = UnixStream::pair()?;
    /// let mut bytes = Cursor::new(vec![7; 1_000_000]);
    /// // Nobody reads, and the system keeps less than that.
    /// let late = one.write_all_from(&mut bytes).timeout(Duration::from_millis(1)).wait();
    /// assert!(late.is_err());
    /// let written = bytes.position() as usize;
    /// assert!(0 < written && written < 1_000_000);
    /// other.read_exact(&mut vec![0; written]).wait()?;
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[track_caller]
    pub fn write_all_from<'a, T>(&'a self, bytes: &'a mut Cursor<T>) -> WriteAllFrom<'a, S, T>
    where
        T: AsRef<[u8]>,
    {
        WriteAllFrom {
            steps: Steps::new(&self.source, Way::Out, Location::caller()),
            bytes,
        }
    }

    /// Reads until the buffer is full.
    ///
    /// # Cancellation
    /// Dropped unfinished, it has read something into the buffer, and nobody knows how much: where that matters there is
    /// [`read_exact_into`](Connection::read_exact_into).
    ///
    /// # Errors
    /// [`UnexpectedEof`](ErrorKind::UnexpectedEof): the peer sends no more; the text says how much came. Or the connection
    /// is broken.
    #[track_caller]
    pub fn read_exact<'a>(&'a self, buffer: &'a mut [u8]) -> ReadExact<'a, S> {
        ReadExact {
            steps: Steps::new(&self.source, Way::In, Location::caller()),
            buffer,
            read: 0,
        }
    }

    /// Reads into what is behind the cursor's position, which follows, until that is full.
    ///
    /// # Cancellation
    /// Dropped unfinished, it has read what is before the cursor's position, and nothing else. With the same cursor another
    /// one goes on from there.
    ///
    /// # Errors
    /// As of [`read_exact`](Connection::read_exact); the cursor's position says how much was read.
    ///
    /// # Examples
    /// ```
    /// use std::{io::Cursor, time::Duration};
    /// use gossamer::{TimeoutExt, Wait, net::UnixStream};
    ///
    /// let (one, other) = UnixStream::pair()?;
    /// one.write_all(b"half").wait()?;
    /// let mut buffer = Cursor::new([0; 8]);
    /// let late = other.read_exact_into(&mut buffer).timeout(Duration::from_millis(1)).wait();
    /// assert!(late.is_err());
    /// one.write_all(b"time").wait()?;
    /// other.read_exact_into(&mut buffer).wait()?;
    /// assert_eq!(buffer.get_ref(), b"halftime");
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[track_caller]
    pub fn read_exact_into<'a, T>(&'a self, buffer: &'a mut Cursor<T>) -> ReadExactInto<'a, S, T>
    where
        T: AsMut<[u8]>,
    {
        ReadExactInto {
            steps: Steps::new(&self.source, Way::In, Location::caller()),
            buffer,
        }
    }
}

impl<S: Socket> Steps<'_, S> {
    /// Moves bytes until `done` is `all`, or the system moves none.
    fn poll_all(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        done: &mut u64,
        all: usize,
        mut step: impl FnMut(&S, usize) -> io::Result<(usize, Moved)>,
    ) -> Poll<io::Result<()>> {
        // A cursor's position may be anything.
        let at = |done: u64| usize::try_from(done).unwrap_or(all).min(all);
        if at(*done) == all && !gossamer_core::mutant!("nothing_is_waited_for") {
            ready!(self.pass(cx));
            return Poll::Ready(Ok(()));
        }
        loop {
            let begin = at(*done);
            let moved = ready!(self.as_mut().step(cx, |socket| step(socket, begin)))?;
            *done += moved as u64;
            if at(*done) == all || moved == 0 {
                return Poll::Ready(Ok(()));
            }
        }
    }

    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        written: &mut u64,
        bytes: &[u8],
    ) -> Poll<io::Result<()>> {
        let step = |socket: &S, begin| transmit(socket, &mut &bytes[begin..]);
        ready!(self.poll_all(cx, written, bytes.len(), step))?;
        Poll::Ready(match *written < bytes.len() as u64 {
            true => Err(ErrorKind::WriteZero.into()),
            false => Ok(()),
        })
    }

    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        read: &mut u64,
        buffer: &mut [u8],
    ) -> Poll<io::Result<()>> {
        let all = buffer.len();
        let step = |socket: &S, begin: usize| receive(socket, &mut &mut buffer[begin..]);
        ready!(self.poll_all(cx, read, all, step))?;
        Poll::Ready(match *read < all as u64 {
            true => Err(ended(*read, all)),
            false => Ok(()),
        })
    }
}

fn ended(read: u64, all: usize) -> io::Error {
    let text = format!("the peer sends no more, and {read} of {all} bytes have come");
    io::Error::new(ErrorKind::UnexpectedEof, text)
}

pin_project_lite::pin_project! {
    /// [`Connection::write_all`]. Dropped unfinished, it has written some bytes.
    #[must_use = "operations do nothing until they are awaited or waited for"]
    #[derive(Debug)]
    pub struct WriteAll<'a, S: AsFd> {
        #[pin]
        steps: Steps<'a, S>,
        bytes: &'a [u8],
        written: u64,
    }
}

impl<S: Socket> Future for WriteAll<'_, S> {
    type Output = io::Result<()>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        this.steps.poll_write(cx, this.written, this.bytes)
    }
}

pin_project_lite::pin_project! {
    /// [`Connection::write_all_from`]. Dropped unfinished, it has written what is before the cursor's position.
    #[must_use = "operations do nothing until they are awaited or waited for"]
    #[derive(Debug)]
    pub struct WriteAllFrom<'a, S: AsFd, T> {
        #[pin]
        steps: Steps<'a, S>,
        bytes: &'a mut Cursor<T>,
    }
}

impl<S: Socket, T: AsRef<[u8]>> Future for WriteAllFrom<'_, S, T> {
    type Output = io::Result<()>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let mut written = this.bytes.position();
        let bytes = this.bytes.get_ref().as_ref();
        let polled = this.steps.poll_write(cx, &mut written, bytes);
        this.bytes.set_position(written);
        polled
    }
}

pin_project_lite::pin_project! {
    /// [`Connection::read_exact`]. Dropped unfinished, it has read some bytes.
    #[must_use = "operations do nothing until they are awaited or waited for"]
    #[derive(Debug)]
    pub struct ReadExact<'a, S: AsFd> {
        #[pin]
        steps: Steps<'a, S>,
        buffer: &'a mut [u8],
        read: u64,
    }
}

impl<S: Socket> Future for ReadExact<'_, S> {
    type Output = io::Result<()>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        this.steps.poll_read(cx, this.read, this.buffer)
    }
}

pin_project_lite::pin_project! {
    /// [`Connection::read_exact_into`]. Dropped unfinished, it has read what is before the cursor's position.
    #[must_use = "operations do nothing until they are awaited or waited for"]
    #[derive(Debug)]
    pub struct ReadExactInto<'a, S: AsFd, T> {
        #[pin]
        steps: Steps<'a, S>,
        buffer: &'a mut Cursor<T>,
    }
}

impl<S: Socket, T: AsMut<[u8]>> Future for ReadExactInto<'_, S, T> {
    type Output = io::Result<()>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let mut read = this.buffer.position();
        let buffer = this.buffer.get_mut().as_mut();
        let polled = this.steps.poll_read(cx, &mut read, buffer);
        this.buffer.set_position(read);
        polled
    }
}
