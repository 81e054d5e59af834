//! The handle that sends.

use gossamer_core::waiter::WaitList;

use super::chan::{
    Chan, FIRST, RECEIVER_GONE, RECEIVER_WAITS, SENDER_GONE, SENDER_LEFT, SENDER_WAITS, Side,
};
use super::flavour::{Number, RingPolicy, UNSETTLED};
use super::waiter::End;

/// The result of putting a message into the ring.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub(super) enum Put {
    /// The message has been taken.
    Sent,
    /// The message is left.
    Full,
    /// The message is left: no receiver is there.
    Closed,
}

/// The side that sends; there is one. When it goes, the receiver is told.
pub struct Sender<T, P: RingPolicy> {
    chan: Side<T, P, SENDER_LEFT>,
    /// How many have been sent.
    tail: usize,
    /// Up to here there is room, as far as is known: none, as long as there is no ring.
    limit: usize,
    /// Where it has sent before.
    at: usize,
}

impl<T, P: RingPolicy> End<T, P> for Sender<T, P> {
    const WAITS: u32 = SENDER_WAITS;
    const OTHER_GONE: u32 = RECEIVER_GONE;

    #[inline(always)]
    fn chan(&self) -> &Chan<T, P> {
        &self.chan
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
    pub(super) fn new(chan: Side<T, P, SENDER_LEFT>) -> Self {
        Self {
            chan,
            tail: FIRST,
            limit: FIRST,
            at: UNSETTLED,
        }
    }

    /// Moves a message into the ring, if that is simple; [`Put::Full`] says nothing.
    #[inline(always)]
    pub(super) fn put_quickly(&mut self, message: &mut Option<T>) -> Put {
        if self.tail == self.limit || !self.is_settled() {
            return Put::Full;
        }
        self.publish(message);
        if cfg!(mutant = "spsc_wakes_nobody") {
            return Put::Sent;
        }
        // Orders the publishing before the look at the receiver's bits: pairs with `Chan::reach`, as this side's place
        // is noted.
        P::quick_fence();
        if self.chan.look() & (RECEIVER_WAITS | RECEIVER_GONE) != 0 {
            return self.tell(message);
        }
        Put::Sent
    }

    /// Whether this side runs where it has noted.
    #[inline(always)]
    fn is_settled(&self) -> bool {
        cfg!(mutant = "spsc_wakes_nobody") || self.at == P::here()
    }

    /// Moves a message into the ring: looks for room, and allocates the ring before the first message.
    #[inline(never)]
    pub(super) fn put(&mut self, message: &mut Option<T>) -> Put {
        if self.at != P::here() {
            self.at = Chan::<T, P>::settle(&self.chan.sender_at);
        }
        if self.tail == self.limit {
            let chan = &*self.chan;
            let head = chan.head.look();
            // After the look: one that goes takes all messages along, and uses their places until it has dropped them.
            if chan.look() & RECEIVER_GONE != 0 {
                return Put::Closed;
            }
            let limit = head.wrapping_add(chan.capacity());
            if self.tail == limit && !gossamer_core::mutant!("spsc_overfills") {
                return Put::Full;
            }
            chan.allocate();
            self.limit = limit;
        }
        self.publish(message);
        // As in `put_quickly`.
        if !gossamer_core::mutant!("spsc_passes_without_fence") {
            P::light_fence();
        }
        if self.chan.look() & (RECEIVER_WAITS | RECEIVER_GONE) != 0 {
            return self.tell(message);
        }
        Put::Sent
    }

    /// Moves the message into the ring. There is room, and a ring; so it is, where there is a [limit](Sender::limit)
    /// that has not been reached.
    #[inline(always)]
    fn publish(&mut self, message: &mut Option<T>) {
        assert!(self.tail != self.limit, "there is no room in the ring");
        if let Some(message) = message.take() {
            // SAFETY: by the sender. Up to the limit the places are empty, and it is set when the ring is there.
            unsafe { self.chan.write(self.tail, message) };
            self.tail = self.tail.wrapping_add(1);
            self.chan.tail.publish(self.tail);
        }
    }

    /// The receiver waits for the message that was just put, or is gone.
    #[cold]
    #[inline(never)]
    fn tell(&mut self, message: &mut Option<T>) -> Put {
        let chan = &*self.chan;
        let held = chan.lock();
        if held.bits & RECEIVER_GONE == 0 {
            chan.let_go(held, &chan.receiving, RECEIVER_WAITS);
            return Put::Sent;
        }
        // Either it was there when the receiver took all along, or it is nobody's.
        let is_taken = chan.head.look() == self.tail;
        let before = self.tail.wrapping_sub(1);
        if gossamer_core::mutant!("spsc_keeps_what_is_nobodys") {
            held.unlock();
            return Put::Sent;
        }
        if !is_taken {
            chan.tail.publish(before);
        }
        held.unlock();
        if is_taken {
            return Put::Sent;
        }
        // SAFETY: it was put there just now, and no receiver takes it.
        *message = Some(unsafe { chan.read(before) });
        self.tail = before;
        Put::Closed
    }

    /// How many were sent, and received.
    pub(super) fn counts(&self) -> (usize, usize) {
        (self.tail, self.chan.head.look())
    }
}

impl<T, P: RingPolicy> Drop for Sender<T, P> {
    /// Closes; then the pointer goes, and this side leaves.
    fn drop(&mut self) {
        let chan = &*self.chan;
        if !gossamer_core::mutant!("spsc_closes_silently") {
            let mut held = chan.lock();
            held.bits |= SENDER_GONE;
            chan.let_go(held, &chan.receiving, RECEIVER_WAITS);
        }
    }
}
