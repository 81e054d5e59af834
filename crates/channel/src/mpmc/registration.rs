//! A channel whose receiver is in a port set: instead of calling a receiver it announces its place in the set.
//!
//! | announces | meaning | who changes it |
//! | --- | --- | --- |
//! | yes | the channel had nothing for its receiver when the set last looked | the next message, or the last sender to go |
//! | no | the place has been announced, and the set is going to look | the set, when it has looked and found nothing more |
//!
//! So a place is in the set's queue once at most, and sending into a channel that the set is going to look at costs
//! nothing more. All of it is under the channel's lock; the lock of the set's queue is taken inside it.

use std::cell::Cell;
use std::ptr;

use gossamer_core::policy::LockPolicy;
use gossamer_core::wait_queue::Waitable;
use gossamer_core::waiter::Deferred;

use super::action::Sends;
use super::buffer::{self, Memory};
use super::chan::{Chan, NO_RECEIVERS, NO_SENDERS};
use super::ends::{Handle, Receiver};
use super::ready::Ready;
use crate::error::Closed;

/// The place announces itself.
const ANNOUNCES: u8 = 1;
/// Somebody waits for the channel's end, or has waited.
const WATCHED: u8 = 2;

/// Where the receiver is; and, in the same byte, so that nobody has to look twice, whether somebody waits for the
/// channel's end. Both are at a time only if who waits was forgotten: it borrows a receiver, so that there are others
/// or it cannot come into a set. It is told all the same, as its task has its name.
pub(super) struct Registration {
    /// Null: in no set.
    ready: Cell<*const Ready>,
    index: Cell<u32>,
    tells: Cell<u8>,
}

/// What a look at a port has found.
pub(crate) enum Found<T> {
    /// A message; the port announces itself when there is another one.
    One(T),
    /// A message, and so many more looks have something: messages, or the end.
    OneOfMore(T, usize),
    /// The last message, or that no more come.
    End(Result<T, Closed>),
    /// Nothing: it announces itself.
    Nothing,
}

impl Registration {
    pub(super) const fn none() -> Self {
        Self {
            ready: Cell::new(ptr::null()),
            index: Cell::new(0),
            tells: Cell::new(0),
        }
    }

    /// Whether it announces the next message.
    #[inline(always)]
    pub(super) fn announces(&self) -> bool {
        self.tells.get() & ANNOUNCES != 0
    }

    /// Whether somebody is told of the next message, or of the end.
    #[inline(always)]
    pub(super) fn tells(&self) -> bool {
        self.tells.get() != 0
    }

    #[inline(always)]
    fn set_announces(&self, announces: bool) {
        let others = self.tells.get() & !ANNOUNCES;
        self.tells.set(others | (u8::from(announces) * ANNOUNCES));
    }

    /// Somebody waits for the end; or nobody does.
    pub(super) fn set_watched(&self, watched: bool) {
        let others = self.tells.get() & !WATCHED;
        self.tells.set(others | (u8::from(watched) * WATCHED));
    }

    /// Announces itself.
    ///
    /// # Safety
    /// Under the channel's lock, and the place announces.
    #[inline(always)]
    pub(super) unsafe fn announce(&self) -> Deferred {
        self.set_announces(false);
        // SAFETY: passed on to the caller.
        unsafe { self.ready() }.announce(self.index.get())
    }

    /// The queue of the set.
    ///
    /// # Safety
    /// Under the channel's lock, and in a set.
    #[inline(always)]
    unsafe fn ready(&self) -> &Ready {
        // SAFETY: the set takes its places back, under the lock of the channel, before it goes.
        unsafe { &*self.ready.get() }
    }
}

/// Has the processor fetch what is used soon.
#[inline(always)]
pub(crate) fn fetch<T>(soon: &T) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let soon = ptr::from_ref(soon).cast::<i8>();
        for line in (0..size_of::<T>()).step_by(64) {
            // SAFETY: it is a hint only.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(soon.wrapping_add(line)) };
        }
    }
}

impl<T, P: LockPolicy> Chan<T, P> {
    /// Puts a message, if it is a port set that waits, and the memory is there; else gives the bits, and the lock is
    /// held as before.
    pub(super) fn push_for_set(&self, sends: &Sends<T>, bits: u32) -> Result<(), u32> {
        if !self.registration.announces() || bits & (NO_SENDERS | NO_RECEIVERS) != 0 {
            return Err(bits);
        }
        let has_waiters = !self.sending().is_empty() || !self.receiving().is_empty();
        // SAFETY: under the lock. Mutant: it takes a place that is reserved.
        let (has_room, buffer) = unsafe {
            let has_room = self.has_room() || gossamer_core::mutant!("port_takes_reserved_place");
            (has_room, &mut self.state().buffer)
        };
        if has_waiters || !has_room || !buffer.has_room() {
            return Err(bits);
        }
        // SAFETY: under the lock, and once.
        buffer.push(unsafe { sends.take() });
        self.registration.set_announces(false);
        // SAFETY: the place announced, so it is in a set.
        match unsafe { self.registration.ready() }.put(self.registration.index.get()) {
            Ok(()) => self.unlock(0),
            Err(ready_bits) => self.call_receiver(ready_bits),
        }
        Ok(())
    }

    /// The place is announced to somebody who waits for that; the locks are held: this channel's, without a bit, and
    /// the queue's, with these bits.
    #[inline(never)]
    fn call_receiver(&self, ready_bits: u32) {
        // SAFETY: the place announced just now, so it is in a set.
        let ready = unsafe { self.registration.ready() };
        let deferred = ready.put_and_call(self.registration.index.get(), ready_bits);
        self.unlock(0);
        deferred.run();
    }
}

