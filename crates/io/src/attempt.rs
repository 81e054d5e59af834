//! Trying at the operating system, and waiting when that was in vain: what each operation on a socket is made of.

use std::io::{self, ErrorKind};
use std::os::fd::AsFd;
use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll};

use gossamer_core::context::spend;
use gossamer_core::mutant;
use gossamer_core::policy::Shared;
use gossamer_sync::raw::Try;

use crate::source::{Source, Way};

/// Bytes that take one unit more of the poll's budget: so one poll moves some 512 KiB.
const BYTES_PER_UNIT: usize = 64;

/// The owner of a socket, or one that has borrowed it.
pub(crate) trait HasSource {
    /// The standard library's socket.
    type Socket: AsFd;

    fn source(&self) -> &Source<Self::Socket>;
}

impl<S: AsFd> HasSource for &Source<S> {
    type Socket = S;

    #[inline(always)]
    fn source(&self) -> &Source<S> {
        self
    }
}

impl<S: AsFd> HasSource for Source<S> {
    type Socket = S;

    fn source(&self) -> &Source<S> {
        self
    }
}

pin_project_lite::pin_project! {
    /// Attempts at one socket, one way.
    #[derive(Debug)]
    pub(crate) struct Attempt<B> {
        // Goes before the socket, whose place in the table the next socket gets.
        #[pin]
        ready: Try<'static, Shared>,
        source: B,
        way: Way,
    }
}

/// What an attempt has moved.
pub(crate) struct Moved {
    pub(crate) bytes: usize,
    /// More would have been welcome.
    pub(crate) is_short: bool,
}

impl Moved {
    /// Nothing that has a length.
    pub(crate) const ONE: Self = Self {
        bytes: 0,
        is_short: false,
    };

    pub(crate) fn of(bytes: usize, asked: usize) -> Self {
        Self {
            bytes,
            is_short: 0 < bytes && bytes < asked,
        }
    }

    /// The bytes count in the budget of this poll.
    #[inline]
    pub(crate) fn spend(&self) {
        if !mutant!("bytes_cost_nothing") {
            spend(u32::try_from(self.bytes / BYTES_PER_UNIT).unwrap_or(u32::MAX));
        }
    }
}

impl<B: HasSource> Attempt<B> {
    #[inline]
    pub(crate) fn new(source: B, way: Way, caller: &'static Location<'static>) -> Self {
        Self {
            ready: source.source().direction(way).ready(caller),
            source,
            way,
        }
    }

    /// Who has the socket.
    pub(crate) fn owner(self: Pin<&mut Self>) -> &mut B {
        self.project().source
    }

    /// Tries until the system does not say that it would have to wait.
    #[inline]
    pub(crate) fn poll<R>(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        attempt: impl FnMut(&B::Socket) -> io::Result<(R, Moved)>,
    ) -> Poll<io::Result<R>> {
        let this = self.project();
        poll(this.ready, this.source.source(), *this.way, cx, attempt)
    }

    /// Begins anew, once it has ended well.
    pub(crate) fn again(self: Pin<&mut Self>) {
        self.project().ready.again();
    }

    /// Waits until it may be tried.
    pub(crate) fn poll_ready(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut this = self.project();
        if this.ready.as_mut().poll(cx).is_pending() {
            return pending(this.source.source(), *this.way);
        }
        Poll::Ready(Ok(()))
    }
}

/// Tries until the system does not say that it would have to wait, and waits at this node.
#[inline(always)]
pub(crate) fn poll<S: AsFd, R>(
    mut ready: Pin<&mut Try<'static, Shared>>,
    source: &Source<S>,
    way: Way,
    cx: &mut Context<'_>,
    mut attempt: impl FnMut(&S) -> io::Result<(R, Moved)>,
) -> Poll<io::Result<R>> {
    let direction = source.direction(way);
    loop {
        if ready.as_mut().poll(cx).is_pending() {
            return pending(source, way);
        }
        // Before the attempt: an event that comes meanwhile has another number.
        let last = direction.last();
        match attempt(source.socket()) {
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                direction.exhaust(last);
                ready.as_mut().again();
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => ready.as_mut().again(),
            Err(error) => return Poll::Ready(Err(error)),
            Ok((output, moved)) => {
                if moved.is_short {
                    direction.exhaust_early(last);
                }
                moved.spend();
                return Poll::Ready(Ok(output));
            }
        }
    }
}

/// What an operation gives that is pending: it waits, or lets others run, and then it needs no poller, which may not even
/// take its descriptor.
#[inline]
fn pending<S: AsFd, R>(source: &Source<S>, way: Way) -> Poll<io::Result<R>> {
    if !source.direction(way).has_waiters() {
        return Poll::Pending;
    }
    match source.attend() {
        Ok(()) => Poll::Pending,
        Err(error) => Poll::Ready(Err(error)),
    }
}
