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

use crate::mpmc::{Chan, Locked, Op, Receive, Receives};

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
    const NAME: &'static str = "join";

    fn queue(chan: &Chan<T, P>) -> &WaitList {
        chan.ending()
    }

    fn has_to_yield() -> bool {
        context::must_yield_receiving()
    }

    unsafe fn attempt(&mut self, chan: &Chan<T, P>, bits: u32) -> Result<(), u32> {
        // SAFETY: the caller hands over the lock, with these bits.
        let locked = unsafe { Locked::assume(chan, bits) };
        if !locked.is_over() {
            return Err(locked.into_bits());
        }
        locked.settle();
        Ok(())
    }

    /// What is over stays so.
    unsafe fn resume(&mut self, chan: &Chan<T, P>, bits: u32, _: State) -> Result<(), u32> {
        // SAFETY: the caller hands over the lock, with these bits.
        unsafe { Locked::assume(chan, bits) }.settle();
        Ok(())
    }

    unsafe fn cancel(&mut self, _: &Chan<T, P>, bits: u32, _: State) -> u32 {
        bits
    }

    unsafe fn could_complete(&self, chan: &Chan<T, P>, bits: u32) -> Could {
        // SAFETY: the caller holds the lock, with these bits, and does nothing with it meanwhile.
        unsafe { Locked::assume(chan, bits) }.is_over().into()
    }
}
