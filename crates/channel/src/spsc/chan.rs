//! What the two sides share.

use std::mem::MaybeUninit;
use std::ptr::{self, NonNull};
use std::task::Waker;

use gossamer_core::platform::UnsafeCell;
use gossamer_core::policy::Word;
use gossamer_core::waiter::{Deferred, Node, State, WaitList};

use super::flavour::{Number, RingPolicy, UNSETTLED};

/// The bits of the word; see the module.
pub(super) const SENDER_WAITS: u32 = 1;
pub(super) const RECEIVER_WAITS: u32 = 2;
pub(super) const SENDER_GONE: u32 = 4;
pub(super) const RECEIVER_GONE: u32 = 8;
const SENDER_LEFT: u32 = 16;
const RECEIVER_LEFT: u32 = 32;

/// The number of the first message: so each channel's numbers wrap soon.
pub(super) const FIRST: usize = 0_usize.wrapping_sub(3);

/// A place for a message.
type Slot<T> = UnsafeCell<MaybeUninit<T>>;

/// The channel.
#[repr(C)]
pub(crate) struct Chan<T, P: RingPolicy> {
    word: P::Word,
    /// On which worker they are.
    pub(super) sender_at: P::Position,
    pub(super) receiver_at: P::Position,
    /// The ring; null before the first message. Written by the sender, before it publishes that.
    slots: UnsafeCell<*mut Slot<T>>,
    /// The ring's length, less one.
    mask: usize,
    capacity: usize,
    /// Under the lock. One waits at most, and those that were forgotten while they did.
    pub(super) sending: WaitList,
    pub(super) receiving: WaitList,
    pub(super) tail: P::Count,
    pub(super) head: P::Count,
}

/// One of the two handles, as an operation of it sees it.
pub(super) trait End<T, P: RingPolicy> {
    /// The bit that it waits.
    const WAITS: u32;
    /// The bit that the other side is gone.
    const OTHER_GONE: u32;

    fn chan(&self) -> NonNull<Chan<T, P>>;

    /// Where it waits.
    fn line(chan: &Chan<T, P>) -> &WaitList;

    /// Where the other side runs.
    fn other_at(chan: &Chan<T, P>) -> &P::Position;

    /// Whether an operation could go on.
    fn could_go(chan: &Chan<T, P>) -> bool;
}

impl<T, P: RingPolicy> Chan<T, P> {
    #[track_caller]
    pub(super) fn new(capacity: usize) -> Self {
        assert!(
            capacity > 0,
            "a channel of one sender and one receiver has a capacity of at least one message; for none there is \
             `rendezvous`"
        );
        let length = capacity.checked_next_power_of_two();
        // The largest memory there can be.
        let fits = |length: &usize| {
            length
                .checked_mul(size_of::<Slot<T>>())
                .is_some_and(|size| isize::try_from(size).is_ok())
        };
        let Some(length) = length.filter(fits) else {
            panic!(
                "a ring for {capacity} messages of {} bytes is larger than any memory; `unbounded` takes as many as \
                 there are",
                size_of::<T>()
            );
        };
        Self {
            word: P::word(),
            sender_at: P::Position::new(UNSETTLED),
            receiver_at: P::Position::new(UNSETTLED),
            slots: UnsafeCell::new(ptr::null_mut()),
            mask: length - 1,
            capacity,
            sending: WaitList::new(),
            receiving: WaitList::new(),
            tail: P::Count::new(FIRST),
            head: P::Count::new(FIRST),
        }
    }

    #[inline(always)]
    pub(super) fn capacity(&self) -> usize {
        self.capacity
    }

    #[inline(always)]
    pub(super) fn lock(&self) -> u32 {
        self.word.lock()
    }

    #[inline(always)]
    pub(super) fn unlock(&self, bits: u32) {
        self.word.unlock(bits);
    }

    /// The bits at this moment.
    #[inline(always)]
    pub(super) fn look(&self) -> u32 {
        self.word.look()
    }

    /// The place of a message.
    ///
    /// # Safety
    /// The ring is there, and the caller may use that place: the sender from when it is empty until it has published
    /// the message, the receiver from then until it has published that it is empty.
    #[inline(always)]
    pub(super) unsafe fn slot(&self, number: usize) -> &Slot<T> {
        // SAFETY: the caller vouches for it; the masked number is less than the ring's length.
        self.slots
            .with(|slots| unsafe { &*(*slots).add(number & self.mask) })
    }

    /// Makes the ring, if that has not been done.
    ///
    /// # Safety
    /// By the sender.
    pub(super) unsafe fn allocate(&self) {
        // SAFETY: only the sender writes it.
        if self.slots.with(|slots| unsafe { (*slots).is_null() }) {
            let new = Box::leak(new_slots(self.mask + 1)).as_mut_ptr();
            // SAFETY: nobody else looks before a message is published.
            self.slots.with_mut(|slots| unsafe { *slots = new });
        }
    }

