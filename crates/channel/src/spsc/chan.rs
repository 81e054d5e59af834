//! The channel that the two sides share.

use std::mem::MaybeUninit;
use std::ops::Deref;
use std::ptr::{self, NonNull};

use gossamer_core::platform::UnsafeCell;
use gossamer_core::platform::atomic::{AtomicPtr, Ordering};
use gossamer_core::policy::{HeldWord, Word};
use gossamer_core::waiter::{Deferred, WaitList};

use super::flavour::{Number, RingPolicy, UNSETTLED};

/// The bits of the word; see the module.
pub(super) const SENDER_WAITS: u32 = 1;
pub(super) const RECEIVER_WAITS: u32 = 2;
pub(super) const SENDER_GONE: u32 = 4;
pub(super) const RECEIVER_GONE: u32 = 8;
pub(super) const SENDER_LEFT: u32 = 16;
pub(super) const RECEIVER_LEFT: u32 = 32;

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
    slots: AtomicPtr<Slot<T>>,
    /// The ring's length, less one.
    mask: usize,
    capacity: usize,
    /// Under the lock. One waits at most, and those that were forgotten while they did.
    pub(super) sending: WaitList,
    pub(super) receiving: WaitList,
    pub(super) tail: P::Count,
    pub(super) head: P::Count,
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
            slots: AtomicPtr::new(ptr::null_mut()),
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
    pub(super) fn lock(&self) -> HeldWord<'_, P::Word> {
        self.word.lock()
    }

    /// The bits at this moment.
    #[inline(always)]
    pub(super) fn look(&self) -> u32 {
        self.word.look()
    }

    /// The place of a message.
    ///
    /// # Safety
    /// There is a ring.
    #[inline(always)]
    unsafe fn slot(&self, number: usize) -> &Slot<T> {
        // Relaxed: the sender wrote it; the receiver has seen a message, and so what came before.
        let slots = self.slots.load(Ordering::Relaxed);
        // SAFETY: the ring is there until both sides have left; the masked number is less than its length.
        unsafe { &*slots.wrapping_add(number & self.mask) }
    }

    /// Puts a message into its place.
    ///
    /// # Safety
    /// By the sender; the ring is [there](Chan::allocate), and the place empty.
    #[inline(always)]
    pub(super) unsafe fn write(&self, number: usize, message: T) {
        // SAFETY: the ring is there.
        let slot = unsafe { self.slot(number) };
        slot.with_mut(|slot| {
            // SAFETY: until the message is published, the place is the sender's.
            unsafe { slot.cast::<T>().write(message) };
        });
    }

    /// Takes a message out of its place.
    ///
    /// # Safety
    /// It has been put there, and is not taken again. By the receiver, if it has been published, else by the sender.
    #[inline(always)]
    pub(super) unsafe fn read(&self, number: usize) -> T {
        // SAFETY: there is a message, so the ring is there.
        let slot = unsafe { self.slot(number) };
        slot.with(|slot| {
            // SAFETY: the message has been put there, and the place is the caller's until it publishes that it is empty.
            unsafe { slot.cast::<T>().read() }
        })
    }

    /// Makes the ring, if that has not been done. By the sender.
    pub(super) fn allocate(&self) {
        // Relaxed: only the sender writes it, before it publishes a message.
        if self.slots.load(Ordering::Relaxed).is_null() {
            let new = Box::leak(new_slots(self.mask + 1)).as_mut_ptr();
            self.slots.store(new, Ordering::Relaxed);
        }
    }

    /// Notes in `place` where this side runs now, which is not where it ran before. Returns that, or [`UNSETTLED`] if
    /// the light fence is not free.
    pub(super) fn settle(place: &P::Position) -> usize {
        let here = P::here();
        place.publish(here);
        // Before all that it is going to do here. Pairs with the one in `reach`.
        P::full_fence();
        if P::is_light() { here } else { UNSETTLED }
    }

    /// Makes the bit that this side has just written visible to all that the other side is going to do, and all that
    /// the other side did before visible to this one. The other side has noted in `place` where it runs.
    pub(super) fn reach(&self, place: &P::Position) {
        // Pairs with the one in `settle`: either the other side sees the bit, or this one reads where that was before.
        P::full_fence();
        P::heavy_fence(place.look());
    }

    /// Lets all go that wait in this line; they have the bit `waits`. Gives the lock up.
    ///
    /// One that comes while the lock is given up, for a waker to be called, is not let go: it has looked, and would
    /// come again.
    pub(super) fn let_go<'a>(
        &'a self,
        mut held: HeldWord<'a, P::Word>,
        line: &WaitList,
        waits: u32,
    ) {
        while let Some((deferred, is_last)) = let_first_go(held, line, waits) {
            // User code, perhaps.
            deferred.run();
            if is_last {
                return;
            }
            held = self.lock();
        }
    }
}

