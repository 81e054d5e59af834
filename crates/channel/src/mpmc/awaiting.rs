//! What a join waits for at each of its channels: a message, where there is none; else the end, which comes when others
//! take the messages and the last sender goes.
//!
//! Who waits for the end is in a line of its own, as messages are nothing to it. A channel with such a line is not done
//! with in a hurry ([`Chan::push_quickly`]): whoever changes it settles the lines, and so tells those in this one when it
//! is over.

use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll};

use gossamer_core::policy::Policy;
use gossamer_core::waiter::{Deferred, WaitList};

use super::act::{Act, Receives, Try};
use super::chan::{Chan, Grant};
use super::op::{Op, Waiter};

/// Waiting until a channel has a message, or is over, and leaving it there.
#[doc(hidden)]
#[derive(Debug)]
pub struct Awaiting<'a, T, P: Policy>(What<'a, T, P>);

#[derive(Debug)]
enum What<'a, T, P: Policy> {
    Message(Op<'a, T, P, Awaits>),
    End(Op<'a, T, P, Watches>),
}

impl<'a, T, P: Policy> Awaiting<'a, T, P> {
    /// `missing`: there is no message.
    pub(super) fn new(
        chan: &'a Chan<T, P>,
        missing: bool,
        location: &'static Location<'static>,
    ) -> Self {
        Self(if missing {
            What::Message(Op::new(chan, Awaits, location))
        } else {
            What::End(Op::new(chan, Watches, location))
        })
    }
}

impl<T, P: Policy> Future for Awaiting<'_, T, P> {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        // SAFETY: the operation is pinned as its owner is, and not moved.
        unsafe {
            match &mut self.get_unchecked_mut().0 {
                What::Message(op) => Pin::new_unchecked(op).poll(cx),
                What::End(op) => Pin::new_unchecked(op).poll(cx),
            }
        }
    }
}

struct Awaits;

impl<T> Act<T> for Awaits {
    type Output = ();
    const NAME: &'static str = "join";
    const RECEIVES: bool = false;

    fn line<P: Policy>(chan: &Chan<T, P>) -> &WaitList {
        chan.receiving()
    }

    unsafe fn attempt<P: Policy>(&mut self, chan: &Chan<T, P>, bits: u32) -> Try<()> {
        // SAFETY: passed on to the caller.
        match unsafe { <Self as Act<T>>::could_go(chan, bits) } {
            true => Try::Done(()),
            false => Try::Wait,
        }
    }

    unsafe fn could_go<P: Policy>(chan: &Chan<T, P>, bits: u32) -> bool {
        // SAFETY: passed on to the caller.
        unsafe { Receives::could_go(chan, bits) }
    }

    unsafe fn go_on<P: Policy>(
        &mut self,
        chan: &Chan<T, P>,
        bits: u32,
        grant: Grant,
    ) -> Option<()> {
        // SAFETY: passed on to the caller.
        unsafe {
            <Self as Act<T>>::give_back(chan, grant);
            <Self as Act<T>>::could_go(chan, bits).then_some(())
        }
    }

    unsafe fn give_back<P: Policy>(chan: &Chan<T, P>, grant: Grant) {
        // SAFETY: passed on to the caller.
        unsafe { <Receives as Act<T>>::give_back(chan, grant) };
    }
}

struct Watches;

impl<T> Act<T> for Watches {
    type Output = ();
    const NAME: &'static str = "join";
    const RECEIVES: bool = false;

    fn line<P: Policy>(chan: &Chan<T, P>) -> &WaitList {
        chan.watching()
    }

    unsafe fn attempt<P: Policy>(&mut self, chan: &Chan<T, P>, bits: u32) -> Try<()> {
        // SAFETY: passed on to the caller.
        match unsafe { <Self as Act<T>>::could_go(chan, bits) } {
            true => Try::Done(()),
            false => Try::Wait,
        }
    }

    unsafe fn could_go<P: Policy>(chan: &Chan<T, P>, bits: u32) -> bool {
        // SAFETY: passed on to the caller.
        unsafe { chan.is_over(bits) }
    }

    unsafe fn waits<P: Policy>(chan: &Chan<T, P>, begins: bool) {
        if begins {
            chan.place.set_watched(true);
        }
        // There may be others; who settles finds out.
    }

    unsafe fn go_on<P: Policy>(&mut self, _: &Chan<T, P>, _: u32, _: Grant) -> Option<()> {
        // What is over stays so.
        Some(())
    }
}

impl<T, P: Policy> Chan<T, P> {
    /// Lets the first go that waits for the end, if that has come. Nobody waits to receive.
    ///
    /// # Safety
    /// Under the lock.
    #[cold]
    #[inline(never)]
    pub(super) unsafe fn tell_of_end(&self, bits: u32) -> Option<Deferred> {
        let Some(first) = self.watching().first() else {
            self.place.set_watched(false);
            return None;
        };
        // SAFETY: passed on to the caller; nodes in a line are alive as long as the lock is held, and each is the first
        // field of its `Waiter`.
        unsafe {
            if !self.is_over(bits) || gossamer_core::mutant!("join_is_not_told_of_the_end") {
                return None;
            }
            let watcher: &Waiter<Watches> = first.cast().as_ref();
            watcher.grant.set(Grant::Closed);
            Some(self.watching().release_first())
        }
    }
}
