//! What sending and receiving do once they can. All of it happens under the lock: messages are moved, no user code
//! runs.

use std::mem::MaybeUninit;

use gossamer_core::door::UnsafeCell;
use gossamer_core::policy::Policy;
use gossamer_core::waiter::WaitList;

use super::chan::{Chan, Grant, NO_RECEIVERS};
use crate::error::{Closed, SendError};

/// How an attempt ends.
pub(super) enum Try<R> {
    /// It is done.
    Done(R),
    /// It has to wait.
    Wait,
    /// First of all the buffer has to have so many places.
    Grow(usize),
}

/// One of the operations.
pub(super) trait Act<T>: Sized {
    /// What it gives.
    type Output;
    /// Its name in dumps.
    const NAME: &'static str;
    /// Whether it takes messages out, so that memory may be given back.
    const RECEIVES: bool;
    /// Whether it puts messages in, and so changes nothing when it goes on.
    const SENDS: bool = false;

    /// Where it waits.
    fn line<P: Policy>(chan: &Chan<T, P>) -> &WaitList;

    /// Gets memory ready. Not under the lock.
    #[inline(always)]
    fn prepare<P: Policy>(&mut self, _chan: &Chan<T, P>) {}

    /// Does it, if that is simple; else gives the bits, and the lock is held.
    ///
    /// # Safety
    /// Not again after it has been done.
    #[inline(always)]
    unsafe fn quickly<P: Policy>(&mut self, chan: &Chan<T, P>) -> Result<Self::Output, u32> {
        Err(chan.lock())
    }

    /// Does it, if that can be at once.
    ///
    /// # Safety
    /// Under the lock, with these bits; not again after it has been done. Afterwards the lines are settled.
    unsafe fn attempt<P: Policy>(&mut self, chan: &Chan<T, P>, bits: u32) -> Try<Self::Output>;

    /// Whether the first that waits could go now. A receiver could whenever there is a message: if one that was called
    /// is kept from polling, those behind it are told of by a simulation as if they had been forgotten.
    ///
    /// # Safety
    /// Under the lock.
    unsafe fn could_go<P: Policy>(chan: &Chan<T, P>, bits: u32) -> bool;

    /// It begins to wait, or ends to without having been let go.
    ///
    /// # Safety
    /// Under the lock.
    unsafe fn waits<P: Policy>(_chan: &Chan<T, P>, _begins: bool) {}

    /// It has been let go; `None` if it has to wait again.
    ///
    /// # Safety
    /// As [`Act::attempt`].
    unsafe fn go_on<P: Policy>(
        &mut self,
        chan: &Chan<T, P>,
        bits: u32,
        grant: Grant,
    ) -> Option<Self::Output>;

    /// It has been let go, and is dropped instead of going on.
    ///
    /// # Safety
    /// Under the lock. Afterwards the lines are settled.
    unsafe fn give_back<P: Policy>(_chan: &Chan<T, P>, _grant: Grant) {}

    /// Whether one that was let go so has taken effect, though it does not know.
    fn has_gone(_grant: Grant) -> bool {
        false
    }

    /// Drops what it has, having had no effect; user code.
    ///
    /// # Safety
    /// Once; it is not in line.
    unsafe fn abandon(&self) {}
}

/// Sending one message.
pub(super) struct Sends<T> {
    /// Taken by whoever completes the operation, under the lock.
    message: UnsafeCell<MaybeUninit<T>>,
}

impl<T> Sends<T> {
    #[inline(always)]
    pub(super) fn new(message: T) -> Self {
        Self {
            message: UnsafeCell::new(MaybeUninit::new(message)),
        }
    }

    /// The message, taken out.
    ///
    /// # Safety
    /// Once. Under the lock, or by the owner while it is not in line.
    #[inline(always)]
    pub(super) unsafe fn take(&self) -> T {
        // SAFETY: passed on to the caller.
        self.message
            .with(|message| unsafe { (*message).assume_init_read() })
    }
}

impl<T> Act<T> for Sends<T> {
    type Output = Result<(), SendError<T>>;
    const NAME: &'static str = "Sender::send";
    const RECEIVES: bool = false;
    const SENDS: bool = true;

    #[inline(always)]
    fn line<P: Policy>(chan: &Chan<T, P>) -> &WaitList {
        chan.sending()
    }

    #[inline(always)]
    unsafe fn quickly<P: Policy>(&mut self, chan: &Chan<T, P>) -> Result<Self::Output, u32> {
        chan.push_quickly(self).map(Ok)
    }

    #[inline(always)]
    unsafe fn attempt<P: Policy>(&mut self, chan: &Chan<T, P>, bits: u32) -> Try<Self::Output> {
        // SAFETY: passed on to the caller; the message is there, as it has not been done.
        unsafe {
            if bits & NO_RECEIVERS != 0 {
                return Try::Done(Err(SendError(self.take())));
            }
            // Nobody is passed, also while the lock was given up in the midst of letting senders go.
            if !chan.has_room()
                || !chan.sending().is_empty() && !gossamer_core::mutant!("channel_passes_senders")
            {
                return Try::Wait;
            }
            let buffer = &mut chan.state().buffer;
            if !buffer.has_room() {
                return Try::Grow(buffer.next_size(chan.capacity()));
            }
            buffer.push(self.take());
            Try::Done(Ok(()))
        }
    }

    unsafe fn could_go<P: Policy>(chan: &Chan<T, P>, bits: u32) -> bool {
        // SAFETY: passed on to the caller.
        bits & NO_RECEIVERS != 0 || unsafe { chan.has_room() }
    }

    unsafe fn waits<P: Policy>(chan: &Chan<T, P>, begins: bool) {
        // SAFETY: passed on to the caller.
        let offering = unsafe { &mut chan.state().offering };
        if begins {
            *offering += 1;
        } else {
            *offering -= 1;
        }
    }

