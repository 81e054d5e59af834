//! The wait of a join pattern at each of its channels. Where there is no message it waits for one; else it waits for
//! the end, which comes when others take the messages and the last sender goes; or, if it cannot have what there is
//! together, as one select offers it, for another sender.
//!
//! An operation that waits for the end has a queue of its own, as messages are nothing to it. A channel with such a
//! queue takes no fast path ([`Chan::push_quickly`]): an operation that changes the channel settles it, and so wakes
//! the operations in this queue when the channel is over.

use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll};

use gossamer_core::policy::LockPolicy;
use pin_project_lite::pin_project;

use crate::mpmc::{Effect, Locked, Op, Receive, Receives, WatchesEnd};

pin_project! {
    /// Waiting until a channel has a message, or is over, and leaving it there.
    #[doc(hidden)]
    #[derive(Debug)]
    #[project = AwaitingPinned]
    pub enum Awaiting<'a, T, P: LockPolicy> {
        Message { #[pin] op: Op<'a, T, P, Receives<Awaits>> },
        End { #[pin] op: Op<'a, T, P, WatchesEnd> },
    }
}

impl<'a, T, P: LockPolicy> Awaiting<'a, T, P> {
    /// `lacks`: what there is at all channels cannot be had together.
    pub(super) fn new(
        locked: &Locked<'a, T, P>,
        lacks: bool,
        location: &'static Location<'static>,
    ) -> Self {
        let chan = locked.chan();
        if locked.messages_here() == 0 {
            let op = Op::new(chan, Receives::new(Awaits), location);
            Self::Message { op }
        } else {
            let seen = lacks.then_some(locked.arrivals);
            let op = Op::new(chan, WatchesEnd { seen }, location);
            Self::End { op }
        }
    }
}

impl<T, P: LockPolicy> Future for Awaiting<'_, T, P> {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        match self.project() {
            AwaitingPinned::Message { op } => op.poll(cx),
            AwaitingPinned::End { op } => op.poll(cx),
        }
    }
}

pin_project! {
    /// Waiting until one of two is ready.
    #[doc(hidden)]
    #[derive(Debug)]
    pub struct First<A, B> {
        #[pin]
        one: A,
        #[pin]
        other: B,
    }
}

impl<A, B> First<A, B> {
    pub(super) fn new(one: A, other: B) -> Self {
        Self { one, other }
    }
}

impl<A: Future<Output = ()>, B: Future<Output = ()>> Future for First<A, B> {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = self.project();
        match this.one.poll(cx) {
            Poll::Pending => this.other.poll(cx),
            ready => ready,
        }
    }
}

#[doc(hidden)]
#[derive(Debug)]
pub struct Awaits;

impl<T> Receive<T> for Awaits {
    type Output = ();
    const NAME: &'static str = "join";
    const EFFECT: Effect = Effect::Other;

    fn attempt<P: LockPolicy>(&mut self, locked: &mut Locked<'_, T, P>) -> Option<()> {
        (locked.messages_here() > 0 || locked.is_over()).then_some(())
    }
}
