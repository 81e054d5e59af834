//! One side of a ring, which has its places alone: the sender those that are empty, the receiver those with messages.

use std::cell::Cell;
use std::marker::PhantomData;

use gossamer_core::policy::Counted;

use super::chan::{Chan, End, FIRST, RECEIVER_GONE, ReceivingEnd, SENDER_GONE, SendingEnd};
use super::flavour::{Number, RingPolicy, UNSETTLED};
use crate::error::TryRecvError;

/// Where a receiver is that has gone.
const GONE: usize = UNSETTLED - 1;

/// One side. There is one of each in a channel.
pub(super) struct Side<T, P: RingPolicy, E> {
    chan: P::Counted<Chan<T, P>>,
    /// The number of its next message.
    number: Cell<usize>,
    /// Up to here the places are this side's, as far as is known: none, as long as there is no ring.
    limit: Cell<usize>,
    /// Where it has used the channel before.
    at: Cell<usize>,
    _end: PhantomData<E>,
}

// SAFETY: `&Side` reads; only a `Turn` writes, for which the side is borrowed mutably.
unsafe impl<T: Send, P: RingPolicy, E> Sync for Side<T, P, E> where P::Word: Sync {}

/// Both sides of a new channel.
#[track_caller]
pub(super) fn sides<T, P: RingPolicy>(
    capacity: usize,
) -> (Side<T, P, SendingEnd>, Side<T, P, ReceivingEnd>) {
    let chan = P::Counted::new(Chan::new(capacity));
    (Side::new(chan.clone()), Side::new(chan))
}

impl<T, P: RingPolicy, E> Side<T, P, E> {
    fn new(chan: P::Counted<Chan<T, P>>) -> Self {
        Self {
            chan,
            number: Cell::new(FIRST),
            limit: Cell::new(FIRST),
            at: Cell::new(UNSETTLED),
            _end: PhantomData,
        }
    }

    #[inline(always)]
    pub(super) fn chan(&self) -> &Chan<T, P> {
        &self.chan
    }

    /// The number of its next message.
    #[inline(always)]
    pub(super) fn number(&self) -> usize {
        self.number.get()
    }

    /// The side, to be used.
    #[inline(always)]
    pub(super) fn turn(&mut self) -> Turn<'_, T, P, E> {
        Turn(self)
    }
}

/// A side that nobody else uses meanwhile. It is borrowed mutably, and its channel can be looked at all the same.
pub(super) struct Turn<'a, T, P: RingPolicy, E>(&'a Side<T, P, E>);

impl<'a, T, P: RingPolicy, E> Turn<'a, T, P, E> {
    #[inline(always)]
    pub(super) fn chan(&self) -> &'a Chan<T, P> {
        &self.0.chan
    }

    /// The number of the next message.
    #[inline(always)]
    pub(super) fn number(&self) -> usize {
        self.0.number()
    }

    /// How many places are known to be this side's.
    #[inline(always)]
    pub(super) fn known(&self) -> usize {
        self.0.limit.get().wrapping_sub(self.number())
    }

    /// Whether the next message needs neither a look at the other side's number nor more than a
    /// [quick fence](RingPolicy::quick_fence).
    #[inline(always)]
    pub(super) fn is_simple(&self) -> bool {
        self.known() > 0 && self.is_settled()
    }

    /// Whether this side runs where it has noted.
    #[inline(always)]
    fn is_settled(&self) -> bool {
        cfg!(mutant = "spsc_wakes_nobody") || self.0.at.get() == P::here()
    }

    /// Notes where this side runs.
    #[inline(always)]
    fn settle(&mut self)
    where
        E: End,
    {
        let at = self.0.at.get();
        if at != P::here() {
            assert!(at != GONE, "the receiver is gone");
            self.0.at.set(Chan::<T, P>::settle(E::at(self.chan())));
        }
    }

    /// Goes on to the next message; returns the number of this one, whose place is no longer this side's. `None`: no
    /// place is known to be.
    #[inline(always)]
    fn pass(&mut self) -> Option<usize> {
        let number = self.number();
        if number == self.0.limit.get() {
            return None;
        }
        self.0.number.set(number.wrapping_add(1));
        Some(number)
    }
}

