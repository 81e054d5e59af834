//! Bodies that the system copies from a file into the connection (sendfile(2)), and that never enter this process.
//!
//! hyper knows bytes only. So the body of a file is made of parts of one constant, as many as the file is long. The
//! connection under hyper knows these by their place in memory, and has the system send as many bytes of the file instead.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::fs::File;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};

use gossamer::net::TcpStream;
use hyper::body::{Body, Bytes, Frame, SizeHint};
use hyper::rt::{Read, ReadBufCursor, Write};
use rustix::fs::sendfile;

/// Stands for bytes of a file.
static STAND_IN: [u8; 1 << 16] = [0; 1 << 16];

/// The rest of a file.
struct Rest {
    file: File,
    offset: u64,
    left: u64,
}

/// The files whose bytes are to be sent, in the order of their responses.
#[derive(Clone, Default)]
pub(crate) struct Files(Arc<Mutex<VecDeque<Rest>>>);

impl Files {
    /// The body of the next response that has one of a file.
    pub(crate) fn body(&self, file: File, length: u64) -> Contents {
        let (mut files, rest) = (
            self.lock(),
            Rest {
                file,
                offset: 0,
                left: length,
            },
        );
        if length > 0 {
            files.push_back(rest);
        }
        Contents {
            left: length,
            text: None,
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, VecDeque<Rest>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A body: a file's, or a text.
pub(crate) struct Contents {
    left: u64,
    text: Option<Bytes>,
}

impl Contents {
    pub(crate) fn text(text: impl Into<Bytes>) -> Self {
        Self {
            left: 0,
            text: Some(text.into()),
        }
    }

    /// For HEAD: the length alone.
    pub(crate) fn of_length(left: u64) -> Self {
        Self { left, text: None }
    }
}

impl Body for Contents {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        if let Some(text) = self.text.take() {
            return Poll::Ready(Some(Ok(Frame::data(text))));
        }
        let part = self.left.min(STAND_IN.len() as u64);
        self.left -= part;
        let part = Bytes::from_static(&STAND_IN[..part as usize]);
        Poll::Ready((!part.is_empty()).then(|| Ok(Frame::data(part))))
    }

    fn size_hint(&self) -> SizeHint {
        let text = self.text.as_ref().map_or(0, Bytes::len);
        SizeHint::with_exact(self.left + text as u64)
    }
}

/// A connection that sends files.
pub(crate) struct Sending {
    pub(crate) connection: TcpStream,
    pub(crate) files: Files,
}

/// Whether a part of what is to be written stands for a file's.
fn is_of_a_file(part: &[u8]) -> bool {
    STAND_IN.as_ptr_range().contains(&part.as_ptr())
}

impl Sending {
    /// Sends what comes next of the first file, at most so much.
    fn send_file(&mut self, cx: &mut Context<'_>, most: u64) -> Poll<io::Result<usize>> {
        let mut files = self.files.lock();
        let first = files
            .front_mut()
            .expect("each part that stands for a file has one");
        let most = most.min(first.left) as usize;
        let sent = ready!(self.connection.poll_write_with(cx, |socket| {
            Ok(sendfile(
                socket,
                &first.file,
                Some(&mut first.offset),
                most,
            )?)
        }))?;
        if sent == 0 {
            let text = "a file has become shorter while it was sent: its response cannot be ended";
            return Poll::Ready(Err(io::Error::other(text)));
        }
        first.left -= sent as u64;
        if first.left == 0 {
            files.pop_front();
        }
        Poll::Ready(Ok(sent))
    }
}

impl Read for Sending {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        Read::poll_read(Pin::new(&mut self.connection), cx, buffer)
    }
}

impl Write for Sending {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.poll_write_vectored(cx, &[IoSlice::new(bytes)])
    }

    fn is_write_vectored(&self) -> bool {
        // So hyper moves no body into a buffer of its own.
        true
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let plain = parts.iter().take_while(|part| !is_of_a_file(part)).count();
        if plain > 0 || parts.is_empty() {
            let connection = Pin::new(&mut self.connection);
            return Write::poll_write_vectored(connection, cx, &parts[..plain]);
        }
        let of_files = parts.iter().take_while(|part| is_of_a_file(part));
        let most = of_files.map(|part| part.len() as u64).sum();
        self.send_file(cx, most)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Write::poll_flush(Pin::new(&mut self.connection), cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Write::poll_shutdown(Pin::new(&mut self.connection), cx)
    }
}
