//! The handle that sends.

use super::chan::{Chan, RECEIVER_GONE, RECEIVER_WAITS, SENDER_GONE, SET_WAITS, SendingEnd};
use super::flavour::{Number, RingPolicy};
use super::side::{Side, Turn};

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
pub struct Sender<T, P: RingPolicy>(pub(super) Side<T, P, SendingEnd>);

impl<T, P: RingPolicy> Turn<'_, T, P, SendingEnd> {
    /// Moves a message into the ring, if that is simple; [`Put::Full`] says nothing.
    #[inline(always)]
    pub(super) fn put_quickly(&mut self, message: &mut Option<T>) -> Put {
        if self.known() == 0 || !self.is_settled() {
            return Put::Full;
        }
        if let Some(message) = message.take() {
            self.write(message);
        }
        if cfg!(mutant = "spsc_wakes_nobody") {
            return Put::Sent;
        }
        // Orders the publishing before the look at the receiver's bits: pairs with `Chan::reach`, as this side's place
        // is noted.
        P::quick_fence();
        self.look(message)
    }

    /// Moves a message into the ring: looks for room, and makes the ring before the first message.
    #[inline(never)]
    pub(super) fn put(&mut self, message: &mut Option<T>) -> Put {
        match self.find() {
            Some(true) => {}
            Some(false) => return Put::Full,
            None => return Put::Closed,
        }
        if let Some(message) = message.take() {
            self.write(message);
        }
        // As in `put_quickly`.
        if !gossamer_core::mutant!("spsc_passes_without_fence") {
            P::light_fence();
        }
        self.look(message)
    }

    /// Whether the receiver waits for the message that was just put, or is gone.
    #[inline(always)]
    fn look(&mut self, message: &mut Option<T>) -> Put {
        match self.chan().look() & (RECEIVER_WAITS | SET_WAITS | RECEIVER_GONE) {
            0 => Put::Sent,
            _ => self.tell(message),
        }
    }

    #[cold]
    #[inline(never)]
    fn tell(&mut self, message: &mut Option<T>) -> Put {
        let held = self.chan().locked();
        if held.bits & RECEIVER_GONE == 0 {
            Chan::wake(held);
            return Put::Sent;
        }
        held.unlock();
        if gossamer_core::mutant!("spsc_keeps_what_is_nobodys") {
            return Put::Sent;
        }
        // Either it was there when the receiver took all along, or it is nobody's.
        *message = self.take_back();
        match message {
            Some(_) => Put::Closed,
            None => Put::Sent,
        }
    }
}

impl<T, P: RingPolicy> Sender<T, P> {
    /// How many were sent, and received.
    pub(super) fn counts(&self) -> (usize, usize) {
        (self.0.number(), self.0.chan().head.look())
    }
}

impl<T, P: RingPolicy> Drop for Sender<T, P> {
    fn drop(&mut self) {
        if !gossamer_core::mutant!("spsc_closes_silently") {
            let mut held = self.0.chan().locked();
            held.bits |= SENDER_GONE;
            held.wake_ready();
        }
    }
}
