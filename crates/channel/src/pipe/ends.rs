//! The two kinds of ends, and the steps of the protocol.

use std::marker::PhantomData;
use std::mem::{self, ManuallyDrop};
use std::ptr::{self, NonNull};
use std::task::{Poll, Waker};

use gossamer_core::context;
use gossamer_core::platform::UnsafeCell;

use super::word::{
    AnyThread, Content, First, Gone, PackedWaker, PipePolicy, Second, Side, Turn, Word,
};
use crate::error::{Closed, SendError};
use crate::port_set::Lease;

/// The allocation that both ends point at.
struct Slot<M, P: PipePolicy> {
    word: Word<P>,
    /// Touched by the side whose turn it is.
    message: UnsafeCell<Option<M>>,
    /// The place of each side's end in a port set. Touched by that end.
    leases: [UnsafeCell<Lease>; 2],
}

#[cfg(all(not(any(loom, shuttle)), target_pointer_width = "64"))]
const _: () = {
    use gossamer_core::policy::{Local, Shared};
    // An allocation of at most 40 bytes takes 48 with glibc.
    assert!(size_of::<Slot<u64, Shared>>() <= 40);
    assert!(size_of::<Slot<u64, Local>>() <= 40);
};

/// One side's pointer to the slot. A side that goes says so in the word, and does not use the pointer again.
struct Handle<M, P: PipePolicy, S: Side> {
    slot: NonNull<Slot<M, P>>,
    _owned: PhantomData<(Slot<M, P>, S)>,
}

// SAFETY: only messages and leases move between threads, and a lease may be anywhere; the word is atomic, and says whose
// the slot is.
unsafe impl<M: Send, P: AnyThread, S: Side> Send for Handle<M, P, S> {}
// SAFETY: a `&` of an end only looks at the word.
unsafe impl<M: Send, P: AnyThread, S: Side> Sync for Handle<M, P, S> {}

impl<M, P: PipePolicy, S: Side> Handle<M, P, S> {
    fn new(slot: NonNull<Slot<M, P>>) -> Self {
        Self {
            slot,
            _owned: PhantomData,
        }
    }

    #[inline(always)]
    fn slot(&self) -> &Slot<M, P> {
        // SAFETY: there as long as this side has not gone, which is the last that it does.
        unsafe { self.slot.as_ref() }
    }

    #[inline(always)]
    fn has_turn(&self) -> bool {
        self.slot().word.look().is_turn_of::<S>()
    }

    /// Takes the message out of the slot, if there is one.
    ///
    /// # Safety
    /// It is this side's turn.
    #[inline(always)]
    unsafe fn take(&self) -> Option<M> {
        self.slot().message.with_mut(|place| {
            // SAFETY: this side's turn, so nobody else looks at the slot.
            unsafe { &mut *place }.take()
        })
    }

    /// Replaces the lease of this side's end. It drops nothing.
    #[inline(always)]
    fn replace_lease(&mut self, lease: Lease) -> Lease {
        self.slot().leases[S::TURN].with_mut(|place| {
            // SAFETY: only the end of this side looks there, which there is one of, and it is borrowed here.
            mem::replace(unsafe { &mut *place }, lease)
        })
    }

    /// Frees the allocation and returns the message that was in the slot.
    ///
    /// # Safety
    /// The other side has gone, and this one is not used again.
    unsafe fn free(&self) -> Option<M> {
        // SAFETY: made by `Box::leak`, and this is the last pointer.
        let slot = unsafe { Box::from_raw(self.slot.as_ptr()) };
        slot.message.into_inner()
    }
}

/// A new pipe: one end that speaks, one that listens.
///
/// # Examples
/// ```
/// use gossamer::channel::pipe;
/// use gossamer::raw::Shared;
///
/// let (client, server) = pipe::pair::<u32, Shared>();
/// let client = client.say(7).unwrap();
/// drop(server); // which has not taken it
/// assert_eq!(format!("{client:?}"), "ReceivingEnd { .. }");
/// ```
pub fn pair<M, P: PipePolicy>() -> (SendingEnd<M, P, First>, ReceivingEnd<M, P, Second>) {
    let slot = Box::new(Slot {
        word: Word::new(),
        message: UnsafeCell::new(None),
        leases: [Lease::NONE, Lease::NONE].map(UnsafeCell::new),
    });
    let slot = NonNull::from(Box::leak(slot));
    (
        SendingEnd(Handle::new(slot)),
        ReceivingEnd(Handle::new(slot)),
    )
}

