//! What the two sides of a channel share, and the rules by which those who wait go on.

use gossamer_core::door::UnsafeCell;
use gossamer_core::policy::{Policy, Word};
use gossamer_core::waiter::{Deferred, WaitList};

use super::act::{Receives, Sends};
use super::buffer::{self, Buffer, Memory};
use super::op::Waiter;
use super::place::Place;

/// No sender is left.
pub(super) const NO_SENDERS: u32 = 1;
/// No receiver is left.
pub(super) const NO_RECEIVERS: u32 = 2;

/// Somebody waits in line.
const LINED: u32 = 4;

/// So many are let go before the lock is given up for a moment, so that others may come in between.
const BATCH: u32 = if cfg!(any(loom, shuttle)) { 2 } else { 64 };

/// Why an operation that waited goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Grant {
    /// It waits.
    Nothing,
    /// To a sender: its message has been taken.
    Taken,
    /// To a receiver: there is a message, and unless somebody is quicker it takes that.
    Called,
    /// The other side is gone.
    Closed,
}

/// The channel. What each operation looks at comes first, in as few lines of the cache as can be.
#[repr(C)]
pub(crate) struct Chan<T, P: Policy> {
    word: P::Word,
    /// The most messages it holds; zero: a sender waits for its receiver.
    capacity: usize,
    sending: WaitList,
    receiving: WaitList,
    /// Under the lock.
    pub(super) place: Place,
    /// Under the lock.
    state: UnsafeCell<State<T>>,
    /// Those who wait for the end, while there are messages.
    watching: WaitList,
    /// Which one it is, in the order of their making.
    #[cfg(loom)]
    number: usize,
}

/// What is under the lock beside the lines.
pub(super) struct State<T> {
    pub(super) buffer: Buffer<T>,
    pub(super) senders: usize,
    pub(super) receivers: usize,
    /// Both, and those of them that are about to go: the last one frees.
    pub(super) handles: usize,
    /// Senders in line with their messages.
    pub(super) offering: usize,
    /// Receivers that have been called and have not come so far.
    pub(super) called: usize,
}

impl<T> State<T> {
    /// Messages in the buffer, and those of the senders in line.
    pub(super) fn messages(&self) -> usize {
        self.buffer.len() + self.offering
    }
}

// SAFETY: what is not the word is touched under its lock, which is atomic; only messages move between threads.
unsafe impl<T: Send, P: Policy> Send for Chan<T, P> where P::Word: Sync {}
// SAFETY: as above.
unsafe impl<T: Send, P: Policy> Sync for Chan<T, P> where P::Word: Sync {}

impl<T, P: Policy> Chan<T, P> {
    /// One sender and one receiver.
    pub(super) fn new(word: P::Word, capacity: usize) -> Self {
        Self {
            word,
            capacity,
            sending: WaitList::new(),
            receiving: WaitList::new(),
            place: Place::none(),
            state: UnsafeCell::new(State {
                buffer: Buffer::new(),
                senders: 1,
                receivers: 1,
                handles: 2,
                offering: 0,
                called: 0,
            }),
            watching: WaitList::new(),
            #[cfg(loom)]
            number: gossamer_core::door::model::number(),
        }
    }

    /// Who locks several channels does so in this order. Under loom not that of their addresses, which are others in each
    /// execution.
    pub(super) fn order(&self) -> usize {
        #[cfg(loom)]
        return self.number;
        #[cfg(not(loom))]
        std::ptr::from_ref(self).addr()
    }

    pub(super) fn capacity(&self) -> usize {
        self.capacity
    }

    #[inline(always)]
    pub(super) fn lock(&self) -> u32 {
        self.word.lock()
    }

    /// One more, or one fewer, of the handles that keep the channel; whether none is left. Nothing of the channel is used
    /// but the word once the lock is given up: the last one frees.
    pub(super) fn count(&self, more: bool) -> bool {
        let bits = self.lock();
        // SAFETY: under the lock.
        let handles = unsafe { &mut self.state().handles };
        if more {
            // As `Arc` does: so many are never dropped.
            let counted = handles.checked_add(1);
            *handles = counted.unwrap_or_else(|| std::process::abort());
        } else {
            *handles -= 1;
        }
        let is_last = *handles == 0;
        let is_lined = self.is_lined();
        let word = &self.word;
        word.unlock(bits & !LINED | if is_lined { LINED } else { 0 });
        is_last
    }

    /// Whether somebody waits for the other side or for the end, or a port set does.
    #[inline(always)]
    fn is_lined(&self) -> bool {
        !self.sending.is_empty() || !self.receiving.is_empty() || self.place.tells()
    }

    /// Gives the lock up, and lets nobody go.
    #[inline(always)]
    pub(super) fn unlock(&self, bits: u32) {
        let lined = if self.is_lined() { LINED } else { 0 };
        let bits = bits & !LINED | lined;
        if bits != 0 {
            // SAFETY: under the lock.
            unsafe { self.state() }.buffer.stop();
        }
        self.word.unlock(bits);
    }

