//! Lines, one after the other.

use std::io::{self, BufRead, ErrorKind};
use std::os::fd::AsFd;
use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use gossamer_core::mutant;

use super::{BufReader, Buffer, Reader};
use crate::socket::Socket;
use crate::source::Way;
use crate::steps::Steps;

impl<R: Reader> BufReader<R> {
    /// Takes the next line, without its end, which is `\n` or `\r\n`. What the peer sends last is a line also without an
    /// end. None: the peer sends no more.
    ///
    /// # Cancellation
    /// Dropped unfinished, it has taken nothing: what has come of the line is in the [`buffer`](BufReader::buffer), and the
    /// next one goes on from there.
    ///
    /// # Errors
    /// [`InvalidData`](ErrorKind::InvalidData): the line is not UTF-8; the text says where, and the line is in the error, a
    /// [`FromUtf8Error`](std::string::FromUtf8Error). The next line can be taken.
    ///
    /// [`QuotaExceeded`](ErrorKind::QuotaExceeded): the line is longer than allowed
    /// ([`set_line_limit`](BufReader::set_line_limit)). It stays in the buffer, as far as it has come.
    ///
    /// Or the connection is broken; what has come of the line stays in the buffer.
    ///
    /// # Examples
    /// ```
    /// use std::time::Duration;
    /// use gossamer::{TimeoutExt, Wait};
    /// use gossamer::net::{BufReader, UnixStream};
    ///
    /// let (one, other) = UnixStream::pair()?;
    /// let mut reader = BufReader::new(one);
    /// other.write_all(b"half").wait()?;
    /// let late = reader.next_line().timeout(Duration::from_millis(1)).wait();
    /// assert!(late.is_err());
    /// other.write_all(b"time\nthe end").wait()?;
    /// drop(other);
    /// assert_eq!(reader.next_line().wait()?.as_deref(), Some("halftime"));
    /// assert_eq!(reader.next_line().wait()?.as_deref(), Some("the end"));
    /// assert_eq!(reader.next_line().wait()?, None);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[track_caller]
    pub fn next_line(&mut self) -> NextLine<'_, R::Socket> {
        let Self { reader, buffer } = self;
        let source = &reader.reads_from().source;
        NextLine {
            steps: Steps::new(source, Way::In, Location::caller()),
            buffer,
        }
    }
}

/// A line at the beginning of what was not consumed.
struct Line {
    /// How many bytes it has, without its end.
    length: usize,
    /// How many bytes its end has.
    end: usize,
}

impl Buffer {
    /// The next line, if all of it is there; or an error, if it has become too long. Takes nothing.
    fn look_for_line(&mut self) -> Option<io::Result<Line>> {
        let unused = &self.bytes[self.begin..];
        let behind = &unused[self.searched..];
        // As far as the next `\n`, and with it.
        let through = (&mut &*behind).skip_until(b'\n').unwrap_or_default();
        let is_whole = behind[..through].last() == Some(&b'\n');
        let there = self.searched + through;
        let before = there - usize::from(is_whole);
        let has_return = unused[..before].last() == Some(&b'\r');
        let length = before - usize::from(has_return);
        if length > self.line_limit && !mutant!("lines_without_limit") {
            return Some(Err(self.too_long(is_whole.then_some(length))));
        }
        if !is_whole {
            self.searched = there;
            return None;
        }
        let end = there - length;
        Some(Ok(Line { length, end }))
    }

    /// What has come before the peer's end, if anything has.
    fn last_line(&self) -> io::Result<Option<Line>> {
        let length = self.unused().len();
        if length > self.line_limit {
            return Err(self.too_long(Some(length)));
        }
        Ok((length > 0).then_some(Line { length, end: 0 }))
    }

    fn take(&mut self, line: &Line) -> io::Result<String> {
        let text = self.unused()[..line.length].to_vec();
        self.consume(line.length + line.end);
        String::from_utf8(text).map_err(|error| io::Error::new(ErrorKind::InvalidData, error))
    }

    #[cold]
    fn too_long(&self, length: Option<usize>) -> io::Error {
        let limit = self.line_limit;
        let found = match length {
            Some(length) => format!("has {length} bytes"),
            None => String::from("has more bytes"),
        };
        let text = format!(
            "a line may have {limit} bytes, and this one {found}: set another limit, or give the peer up"
        );
        io::Error::new(ErrorKind::QuotaExceeded, text)
    }
}

pin_project_lite::pin_project! {
    /// [`BufReader::next_line`]. Dropped unfinished, it has taken nothing.
    #[must_use = "operations do nothing until they are awaited or waited for"]
    #[derive(Debug)]
    pub struct NextLine<'a, S: AsFd> {
        #[pin]
        steps: Steps<'a, S>,
        buffer: &'a mut Buffer,
    }
}

impl<S: Socket> Future for NextLine<'_, S> {
    type Output = io::Result<Option<String>>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut this = self.project();
        if let Some(found) = this.buffer.look_for_line() {
            ready!(this.steps.pass(cx));
            return Poll::Ready(found.and_then(|line| this.buffer.take(&line)).map(Some));
        }
        let found = loop {
            let came = ready!(this.buffer.poll_receive(this.steps.as_mut(), cx))?;
            if came == 0 {
                break this.buffer.last_line();
            }
            if let Some(found) = this.buffer.look_for_line() {
                break found.map(Some);
            }
        };
        let taken = found.and_then(|line| line.map(|line| this.buffer.take(&line)).transpose());
        Poll::Ready(taken)
    }
}
