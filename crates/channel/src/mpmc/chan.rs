//! What the two sides of a channel share, and the rules by which those who wait go on.

use gossamer_core::platform::UnsafeCell;
use gossamer_core::policy::{LockPolicy, Word};
use gossamer_core::wait_queue::{Waitable, action_of};
use gossamer_core::waiter::{Deferred, WaitList};

use super::action::{self, Sends};
use super::buffer::{self, Buffer, Memory};
use super::registration::Registration;

/// No sender is left.
pub(super) const NO_SENDERS: u32 = 1;
/// No receiver is left.
pub(super) const NO_RECEIVERS: u32 = 2;

/// Somebody waits in line, or has a place reserved.
const HAS_WAITERS: u32 = 4;

/// The channel. What each operation looks at comes first, in as few lines of the cache as can be.
#[repr(C)]
pub(crate) struct Chan<T, P: LockPolicy> {
    word: P::Word,
    /// The most messages it holds; zero: a sender waits for its receiver.
    capacity: usize,
    sending: WaitList,
    receiving: WaitList,
    /// Under the lock.
    pub(super) registration: Registration,
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
    /// Of a rendezvous channel: senders in line whose messages nobody has taken.
    pub(super) offering: usize,
    /// Of any other one: places for senders that were woken and have not put their messages there so far.
    pub(super) reserved: usize,
    /// Receivers that have been called and have not come so far.
    pub(super) called: usize,
}

impl<T> State<T> {
    /// Messages in the buffer, and those that are offered.
    pub(super) fn messages(&self) -> usize {
        self.buffer.len() + self.offering
    }
}

// SAFETY: what is not the word is touched under its lock, which is atomic; only messages move between threads.
unsafe impl<T: Send, P: LockPolicy> Send for Chan<T, P> where P::Word: Sync {}
// SAFETY: as above.
unsafe impl<T: Send, P: LockPolicy> Sync for Chan<T, P> where P::Word: Sync {}

impl<T, P: LockPolicy> Chan<T, P> {
    /// One sender and one receiver.
    pub(super) fn new(word: P::Word, capacity: usize) -> Self {
        Self {
            word,
            capacity,
            sending: WaitList::new(),
            receiving: WaitList::new(),
            registration: Registration::none(),
            state: UnsafeCell::new(State {
                buffer: Buffer::new(),
                senders: 1,
                receivers: 1,
                handles: 2,
                offering: 0,
                reserved: 0,
                called: 0,
            }),
            watching: WaitList::new(),
            #[cfg(loom)]
            number: gossamer_core::platform::model::number(),
        }
    }

    /// Who locks several channels does so in this order. Under loom not that of their addresses, which are others in
    /// each execution.
    pub(super) fn order(&self) -> usize {
        #[cfg(loom)]
        return self.number;
        #[cfg(not(loom))]
        std::ptr::from_ref(self).addr()
    }

    pub(super) fn capacity(&self) -> usize {
        self.capacity
    }

    /// Whether it holds no message, so that a sender waits for its receiver.
    #[inline(always)]
    pub(super) fn is_rendezvous(&self) -> bool {
        self.capacity == 0
    }

