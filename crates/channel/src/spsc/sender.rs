//! The handle that sends.

use super::chan::{Chan, RECEIVER_GONE, RECEIVER_WAITS, SENDER_GONE, SET_WAITS, SendingEnd};
use super::flavour::{Number, RingPolicy};
use super::side::{Side, Turn};
use crate::error::TrySendError;

/// The side that sends; there is one. When it goes, the receiver is told.
pub struct Sender<T, P: RingPolicy>(pub(super) Side<T, P, SendingEnd>);

impl<T, P: RingPolicy> Turn<'_, T, P, SendingEnd> {
    /// Moves a message into the ring, where that [is simple](Turn::is_simple).
    ///
    /// # Errors
    /// The receiver is gone: gives the message back.
    #[inline(always)]
    pub(super) fn put_quickly(&mut self, message: T) -> Result<(), T> {
        self.write(message);
        if cfg!(mutant = "spsc_wakes_nobody") {
            return Ok(());
        }
        // Orders the publishing before the look at the receiver's bits: pairs with `Chan::reach`, as this side's place
        // is noted.
        P::quick_fence();
        self.look()
    }

    /// Moves a message into the ring: looks for room, and makes the ring before the first message.
    ///
    /// # Errors
    /// There is no room, or the receiver is gone: gives the message back.
    #[inline(never)]
    pub(super) fn put(&mut self, message: T) -> Result<(), TrySendError<T>> {
        match self.find() {
            Some(true) => {}
            Some(false) => return Err(TrySendError::Full(message)),
            None => return Err(TrySendError::Closed(message)),
        }
        self.put_found(message).map_err(TrySendError::Closed)
    }

    /// Moves a message into the ring, where room [was found](Turn::find).
    ///
    /// # Errors
    /// The receiver is gone: gives the message back.
    #[inline(always)]
    pub(super) fn put_found(&mut self, message: T) -> Result<(), T> {
        self.write(message);
        // As in `put_quickly`.
        if !gossamer_core::mutant!("spsc_passes_without_fence") {
            P::light_fence();
        }
        self.look()
    }

    /// Wakes the receiver if it waits for the message that was just put.
    ///
    /// # Errors
    /// The receiver is gone, and has not taken the message along.
    #[inline(always)]
    fn look(&mut self) -> Result<(), T> {
        match self.chan().look() & (RECEIVER_WAITS | SET_WAITS | RECEIVER_GONE) {
            0 => Ok(()),
            _ => self.tell(),
        }
    }

    #[cold]
    #[inline(never)]
    fn tell(&mut self) -> Result<(), T> {
        let held = self.chan().locked();
        if held.bits & RECEIVER_GONE == 0 {
            Chan::wake(held);
            return Ok(());
        }
        held.unlock();
        if gossamer_core::mutant!("spsc_keeps_what_is_nobodys") {
            return Ok(());
        }
        // Either it was there when the receiver took all along, or it is nobody's.
        self.take_back().map_or(Ok(()), Err)
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
