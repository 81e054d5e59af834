//! Reading into a buffer that outlives the operations: what one of them has read and not used is there for the next.
//!
//! An operation of several steps that ends early loses nothing, as its bytes are in the buffer of a [`BufReader`]: the first
//! part of a line, or what [`copy`](copy::copy) has read and not written yet.

pub(crate) mod copy;
pub(crate) mod line;

use std::io;
use std::os::fd::AsFd;
use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use gossamer_core::{impl_debug, mutant};
use rustix::buffer::spare_capacity;
use rustix::net::{RecvFlags, recv};

use crate::connection::Connection;
use crate::halves::{OwnedReadHalf, OwnedWriteHalf};
use crate::op::{self, Tried};
use crate::socket::{Sealed, Socket};
use crate::source::Way;
use crate::steps::Steps;

/// How many bytes a buffer has room for, where nobody says.
const CAPACITY: usize = 8 << 10;

/// How many bytes a line may have, where nobody says.
const LINE_LIMIT: usize = 64 << 10;

/// What a [`BufReader`] reads from: a [`Connection`], an [`OwnedReadHalf`], or a reference to one. Nobody else implements it.
pub trait Reader: Sealed {
    /// The standard library's socket.
    type Socket: Socket;

    #[doc(hidden)]
    fn reads_from(&self) -> &Connection<Self::Socket>;
}

/// What [`copy`](copy::copy) writes to: a [`Connection`], an [`OwnedWriteHalf`], or a reference to one. Nobody else
/// implements it.
pub trait Writer: Sealed {
    /// The standard library's socket.
    type Socket: Socket;

    #[doc(hidden)]
    fn writes_to(&self) -> &Connection<Self::Socket>;
}

impl<S: Socket> Sealed for Connection<S> {}
impl<S: Socket> Sealed for OwnedReadHalf<S> {}
impl<S: Socket> Sealed for OwnedWriteHalf<S> {}
impl<T: Sealed> Sealed for &T {}

/// Declares what can be read or written, and its connection.
macro_rules! ends {
    ($($trait:ident by $method:ident: $name:ident $(by $connection:ident)?;)*) => {$(
        impl<S: Socket> $trait for $name<S> {
            type Socket = S;

            fn $method(&self) -> &Connection<S> {
                &self$(.$connection)?
            }
        }
    )*};
}

ends! {
    Reader by reads_from: Connection;
    Reader by reads_from: OwnedReadHalf by connection;
    Writer by writes_to: Connection;
    Writer by writes_to: OwnedWriteHalf by connection;
}

impl<R: Reader> Reader for &R {
    type Socket = R::Socket;

    fn reads_from(&self) -> &Connection<R::Socket> {
        (**self).reads_from()
    }
}

impl<W: Writer> Writer for &W {
    type Socket = W::Socket;

    fn writes_to(&self) -> &Connection<W::Socket> {
        (**self).writes_to()
    }
}

/// Reads into a buffer, from which lines are taken ([`next_line`](BufReader::next_line)), or which is [copied](copy::copy)
/// elsewhere.
///
/// The buffer belongs to the reader, not to its operations: one that is dropped or timed out leaves there what it has read,
/// and the next one goes on with that.
///
/// While an operation waits and the buffer is empty, it takes no memory.
///
/// # Examples
/// ```
/// use gossamer::Wait;
/// use gossamer::net::{BufReader, UnixStream};
///
/// let (one, other) = UnixStream::pair()?;
/// other.write_all(b"a line\r\nand more").wait()?;
/// let mut reader = BufReader::new(&one);
/// assert_eq!(reader.next_line().wait()?.as_deref(), Some("a line"));
///
/// // What has come behind it, in its own time.
/// assert_eq!(reader.fill().wait()?, 8);
/// assert_eq!(reader.buffer(), b"and more");
/// reader.consume(4);
/// assert_eq!(reader.buffer(), b"more");
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct BufReader<R> {
    reader: R,
    buffer: Buffer,
}

impl<R: Reader> BufReader<R> {
    /// Reads 8 KiB at a time.
    pub fn new(reader: R) -> Self {
        Self::with_capacity(CAPACITY, reader)
    }

    /// Reads so many bytes at a time, at least one.
    pub fn with_capacity(capacity: usize, reader: R) -> Self {
        let buffer = Buffer {
            bytes: Vec::new(),
            begin: 0,
            searched: 0,
            consumed: 0,
            capacity: capacity.max(1),
            line_limit: LINE_LIMIT,
        };
        Self { reader, buffer }
    }

    /// How many bytes a line may have, its end apart: 64 KiB, unless this is called. So a peer that never ends its line
    /// takes twice as much memory at most (or the buffer's capacity, if that is more), and for a moment, when the buffer
    /// grows, three times as much.
    pub fn set_line_limit(&mut self, bytes: usize) {
        self.buffer.line_limit = bytes;
    }

