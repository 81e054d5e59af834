//! All bytes, from one connection to another.

use std::io::{self, ErrorKind};
use std::os::fd::AsFd;
use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use gossamer_core::mutant;

use super::{BufReader, Buffer, Reader, Writer};
use crate::op::transmit;
use crate::socket::Socket;
use crate::source::Way;
use crate::steps::Steps;

/// Copies what a reader has and what comes, until its peer sends no more. Says how many bytes that were. It closes nothing.
///
/// # Cancellation
/// Dropped unfinished, it has copied some bytes. What was read and not written is in the reader's
/// [`buffer`](BufReader::buffer), where another one goes on: no byte is lost, and none is written twice. The reader's
/// [`position`](BufReader::position) says how many were copied.
///
/// # Errors
/// The text says whether reading or writing has failed, and how many bytes were copied before. The kind is that of what has
/// failed. As after a drop, nothing is lost.
///
/// # Examples
/// ```
/// use std::{net::Shutdown, time::Duration};
/// use gossamer::{TimeoutExt, Wait};
/// use gossamer::net::{self, BufReader, UnixStream};
///
/// let (client, from) = UnixStream::pair()?;
/// let (to, server) = UnixStream::pair()?;
/// let mut from = BufReader::new(from);
/// client.write_all(b"half").wait()?;
/// let late = net::copy(&mut from, &to).timeout(Duration::from_millis(1)).wait();
/// assert!(late.is_err());
/// assert_eq!(from.position(), 4);
/// client.write_all(b"time").wait()?;
/// client.shutdown(Shutdown::Write)?;
/// assert_eq!(net::copy(&mut from, &to).wait()?, 4);
/// let mut bytes = [0; 8];
/// server.read_exact(&mut bytes).wait()?;
/// assert_eq!(&bytes, b"halftime");
/// # Ok::<(), std::io::Error>(())
/// ```
#[track_caller]
pub fn copy<'a, R: Reader, W: Writer>(
    reader: &'a mut BufReader<R>,
    writer: &'a W,
) -> CopyAll<'a, R::Socket, W::Socket> {
    let BufReader { reader, buffer } = reader;
    let (from, to) = (&reader.reads_from().source, &writer.writes_to().source);
    let caller = Location::caller();
    CopyAll {
        reads: Steps::new(from, Way::In, caller),
        writes: Steps::new(to, Way::Out, caller),
        buffer,
        copied: 0,
    }
}

pin_project_lite::pin_project! {
    /// [`copy`]. Dropped unfinished, it has copied some bytes, and the others are in its reader.
    #[must_use = "operations do nothing until they are awaited or waited for"]
    #[derive(Debug)]
    pub struct CopyAll<'a, R: AsFd, W: AsFd> {
        #[pin]
        reads: Steps<'a, R>,
        #[pin]
        writes: Steps<'a, W>,
        buffer: &'a mut Buffer,
        copied: u64,
    }
}

impl<R: Socket, W: Socket> Future for CopyAll<'_, R, W> {
    type Output = io::Result<u64>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut this = self.project();
        loop {
            if this.buffer.is_empty() {
                let came = ready!(this.buffer.poll_receive(this.reads.as_mut(), cx));
                if came.map_err(|error| failed("reading", *this.copied, &error))? == 0 {
                    return Poll::Ready(Ok(*this.copied));
                }
            }
            let mut bytes = this.buffer.unused();
            let wrote = this
                .writes
                .as_mut()
                .step(cx, |socket| transmit(socket, &mut bytes));
            if wrote.is_pending() && mutant!("copied_bytes_wait_nowhere") {
                let lost = this.buffer.unused().len();
                this.buffer.consume(lost);
            }
            let wrote = ready!(wrote).and_then(|wrote| match wrote {
                0 => Err(ErrorKind::WriteZero.into()),
                _ => Ok(wrote),
            });
            let wrote = wrote.map_err(|error| failed("writing", *this.copied, &error))?;
            this.buffer.consume(wrote);
            *this.copied += wrote as u64;
        }
    }
}

#[cold]
fn failed(what: &str, copied: u64, error: &io::Error) -> io::Error {
    io::Error::new(
        error.kind(),
        format!("{copied} bytes were copied, and then {what} has failed: {error}"),
    )
}
