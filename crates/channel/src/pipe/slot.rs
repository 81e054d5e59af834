//! What both ends point at, and the steps of the protocol.

use std::hint::cold_path;
use std::marker::PhantomData;
use std::ptr::{self, NonNull};
use std::task::{Poll, Waker};

use gossamer_core::platform::UnsafeCell;
use gossamer_core::waiter::packed;

use super::word::{Content, PipePolicy, Side, Word};
use crate::error::Closed;

struct Slot<M, P: PipePolicy> {
    word: Word<P>,
    /// Touched by the side whose turn it is.
    message: UnsafeCell<Option<M>>,
}

#[cfg(all(not(any(loom, shuttle)), target_pointer_width = "64"))]
const _: () = {
    use gossamer_core::policy::{Local, Shared};
    // An allocation of at most 24 bytes takes 32 with glibc.
    assert!(size_of::<Slot<u64, Shared>>() <= 24);
    assert!(size_of::<Slot<u64, Local>>() <= 24);
};

/// One side's pointer to it. It is the owner's part to say whose turn it is, and to go once.
pub(super) struct Handle<M, P: PipePolicy, S: Side> {
    slot: NonNull<Slot<M, P>>,
    _owned: PhantomData<(Slot<M, P>, S)>,
}

impl<M, P: PipePolicy, S: Side> Clone for Handle<M, P, S> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<M, P: PipePolicy, S: Side> Copy for Handle<M, P, S> {}

/// The handles of both sides of a new pipe; the first side has the turn.
pub(super) fn handles<M, P: PipePolicy, S: Side, O: Side>() -> (Handle<M, P, S>, Handle<M, P, O>) {
    let slot = Box::new(Slot {
        word: Word::new(),
        message: UnsafeCell::new(None),
    });
    let slot = NonNull::from(Box::leak(slot));
    (Handle::new(slot), Handle::new(slot))
}

impl<M, P: PipePolicy, S: Side> Handle<M, P, S> {
    fn new(slot: NonNull<Slot<M, P>>) -> Self {
        Self {
            slot,
            _owned: PhantomData,
        }
    }

    /// # Safety
    /// The side has not gone, and does not while the result is used.
    #[inline(always)]
    unsafe fn slot<'a>(self) -> &'a Slot<M, P> {
        // SAFETY: there as long as one side has not gone.
        unsafe { self.slot.as_ref() }
    }

    /// Fills the slot and gives the turn.
    ///
    /// # Errors
    /// The other side is gone, so this one too from now on; the message.
    ///
    /// # Safety
    /// It is this side's turn, and the slot is empty. The side has not gone.
    #[inline(always)]
    pub(super) unsafe fn say(self, message: M) -> Result<(), M> {
        // SAFETY: passed on to the caller.
        let slot = unsafe { self.slot() };
        slot.message.with_mut(|place| {
            // SAFETY: this side's turn; the slot is empty, so there is nothing to drop.
            unsafe { ptr::write(place, Some(message)) };
        });
        let before = slot.word.swap(Content::turn_of_other::<S>());
        if before.is_gone() {
            cold_path();
            // SAFETY: the other side went first, so this is the last pointer.
            let message = unsafe { self.free() };
            return message.map_or_else(|| unreachable!("a message went by itself"), Err);
        }
        if !gossamer_core::mutant!("pipe_wakes_nobody") {
            // SAFETY: the swap took the word's content over.
            unsafe { packed::wake(before.waker()) };
        }
        Ok(())
    }

    /// Whether it is this side's turn.
    ///
    /// # Safety
    /// The side has not gone.
    #[inline(always)]
    pub(super) unsafe fn has_turn(self) -> bool {
        // SAFETY: passed on to the caller.
        unsafe { self.slot() }.word.look().is_turn_of::<S>()
    }

    /// Gives the turn, with an empty slot.
    ///
    /// # Safety
    /// It is this side's turn, and the slot is empty. The side has not gone.
    #[inline(always)]
    pub(super) unsafe fn pass(self) {
        // SAFETY: passed on to the caller.
        let slot = unsafe { self.slot() };
        let turn = Content::turn_of_other::<S>();
        let before = slot.word.swap(turn);
        if before.is_idle() {
            return;
        }
        if before.is_gone() {
            cold_path();
            // Nobody else is there to see it missing.
            slot.word.swap(turn.gone());
            return;
        }
        // SAFETY: the swap took the word's content over.
        unsafe { packed::wake(before.waker()) };
    }

    /// Takes what is in the slot.
    ///
    /// # Safety
    /// It is this side's turn. The side has not gone.
    #[inline(always)]
    pub(super) unsafe fn take(self) -> Option<M> {
        // SAFETY: passed on to the caller.
        let slot = unsafe { self.slot() };
        slot.message.with_mut(|place| {
            // SAFETY: this side's turn, so nobody else looks at the slot.
            unsafe { &mut *place }.take()
        })
    }

