//! What a join waits for at each of its channels: a message, where there is none; else the end, which comes when others
//! take the messages and the last sender goes.
//!
//! An operation that waits for the end has a queue of its own, as messages are nothing to it. A channel with such a queue
//! is not done with in a hurry ([`Chan::push_quickly`]): whoever changes it settles it, and so wakes the operations in
//! this queue when it is over.

use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll};

use gossamer_core::context;
use gossamer_core::policy::LockPolicy;
use gossamer_core::wait_queue::Action;
use gossamer_core::waiter::{Could, State, WaitList};
use pin_project_lite::pin_project;

use crate::mpmc::{Chan, Held, Locked, Op, Receive, Receives};

pin_project! {
    /// Waiting until a channel has a message, or is over, and leaving it there.
    #[doc(hidden)]
    #[derive(Debug)]
    #[project = AwaitingPinned]
    pub enum Awaiting<'a, T, P: LockPolicy> {
        Message { #[pin] op: Op<'a, T, P, Receives<Awaits>> },
        End { #[pin] op: Op<'a, T, P, Watches> },
    }
}

impl<'a, T, P: LockPolicy> Awaiting<'a, T, P> {
    /// `missing`: there is no message.
    pub(super) fn new(
        chan: &'a Chan<T, P>,
        missing: bool,
        location: &'static Location<'static>,
    ) -> Self {
        if missing {
            let op = Op::new(chan, Receives(Awaits), location);
            Self::Message { op }
        } else {
            let op = Op::new(chan, Watches, location);
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
    const TAKES: bool = false;

    fn attempt<P: LockPolicy>(&mut self, locked: &mut Locked<'_, T, P>) -> Option<()> {
        (locked.messages() > 0 || locked.is_over()).then_some(())
    }
}

#[doc(hidden)]
#[derive(Debug)]
pub struct Watches;

// SAFETY: nobody looks at the actions in this queue.
unsafe impl<T, P: LockPolicy> Action<Chan<T, P>> for Watches {
    type Output = ();
    type Shown = ();
    const NAME: &'static str = "join";

    fn queue(chan: &Chan<T, P>) -> &WaitList {
        chan.ending()
    }

    fn has_to_yield() -> bool {
        context::must_yield_receiving()
    }

    fn attempt<'a>(&mut self, held: Held<'a, T, P>) -> Result<(), Held<'a, T, P>> {
        if !Locked::seen(&held).is_over() {
            return Err(held);
        }
        held.wake_ready();
        Ok(())
    }

    /// What is over stays so.
    fn resume<'a>(&mut self, held: Held<'a, T, P>, _: State) -> Result<(), Held<'a, T, P>> {
        held.wake_ready();
        Ok(())
    }

    fn cancel(&mut self, _: &mut Held<'_, T, P>, _: State) {}

    fn could_complete(&self, held: &Held<'_, T, P>) -> Could {
        Locked::seen(held).is_over().into()
    }
}
