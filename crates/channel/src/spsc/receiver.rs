//! The handle that receives.

use std::task::Waker;

use gossamer_core::wait_queue::Waitable;
use gossamer_core::waiter::Deferred;

use super::chan::{Chan, End, ReceivingEnd, SENDER_WAITS};
use super::flavour::{Number, RingPolicy};
use super::side::{Side, Turn};
use crate::drop_all::drop_all;
use crate::error::TryRecvError;

/// The side that receives; there is one. When it goes, the sender is told, and messages that wait are dropped.
pub struct Receiver<T, P: RingPolicy>(pub(super) Side<T, P, ReceivingEnd>);

impl<T, P: RingPolicy> Turn<'_, T, P, ReceivingEnd> {
    /// Takes a message, if that is simple; `None` says nothing.
    #[inline(always)]
    pub(super) fn take_quickly(&mut self) -> Option<T> {
        if !self.is_simple() {
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
        if self.chan().look() & SENDER_WAITS != 0 {
            self.chan().tell();
        }
        Some(message)
    }

    /// Takes a message, looks for new ones if none is known, and wakes a sender that waits.
    #[inline(never)]
    pub(super) fn take(&mut self) -> Result<T, TryRecvError> {
        let message = self.take_and_publish()?;
        self.tell();
        Ok(message)
    }

    /// Takes a message as [`take`](Turn::take) does, but wakes nobody.
    #[inline(always)]
    fn take_and_publish(&mut self) -> Result<T, TryRecvError> {
        self.find(false)?;
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
        let number = self.find(true)?.min(most);
        // Before any is taken: it may panic.
        into.reserve(number);
        into.extend((0..number).map_while(|_| self.next()));
        self.publish();
        self.tell();
        Ok(number)
    }

    #[inline(always)]
    fn tell(&mut self) {
        if self.sender_waits() {
            self.chan().tell();
        }
    }

    /// Whether the sender waits for what was published.
    #[inline(always)]
    fn sender_waits(&self) -> bool {
        // As in `take_quickly`.
        P::light_fence();
        self.chan().look() & SENDER_WAITS != 0
    }
}

/// The receiver in a port set. Between two looks of the set it has a waker of the set.
impl<T, P: RingPolicy> Receiver<T, P> {
    /// Whether it waits, with this waker; if not, there is something to do instead. Cloning and dropping the waker runs
    /// no user code.
    pub(crate) fn waits_in_set(&mut self, waker: &Waker) -> bool {
        let chan = self.0.chan();
        let waker = waker.clone();
        let mut held = chan.locked();
        let before = Chan::wait_in_set(&mut held, Some(waker));
        held.unlock();
        drop(before);
        chan.reach(&chan.sender_at);
        // The sender may have gone on without having seen the bit: pairs with the fence after each message.
        !ReceivingEnd::could_go(chan, chan.look())
    }

    /// The channel.
    pub(crate) fn chan(&self) -> &Chan<T, P> {
        self.0.chan()
    }

    /// It waits in no set any more.
    pub(crate) fn leave_set(&mut self) {
        let chan = self.0.chan();
        let mut held = chan.locked();
        let waker = Chan::wait_in_set(&mut held, None);
        // A look may have reported a waiting sender, and its caller does not find the port any more.
        held.wake_ready();
        drop(waker);
    }

    /// The next message, and how many more there are, while locks are held; whether the sender
    /// [is to be let go](Receiver::let_sender_go).
    pub(crate) fn take_in_set(&mut self) -> Result<(T, usize, bool), TryRecvError> {
        let mut turn = self.0.turn();
        let message = turn.take_and_publish()?;
        let is_awaited = turn.sender_waits();
        let (sent, received) = self.counts();
        Ok((message, sent.wrapping_sub(received), is_awaited))
    }

    /// Wakes a sender that waits for a place, without any lock; or else who else waits, as one that was forgotten, or
    /// the set itself, does. And whether there are more.
    pub(crate) fn let_sender_go(&self) -> Option<(Deferred, bool)> {
        let mut held = self.0.chan().locked();
        let deferred = Chan::wake_next(&mut held);
        let more = Chan::has_waiters(&held);
        held.unlock();
        deferred.map(|deferred| (deferred, more))
    }
}

impl<T, P: RingPolicy> Receiver<T, P> {
    /// How many were sent, and received.
    pub(super) fn counts(&self) -> (usize, usize) {
        (self.0.chan().tail.look(), self.0.number())
    }
}

impl<T, P: RingPolicy> Drop for Receiver<T, P> {
    /// Closes, and drops the messages; then the pointer goes, whatever they did.
    fn drop(&mut self) {
        let mut turn = self.0.turn();
        turn.close();
        drop_all(|| turn.next());
    }
}
