//! Taking the message of a sender that waits in a rendezvous channel: which one a receiver can have.

use std::cell::Cell;
use std::mem;

use gossamer_core::context;
use gossamer_core::policy::LockPolicy;
use gossamer_core::waiter::Deferred;

use super::chan::Locked;
use super::offer::{ClaimOutcome, Claimed, Offer};

/// The select that polls a waiting receiver of a rendezvous channel; zero: none does.
#[derive(Debug, Default)]
pub(crate) struct Select(pub(super) Cell<u64>);

impl Select {
    /// Notes the one that polls now; gives whether that is another one than before.
    #[inline(never)]
    pub(super) fn note(&self) -> bool {
        let select = context::selecting();
        self.0.replace(select) != select
    }
}

impl<T, P: LockPolicy> Locked<'_, T, P> {
    /// Takes the message of the rendezvous sender that has waited longest of those that this receiver can have, if none
    /// has been taken since the lock was.
    #[inline(always)]
    pub(super) fn take_offer(&mut self) -> Option<T> {
        if !self.may_have_offer() || self.is_claimed {
            return None;
        }
        // The short way to what is there nearly always: a sender in no select.
        let first = self.held_ref().first::<Offer<T>>()?;
        if !first.claim_plainly() {
            return self.take_any_offer();
        }
        // SAFETY: under the lock. Once: one is claimed at a time, and it leaves its queue before the lock is given up.
        let message = unsafe { first.take() };
        self.is_claimed = true;
        self.offering -= 1;
        Some(message)
    }

    #[cold]
    #[inline(never)]
    fn take_any_offer(&mut self) -> Option<T> {
        let is_claimed = self.claim_offer(&mut Claimed::default(), 0);
        is_claimed.then(|| self.take_claimed())?
    }

    #[inline(always)]
    fn may_have_offer(&self) -> bool {
        self.chan().is_rendezvous() && !self.chan().sending().is_empty()
    }

    /// Claims a message for the receiver that is polled, which has claimed these groups, for its channel `at` there;
    /// `false` if there is none. One in the buffer need not be claimed.
    pub(crate) fn claim_message(&mut self, claimed: &mut Claimed, at: usize) -> bool {
        !self.buffer.is_empty() || self.claim_offer(claimed, at)
    }

    fn claim_offer(&mut self, claimed: &mut Claimed, at: usize) -> bool {
        if !self.may_have_offer() || self.is_claimed {
            return false;
        }
        let (mut counted, mut was_silent) = (0, false);
        // Also one that the channel does not count: it may be to be had again.
        let claims = |_: &_, offer: &Offer<T>| {
            was_silent = !offer.is_for(0);
            let claim = offer.claim(claimed, at);
            counted += usize::from(!was_silent && claim != ClaimOutcome::Own);
            claim == ClaimOutcome::Ours
        };
        let is_claimed = self.held_ref().find::<Offer<T>>(claims).is_some();
        self.offering -= counted;
        self.is_claimed = is_claimed;
        self.was_silent = was_silent;
        is_claimed
    }

    /// Takes the message that has been claimed, which goes with the lock.
    fn take_claimed(&mut self) -> Option<T> {
        let claimed = self
            .held_ref()
            .find::<Offer<T>>(|_, offer| offer.is_taken());
        // SAFETY: under the lock. Once: one is claimed at a time, and it leaves its queue before the lock is given up.
        claimed.map(|offer| unsafe { offer.take_claimed() })
    }

    /// Takes the message that has been [claimed](Locked::claim_message).
    pub(crate) fn take_message(&mut self) -> Option<T> {
        self.buffer.pop().or_else(|| self.take_claimed())
    }

    /// Whether there may be a message to [claim](Locked::claim_message).
    pub(crate) fn may_have_message(&self) -> bool {
        !self.buffer.is_empty() || self.may_have_offer()
    }

    /// Gives back what has been claimed, if anything has.
    ///
    /// # Returns
    /// The waker to call without any lock.
    pub(crate) fn give_back(&mut self) -> Deferred {
        if !mem::take(&mut self.is_claimed) {
            return Deferred::NOTHING;
        }
        match self.was_silent {
            true => self.note_arrival(1),
            false => self.offering += 1,
        }
        let rouses = |_: &_, offer: &Offer<T>| offer.is_taken() && offer.give_back();
        let roused = self.held().rouse_found::<Offer<T>>(rouses);
        roused.unwrap_or(Deferred::NOTHING)
    }

    /// Messages that a receiver in this select can have.
    pub(super) fn messages_for(&self, Select(select): &Select) -> usize {
        if self.offering == 0 || select.get() == 0 {
            return self.messages();
        }
        let mut offers = 0;
        let count = |_: &_, offer: &Offer<T>| {
            offers += usize::from(offer.is_for(select.get()));
            false
        };
        let _none = self.held_ref().find::<Offer<T>>(count);
        self.buffer.len() + offers
    }

    /// Messages that what is polled now can have.
    pub(crate) fn messages_here(&self) -> usize {
        if self.offering == 0 {
            return self.buffer.len();
        }
        self.messages_for(&Select(Cell::new(context::selecting())))
    }

    /// Announces those offers again from which receivers were turned away: one that was called for another reason may
    /// find that they can be had, or is turned away itself.
    pub(super) fn announce_all(&mut self) {
        let mut announced = 0;
        let announces = |_: &_, offer: &Offer<T>| {
            announced += usize::from(offer.announce());
            false
        };
        let _none = self.held_ref().find::<Offer<T>>(announces);
        self.note_arrival(announced);
    }

    /// So many offers have been announced.
    pub(super) fn note_arrival(&mut self, announced: usize) {
        self.offering += announced;
        self.arrivals = self.arrivals.wrapping_add(announced);
    }
}