    /// A side has come here. It has noted that this is another place than before.
    pub(super) fn settle(place: &P::Position) -> usize {
        let here = P::here();
        place.publish(here);
        // Before all that it is going to do here. Pairs with the one in `reach`.
        P::full_fence();
        if P::is_light() { here } else { UNSETTLED }
    }

    /// What this side has just written, its bit, is seen by what the other one, which has noted that it is at `place`,
    /// is going to do; and what that one did before, by this side.
    pub(super) fn reach(&self, place: &P::Position) {
        // Pairs with the one in `settle`: either the other side sees the bit, or this one reads where that was before.
        P::full_fence();
        P::heavy_fence(place.look());
    }

    /// Lets all go that wait in this line; they have the bit `waits`. The lock is held, with these bits, and given up.
    ///
    /// One that comes while the lock is given up, for a waker to be called, is not let go: it has looked, and would
    /// come again.
    pub(super) fn let_go(&self, mut bits: u32, line: &WaitList, waits: u32) {
        while let Some((deferred, is_last)) = self.let_first_go(bits, line, waits) {
            // User code, perhaps.
            deferred.run();
            if is_last {
                return;
            }
            bits = self.lock();
        }
    }

    /// Lets the first one go that waits in this line, if there is any: it is woken by the caller, without any lock. And
    /// whether it is the last. The lock is held, with these bits, and given up.
    pub(super) fn let_first_go(
        &self,
        bits: u32,
        line: &WaitList,
        waits: u32,
    ) -> Option<(Deferred, bool)> {
        if line.is_empty() {
            self.unlock(bits);
            return None;
        }
        // SAFETY: under the lock, and not empty.
        let deferred = unsafe { line.release_first() };
        let is_last = line.is_empty();
        self.unlock(if is_last { bits & !waits } else { bits });
        Some((deferred, is_last))
    }

    /// Takes one out of this line that has not been let go; its waker is to be dropped without any lock.
    ///
    /// # Safety
    /// The node has been parked in this line.
    pub(super) unsafe fn leave_queue(
        &self,
        line: &WaitList,
        node: NonNull<Node>,
        waits: u32,
    ) -> Option<Waker> {
        let mut bits = self.lock();
        let mut waker = None;
        // SAFETY: under the lock; passed on to the caller.
        unsafe {
            if node.as_ref().state() != State::Released {
                waker = line.unlink(node);
                if line.is_empty() {
                    bits &= !waits;
                }
            }
        }
        self.unlock(bits);
        waker
    }

    /// A side uses the channel no more; the second one frees it.
    ///
    /// # Safety
    /// Made by `Box`. Once for each side, which has closed before.
    pub(super) unsafe fn leave(this: NonNull<Self>, is_sender: bool) {
        let left = if is_sender {
            SENDER_LEFT
        } else {
            RECEIVER_LEFT
        };
        // SAFETY: it is there until both have left; the word alone is borrowed, as the other side may free the channel
        // before `unlock` has returned.
        let word = unsafe { &(*this.as_ptr()).word };
        let bits = word.lock();
        word.unlock(bits | left);
        if bits & (SENDER_LEFT | RECEIVER_LEFT) != 0 {
            // SAFETY: the other side has left, and this one does now.
            drop(unsafe { Box::from_raw(this.as_ptr()) });
        }
    }
}

impl<T, P: RingPolicy> Drop for Chan<T, P> {
    /// There are no messages any more: the receiver has dropped them, and the sender has taken back what came later.
    fn drop(&mut self) {
        let slots = self.slots.with(|slots| {
            // SAFETY: both sides have left.
            unsafe { *slots }
        });
        if !slots.is_null() {
            let slots = ptr::slice_from_raw_parts_mut(slots, self.mask + 1);
            // SAFETY: made by `new_slots` with that length.
            drop(unsafe { Box::from_raw(slots) });
        }
    }
}

#[cold]
fn new_slots<T>(length: usize) -> Box<[Slot<T>]> {
    let mut slots = Box::<[Slot<T>]>::new_uninit_slice(length);
    if cfg!(loom) {
        // A model's cells know who uses them.
        for slot in &mut slots {
            slot.write(UnsafeCell::new(MaybeUninit::uninit()));
        }
    }
    // SAFETY: without loom a slot is a cell of memory that is not yet initialised.
    unsafe { slots.assume_init() }
}

impl<T, P: RingPolicy> std::fmt::Debug for Chan<T, P> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Chan").finish_non_exhaustive()
    }
}