/// An end whose turn it is; dropped, it closes the pipe, and the other one is told.
#[must_use = "dropping the end closes the pipe"]
pub struct SendingEnd<M, P: PipePolicy, S: Side>(Handle<M, P, S>);

/// An end that waits for its turn; dropped, it closes the pipe.
#[must_use = "dropping the end closes the pipe"]
pub struct ReceivingEnd<M, P: PipePolicy, S: Side>(Handle<M, P, S>);

/// The message that came with the turn, if any, and the end, which speaks now.
type Turned<M, P, S> = (Option<M>, SendingEnd<M, P, S>);

impl<M, P: PipePolicy, S: Side> SendingEnd<M, P, S> {
    #[inline(always)]
    fn listens(self) -> ReceivingEnd<M, P, S> {
        let end = ManuallyDrop::new(self);
        ReceivingEnd(Handle::new(end.0.slot))
    }

    /// Sends a message, and with it the turn. Never waits.
    ///
    /// # Errors
    /// The other end is gone: gives the message back. (One that goes later drops it.)
    #[inline(always)]
    pub fn say(self, message: M) -> Result<ReceivingEnd<M, P, S>, SendError<M>> {
        let end = self.listens();
        let slot = end.0.slot();
        slot.message.with_mut(|place| {
            // SAFETY: this side's turn; the slot is empty, so there is nothing to drop.
            unsafe { ptr::write(place, Some(message)) };
        });
        match slot.word.swap(Turn::of_other::<S>()) {
            Ok(waiter) => {
                if !gossamer_core::mutant!("pipe_wakes_nobody") {
                    waiter.wake();
                }
                Ok(end)
            }
            Err(Gone) => {
                let end = ManuallyDrop::new(end);
                // SAFETY: the other side went first, and this one is forgotten.
                let message = unsafe { end.0.free() };
                message.map_or_else(
                    || unreachable!("a message went by itself"),
                    |message| Err(SendError(message)),
                )
            }
        }
    }

    /// Keeps a place in a port set for this side's end, as long as it is there.
    pub(crate) fn keep(&mut self, lease: Lease) {
        drop(self.0.replace_lease(lease));
    }

    /// Gives the turn without a message. Never waits.
    #[inline(always)]
    pub fn pass(self) -> ReceivingEnd<M, P, S> {
        let end = self.listens();
        let word = &end.0.slot().word;
        let turn = Turn::of_other::<S>();
        match word.swap(turn) {
            Ok(waiter) if waiter.is_nobody() => {}
            Ok(waiter) => waiter.wake(),
            // Nobody else is there to see it missing.
            Err(Gone) => drop(word.swap(turn.gone())),
        }
        end
    }
}

impl<M, P: PipePolicy, S: Side> ReceivingEnd<M, P, S> {
    /// Whether the turn has come; if not, the waker is called when it has, or when the other end has gone.
    ///
    /// # Errors
    /// It will never come: the other end is gone.
    #[inline(always)]
    pub(crate) fn poll(&mut self, waker: &Waker) -> Poll<Result<(), Closed>> {
        let word = &self.0.slot().word;
        let now = word.look();
        if now.is_turn_of::<S>() {
            return Poll::Ready(Ok(()));
        }
        if !now.is_idle() {
            return register_anew::<P, S>(word, waker);
        }
        let Some(waiter) = PackedWaker::new_quickly(waker) else {
            return register_anew::<P, S>(word, waker);
        };
        match word.wait_at_once(now, waiter) {
            Ok(()) => Poll::Pending,
            Err((changed, waiter)) => register::<P, S>(word, changed, waker, waiter),
        }
    }

    /// Returns the message that came with the turn, if any, and the end, which speaks now.
    ///
    /// # Errors
    /// The turn has not come: gives the end back.
    #[inline(always)]
    pub(crate) fn turned(self) -> Result<Turned<M, P, S>, Self> {
        if !self.0.has_turn() && !gossamer_core::mutant!("pipe_ready_too_early") {
            return Err(self);
        }
        // SAFETY: its turn has come, and it goes here.
        Ok(unsafe { ManuallyDrop::new(self).take() })
    }

