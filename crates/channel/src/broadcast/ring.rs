//! The messages of a broadcast channel, and where its receivers stand. No user code: a message is a pointer here.
//!
//! # Protocol
//!
//! Messages are numbered, and a receiver has the number of its next one. The channel counts, for each message that it
//! holds, the receivers that *stand* before it, having received all before it; and those that have received all there
//! are. So receiving, subscribing, cloning and leaving change two counts at most, and a message is needed if a receiver
//! stands before it or before an older one. Where nobody stands before the oldest message, it goes.
//!
//! Under the lock a message is a counted pointer. A receiver takes it (the last one: out of the channel) and clones the
//! message without the lock.

use std::collections::VecDeque;
use std::mem;

use crate::shared_state::Content;

/// Number of places at first, and the most in an idle channel.
const FIRST: usize = 8;

/// A message, and the number of receivers that stand before it: they have received all messages before it.
pub(super) struct Slot<M> {
    message: M,
    standing: usize,
}

/// The state that the ends share.
pub(super) struct Ring<M> {
    most: usize,
    /// The oldest first; a receiver stands before that one.
    slots: VecDeque<Slot<M>>,
    /// Receivers that have received all there are.
    at_end: usize,
    /// How many messages have been sent: the number of the next one.
    sent: u64,
    pub(super) senders: usize,
    pub(super) receivers: usize,
    pub(super) weak: usize,
}

/// The result of a receiver's look at the ring.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Found<M> {
    /// Its next message. If nobody else needs it, this is the channel's own pointer.
    Message(M),
    /// Number of messages that are lost to the receiver.
    Lagged(u64),
    /// No message, so far.
    Nothing,
    /// No message, for ever.
    Closed,
}

/// The result of pushing a message.
pub(super) enum Pushed<M> {
    /// The message is in; holds the oldest one, if that had to go for it.
    Done(Option<M>),
    /// There is no receiver; holds the message.
    Refused(M),
    /// The ring needs memory for this number of messages first; holds the message.
    Grow(M, usize),
}

impl<M> Content for Ring<M> {
    const NAMES: &'static [&'static str] = &["broadcast::Receiver::recv"];

    fn goes(&self, next: u64) -> bool {
        next != self.sent || self.senders == 0
    }

    fn is_closed(&self) -> bool {
        self.receivers == 0
    }
}

impl<M> Ring<M> {
    /// One sender, and one receiver, which has received all there are.
    pub(super) fn new(most: usize) -> Self {
        Self {
            most,
            slots: VecDeque::new(),
            at_end: 1,
            sent: 0,
            senders: 1,
            receivers: 1,
            weak: 0,
        }
    }

    pub(super) fn most(&self) -> usize {
        self.most
    }

    /// The number of the next message.
    pub(super) fn sent(&self) -> u64 {
        self.sent
    }

    /// How many messages some receiver needs.
    pub(super) fn len(&self) -> usize {
        self.slots.len()
    }

    /// How many messages there are for a receiver whose next one has this number.
    pub(super) fn len_from(&self, next: u64) -> usize {
        self.len() - self.place(next)
    }

    /// The number of the oldest message.
    fn oldest(&self) -> u64 {
        self.sent - self.slots.len() as u64
    }

    /// Where a receiver stands whose next message has this number.
    fn place(&self, next: u64) -> usize {
        // No more than there are slots.
        next.saturating_sub(self.oldest()) as usize
    }

    /// How many stand there.
    fn standing(&mut self, place: usize) -> &mut usize {
        match self.slots.get_mut(place) {
            Some(slot) => &mut slot.standing,
            None => &mut self.at_end,
        }
    }

    /// A receiver comes whose next message has this number.
    pub(super) fn enter(&mut self, next: u64) {
        self.receivers += 1;
        *self.standing(self.place(next)) += 1;
    }

    /// A receiver leaves. Afterwards [unneeded](Ring::pop_unneeded) messages are taken out.
    pub(super) fn leave(&mut self, next: u64) {
        self.receivers -= 1;
        *self.standing(self.place(next)) -= 1;
    }

    /// The oldest message, if nobody needs it.
    pub(super) fn pop_unneeded(&mut self) -> Option<M> {
        match self.slots.front() {
            Some(slot) if slot.standing == 0 => self.slots.pop_front().map(|slot| slot.message),
            _ => None,
        }
    }

    /// Memory that is no longer needed, to be dropped after the lock is given up.
    pub(super) fn shrink(&mut self) -> Option<VecDeque<Slot<M>>> {
        let is_idle = self.slots.is_empty() && self.slots.capacity() > FIRST;
        is_idle.then(|| mem::take(&mut self.slots))
    }

    /// Puts a message; with `memory`, if there is not enough so far, and what is left in it is to be dropped after the
    /// lock is given up. If the oldest one has to go, those who stood before that stand before the next one now, and
    /// will be told.
    pub(super) fn push(&mut self, message: M, memory: &mut VecDeque<Slot<M>>) -> Pushed<M> {
        if self.receivers == 0 {
            return Pushed::Refused(message);
        }
        let places = self.slots.capacity();
        if self.len() == places && self.len() < self.most {
            if memory.capacity() <= places {
                let wanted = places.saturating_mul(2).max(FIRST).min(self.most);
                return Pushed::Grow(message, wanted);
            }
            memory.append(&mut self.slots);
            mem::swap(memory, &mut self.slots);
        }
        let gone = if self.len() == self.most {
            self.slots.pop_front()
        } else {
            None
        };
        let standing = mem::take(&mut self.at_end);
        self.slots.push_back(Slot { message, standing });
        self.sent += 1;
        if let Some(gone) = &gone
            && !gossamer_core::mutant!("broadcast_forgets_the_slow")
        {
            *self.standing(0) += gone.standing;
        }
        Pushed::Done(gone.map(|slot| slot.message))
    }
}

impl<M: Clone> Ring<M> {
    /// The next message, if there is one and none before it is missed: of that a call tells that has nothing else to
    /// tell.
    pub(super) fn receive_next(&mut self, next: &mut u64) -> Option<M> {
        if *next < self.oldest() && !gossamer_core::mutant!("broadcast_passes_over_the_missed") {
            return None;
        }
        match self.receive(next) {
            Found::Message(message) => Some(message),
            Found::Lagged(_) | Found::Nothing | Found::Closed => None,
        }
    }

    /// The next message of a receiver, which has received it then; or how many it has missed, and it stands before the
    /// oldest then.
    pub(super) fn receive(&mut self, next: &mut u64) -> Found<M> {
        let oldest = self.oldest();
        let missed = oldest.saturating_sub(*next);
        if missed > 0 {
            *next = oldest;
            return Found::Lagged(missed);
        }
        let place = self.place(*next);
        let Some(slot) = self.slots.get_mut(place) else {
            return if self.senders == 0 {
                Found::Closed
            } else {
                Found::Nothing
            };
        };
        slot.standing -= 1;
        *next += 1;
        // Only a pointer is cloned.
        let message = slot.message.clone();
        *self.standing(place + 1) += 1;
        if place == 0
            && !gossamer_core::mutant!("broadcast_keeps_messages")
            && let Some(own) = self.pop_unneeded()
        {
            return Found::Message(own);
        }
        Found::Message(message)
    }
}
