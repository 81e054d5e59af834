//! The rules by which operations that wait go on.

use gossamer_core::policy::LockPolicy;
use gossamer_core::waiter::Deferred;

use super::action::{One, Receives};
use super::chan::{HAS_WAITERS, Held, Locked, NO_RECEIVERS, NO_SENDERS};
use super::claiming::Select;
use super::closing::WatchesEnd;
use super::offer::Offer;

impl<T, P: LockPolicy> Locked<'_, T, P> {
    /// Like [`Locked::settle`], where all that was done since the lock was taken is that one message came or went: then
    /// one waiter at most can go on.
    #[inline(always)]
    pub(super) fn settle_one(mut self) {
        if self.is_quiet() {
            return self.into_held().into_word().unlock();
        }
        let is_plain = self.held_ref().bits == HAS_WAITERS && !self.chan().is_rendezvous();
        if !is_plain || self.is_watched() && !gossamer_core::mutant!("one_message_is_not_told") {
            return self.settle();
        }
        let asks_senders = gossamer_core::mutant!("message_waits_for_senders")
            && !self.chan().sending().is_empty();
        if !self.chan().receiving().is_empty()
            && !asks_senders
            && let Some(called) = self.call_first()
        {
            self.unlock_unwatched();
            return called.run();
        }
        match self.wake_sender() {
            Some(woken) => {
                // A place was reserved.
                self.unlock_with(HAS_WAITERS);
                woken.run();
            }
            None => self.unlock_unwatched(),
        }
    }

    /// Gives the lock up. Both sides are there, and nobody watches the channel.
    #[inline(always)]
    fn unlock_unwatched(self) {
        let chan = self.chan();
        let has_waiters =
            !chan.receiving().is_empty() || !chan.sending().is_empty() || self.reserved > 0;
        self.unlock_with(if has_waiters { HAS_WAITERS } else { 0 });
    }

    /// Puts a message, if only an observer waits for it.
    #[inline(always)]
    pub(super) fn push_observed(mut self, take: impl FnOnce() -> T) -> Result<(), Self> {
        if !self.observation.is_armed() || self.held_ref().bits & (NO_SENDERS | NO_RECEIVERS) != 0 {
            return Err(self);
        }
        let chan = self.chan();
        // Mutant: it takes a place that is reserved.
        let is_reserved = self.reserved > 0 && !gossamer_core::mutant!("port_takes_reserved_place");
        let has_waiters =
            !chan.sending().is_empty() || !chan.receiving().is_empty() || !chan.ending().is_empty();
        if is_reserved || has_waiters || self.buffer.len() >= chan.capacity() {
            return Err(self);
        }
        self.push(take());
        let deferred = self.observation.notify();
        // Nobody waits, so no bit is left.
        self.unlock_with(0);
        deferred.run();
        Ok(())
    }

    /// Wakes the next that can go on: a sender; else a receiver; else, if none waits, it tells of what there is.
    #[inline(always)]
    pub(crate) fn wake_next(&mut self) -> Option<Deferred> {
        if let Some(woken) = self.wake_sender() {
            return Some(woken);
        }
        if self.chan().receiving().is_empty() {
            return self.is_watched().then(|| self.tell())?;
        }
        if self.offering > 0 && self.messages() > self.called && self.first_is_in_select() {
            let woken = self.call_receiver().or_else(|| self.tell_join())?;
            return Some(woken);
        }
        self.call_first()
    }

    /// Calls the first receiver, if there is a message for it, or none will come.
    #[inline(always)]
    pub(super) fn call_first(&mut self) -> Option<Deferred> {
        if self.messages() <= self.called && !self.is_over() {
            return None;
        }
        self.called += 1;
        self.held().release_first::<Receives<One>>()
    }

    #[inline(always)]
    fn first_is_in_select(&self) -> bool {
        let first = self.held_ref().first::<Receives<One>>();
        first.is_some_and(|Select(select)| select.get() != 0)
    }

    /// Calls the first receiver of a rendezvous channel for which there is a message. One in a select is passed over as
    /// long as there is no message but that of another branch.
    #[inline(never)]
    fn call_receiver(&mut self) -> Option<Deferred> {
        let is_due = |held: &Held<'_, T, P>, select: &Select| {
            let locked = Locked::seen(held);
            locked.messages_for(select) > locked.called
                || gossamer_core::mutant!("select_calls_itself")
        };
        let called = self.held().release_found::<Receives<One>>(is_due);
        self.called += usize::from(called.is_some());
        called
    }

    /// Wakes the first sender in the queue, if it can go on: the channel is closed, its message was taken, or there is a
    /// place for it, which is then reserved.
    #[inline(always)]
    pub(super) fn wake_sender(&mut self) -> Option<Deferred> {
        if self.chan().sending().is_empty() {
            return None;
        }
        if self.chan().is_rendezvous() {
            if !self.is_claimed && !self.has(NO_RECEIVERS) {
                return None;
            }
            let first = self.held_ref().first::<Offer<T>>();
            if !self.is_claimed || !first.is_some_and(Offer::is_taken) {
                let woken = self.wake_offering()?;
                return Some(woken);
            }
            self.is_claimed = false;
        } else if !self.has(NO_RECEIVERS) {
            if !self.has_room() {
                return None;
            }
            self.reserved += usize::from(!gossamer_core::mutant!("channel_reserves_nothing"));
        }
        self.held().release_first::<Offer<T>>()
    }

    /// Of a rendezvous channel: not the first one, or the channel is closed.
    #[cold]
    #[inline(never)]
    fn wake_offering(&mut self) -> Option<Deferred> {
        if std::mem::take(&mut self.is_claimed) {
            let is_taken = |_: &_, offer: &Offer<T>| offer.is_taken();
            return self.held().release_found::<Offer<T>>(is_taken);
        }
        let first = self.held_ref().first::<Offer<T>>();
        self.offering -= usize::from(first.is_some_and(Offer::silence));
        self.held().release_first::<Offer<T>>()
    }

    /// Notifies the observer, or wakes the next operation that waits for the end, if that is due.
    #[inline(never)]
    fn tell(&mut self) -> Option<Deferred> {
        if self.observation.is_armed() && (self.is_over() || self.messages() > 0) {
            return Some(self.observation.notify());
        }
        self.tell_join()
    }

    /// Wakes the next operation of a join that waits for the end, if that is due.
    fn tell_join(&mut self) -> Option<Deferred> {
        let is_due = |held: &Held<'_, T, P>, waits: &WatchesEnd| {
            waits.is_due(Locked::seen(held))
                && !gossamer_core::mutant!("join_is_not_told_of_the_end")
        };
        self.held().release_found::<WatchesEnd>(is_due)
    }
}