impl<T, P: RingPolicy> Turn<'_, T, P, SendingEnd> {
    /// Looks for room, if none is known, and makes the ring before the first message.
    ///
    /// # Returns
    /// Whether there is any; `None`: the receiver is gone.
    #[inline(always)]
    pub(super) fn find(&mut self) -> Option<bool> {
        let chan = self.chan();
        self.settle();
        if self.known() > 0 {
            return Some(true);
        }
        let head = chan.head.look();
        // After the look: one that goes takes all messages along, and uses their places until it has dropped them.
        if chan.look() & RECEIVER_GONE != 0 {
            return None;
        }
        let limit = head.wrapping_add(chan.capacity());
        if self.number() == limit && !gossamer_core::mutant!("spsc_overfills") {
            return Some(false);
        }
        // SAFETY: by the sender.
        unsafe { chan.allocate() };
        self.0.limit.set(limit);
        Some(true)
    }

    /// Puts a message into its place, and publishes that.
    ///
    /// # Panics
    /// No room is known.
    #[inline(always)]
    pub(super) fn write(&mut self, message: T) {
        let number = self.pass().expect("there is no room in the ring");
        let chan = self.chan();
        // SAFETY: by the sender. Up to the limit the places are empty, and it is set when the ring is there.
        unsafe { chan.write(number, message) };
        chan.tail.publish(number.wrapping_add(1));
    }

    /// Takes the last message back that the receiver has left behind. `None`: it is not gone, or has taken all along.
    pub(super) fn take_back(&mut self) -> Option<T> {
        let chan = self.chan();
        let held = chan.locked();
        let is_left = held.bits & RECEIVER_GONE != 0 && chan.head.look() != self.number();
        let before = self.number().wrapping_sub(1);
        if is_left {
            chan.tail.publish(before);
            self.0.number.set(before);
        }
        held.unlock();
        // SAFETY: it was put there by this side, and no receiver takes it: either that has gone for good, or it looks
        // under the lock how far it takes messages along.
        is_left.then(|| unsafe { chan.read(before) })
    }
}

impl<T, P: RingPolicy> Turn<'_, T, P, ReceivingEnd> {
    /// How many messages there are, as far as is known, or with `anew` at this moment.
    ///
    /// # Errors
    /// None so far; or the sender is gone, and there will be none.
    #[inline(always)]
    pub(super) fn find(&mut self, anew: bool) -> Result<usize, TryRecvError> {
        self.settle();
        let chan = self.chan();
        if anew || self.known() == 0 {
            self.0.limit.set(chan.tail.look());
        }
        if self.known() == 0 {
            if chan.look() & SENDER_GONE == 0 {
                return Err(TryRecvError::Empty);
            }
            // The sender may have sent messages before it went.
            self.0.limit.set(chan.tail.look());
            if self.known() == 0 {
                return Err(TryRecvError::Closed);
            }
        }
        Ok(self.known())
    }

    /// Takes the next message that is known of out of its place, which is still to be [published](Turn::publish).
    #[inline(always)]
    pub(super) fn next(&mut self) -> Option<T> {
        let number = self.pass()?;
        // SAFETY: by the receiver. Up to the limit messages have been published, and each is passed once.
        Some(unsafe { self.chan().read(number) })
    }

    /// Publishes that the places of the taken messages are empty.
    #[inline(always)]
    pub(super) fn publish(&mut self) {
        self.chan().head.publish(self.number());
    }

    /// The receiver goes, and takes along what has been sent: no more than that is known of from now on.
    pub(super) fn close(&mut self) {
        let chan = self.chan();
        let mut held = chan.locked();
        let waker = Chan::wait_in_set(&mut held, None);
        let is_alone = held.bits & SENDER_GONE != 0;
        held.bits |= RECEIVER_GONE;
        held.wake_ready();
        drop(waker);
        if !is_alone {
            chan.reach(&chan.sender_at);
        }
        let held = chan.locked();
        let limit = chan.tail.look();
        // From now on they are this side's; a sender that has put one later takes it back.
        chan.head.publish(limit);
        held.unlock();
        self.0.limit.set(limit);
        self.0.at.set(GONE);
    }
}