    /// Puts a message, if nobody waits and the memory is there; else gives the bits, and the lock is held.
    #[inline(always)]
    pub(super) fn push_quickly(&self, sends: &Sends<T>) -> Result<(), u32> {
        let put = self.word.lock_to(|bits| {
            // SAFETY: under the lock, and once.
            let (buffer, message) = unsafe { (&mut self.state().buffer, || sends.take()) };
            let is_put = buffer.push_in_run(bits == 0, self.capacity, message);
            is_put.then_some(())
        });
        put.or_else(|bits| self.push_for_set(sends, bits))
    }

    /// Takes a message, if nobody waits and no memory is to be given back; else gives the bits, and the lock is held.
    #[inline(always)]
    pub(super) fn pop_quickly(&self) -> Result<T, u32> {
        self.pop_quickly_and(|_| {})
    }

    /// The same, and looks at what is left.
    #[inline(always)]
    pub(super) fn pop_quickly_and(&self, look: impl FnOnce(&Buffer<T>)) -> Result<T, u32> {
        self.word.lock_to(|bits| {
            // SAFETY: under the lock.
            let buffer = unsafe { &mut self.state().buffer };
            let message = buffer.pop_in_run(bits & !NO_SENDERS == 0)?;
            look(buffer);
            Some(message)
        })
    }

    /// The bits at this moment.
    pub(super) fn look(&self) -> u32 {
        self.word.look()
    }

    /// Those who wait to send.
    #[inline(always)]
    pub(super) fn sending(&self) -> &WaitList {
        &self.sending
    }

    /// Those who wait to receive.
    #[inline(always)]
    pub(super) fn receiving(&self) -> &WaitList {
        &self.receiving
    }

    /// Those who wait for the end, while there are messages.
    pub(super) fn watching(&self) -> &WaitList {
        &self.watching
    }

    /// What is under the lock.
    ///
    /// # Safety
    /// Under the lock, as long as the result is used; and there is no other.
    #[allow(clippy::mut_from_ref)]
    #[inline(always)]
    pub(super) unsafe fn state(&self) -> &mut State<T> {
        // SAFETY: passed on to the caller.
        self.state.with_mut(|state| unsafe { &mut *state })
    }

    /// Whether a rendezvous channel has a receiver in line for which no message is on its way.
    ///
    /// # Safety
    /// Under the lock.
    pub(super) unsafe fn is_awaited(&self) -> bool {
        // SAFETY: passed on to the caller.
        let state = unsafe { self.state() };
        self.capacity == 0
            && state.offering == 0
            && state.buffer.len() <= state.called
            && !self.receiving.is_empty()
    }

    /// Whether a message can be put.
    ///
    /// # Safety
    /// Under the lock.
    #[inline(always)]
    pub(super) unsafe fn has_room(&self) -> bool {
        // SAFETY: passed on to the caller.
        unsafe { self.state() }.buffer.len() < self.capacity
    }

    /// The next message: of the buffer, or of the sender that has waited longest.
    ///
    /// # Safety
    /// Under the lock; afterwards the lines are [settled](Chan::settle).
    #[inline(always)]
    pub(super) unsafe fn pop(&self) -> Option<T> {
        // SAFETY: passed on to the caller.
        unsafe {
            match self.state().buffer.pop() {
                Some(message) => Some(message),
                None => self.take_offer(),
            }
        }
    }

    /// The message of the sender that has waited longest, which goes on when the lines are settled.
    ///
    /// # Safety
    /// As [`Chan::pop`].
    #[inline(always)]
    unsafe fn take_offer(&self) -> Option<T> {
        // SAFETY: passed on to the caller.
        unsafe {
            if self.state().offering == 0 {
                return None;
            }
            let first = self.sending.first()?;
            let sender: &Waiter<Sends<T>> = first.cast().as_ref();
            debug_assert!(sender.grant.get() == Grant::Nothing);
            sender.grant.set(Grant::Taken);
            self.state().offering -= 1;
            Some(sender.act.take())
        }
    }

    /// Lets all go that can, and gives the lock up.
    ///
    /// A foreign waker is called without the lock. Until it returns, those who could go as well wait for that, unless
    /// somebody else settles; a sender that comes meanwhile waits behind them.
    #[inline(always)]
    pub(super) fn settle(&self, bits: u32) {
        if self.is_lined() {
            self.settle_lines(bits);
        } else {
            self.unlock(bits);
        }
    }

    /// The same, when no sender can go.
    #[inline(always)]
    pub(super) fn settle_receiving(&self, bits: u32) {
        if self.receiving.is_empty() && !self.place.tells() {
            self.unlock(bits);
        } else {
            self.settle_lines(bits);
        }
    }

