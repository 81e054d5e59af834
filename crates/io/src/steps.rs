//! One attempt after the other: what the operations of several steps are made of.

use std::io;
use std::os::fd::AsFd;
use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use gossamer_core::context::SchedulingPoint;

use crate::attempt::{Attempt, Moved};
use crate::socket::Socket;
use crate::source::{Source, Way};

pin_project_lite::pin_project! {
    /// One attempt after the other.
    #[derive(Debug)]
    pub(crate) struct Steps<'a, S: AsFd> {
        #[pin]
        attempt: Attempt<&'a Source<S>>,
        // Of an operation that needs no step.
        point: SchedulingPoint,
    }
}

impl<'a, S: Socket> Steps<'a, S> {
    pub(crate) fn new(source: &'a Source<S>, way: Way, caller: &'static Location<'static>) -> Self {
        Self {
            attempt: Attempt::new(source, way, caller),
            point: SchedulingPoint::new(),
        }
    }

    /// Makes one step: tries until the system does not say that it would have to wait. Each begins as a new operation does,
    /// so that others have their turn when the last one has moved much.
    pub(crate) fn step<R>(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        attempt: impl FnMut(&S) -> io::Result<(R, Moved)>,
    ) -> Poll<io::Result<R>> {
        let mut this = self.project();
        let stepped = ready!(this.attempt.as_mut().poll(cx, attempt));
        if stepped.is_ok() {
            this.attempt.again();
        }
        Poll::Ready(stepped)
    }

    /// Lets others have their turn, if that is due, before an operation that needs no step.
    pub(crate) fn pass(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        self.project().point.pass(cx.waker())
    }
}