    /// What was read and not consumed.
    pub fn buffer(&self) -> &[u8] {
        self.buffer.unused()
    }

    /// So many bytes of the [`buffer`](BufReader::buffer) have been used.
    ///
    /// # Panics
    /// There are fewer.
    #[track_caller]
    pub fn consume(&mut self, bytes: usize) {
        let there = self.buffer().len();
        assert!(
            bytes <= there,
            "{bytes} bytes are consumed, and the buffer has {there}: consume no more than `buffer` gave"
        );
        self.buffer.consume(bytes);
    }

    /// How many bytes have been consumed so far: by [`consume`](BufReader::consume), as lines, or copied. So this says how
    /// far an operation came that was dropped, or failed.
    pub fn position(&self) -> u64 {
        self.buffer.consumed
    }

    /// Reads once, if the buffer is empty. Says how many bytes there are then; zero: the peer sends no more.
    ///
    /// # Cancellation
    /// Dropped unfinished, it has read nothing.
    ///
    /// # Errors
    /// The connection is broken.
    #[track_caller]
    pub fn fill(&mut self) -> Fill<'_, R::Socket> {
        let Self { reader, buffer } = self;
        let source = &reader.reads_from().source;
        Fill {
            steps: Steps::new(source, Way::In, Location::caller()),
            buffer,
        }
    }

    /// What it reads from. Reading from that directly skips what is in the buffer.
    pub fn get_ref(&self) -> &R {
        &self.reader
    }

    /// What it reads from, and what was read and not consumed.
    pub fn into_parts(self) -> (R, Vec<u8>) {
        let Self { reader, buffer } = self;
        let mut bytes = buffer.bytes;
        bytes.drain(..buffer.begin);
        (reader, bytes)
    }
}

/// Bytes that were read, and what has been done with them.
struct Buffer {
    /// None of them are allocated before the first attempt to read.
    bytes: Vec<u8>,
    /// Those before this have been consumed.
    begin: usize,
    /// So many of the others are known to have no end of a line.
    searched: usize,
    /// So many bytes have been consumed in all.
    consumed: u64,
    /// Room for so many is made at a time.
    capacity: usize,
    /// A line may have so many.
    line_limit: usize,
}

impl_debug!([] Buffer[], this => unused: this.unused().len());

impl Buffer {
    fn unused(&self) -> &[u8] {
        &self.bytes[self.begin..]
    }

    fn is_empty(&self) -> bool {
        self.unused().is_empty()
    }

    fn consume(&mut self, bytes: usize) {
        self.begin += bytes;
        self.searched = self.searched.saturating_sub(bytes);
        self.consumed += bytes as u64;
    }

    /// Reads behind what is there, from a socket that does not block.
    fn receive<S: Socket>(&mut self, socket: &S) -> Tried<usize> {
        self.bytes.drain(..self.begin);
        self.begin = 0;
        match (self.bytes.len(), self.bytes.capacity()) {
            (0, 0) => self.bytes.reserve_exact(self.capacity),
            // A long line.
            (all, room) if all == room => self.bytes.reserve(self.capacity),
            _ => {}
        }
        let asked = self.bytes.capacity() - self.bytes.len();
        let (came, _) = recv(socket, spare_capacity(&mut self.bytes), RecvFlags::empty())?;
        op::read::<S>(came, asked)
    }

    /// Reads once behind what is there. Zero: the peer sends no more.
    fn poll_receive<S: Socket>(
        &mut self,
        steps: Pin<&mut Steps<'_, S>>,
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<usize>> {
        let polled = steps.step(cx, |socket| self.receive(socket));
        if polled.is_pending() && self.is_empty() && !mutant!("idle_buffer_is_kept") {
            // It may wait for long, as one of many.
            self.bytes = Vec::new();
            self.begin = 0;
        }
        polled
    }
}

pin_project_lite::pin_project! {
    /// [`BufReader::fill`]. Dropped unfinished, it has read nothing.
    #[must_use = "operations do nothing until they are awaited or waited for"]
    #[derive(Debug)]
    pub struct Fill<'a, S: AsFd> {
        #[pin]
        steps: Steps<'a, S>,
        buffer: &'a mut Buffer,
    }
}

impl<S: Socket> Future for Fill<'_, S> {
    type Output = io::Result<usize>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let there = this.buffer.unused().len();
        if there > 0 {
            ready!(this.steps.pass(cx));
            return Poll::Ready(Ok(there));
        }
        this.buffer.poll_receive(this.steps, cx)
    }
}

#[cfg(test)]
mod tests;