    #[inline(never)]
    fn settle_lines(&self, mut bits: u32) {
        let mut gone = 0;
        // SAFETY: under the lock.
        while let Some(deferred) = unsafe { self.let_one_go(bits) } {
            gone += 1;
            if gone % BATCH != 0 && deferred.is_nothing() {
                continue;
            }
            self.unlock(bits);
            deferred.run();
            if gone % BATCH == 0 && gossamer_core::mutant!("channel_ends_with_a_batch") {
                return;
            }
            bits = self.lock();
        }
        self.unlock(bits);
    }

    /// Lets the first of a line go, if it can, or announces the port.
    ///
    /// # Safety
    /// Under the lock.
    #[inline(always)]
    pub(super) unsafe fn let_one_go(&self, bits: u32) -> Option<Deferred> {
        // SAFETY: passed on to the caller; nodes in a line are alive as long as the lock is held, and each is the first
        // field of its side's `Waiter`.
        unsafe {
            if let Some(first) = self.sending.first() {
                let sender: &Waiter<Sends<T>> = first.cast().as_ref();
                let mut goes = sender.grant.get() != Grant::Nothing;
                if !goes && bits & NO_RECEIVERS != 0 {
                    sender.grant.set(Grant::Closed);
                    self.state().offering -= 1;
                    goes = true;
                } else if !goes && self.has_room() {
                    // Who waits has come to a full channel, so the memory is there.
                    if let Some(message) = self.take_offer()
                        && !gossamer_core::mutant!("channel_loses_offer")
                    {
                        self.state().buffer.push(message);
                    }
                    goes = true;
                }
                if goes {
                    return Some(self.sending.release_first());
                }
            }
            let Some(first) = self.receiving.first() else {
                return self.place.tells().then(|| self.tell(bits))?;
            };
            let receiver: &Waiter<Receives> = first.cast().as_ref();
            if self.state().messages() > self.state().called {
                self.state().called += 1;
                receiver.grant.set(Grant::Called);
            } else if self.is_over(bits) {
                receiver.grant.set(Grant::Closed);
            } else {
                return None;
            }
            Some(self.receiving.release_first())
        }
    }

    /// Announces the port, or tells somebody of the end, if that is due. Nobody waits to receive.
    ///
    /// # Safety
    /// Under the lock.
    #[inline(never)]
    unsafe fn tell(&self, bits: u32) -> Option<Deferred> {
        // SAFETY: passed on to the caller.
        unsafe {
            if !self.place.announces() {
                return self.tell_of_end(bits);
            }
            let goes = self.has_any() || self.is_over(bits);
            goes.then(|| self.place.announce())
        }
    }

    /// Whether there is a message, also one of a sender that waits.
    ///
    /// # Safety
    /// Under the lock.
    pub(super) unsafe fn has_any(&self) -> bool {
        // SAFETY: passed on to the caller.
        unsafe { self.state() }.messages() > 0
    }

    /// Whether a receiver was called for each message there is.
    ///
    /// # Safety
    /// Under the lock.
    pub(super) unsafe fn is_promised(&self) -> bool {
        // SAFETY: passed on to the caller.
        let state = unsafe { self.state() };
        (1..=state.called).contains(&state.messages())
    }

    /// Whether a receiver would be told that no message comes.
    ///
    /// # Safety
    /// Under the lock.
    #[inline(always)]
    pub(super) unsafe fn is_over(&self, bits: u32) -> bool {
        // SAFETY: passed on to the caller.
        bits & NO_SENDERS != 0 && unsafe { self.state() }.messages() == 0
    }

    /// How many senders and receivers there are.
    pub(super) fn counts(&self) -> (usize, usize) {
        let bits = self.lock();
        // SAFETY: under the lock.
        let state = unsafe { self.state() };
        let counts = (state.senders, state.receivers);
        self.unlock(bits);
        counts
    }

    /// Has the buffer get so many places, without the lock; `memory` is what it had, to be dropped without it too.
    #[cold]
    #[inline(never)]
    pub(super) fn grow(&self, bits: u32, places: usize, memory: &mut Memory<T>) -> u32 {
        self.unlock(bits);
        *memory = buffer::memory(0);
        let larger = buffer::memory(places);
        let bits = self.lock();
        // SAFETY: under the lock.
        *memory = unsafe { self.state() }.buffer.move_to(larger);
        bits
    }

    /// Takes memory out that the buffer no longer needs, to be dropped after the lock is given up.
    ///
    /// # Safety
    /// Under the lock.
    #[inline(always)]
    pub(super) unsafe fn give_back(&self, memory: &mut Memory<T>, received: bool) {
        // SAFETY: passed on to the caller.
        let buffer = unsafe { &mut self.state().buffer };
        // Messages of senders in line are about to be moved there.
        if received && buffer.is_to_shrink() && self.sending.is_empty() {
            *memory = buffer.take_memory();
        }
    }

    /// How many messages are in the buffer.
    pub(super) fn len(&self) -> usize {
        let bits = self.lock();
        // SAFETY: under the lock.
        let len = unsafe { self.state() }.buffer.len();
        self.unlock(bits);
        len
    }
}