    /// Whether it is this side's turn; if not, the waker is called when it is, or when the other side has gone.
    ///
    /// # Errors
    /// It will never be: the other side is gone.
    ///
    /// # Safety
    /// The side has not gone.
    #[inline(always)]
    pub(super) unsafe fn poll(self, waker: &Waker) -> Poll<Result<(), Closed>> {
        // SAFETY: passed on to the caller.
        let word = &unsafe { self.slot() }.word;
        let now = word.look();
        if now.is_turn_of::<S>() {
            return Poll::Ready(Ok(()));
        }
        if !now.is_idle() {
            return register_anew::<P, S>(word, waker);
        }
        // SAFETY: a flavour that stays on its thread has words that do, and who owns the word's content ends it.
        let Some(packed) = (unsafe { packed::pack_quickly(waker, P::THREAD_BOUND) }) else {
            return register_anew::<P, S>(word, waker);
        };
        match word.exchange_at_once(now, now.waits(packed)) {
            Ok(()) => Poll::Pending,
            Err(changed) => register::<P, S>(word, changed, waker, packed),
        }
    }

    /// Takes its waker back, if it has one there.
    ///
    /// # Safety
    /// It listens, and has not gone.
    pub(super) unsafe fn forget_waker(self) {
        // SAFETY: passed on to the caller.
        let word = &unsafe { self.slot() }.word;
        let now = word.look();
        if !now.is_turn_of::<S>()
            && !now.is_gone()
            && !now.is_idle()
            && word.exchange(now, Content::turn_of_other::<S>()).is_ok()
        {
            // SAFETY: the exchange took it over.
            unsafe { packed::let_go(now.waker()) };
        }
    }

    /// One that speaks goes.
    ///
    /// # Safety
    /// It is this side's turn, and the slot is empty. Once, and the handle is not used afterwards.
    pub(super) unsafe fn drop_sending_end(self) {
        // SAFETY: passed on to the caller.
        let before = unsafe { self.slot() }
            .word
            .swap(Content::turn_of::<S>().gone());
        // The allocation may be gone.
        if before.is_gone() {
            // SAFETY: the other side went first, so this is the last pointer.
            drop(unsafe { self.free() });
        } else if !gossamer_core::mutant!("pipe_closes_silently") {
            // SAFETY: the swap took the word's content over.
            unsafe { packed::wake(before.waker()) };
        }
    }

    /// One that listens goes: what was sent to it is dropped.
    ///
    /// # Safety
    /// Once, and the handle is not used afterwards.
    pub(super) unsafe fn drop_receiving_end(self) {
        // SAFETY: passed on to the caller.
        let slot = unsafe { self.slot() };
        let mut now = slot.word.look();
        while !now.is_turn_of::<S>() {
            if now.is_gone() {
                // SAFETY: the other side went first, so this is the last pointer.
                return drop(unsafe { self.free() });
            }
            match slot.word.exchange(now, now.gone()) {
                Ok(()) => {
                    // SAFETY: the exchange took it over.
                    return unsafe { packed::let_go(now.waker()) };
                }
                Err(changed) => now = changed,
            }
        }
        // SAFETY: this side's turn, which it keeps until it has gone.
        unsafe {
            let message = self.take();
            self.drop_sending_end();
            // User code, last of all.
            drop(message);
        }
    }

    /// Frees.
    ///
    /// # Safety
    /// The other side has gone; the handle is not used afterwards.
    unsafe fn free(self) -> Option<M> {
        // SAFETY: made by `Box::leak`, and this is the last pointer.
        unsafe { Box::from_raw(self.slot.as_ptr()) }
            .message
            .into_inner()
    }
}

#[cold]
#[inline(never)]
fn register_anew<P: PipePolicy, S: Side>(
    word: &Word<P>,
    waker: &Waker,
) -> Poll<Result<(), Closed>> {
    register::<P, S>(word, word.look(), waker, ptr::null_mut())
}

/// Puts the waker into the word, unless it is `S`'s turn, or never will be. `packed` is null, or the waker.
#[cold]
#[inline(never)]
fn register<P: PipePolicy, S: Side>(
    word: &Word<P>,
    mut now: Content,
    waker: &Waker,
    mut packed: *mut (),
) -> Poll<Result<(), Closed>> {
    let idle = Content::turn_of_other::<S>();
    let polled = loop {
        if now.is_turn_of::<S>() {
            if gossamer_core::mutant!("pipe_register_ignores_turn") {
                break Poll::Pending;
            }
            break Poll::Ready(Ok(()));
        }
        if now.is_gone() {
            break Poll::Ready(Err(Closed));
        }
        let current = now.waker();
        if packed::same(current, waker) {
            break Poll::Pending;
        }
        if packed::is_boxed(current) && packed.is_null() && packed::is_foreign(waker) {
            // Who gives the turn meanwhile finds nobody, and the exchange below finds the turn.
            now = match word.exchange(now, idle) {
                Ok(()) => {
                    // SAFETY: a box, and the exchange took it over.
                    packed = unsafe { packed::repack(current, waker) };
                    idle
                }
                Err(changed) => changed,
            };
            continue;
        }
        if packed.is_null() {
            packed = packed::pack(waker);
        }
        match word.exchange(now, now.waits(packed)) {
            Ok(()) => {
                packed = current;
                break Poll::Pending;
            }
            Err(changed) => now = changed,
        }
    };
    // SAFETY: not in the word, or taken out of it, so ours.
    unsafe { packed::let_go(packed) };
    polled
}
