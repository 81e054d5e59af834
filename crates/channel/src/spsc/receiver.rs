//! The handle that receives.

use std::ptr::NonNull;

use gossamer_core::waiter::WaitList;

use super::chan::{Chan, End, FIRST, RECEIVER_GONE, RECEIVER_WAITS, SENDER_GONE, SENDER_WAITS};
use super::flavour::{Number, RingPolicy, UNSETTLED};
use crate::error::TryRecvError;

/// The side that receives; there is one. When it goes, the sender is told, and messages that wait are dropped.
pub struct Receiver<T, P: RingPolicy> {
    chan: NonNull<Chan<T, P>>,
    /// How many have been received.
    head: usize,
    /// Up to here there are messages, as far as is known.
    limit: usize,
    /// Where it has received before.
    at: usize,
}

// SAFETY: as for the sender.
unsafe impl<T: Send, P: RingPolicy> Send for Receiver<T, P> where P::Word: Sync {}
// SAFETY: `&Receiver` only looks at the numbers and the word.
unsafe impl<T: Send, P: RingPolicy> Sync for Receiver<T, P> where P::Word: Sync {}

impl<T, P: RingPolicy> End<T, P> for Receiver<T, P> {
    const WAITS: u32 = RECEIVER_WAITS;
    const OTHER_GONE: u32 = SENDER_GONE;

    #[inline(always)]
    fn chan(&self) -> NonNull<Chan<T, P>> {
        self.chan
    }

    fn line(chan: &Chan<T, P>) -> &WaitList {
        &chan.receiving
    }

    fn other_at(chan: &Chan<T, P>) -> &P::Position {
        &chan.sender_at
    }

    fn could_go(chan: &Chan<T, P>) -> bool {
        chan.head.look() != chan.tail.look() || chan.look() & SENDER_GONE != 0
    }
}

impl<T, P: RingPolicy> Receiver<T, P> {
    pub(super) fn new(chan: NonNull<Chan<T, P>>) -> Self {
        Self {
            chan,
            head: FIRST,
            limit: FIRST,
            at: UNSETTLED,
        }
    }

    #[inline(always)]
    pub(super) fn shared(&self) -> &Chan<T, P> {
        // SAFETY: there until both sides have left.
        unsafe { self.chan.as_ref() }
    }

    /// Takes a message, if that is simple; `None` says nothing.
    #[inline(always)]
    pub(super) fn take_quickly(&mut self) -> Option<T> {
        if self.head == self.limit || !self.is_settled() {
            return None;
        }
        // SAFETY: there until both sides have left. (Read once: the fence makes the compiler forget what it has read.)
        let chan = unsafe { self.chan.as_ref() };
        // SAFETY: there is one.
        let message = unsafe { self.read(0) };
        self.publish(1);
        if cfg!(mutant = "spsc_wakes_nobody") {
            return Some(message);
        }
        // Between what was published and the look at who waits: pairs with `Chan::reach`, as this side's place is
        // noted.
        P::quick_fence();
        if chan.look() & SENDER_WAITS != 0 {
            self.tell();
        }
        Some(message)
    }

    /// Whether this side runs where it has noted.
    #[inline(always)]
    fn is_settled(&self) -> bool {
        cfg!(mutant = "spsc_wakes_nobody") || self.at == P::here()
    }

    /// The same, however that is to be done.
    #[inline(never)]
    pub(super) fn take(&mut self) -> Result<T, TryRecvError> {
        let message = self.take_and_publish()?;
        self.light_tell();
        Ok(message)
    }

    /// The same, and the sender is not told.
    #[inline(always)]
    pub(super) fn take_and_publish(&mut self) -> Result<T, TryRecvError> {
        self.look(false)?;
        // SAFETY: there is one.
        let message = unsafe { self.read(0) };
        self.publish(1);
        Ok(message)
    }