    #[inline(always)]
    unsafe fn go_on<P: Policy>(
        &mut self,
        _chan: &Chan<T, P>,
        _bits: u32,
        grant: Grant,
    ) -> Option<Self::Output> {
        Some(match grant {
            Grant::Closed => {
                // SAFETY: passed on to the caller; nobody took it.
                Err(SendError(unsafe { self.take() }))
            }
            _ => Ok(()),
        })
    }

    fn has_gone(grant: Grant) -> bool {
        grant == Grant::Taken
    }

    unsafe fn abandon(&self) {
        // SAFETY: passed on to the caller.
        drop(unsafe { self.take() });
    }
}

/// The same without waiting: to a receiver that waits it goes also if the channel holds no messages.
pub(super) struct TrySends<T>(pub(super) Sends<T>);

impl<T> TrySends<T> {
    /// # Safety
    /// Under the lock.
    pub(super) unsafe fn attempt<P: Policy>(
        &mut self,
        chan: &Chan<T, P>,
        bits: u32,
    ) -> Try<Result<(), SendError<T>>> {
        // SAFETY: passed on to the caller.
        unsafe {
            if bits & NO_RECEIVERS == 0 && chan.is_awaited() {
                let buffer = &mut chan.state().buffer;
                if !buffer.has_room() {
                    return Try::Grow((buffer.len() + 1).next_power_of_two());
                }
                buffer.push(self.0.take());
                return Try::Done(Ok(()));
            }
            self.0.attempt(chan, bits)
        }
    }
}

/// Receiving one message.
pub(super) struct Receives;

impl<T> Act<T> for Receives {
    type Output = Result<T, Closed>;
    const NAME: &'static str = "Receiver::recv";
    const RECEIVES: bool = true;

    #[inline(always)]
    fn line<P: Policy>(chan: &Chan<T, P>) -> &WaitList {
        chan.receiving()
    }

    #[inline(always)]
    unsafe fn quickly<P: Policy>(&mut self, chan: &Chan<T, P>) -> Result<Self::Output, u32> {
        chan.pop_quickly().map(Ok)
    }

    #[inline(always)]
    unsafe fn attempt<P: Policy>(&mut self, chan: &Chan<T, P>, bits: u32) -> Try<Self::Output> {
        // SAFETY: passed on to the caller.
        unsafe {
            if let Some(message) = chan.pop() {
                return Try::Done(Ok(message));
            }
            if chan.is_over(bits) {
                return Try::Done(Err(Closed));
            }
        }
        Try::Wait
    }

    unsafe fn could_go<P: Policy>(chan: &Chan<T, P>, bits: u32) -> bool {
        // SAFETY: passed on to the caller.
        unsafe { chan.has_any() || chan.is_over(bits) }
    }

    #[inline(always)]
    unsafe fn go_on<P: Policy>(
        &mut self,
        chan: &Chan<T, P>,
        bits: u32,
        grant: Grant,
    ) -> Option<Self::Output> {
        // SAFETY: passed on to the caller.
        unsafe {
            Self::give_back(chan, grant);
            match self.attempt(chan, bits) {
                Try::Done(output) => Some(output),
                Try::Wait | Try::Grow(_) => None,
            }
        }
    }

    #[inline(always)]
    unsafe fn give_back<P: Policy>(chan: &Chan<T, P>, grant: Grant) {
        if grant == Grant::Called && !gossamer_core::mutant!("channel_keeps_call") {
            // SAFETY: passed on to the caller.
            unsafe { chan.state() }.called -= 1;
        }
    }
}

/// Receiving all messages there are, up to a limit.
pub(super) struct ReceivesMany<'b, T> {
    into: &'b mut Vec<T>,
    most: usize,
}

impl<'b, T> ReceivesMany<'b, T> {
    pub(super) fn new(into: &'b mut Vec<T>, most: usize) -> Self {
        Self { into, most }
    }
}

impl<T> Act<T> for ReceivesMany<'_, T> {
    type Output = Result<usize, Closed>;
    const NAME: &'static str = "Receiver::recv_many";
    const RECEIVES: bool = true;

    fn line<P: Policy>(chan: &Chan<T, P>) -> &WaitList {
        chan.receiving()
    }

    /// There may be more by the time that they are taken; those come the next time.
    fn prepare<P: Policy>(&mut self, chan: &Chan<T, P>) {
        let places = chan.len().max(1).min(self.most);
        self.into.reserve(places);
    }

    unsafe fn attempt<P: Policy>(&mut self, chan: &Chan<T, P>, bits: u32) -> Try<Self::Output> {
        // SAFETY: passed on to the caller.
        unsafe {
            let mut received = chan.state().buffer.pop_into(self.into, self.most);
            let has_room = self.into.len() < self.into.capacity();
            // What senders in line offer comes when they have been let go, but for the first one.
            if received == 0
                && self.most > 0
                && has_room
                && let Some(message) = chan.pop()
            {
                self.into.push(message);
                received = 1;
            }
            if received > 0 || self.most == 0 {
                Try::Done(Ok(received))
            } else if chan.is_over(bits) {
                Try::Done(Err(Closed))
            } else {
                Try::Wait
            }
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
    ) -> Option<Self::Output> {
        // SAFETY: passed on to the caller.
        unsafe {
            Self::give_back(chan, grant);
            match self.attempt(chan, bits) {
                Try::Done(output) => Some(output),
                Try::Wait | Try::Grow(_) => None,
            }
        }
    }

    unsafe fn give_back<P: Policy>(chan: &Chan<T, P>, grant: Grant) {
        // SAFETY: passed on to the caller.
        unsafe { <Receives as Act<T>>::give_back(chan, grant) };
    }
}
