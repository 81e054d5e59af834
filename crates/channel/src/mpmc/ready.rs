//! The queue of a port set: which of its entries have been announced. It is a channel of their indices, whose senders
//! are the ports; so those who wait for any port are the receivers of a channel. It is for any thread also in a set for
//! one, as a one-shot may be sent from elsewhere.

use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll};

use gossamer_core::policy::{LockPolicy, Shared, SharedWord};
use gossamer_core::wait_queue::Waitable;
use gossamer_core::waiter::Deferred;

use super::action::{One, Op, Receive, Receives, Sends, Try};
use super::buffer::{self, Buffer};
use super::chan::{Chan, NO_SENDERS};
use crate::error::Closed;

/// The queue.
pub(crate) struct Ready(Chan<u32, Shared>);

impl Ready {
    /// Without entries, and without memory.
    pub(crate) fn new() -> Self {
        let chan = Chan::new(SharedWord::new(0), usize::MAX);
        let bits = chan.lock();
        // SAFETY: under the lock.
        unsafe { chan.state() }.senders = 0;
        chan.unlock(bits | NO_SENDERS);
        Self(chan)
    }

    /// One port more. From now on receivers wait.
    pub(crate) fn count_in(&self) {
        let bits = self.0.lock();
        // SAFETY: under the lock.
        unsafe { self.0.state() }.senders += 1;
        self.0.unlock(bits & !NO_SENDERS);
    }

    /// One port less: with the last one those who wait are told.
    pub(crate) fn count_out(&self) {
        let bits = self.0.lock();
        // SAFETY: under the lock.
        let senders = unsafe { &mut self.0.state().senders };
        *senders -= 1;
        if *senders == 0 {
            self.0.settle(bits | NO_SENDERS);
        } else {
            self.0.unlock(bits);
        }
    }

    /// How many entries have been announced.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// How many ports there are.
    pub(crate) fn ports(&self) -> usize {
        self.0.counts().0
    }

    /// Makes room for so many entries: each is in the queue once at most, so that announcing asks for no memory.
    pub(crate) fn reserve(&self, places: usize) {
        let mut memory = buffer::memory(0);
        let mut bits = self.0.lock();
        // SAFETY: under the lock.
        while unsafe { self.0.state() }.buffer.places() < places {
            bits = self.0.grow(bits, places.next_power_of_two(), &mut memory);
        }
        self.0.unlock(bits);
    }

    /// Puts an entry at the end, and lets one go that waits.
    #[inline(always)]
    pub(crate) fn announce(&self, index: u32) -> Deferred {
        match self.put(index) {
            Ok(()) => Deferred::NOTHING,
            Err(bits) => self.put_and_call(index, bits),
        }
    }

    /// Puts an entry at the end, if nobody waits; else gives the bits, and the lock is held.
    #[inline(always)]
    pub(super) fn put(&self, index: u32) -> Result<(), u32> {
        self.0.push_quickly(&Sends::new(index))
    }

    /// Puts an entry at the end, and lets one go that waits. The lock is held, with these bits, and given up.
    #[inline(never)]
    pub(super) fn put_and_call(&self, index: u32, bits: u32) -> Deferred {
        // SAFETY: under the lock.
        let deferred = unsafe {
            self.0.state().buffer.push(index);
            self.0.wake_next(&mut { bits })
        };
        self.0.unlock(bits);
        deferred.unwrap_or(Deferred::NOTHING)
    }

    /// Puts entries that have been taken before the others again, and lets those go that wait.
    pub(crate) fn put_back(&self, places: &[u32]) {
        let bits = self.0.lock();
        // SAFETY: under the lock.
        let buffer = unsafe { &mut self.0.state().buffer };
        for index in places.iter().rev() {
            buffer.push_front(*index);
        }
        self.0.settle(bits);
    }

    /// Takes entries that have been announced, the first ones first, as many as there is room for.
    pub(crate) fn take<'b>(&self, into: &'b mut [u32]) -> &'b [u32] {
        let bits = self.0.lock();
        let mut taken = 0;
        // SAFETY: under the lock.
        let buffer = unsafe { &mut self.0.state().buffer };
        while taken < into.len()
            && let Some(index) = buffer.pop()
        {
            into[taken] = index;
            taken += 1;
        }
        self.0.unlock(bits);
        &into[..taken]
    }
}

impl Drop for Ready {
    fn drop(&mut self) {
        self.0.forget_waiters(self.0.receiving());
    }
}

/// Waiting for the first entry that has been announced; [`Closed`]: there is no port.
#[derive(Debug)]
pub(crate) struct PopReady<'a>(Op<'a, u32, Shared, Receives<PopsReady>>);

impl<'a> PopReady<'a> {
    pub(crate) fn new(ready: &'a Ready, location: &'static Location<'static>) -> Self {
        Self(Op::new(
            &ready.0,
            Receives(PopsReady { ahead: None }),
            location,
        ))
    }

    /// An entry whose turn comes soon, if many are announced; it may be free by now.
    #[inline(always)]
    pub(crate) fn ahead(self: Pin<&mut Self>) -> Option<u32> {
        self.operation().action().0.ahead
    }

    #[inline(always)]
    fn operation(self: Pin<&mut Self>) -> Pin<&mut Op<'a, u32, Shared, Receives<PopsReady>>> {
        // SAFETY: the field is pinned as its owner is.
        unsafe { self.map_unchecked_mut(|this| &mut this.0) }
    }
}

impl Future for PopReady<'_> {
    type Output = Result<u32, Closed>;

    #[inline(always)]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        self.operation().poll(cx)
    }
}

/// Taking the first entry that has been announced: as receiving, but the queue keeps its memory.
struct PopsReady {
    /// An entry whose turn comes soon.
    ahead: Option<u32>,
}

/// So many before its turn an entry is told of: where fewer are announced, the cache is sure to have them.
const AHEAD: usize = 16;

impl Receive<u32> for PopsReady {
    type Output = Result<u32, Closed>;
    const NAME: &'static str = "PortSet::recv";
    const TAKES: bool = false;

    #[inline(always)]
    fn try_quickly<P: LockPolicy>(
        &mut self,
        chan: &Chan<u32, P>,
    ) -> Result<Self::Output, Option<u32>> {
        let look = |rest: &Buffer<u32>| self.ahead = rest.ahead(AHEAD).copied();
        chan.pop_quickly_and(look).map(Ok).map_err(Some)
    }

    #[inline(always)]
    unsafe fn attempt<P: LockPolicy>(
        &mut self,
        chan: &Chan<u32, P>,
        bits: u32,
    ) -> Try<Self::Output> {
        // SAFETY: passed on to the caller.
        unsafe { One.attempt(chan, bits) }
    }
}