    /// Returns the message that came with the turn, if any, and the end, which speaks now.
    ///
    /// # Safety
    /// The turn has come. The end is not used or dropped any more.
    #[inline(always)]
    pub(super) unsafe fn take(&mut self) -> Turned<M, P, S> {
        // SAFETY: the turn has come.
        let message = unsafe { self.0.take() };
        (message, SendingEnd(Handle::new(self.0.slot)))
    }

    /// Takes the lease of its place in a port set.
    pub(crate) fn take_lease(&mut self) -> Lease {
        self.0.replace_lease(Lease::NONE)
    }

    /// Takes the waker out of the word: it is not called any more.
    pub(crate) fn forget_waker(&mut self) {
        let word = &self.0.slot().word;
        let now = word.look();
        if !now.is_turn_of::<S>()
            && !now.is_idle()
            && let Ok(waiter) = word.exchange(now, Turn::of_other::<S>())
        {
            waiter.let_go();
        }
    }
}

impl<M, P: PipePolicy, S: Side> Drop for SendingEnd<M, P, S> {
    fn drop(&mut self) {
        // Given up last.
        let _lease = self.0.replace_lease(Lease::NONE);
        match self.0.slot().word.swap(Turn::of::<S>().gone()) {
            // The allocation may be gone.
            Ok(waiter) => {
                if !gossamer_core::mutant!("pipe_closes_silently") {
                    waiter.wake();
                }
            }
            // SAFETY: the other side went first, and this one goes here.
            Err(Gone) => drop(unsafe { self.0.free() }),
        }
    }
}

impl<M, P: PipePolicy, S: Side> Drop for ReceivingEnd<M, P, S> {
    /// Drops a message that was sent to this end and not received.
    fn drop(&mut self) {
        // Given up last.
        let _lease = self.0.replace_lease(Lease::NONE);
        let word = &self.0.slot().word;
        let mut now = word.look();
        while !now.is_turn_of::<S>() {
            if now.is_gone() {
                // SAFETY: the other side went first, and this one goes here.
                return drop(unsafe { self.0.free() });
            }
            match word.exchange(now, now.gone()) {
                Ok(waiter) => return waiter.let_go(),
                Err(changed) => now = changed,
            }
        }
        // SAFETY: this side's turn, which it keeps until it has gone.
        let message = unsafe { self.0.take() };
        drop(SendingEnd::<M, P, S>(Handle::new(self.0.slot)));
        // User code, last of all.
        drop(message);
    }
}

#[cold]
#[inline(never)]
fn register_anew<P: PipePolicy, S: Side>(
    word: &Word<P>,
    waker: &Waker,
) -> Poll<Result<(), Closed>> {
    register::<P, S>(word, word.look(), waker, PackedWaker::NOBODY)
}

/// Puts the waker into the word, unless it is `S`'s turn, or never will be. `waiter` is nobody, or the waker.
#[cold]
#[inline(never)]
fn register<P: PipePolicy, S: Side>(
    word: &Word<P>,
    mut now: Content,
    waker: &Waker,
    mut waiter: PackedWaker<P>,
) -> Poll<Result<(), Closed>> {
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
        if now.waits_with(waker) {
            context::waits_still(&raw const *word, "pipe::recv", true);
            break Poll::Pending;
        }
        if waiter.is_nobody() && now.waits_boxed() {
            // If the other side gives the turn meanwhile, it finds no waker; the next exchange here finds the turn.
            match word.exchange(now, Turn::of_other::<S>()) {
                Ok(before) => (waiter, now) = (before.renew(waker), word.look()),
                Err(changed) => now = changed,
            }
            continue;
        }
        if waiter.is_nobody() {
            waiter = PackedWaker::new(waker);
        }
        match word.wait(now, waiter) {
            Ok(before) => {
                waiter = before;
                break Poll::Pending;
            }
            Err(changed) => (now, waiter) = changed,
        }
    };
    // Not in the word, or taken out of it.
    waiter.let_go();
    polled
}

gossamer_core::impl_debug!([M, P: PipePolicy, S: Side] SendingEnd[M, P, S]);

gossamer_core::impl_debug!([M, P: PipePolicy, S: Side] ReceivingEnd[M, P, S]);
