//! What a join waits for at each of its channels: a message, where there is none; else the end, which comes when others
//! take the messages and the last sender goes.
//!
//! Who waits for the end is in a line of its own, as messages are nothing to it. A channel with such a line is not done
//! with in a hurry ([`Chan::push_quickly`]): whoever changes it settles the lines, and so tells those in this one when
//! it is over.

use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll};

use gossamer_core::context;
use gossamer_core::policy::LockPolicy;
use gossamer_core::wait_queue::Action;
use gossamer_core::waiter::{Could, Deferred, State, WaitList};

use super::action::{Op, Receive, Receives, Try};
use super::chan::Chan;

/// Waiting until a channel has a message, or is over, and leaving it there.
#[doc(hidden)]
#[derive(Debug)]
pub struct Awaiting<'a, T, P: LockPolicy>(What<'a, T, P>);

#[derive(Debug)]
enum What<'a, T, P: LockPolicy> {
    Message(Op<'a, T, P, Receives<Awaits>>),
    End(Op<'a, T, P, Watches>),
}

impl<'a, T, P: LockPolicy> Awaiting<'a, T, P> {
    /// `missing`: there is no message.
    pub(super) fn new(
        chan: &'a Chan<T, P>,
        missing: bool,
        location: &'static Location<'static>,
    ) -> Self {
        Self(if missing {
            What::Message(Op::new(chan, Receives(Awaits), location))
        } else {
            What::End(Op::new(chan, Watches, location))
        })
    }
}

impl<T, P: LockPolicy> Future for Awaiting<'_, T, P> {
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

impl<T> Receive<T> for Awaits {
    type Output = ();
    const NAME: &'static str = "join";
    const TAKES: bool = false;

    unsafe fn attempt<P: LockPolicy>(&mut self, chan: &Chan<T, P>, bits: u32) -> Try<()> {
        // SAFETY: passed on to the caller.
        match unsafe { chan.has_any() || chan.is_over(bits) } {
            true => Try::Done(()),
            false => Try::Wait,
        }
    }
}

struct Watches;

// SAFETY: nobody looks at the actions in this line.
unsafe impl<T, P: LockPolicy> Action<Chan<T, P>> for Watches {
    type Output = ();
    const NAME: &'static str = "join";

    fn queue(chan: &Chan<T, P>) -> &WaitList {
        chan.watching()
    }

    fn has_to_yield() -> bool {
        context::must_yield_receiving()
    }

    unsafe fn attempt(&mut self, chan: &Chan<T, P>, bits: u32) -> Result<(), u32> {
        // SAFETY: passed on to the caller.
        if !unsafe { chan.is_over(bits) } {
            return Err(bits);
        }
        chan.settle(bits);
        Ok(())
    }

    /// There may be others when it leaves; who settles finds out.
    unsafe fn park(&mut self, chan: &Chan<T, P>, bits: u32) -> u32 {
        chan.registration.set_watched(true);
        bits
    }

    /// What is over stays so.
    unsafe fn resume(&mut self, chan: &Chan<T, P>, bits: u32, _: State) -> Result<(), u32> {
        chan.settle(bits);
        Ok(())
    }

    unsafe fn cancel(&mut self, _: &Chan<T, P>, bits: u32, _: State) -> u32 {
        bits
    }

    unsafe fn could_complete(&self, chan: &Chan<T, P>, bits: u32) -> Could {
        // SAFETY: passed on to the caller.
        unsafe { chan.is_over(bits) }.into()
    }
}

impl<T, P: LockPolicy> Chan<T, P> {
    /// Wakes the first that waits for the end, if that has come. Nobody waits to receive.
    ///
    /// # Safety
    /// Under the lock.
    #[cold]
    #[inline(never)]
    pub(super) unsafe fn tell_of_end(&self, bits: u32) -> Option<Deferred> {
        if self.watching().is_empty() {
            self.registration.set_watched(false);
            return None;
        }
        // SAFETY: passed on to the caller; not empty.
        unsafe {
            let tells =
                self.is_over(bits) && !gossamer_core::mutant!("join_is_not_told_of_the_end");
            tells.then(|| self.watching().release_first())
        }
    }
}