    /// Takes at most so many.
    pub(super) fn take_many(
        &mut self,
        into: &mut Vec<T>,
        most: usize,
    ) -> Result<usize, TryRecvError> {
        let number = self.look(true)?.min(most);
        // Before any is taken: it may panic.
        into.reserve(number);
        // SAFETY: there are so many, and each is read once.
        into.extend((0..number).map(|at| unsafe { self.read(at) }));
        self.publish(number);
        self.light_tell();
        Ok(number)
    }

    /// How many messages there are, as far as is known, or with `anew` at this moment.
    fn look(&mut self, anew: bool) -> Result<usize, TryRecvError> {
        if self.at != P::here() {
            self.at = Chan::<T, P>::settle(&self.shared().receiver_at);
        }
        if anew || self.head == self.limit {
            self.limit = self.shared().tail.look();
        }
        if self.head == self.limit {
            if self.shared().look() & SENDER_GONE == 0 {
                return Err(TryRecvError::Empty);
            }
            // What it had sent before it went.
            self.limit = self.shared().tail.look();
            if self.head == self.limit {
                return Err(TryRecvError::Closed);
            }
        }
        Ok(self.limit.wrapping_sub(self.head))
    }

    /// The message that is so many behind the first.
    ///
    /// # Safety
    /// There are more, and it is not read again.
    #[inline(always)]
    unsafe fn read(&self, behind: usize) -> T {
        // SAFETY: passed on to the caller.
        unsafe {
            let slot = self.shared().slot(self.head.wrapping_add(behind));
            slot.with(|slot| (*slot).assume_init_read())
        }
    }

    /// So many places are empty.
    #[inline(always)]
    fn publish(&mut self, number: usize) {
        self.head = self.head.wrapping_add(number);
        self.shared().head.publish(self.head);
    }

    #[inline(always)]
    fn light_tell(&mut self) {
        if self.sender_waits() {
            self.tell();
        }
    }

    /// Whether the sender waits for what was published.
    #[inline(always)]
    pub(super) fn sender_waits(&self) -> bool {
        // As in `take_quickly`.
        P::light_fence();
        self.shared().look() & SENDER_WAITS != 0
    }

    /// The sender waits for the place that was just emptied.
    #[cold]
    #[inline(never)]
    pub(crate) fn tell(&self) {
        let chan = self.shared();
        let bits = chan.lock();
        chan.let_go(bits, &chan.sending, SENDER_WAITS);
    }

    /// How many were sent, and received.
    pub(super) fn counts(&self) -> (usize, usize) {
        (self.shared().tail.look(), self.head)
    }
}

impl<T, P: RingPolicy> Drop for Receiver<T, P> {
    fn drop(&mut self) {
        let chan = self.shared();
        // Whatever a message does when it is dropped.
        let _leaves = Leaves(self.chan);
        let bits = chan.lock();
        chan.let_go(bits | RECEIVER_GONE, &chan.sending, SENDER_WAITS);
        if bits & SENDER_GONE == 0 {
            chan.reach(&chan.sender_at);
        }
        let bits = chan.lock();
        let limit = chan.tail.look();
        // From now on they are this side's; a sender that has put one later takes it back.
        chan.head.publish(limit);
        chan.unlock(bits);
        self.limit = limit;
        drop(Messages(self));
    }
}

/// The receiver leaves when this goes.
struct Leaves<T, P: RingPolicy>(NonNull<Chan<T, P>>);

impl<T, P: RingPolicy> Drop for Leaves<T, P> {
    fn drop(&mut self) {
        // SAFETY: made by `Box`; closed, and not used again.
        unsafe { Chan::leave(self.0, false) };
    }
}

/// The messages that a receiver leaves behind, which go with this: also if one panics.
struct Messages<'a, T, P: RingPolicy>(&'a mut Receiver<T, P>);

impl<T, P: RingPolicy> Drop for Messages<'_, T, P> {
    fn drop(&mut self) {
        while self.0.head != self.0.limit {
            let rest = Messages(self.0);
            // SAFETY: there is one, and this is the last time.
            let message = unsafe { rest.0.read(0) };
            rest.0.head = rest.0.head.wrapping_add(1);
            drop(message);
            std::mem::forget(rest);
        }
    }
}
