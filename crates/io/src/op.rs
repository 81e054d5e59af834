//! The operations on sockets, each a future of its own.

use std::io::{self, IoSlice, IoSliceMut};
use std::os::fd::AsFd;
use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll};

use rustix::io::readv;
use rustix::net::{RecvFlags, SendAncillaryBuffer, SendFlags, recv, send, sendmsg};

use crate::attempt::{Attempt, Moved};
use crate::source::{Source, Way};

/// Nobody is killed for writing to a connection that is closed: that is an error of the call.
const NO_SIGNAL: SendFlags = SendFlags::NOSIGNAL;

/// The most buffers that one call takes: `IOV_MAX`.
const BUFFERS: usize = 1024;

/// Declares operations on a borrowed socket: which way they go, what they have beside the socket, and how they try.
macro_rules! operations {
    ($(
        $(#[$doc:meta])*
        $way:ident $name:ident($field:ident: $type:ty) -> $output:ty = |$socket:ident| $try:expr;
    )*) => {$(
        pin_project_lite::pin_project! {
            $(#[$doc])*
            #[must_use = "operations do nothing until they are awaited or waited for"]
            #[derive(Debug)]
            pub struct $name<'a, S: AsFd> {
                #[pin]
                attempt: Attempt<&'a Source<S>>,
                $field: $type,
            }
        }

        impl<'a, S: AsFd> $name<'a, S> {
            #[inline]
            pub(crate) fn new(
                source: &'a Source<S>,
                $field: $type,
                caller: &'static Location<'static>,
            ) -> Self {
                let attempt = Attempt::new(source, Way::$way, caller);
                Self { attempt, $field }
            }
        }

        impl<S: AsFd> Future for $name<'_, S> {
            type Output = io::Result<$output>;

            #[inline]
            fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
                let this = self.project();
                let $field = this.$field;
                this.attempt.poll(cx, |$socket| $try)
            }
        }
    )*};
}

/// So many bytes, of so many that were asked for.
fn bytes(moved: usize, asked: usize) -> io::Result<(usize, Moved)> {
    Ok((moved, Moved::of(moved, asked)))
}

operations! {
    /// Reads what is there. Dropped unfinished, it has read nothing.
    In Read(buffer: &'a mut [u8]) -> usize = |socket| {
        let asked = buffer.len();
        let (read, _) = recv(socket, &mut **buffer, RecvFlags::empty())?;
        bytes(read, asked)
    };

    /// Reads what is there into several buffers, one after the other. Dropped unfinished, it has read nothing.
    In ReadVectored(buffers: &'a mut [IoSliceMut<'a>]) -> usize = |socket| {
        let most = buffers.len().min(BUFFERS);
        let asked = buffers[..most].iter().map(|buffer| buffer.len()).sum();
        bytes(readv(socket, &mut buffers[..most])?, asked)
    };

    /// Reads what is there, and leaves it there. It has no other effect.
    In Peek(buffer: &'a mut [u8]) -> usize = |socket| {
        let (seen, _) = recv(socket, &mut **buffer, RecvFlags::PEEK)?;
        Ok((seen, Moved::of(seen, seen)))
    };

    /// Writes as much as there is room for. Dropped unfinished, it has written nothing.
    Out Write(buffer: &'a [u8]) -> usize = |socket| {
        bytes(send(socket, buffer, NO_SIGNAL)?, buffer.len())
    };

    /// Writes several buffers, one after the other, as far as there is room. Dropped unfinished, it has written nothing.
    Out WriteVectored(buffers: &'a [IoSlice<'a>]) -> usize = |socket| {
        let buffers = &buffers[..buffers.len().min(BUFFERS)];
        let asked = buffers.iter().map(|buffer| buffer.len()).sum();
        let sent = sendmsg(socket, buffers, &mut SendAncillaryBuffer::default(), NO_SIGNAL)?;
        bytes(sent, asked)
    };
}

pin_project_lite::pin_project! {
    /// Waits until it may be tried, one way. It has no effect.
    #[must_use = "operations do nothing until they are awaited or waited for"]
    #[derive(Debug)]
    pub struct Ready<'a, S: AsFd> {
        #[pin]
        attempt: Attempt<&'a Source<S>>,
    }
}

impl<'a, S: AsFd> Ready<'a, S> {
    pub(crate) fn new(source: &'a Source<S>, way: Way, caller: &'static Location<'static>) -> Self {
        Self {
            attempt: Attempt::new(source, way, caller),
        }
    }
}

impl<S: AsFd> Future for Ready<'_, S> {
    type Output = io::Result<()>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        self.project().attempt.poll_ready(cx)
    }
}

/// Tries once, and does not wait.
///
/// # Errors
/// [`WouldBlock`](io::ErrorKind::WouldBlock): it would have to wait; others as of the call.
pub(crate) fn try_now<S: AsFd, R>(
    source: &Source<S>,
    way: Way,
    attempt: impl FnOnce(&S) -> io::Result<(R, Moved)>,
) -> io::Result<R> {
    let direction = source.direction(way);
    let last = direction.last();
    let tried = attempt(source.socket());
    match &tried {
        Ok((_, moved)) if moved.is_short => direction.exhaust_early(last),
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => direction.exhaust(last),
        _ => {}
    }
    tried.map(|(output, _)| output)
}
