//! The handle that sends.

use std::ptr::NonNull;

use gossamer_core::waiter::WaitList;

use super::chan::{Chan, End, FIRST, RECEIVER_GONE, RECEIVER_WAITS, SENDER_GONE, SENDER_WAITS};
use super::flavour::{Number, RingPolicy, UNSETTLED};

/// What became of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub(super) enum Put {
    /// It has been moved.
    Sent,
    /// Nothing.
    Full,
    /// Nothing: no receiver is left.
    Closed,
}

/// The side that sends; there is one. When it goes, the receiver is told.
pub struct Sender<T, P: RingPolicy> {
    chan: NonNull<Chan<T, P>>,
    /// How many have been sent.
    tail: usize,
    /// Up to here there is room, as far as is known: none, as long as there is no ring.
    limit: usize,
    /// Where it has sent before.
    at: usize,
}

// SAFETY: the channel is shared: only messages move to another thread, and one side uses a place at a time.
unsafe impl<T: Send, P: RingPolicy> Send for Sender<T, P> where P::Word: Sync {}
// SAFETY: `&Sender` only looks at the numbers and the word.
unsafe impl<T: Send, P: RingPolicy> Sync for Sender<T, P> where P::Word: Sync {}

impl<T, P: RingPolicy> End<T, P> for Sender<T, P> {
    const WAITS: u32 = SENDER_WAITS;
    const OTHER_GONE: u32 = RECEIVER_GONE;

    #[inline(always)]
    fn chan(&self) -> NonNull<Chan<T, P>> {
        self.chan
    }

    fn line(chan: &Chan<T, P>) -> &WaitList {
        &chan.sending
    }

    fn other_at(chan: &Chan<T, P>) -> &P::Position {
        &chan.receiver_at
    }

    fn could_go(chan: &Chan<T, P>) -> bool {
        chan.tail.look().wrapping_sub(chan.head.look()) < chan.capacity()
            || chan.look() & RECEIVER_GONE != 0
    }
}

impl<T, P: RingPolicy> Sender<T, P> {
    pub(super) fn new(chan: NonNull<Chan<T, P>>) -> Self {
        Self {
            chan,
            tail: FIRST,
            limit: FIRST,
            at: UNSETTLED,
        }
    }

    #[inline(always)]
    pub(super) fn shared(&self) -> &Chan<T, P> {
        // SAFETY: there until both sides have left.
        unsafe { self.chan.as_ref() }
    }

    /// Moves a message into the ring, if that is simple; [`Put::Full`] says nothing.
    ///
    /// # Safety
    /// It is there, and the caller's no more if it was sent.
    #[inline(always)]
    pub(super) unsafe fn put_quickly(&mut self, message: *const T) -> Put {
        if self.tail == self.limit || !self.is_settled() {
            return Put::Full;
        }
        // SAFETY: there until both sides have left. (Read once: the fence makes the compiler forget what it has read.)
        let chan = unsafe { self.chan.as_ref() };
        // SAFETY: there is room; passed on to the caller.
        unsafe { self.publish(message) };
        if cfg!(mutant = "spsc_wakes_nobody") {
            return Put::Sent;
        }
        // Between what was published and the look at who waits: pairs with `Chan::reach`, as this side's place is
        // noted.
        P::quick_fence();
        if chan.look() & (RECEIVER_WAITS | RECEIVER_GONE) != 0 {
            return self.tell();
        }
        Put::Sent
    }

    /// Whether this side runs where it has noted.
    #[inline(always)]
    fn is_settled(&self) -> bool {
        cfg!(mutant = "spsc_wakes_nobody") || self.at == P::here()
    }

    /// The same, however that is to be done.
    ///
    /// # Safety
    /// As [`put_quickly`](Sender::put_quickly).
    #[inline(never)]
    pub(super) unsafe fn put(&mut self, message: *const T) -> Put {
        if self.at != P::here() {
            self.at = Chan::<T, P>::settle(&self.shared().sender_at);
        }
        if self.tail == self.limit {
            let chan = self.shared();
            let head = chan.head.look();
            // After the look: one that goes takes all messages along, and uses their places until it has dropped them.
            if chan.look() & RECEIVER_GONE != 0 {
                return Put::Closed;
            }
            let limit = head.wrapping_add(chan.capacity());
            if self.tail == limit && !gossamer_core::mutant!("spsc_overfills") {
                return Put::Full;
            }
            // SAFETY: by the sender.
            unsafe { chan.allocate() };
            self.limit = limit;
        }
        // SAFETY: there is room; passed on to the caller.
        unsafe { self.publish(message) };
        // As in `put_quickly`.
        if !gossamer_core::mutant!("spsc_passes_without_fence") {
            P::light_fence();
        }
        if self.shared().look() & (RECEIVER_WAITS | RECEIVER_GONE) != 0 {
            return self.tell();
        }
        Put::Sent
    }

    /// # Safety
    /// There is room, and a ring; the message is there, and the caller's no more.
    #[inline(always)]
    unsafe fn publish(&mut self, message: *const T) {
        // SAFETY: the place is empty, and the sender's.
        unsafe {
            let slot = self.shared().slot(self.tail);
            slot.with_mut(|slot| (*slot).as_mut_ptr().copy_from_nonoverlapping(message, 1));
        }
        self.tail = self.tail.wrapping_add(1);
        self.shared().tail.publish(self.tail);
    }

    /// The receiver waits for the message that was just put, or is gone.
    #[cold]
    #[inline(never)]
    fn tell(&mut self) -> Put {
        let chan = self.shared();
        let bits = chan.lock();
        if bits & RECEIVER_GONE == 0 {
            chan.let_go(bits, &chan.receiving, RECEIVER_WAITS);
            return Put::Sent;
        }
        // Either it was there when the receiver took all along, or it is nobody's.
        let is_taken = chan.head.look() == self.tail;
        let before = self.tail.wrapping_sub(1);
        if gossamer_core::mutant!("spsc_keeps_what_is_nobodys") {
            chan.unlock(bits);
            return Put::Sent;
        }
        if !is_taken {
            chan.tail.publish(before);
        }
        chan.unlock(bits);
        if is_taken {
            return Put::Sent;
        }
        self.tail = before;
        Put::Closed
    }

    /// How many were sent, and received.
    pub(super) fn counts(&self) -> (usize, usize) {
        (self.tail, self.shared().head.look())
    }
}

impl<T, P: RingPolicy> Drop for Sender<T, P> {
    fn drop(&mut self) {
        let chan = self.shared();
        if !gossamer_core::mutant!("spsc_closes_silently") {
            let bits = chan.lock() | SENDER_GONE;
            chan.let_go(bits, &chan.receiving, RECEIVER_WAITS);
        }
        // SAFETY: made by `Box`; closed, and not used again.
        unsafe { Chan::leave(self.chan, true) };
    }
}
