//! The handle that receives.

use gossamer_core::waiter::WaitList;

use super::chan::{
    Chan, FIRST, RECEIVER_GONE, RECEIVER_LEFT, RECEIVER_WAITS, SENDER_GONE, SENDER_WAITS, Side,
};
use super::flavour::{Number, RingPolicy, UNSETTLED};
use super::waiter::End;
use crate::error::TryRecvError;

/// The side that receives; there is one. When it goes, the sender is told, and messages that wait are dropped.
pub struct Receiver<T, P: RingPolicy> {
    chan: Side<T, P, RECEIVER_LEFT>,
    /// How many have been received.
    head: usize,
    /// Up to here there are messages, as far as is known; they are this side's.
    limit: usize,
    /// Where it has received before.
    at: usize,
}

impl<T, P: RingPolicy> End<T, P> for Receiver<T, P> {
    const WAITS: u32 = RECEIVER_WAITS;
    const OTHER_GONE: u32 = SENDER_GONE;

    #[inline(always)]
    fn chan(&self) -> &Chan<T, P> {
        &self.chan
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
    pub(super) fn new(chan: Side<T, P, RECEIVER_LEFT>) -> Self {
        Self {
            chan,
            head: FIRST,
            limit: FIRST,
            at: UNSETTLED,
        }
    }

    /// Takes a message, if that is simple; `None` says nothing.
    #[inline(always)]
    pub(super) fn take_quickly(&mut self) -> Option<T> {
        if !self.is_settled() {
            return None;
        }
        let message = self.next()?;
        self.publish();
        if cfg!(mutant = "spsc_wakes_nobody") {
            return Some(message);
        }
        // Orders the publishing before the look at the sender's bit: pairs with `Chan::reach`, as this side's place is
        // noted.
        P::quick_fence();
        if self.chan.look() & SENDER_WAITS != 0 {
            self.tell();
        }
        Some(message)
    }

    /// Whether this side runs where it has noted.
    #[inline(always)]
    fn is_settled(&self) -> bool {
        cfg!(mutant = "spsc_wakes_nobody") || self.at == P::here()
    }

    /// Takes a message, looks for new ones if none is known, and wakes a sender that waits.
    #[inline(never)]
    pub(super) fn take(&mut self) -> Result<T, TryRecvError> {
        let message = self.take_and_publish()?;
        self.light_tell();
        Ok(message)
    }

    /// Takes a message as [`take`](Receiver::take) does, but wakes nobody.
    #[inline(always)]
    pub(super) fn take_and_publish(&mut self) -> Result<T, TryRecvError> {
        self.look(false)?;
        let message = self.next().ok_or(TryRecvError::Empty)?;
        self.publish();
        Ok(message)
    }

    /// Takes at most `most` messages, and returns their number.
    pub(super) fn take_many(
        &mut self,
        into: &mut Vec<T>,
        most: usize,
    ) -> Result<usize, TryRecvError> {
        let number = self.look(true)?.min(most);
        // Before any is taken: it may panic.
        into.reserve(number);
        into.extend((0..number).map_while(|_| self.next()));
        self.publish();
        self.light_tell();
        Ok(number)
    }

    /// How many messages there are, as far as is known, or with `anew` at this moment.
    fn look(&mut self, anew: bool) -> Result<usize, TryRecvError> {
        if self.at != P::here() {
            self.at = Chan::<T, P>::settle(&self.chan.receiver_at);
        }
        if anew || self.head == self.limit {
            self.limit = self.chan.tail.look();
        }
        if self.head == self.limit {
            if self.chan.look() & SENDER_GONE == 0 {
                return Err(TryRecvError::Empty);
            }
            // The sender may have sent messages before it went.
            self.limit = self.chan.tail.look();
            if self.head == self.limit {
                return Err(TryRecvError::Closed);
            }
        }
        Ok(self.limit.wrapping_sub(self.head))
    }

    /// Takes the next message that is known of out of its place, which is still to be [published](Receiver::publish).
    #[inline(always)]
    fn next(&mut self) -> Option<T> {
        if self.head == self.limit {
            return None;
        }
        // SAFETY: by the receiver. Up to the limit messages have been published, and each is passed over once.
        let message = unsafe { self.chan.read(self.head) };
        self.head = self.head.wrapping_add(1);
        Some(message)
    }

    /// Publishes that the places of the taken messages are empty.
    #[inline(always)]
    fn publish(&self) {
        self.chan.head.publish(self.head);
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
        self.chan.look() & SENDER_WAITS != 0
    }

    /// The sender waits for the place that was just emptied.
    #[cold]
    #[inline(never)]
    pub(crate) fn tell(&self) {
        let chan = &*self.chan;
        chan.let_go(chan.lock(), &chan.sending, SENDER_WAITS);
    }

    /// How many were sent, and received.
    pub(super) fn counts(&self) -> (usize, usize) {
        (self.chan.tail.look(), self.head)
    }
}

impl<T, P: RingPolicy> Drop for Receiver<T, P> {
    /// Closes, and drops the messages; then the pointer goes, whatever they did, and this side leaves.
    fn drop(&mut self) {
        let chan = &*self.chan;
        let mut held = chan.lock();
        held.bits |= RECEIVER_GONE;
        let bits = held.bits;
        chan.let_go(held, &chan.sending, SENDER_WAITS);
        if bits & SENDER_GONE == 0 {
            chan.reach(&chan.sender_at);
        }
        let held = chan.lock();
        let limit = chan.tail.look();
        // From now on they are this side's; a sender that has put one later takes it back.
        chan.head.publish(limit);
        held.unlock();
        self.limit = limit;
        drop(Messages(self));
    }
}

/// The messages that a receiver leaves behind, which go with this: also if one panics.
struct Messages<'a, T, P: RingPolicy>(&'a mut Receiver<T, P>);

impl<T, P: RingPolicy> Drop for Messages<'_, T, P> {
    fn drop(&mut self) {
        while let Some(message) = self.0.next() {
            let rest = Messages(self.0);
            drop(message);
            std::mem::forget(rest);
        }
    }
}