impl<T, P: LockPolicy> Receiver<T, P> {
    /// Whether nobody else receives.
    pub(crate) fn is_unique(&self) -> bool {
        self.receiver_count() == 1
    }

    /// Gives the channel a place in a set; `announced`: the set is going to look at it anyway.
    ///
    /// # Safety
    /// The receiver is the only one, and in no set; the queue stays until [`leave`](Receiver::leave).
    pub(crate) unsafe fn enter(
        &self,
        ready: *const Ready,
        index: u32,
        announced: bool,
    ) -> Unsettled<T, P> {
        let chan = self.0.chan();
        let bits = chan.lock();
        chan.registration.ready.set(ready);
        chan.registration.index.set(index);
        chan.registration.set_announces(!announced);
        // SAFETY: under the lock.
        unsafe { self.settle_in_part(bits) }
    }

    /// Takes the place back.
    ///
    /// # Returns
    /// Whether it has been announced.
    pub(crate) fn leave(&self) -> bool {
        let chan = self.0.chan();
        let bits = chan.lock();
        let announced = !chan.registration.announces();
        chan.registration.set_announces(false);
        chan.registration.ready.set(ptr::null());
        chan.unlock(bits);
        announced
    }

    /// The next message for the set that has the receiver. Its place has been announced.
    #[inline(always)]
    pub(crate) fn find(&self) -> (Found<T>, Unsettled<T, P>) {
        let chan = self.0.chan();
        let bits = chan.lock();
        // SAFETY: under the lock.
        unsafe {
            let found = match chan.pop() {
                Some(message) => {
                    let more = chan.state().messages() + usize::from(bits & NO_SENDERS != 0);
                    chan.registration.set_announces(more == 0);
                    match more {
                        0 => Found::One(message),
                        more => Found::OneOfMore(message, more),
                    }
                }
                None if chan.is_over(bits) => Found::End(Err(Closed)),
                None => {
                    let announces = !gossamer_core::mutant!("port_forgets_to_announce");
                    chan.registration.set_announces(announces);
                    Found::Nothing
                }
            };
            (found, self.settle_in_part(bits))
        }
    }

    /// The next message, and how many more there are, if that is simple; `None` says nothing. Its place has been
    /// announced.
    #[inline(always)]
    pub(crate) fn find_quickly(&self) -> Option<(T, usize)> {
        let chan = self.0.chan();
        let bits = chan.lock();
        // SAFETY: under the lock.
        let buffer = unsafe { &mut chan.state().buffer };
        if bits != 0 || buffer.len() <= usize::from(buffer.is_large()) {
            chan.unlock(bits);
            return None;
        }
        let message = buffer.pop();
        let more = buffer.len();
        chan.registration.set_announces(more == 0);
        chan.unlock(0);
        message.map(|message| (message, more))
    }

    /// Puts messages at the end of `into`, each as an `event`, if that is simple and as many as fit, and at most so
    /// many; whether that was all, so that the place announces again. It has been announced.
    #[inline(always)]
    pub(crate) fn drain_quickly<E>(
        &self,
        into: &mut Vec<E>,
        most: usize,
        event: impl Fn(T) -> E,
    ) -> bool {
        let chan = self.0.chan();
        let bits = chan.lock();
        // SAFETY: under the lock.
        let buffer = unsafe { &mut chan.state().buffer };
        if bits != 0 || buffer.is_empty() {
            chan.unlock(bits);
            return false;
        }
        let most = most.min(into.capacity() - into.len());
        // The last one may have memory given back.
        let number = most.min(buffer.len() - usize::from(buffer.is_large()));
        into.extend(buffer.pop_many(number).map(event));
        let is_all = buffer.is_empty();
        chan.registration.set_announces(is_all);
        chan.unlock(0);
        is_all
    }

    /// Has the processor fetch the channel, whose turn it is soon.
    #[inline(always)]
    pub(crate) fn fetch(&self) {
        fetch(self.0.chan());
    }

    /// Lets those go that can, and gives the lock up, while other locks are held: what is to be done without any is
    /// left to the caller.
    ///
    /// # Safety
    /// Under the lock.
    #[inline(always)]
    pub(super) unsafe fn settle_in_part(&self, bits: u32) -> Unsettled<T, P> {
        let chan = self.0.chan();
        let mut waker = None;
        // SAFETY: passed on to the caller.
        unsafe {
            let mut memory = buffer::memory(0);
            chan.give_back(&mut memory, true);
            while let Some(deferred) = chan.wake_next(&mut { bits }) {
                if !deferred.is_nothing() {
                    waker = Some((deferred, self.0.counted()));
                    break;
                }
            }
            chan.unlock(bits);
            Unsettled {
                waker,
                _memory: Some(memory),
            }
        }
    }
}

/// What is left to do when no lock is held: a waker to call, after which others may go; memory to give back.
#[must_use]
pub(crate) struct Unsettled<T, P: LockPolicy> {
    waker: Option<(Deferred, Handle<T, P>)>,
    _memory: Option<Memory<T>>,
}

impl<T, P: LockPolicy> Unsettled<T, P> {
    pub(crate) const fn nothing() -> Self {
        Self {
            waker: None,
            _memory: None,
        }
    }

    /// Does it.
    #[inline(always)]
    pub(crate) fn settle(self) {
        if let Some((deferred, handle)) = self.waker {
            deferred.run();
            let chan = handle.chan();
            chan.settle(chan.lock());
        }
    }
}
