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

use gossamer_core::policy::Policy;
use gossamer_core::waiter::Deferred;

use super::buffer::{self, Memory};
use super::chan::NO_SENDERS;
use super::ends::{Handle, Receiver};
use super::ready::Ready;
use crate::error::Closed;

/// Where the receiver is.
pub(super) struct Place {
    /// Null: in no set.
    ready: Cell<*const Ready>,
    index: Cell<u32>,
    announces: Cell<bool>,
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

impl Place {
    pub(super) const fn none() -> Self {
        Self {
            ready: Cell::new(ptr::null()),
            index: Cell::new(0),
            announces: Cell::new(false),
        }
    }

    /// Whether it announces the next message.
    #[inline(always)]
    pub(super) fn announces(&self) -> bool {
        self.announces.get()
    }

    /// Announces itself.
    ///
    /// # Safety
    /// Under the channel's lock, and the place announces.
    #[inline(always)]
    pub(super) unsafe fn announce(&self) -> Deferred {
        self.announces.set(false);
        // SAFETY: the set takes its places back, under the lock of the channel, before it goes.
        unsafe { &*self.ready.get() }.announce(self.index.get())
    }
}

impl<T, P: Policy> Receiver<T, P> {
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
        chan.place.ready.set(ready);
        chan.place.index.set(index);
        chan.place.announces.set(!announced);
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
        let announced = !chan.place.announces.replace(false);
        chan.place.ready.set(ptr::null());
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
                    chan.place.announces.set(more == 0);
                    match more {
                        0 => Found::One(message),
                        more => Found::OneOfMore(message, more),
                    }
                }
                None if chan.is_over(bits) => Found::End(Err(Closed)),
                None => {
                    let announces = !gossamer_core::mutant!("port_forgets_to_announce");
                    chan.place.announces.set(announces);
                    Found::Nothing
                }
            };
            (found, self.settle_in_part(bits))
        }
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
            while let Some(deferred) = chan.let_one_go(bits) {
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
pub(crate) struct Unsettled<T, P: Policy> {
    waker: Option<(Deferred, Handle<T, P>)>,
    _memory: Option<Memory<T>>,
}

impl<T, P: Policy> Unsettled<T, P> {
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