/// Lets the first one go that waits in this line, which is that of the lock, if there is any: it is woken by the caller,
/// without any lock. And whether it is the last. Gives the lock up.
pub(super) fn let_first_go<W: Word>(
    mut held: HeldWord<'_, W>,
    line: &WaitList,
    waits: u32,
) -> Option<(Deferred, bool)> {
    if line.is_empty() {
        held.unlock();
        return None;
    }
    // SAFETY: under the lock, and not empty.
    let deferred = unsafe { line.release_first() };
    let is_last = line.is_empty();
    if is_last {
        held.bits &= !waits;
    }
    held.unlock();
    Some((deferred, is_last))
}

/// One side's pointer to the channel; `LEFT` is the bit that it has left, which it says when this is dropped. The side
/// has closed before.
pub(super) struct Side<T, P: RingPolicy, const LEFT: u32>(NonNull<Chan<T, P>>);

// SAFETY: the channel is shared: only messages move to another thread, one side uses a place at a time, and the lock
// and the lines' nodes are used under the atomic word.
unsafe impl<T: Send, P: RingPolicy, const LEFT: u32> Send for Side<T, P, LEFT> where P::Word: Sync {}
// SAFETY: a `&` of a side only looks at the numbers, and uses the word.
unsafe impl<T: Send, P: RingPolicy, const LEFT: u32> Sync for Side<T, P, LEFT> where P::Word: Sync {}

/// The pointers of both sides of a new channel.
#[track_caller]
pub(super) fn sides<T, P: RingPolicy>(
    capacity: usize,
) -> (Side<T, P, SENDER_LEFT>, Side<T, P, RECEIVER_LEFT>) {
    let chan = NonNull::from(Box::leak(Box::new(Chan::new(capacity))));
    (Side(chan), Side(chan))
}

impl<T, P: RingPolicy, const LEFT: u32> Deref for Side<T, P, LEFT> {
    type Target = Chan<T, P>;

    #[inline(always)]
    fn deref(&self) -> &Chan<T, P> {
        // SAFETY: it is there until both sides have left.
        unsafe { self.0.as_ref() }
    }
}

impl<T, P: RingPolicy, const LEFT: u32> Drop for Side<T, P, LEFT> {
    /// The side leaves; the second one frees.
    fn drop(&mut self) {
        // The word alone is borrowed, as the other side may free the channel before `unlock` has returned.
        let held = self.word.lock();
        let bits = held.bits;
        held.with(bits | LEFT).unlock();
        if bits & (SENDER_LEFT | RECEIVER_LEFT) != 0 {
            // SAFETY: made by `Box`; the other side has left, and this one does now.
            drop(unsafe { Box::from_raw(self.0.as_ptr()) });
        }
    }
}

impl<T, P: RingPolicy> Drop for Chan<T, P> {
    /// There are no messages any more: the receiver has dropped them, and the sender has taken back what came later.
    fn drop(&mut self) {
        // Relaxed: both sides have left.
        let slots = self.slots.load(Ordering::Relaxed);
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

gossamer_core::impl_debug!([T, P: RingPolicy] Chan[T, P]);