    /// One more, or one fewer, of the handles that keep the channel; whether none is left. Nothing of the channel is
    /// used but the word once the lock is given up: the last one frees.
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
        let has_waiters = self.has_waiters();
        let word = &self.word;
        word.unlock(bits & !HAS_WAITERS | if has_waiters { HAS_WAITERS } else { 0 });
        is_last
    }

    /// Whether somebody waits for the other side or for the end, a port set does, or a place is reserved.
    #[inline(always)]
    fn has_waiters(&self) -> bool {
        // SAFETY: only called under the lock.
        let reserved = unsafe { self.state() }.reserved;
        !self.sending.is_empty()
            || !self.receiving.is_empty()
            || self.registration.tells()
            || reserved > 0
    }

    /// Puts a message, if nobody waits and the memory is there; else gives the bits, and the lock is held.
    #[inline(always)]
    pub(super) fn push_quickly(&self, sends: &Sends<T>) -> Result<(), u32> {
        let put = self.word.lock_to(|bits| {
            // SAFETY: under the lock, and once.
            let (buffer, message) = unsafe { (&mut self.state().buffer, || sends.take()) };
            let is_put = buffer.push_in_window(bits == 0, self.capacity, message);
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
            let message = buffer.pop_in_window(bits & !NO_SENDERS == 0)?;
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

    /// Whether a message can be put: there is a place, and it is not reserved.
    ///
    /// # Safety
    /// Under the lock.
    #[inline(always)]
    pub(super) unsafe fn has_room(&self) -> bool {
        // SAFETY: passed on to the caller.
        let state = unsafe { self.state() };
        state.buffer.len() + state.reserved < self.capacity
    }

    /// The next message: of the buffer, or of the rendezvous sender that has waited longest.
    ///
    /// # Safety
    /// Under the lock; afterwards the lines are [settled](Chan::settle).
    #[inline(always)]
    pub(super) unsafe fn pop(&self) -> Option<T> {
        // SAFETY: passed on to the caller.
        unsafe {
            let state = self.state();
            match state.buffer.pop() {
                Some(message) => Some(message),
                None if state.offering > 0 => action::take_offer(self),
                None => None,
            }
        }
    }

    /// Wakes all that can go on, and gives the lock up.
    #[inline(always)]
    pub(super) fn settle(&self, bits: u32) {
        self.wake_ready(bits);
    }

    /// Wakes the first sender in line, if it can go on: the channel is closed, its message was taken, or there is a
    /// place for it, which is then reserved.
    ///
    /// # Safety
    /// Under the lock.
    #[inline(always)]
    unsafe fn wake_sender(&self, bits: u32) -> Option<Deferred> {
        let first = self.sending.first()?;
        // SAFETY: passed on to the caller; nodes in a line are alive as long as the lock is held, and only sends wait
        // in this one.
        unsafe {
            let state = self.state();
            let is_closed = bits & NO_RECEIVERS != 0;
            if self.is_rendezvous() {
                if !action_of::<Sends<T>>(first).is_taken() {
                    if !is_closed {
                        return None;
                    }
                    state.offering -= 1;
                }
            } else if !is_closed {
                if !self.has_room() {
                    return None;
                }
                state.reserved += usize::from(!gossamer_core::mutant!("channel_reserves_nothing"));
            }
            Some(self.sending.release_first())
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
            if !self.registration.announces() {
                return self.tell_of_end(bits);
            }
            let goes = self.has_any() || self.is_over(bits);
            goes.then(|| self.registration.announce())
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
        let state = unsafe { self.state() };
        let buffer = &mut state.buffer;
        // Senders in line, and those that have a place reserved, find the memory there.
        if received && buffer.is_to_shrink() && self.sending.is_empty() && state.reserved == 0 {
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

// SAFETY: the word is a lock, an atomic one unless it is `Local`'s.
unsafe impl<T, P: LockPolicy> Waitable for Chan<T, P> {
    const THREAD_BOUND: bool = P::THREAD_BOUND;

    #[inline(always)]
    fn lock(&self) -> u32 {
        self.word.lock()
    }

    #[inline(always)]
    fn unlock(&self, bits: u32) {
        let has_waiters = if self.has_waiters() { HAS_WAITERS } else { 0 };
        let bits = bits & !HAS_WAITERS | has_waiters;
        if bits != 0 {
            // SAFETY: under the lock.
            unsafe { self.state() }.buffer.stop();
        }
        self.word.unlock(bits);
    }

    #[inline(always)]
    fn has_waiters(&self) -> bool {
        self.has_waiters()
    }

    /// The first of a line, or the port, which announces itself.
    #[inline(always)]
    unsafe fn wake_next(&self, bits: &mut u32) -> Option<Deferred> {
        let bits = *bits;
        // SAFETY: passed on to the caller.
        unsafe {
            if let Some(woken) = self.wake_sender(bits) {
                return Some(woken);
            }
            if self.receiving.is_empty() {
                return self.registration.tells().then(|| self.tell(bits))?;
            }
            let state = self.state();
            if state.messages() <= state.called && !self.is_over(bits) {
                return None;
            }
            state.called += 1;
            Some(self.receiving.release_first())
        }
    }
}
