//! The channel that the two sides share: the ring, and the lock under which they wait.

use std::cell::Cell;
use std::mem::MaybeUninit;
use std::ptr;
use std::task::Waker;

use gossamer_core::platform::UnsafeCell;
use gossamer_core::platform::atomic::{AtomicPtr, Ordering};
use gossamer_core::policy::Word;
use gossamer_core::wait::may_spin;
use gossamer_core::wait_queue::{Action, Key, Locked, Operation, Waitable};
use gossamer_core::waiter::{Could, Deferred, State, WaitList};

use super::flavour::{Number, RingPolicy, UNSETTLED};
use super::pause::{LOOKS, pause};

/// The bits of the word; see the module.
pub(super) const SENDER_WAITS: u32 = 1;
pub(super) const RECEIVER_WAITS: u32 = 2;
pub(super) const SENDER_GONE: u32 = 4;
pub(super) const RECEIVER_GONE: u32 = 8;
/// The receiver is in a port set, which waits for a message.
pub(super) const SET_WAITS: u32 = 16;

/// The number of the first message: so each channel's numbers wrap soon.
pub(super) const FIRST: usize = 0_usize.wrapping_sub(3);

/// A place for a message.
type Slot<T> = UnsafeCell<MaybeUninit<T>>;

/// The channel's lock, held.
pub(super) type Held<'a, T, P> = Locked<'a, Chan<T, P>>;

/// An operation on the channel.
pub(super) type Op<'a, T, P, A> = Operation<'a, Chan<T, P>, A>;

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
    sending: WaitList,
    receiving: WaitList,
    /// Under the lock: the waker of the set that has the receiver and [waits](SET_WAITS).
    set: Cell<Option<Waker>>,
    pub(super) tail: P::Count,
    pub(super) head: P::Count,
}

// SAFETY: only messages move to another thread; the lists and the set's waker are used under the lock, which is atomic.
unsafe impl<T: Send, P: RingPolicy> Send for Chan<T, P> where P::Word: Sync {}
// SAFETY: as above; one side at a time uses a place, as the numbers say, which are atomic where the word is.
unsafe impl<T: Send, P: RingPolicy> Sync for Chan<T, P> where P::Word: Sync {}

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
            set: Cell::new(None),
            tail: P::Count::new(FIRST),
            head: P::Count::new(FIRST),
        }
    }

    #[inline(always)]
    pub(super) fn capacity(&self) -> usize {
        self.capacity
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

    /// Makes the ring, if that has not been done.
    ///
    /// # Safety
    /// By the sender.
    pub(super) unsafe fn allocate(&self) {
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

    /// Takes the lock.
    pub(super) fn locked(&self) -> Held<'_, T, P> {
        // SAFETY: a thread that has a `Held` uses its channel through that alone until it has given it up.
        unsafe { Locked::lock(self) }
    }

    /// Wakes whoever waits and can go on.
    #[cold]
    #[inline(never)]
    pub(super) fn tell(&self) {
        Self::wake(self.locked());
    }

    /// Wakes whoever waits and can go on, and gives the lock up. As a rule that is one.
    #[inline(always)]
    pub(super) fn wake(mut held: Held<'_, T, P>) {
        let Some(deferred) = Self::wake_next(&mut held) else {
            return held.unlock();
        };
        let (chan, more) = (held.object(), Self::has_waiters(&held));
        held.run(deferred);
        if more {
            chan.locked().wake_ready();
        }
    }

    /// Sets the bit that this side waits, before it looks for the last time: from now on the other side takes the lock
    /// after each step.
    fn announce<E: End>(&self) {
        if !self.word.try_change(|bits| Some(bits | E::WAITS)) {
            let held = self.word.lock();
            let bits = held.bits | E::WAITS;
            held.with(bits).unlock();
        }
        self.reach(E::other_at(self));
    }

    /// Has this waker called when the receiver has something to do, or no waker any more.
    ///
    /// # Returns
    /// The waker before, to be dropped without the lock.
    pub(super) fn wait_in_set(held: &mut Held<'_, T, P>, waker: Option<Waker>) -> Option<Waker> {
        held.bits &= !SET_WAITS;
        if waker.is_some() {
            held.bits |= SET_WAITS;
        }
        held.object().set.replace(waker)
    }
}

/// One of the two sides.
pub(super) trait End {
    /// The bit that it waits.
    const WAITS: u32;

    /// Where it waits.
    fn queue<T, P: RingPolicy>(chan: &Chan<T, P>) -> &WaitList;

    /// Where it runs.
    fn at<T, P: RingPolicy>(chan: &Chan<T, P>) -> &P::Position;

    /// Where the other side runs.
    fn other_at<T, P: RingPolicy>(chan: &Chan<T, P>) -> &P::Position;

    /// Whether an operation could go on, with these bits.
    fn could_go<T, P: RingPolicy>(chan: &Chan<T, P>, bits: u32) -> bool;
}

/// The side that sends.
pub(super) struct SendingEnd;

/// The side that receives.
pub(super) struct ReceivingEnd;

impl End for SendingEnd {
    const WAITS: u32 = SENDER_WAITS;

    fn queue<T, P: RingPolicy>(chan: &Chan<T, P>) -> &WaitList {
        &chan.sending
    }

    fn at<T, P: RingPolicy>(chan: &Chan<T, P>) -> &P::Position {
        &chan.sender_at
    }

    fn other_at<T, P: RingPolicy>(chan: &Chan<T, P>) -> &P::Position {
        &chan.receiver_at
    }

    fn could_go<T, P: RingPolicy>(chan: &Chan<T, P>, bits: u32) -> bool {
        chan.tail.look().wrapping_sub(chan.head.look()) < chan.capacity || bits & RECEIVER_GONE != 0
    }
}

impl End for ReceivingEnd {
    const WAITS: u32 = RECEIVER_WAITS;

    fn queue<T, P: RingPolicy>(chan: &Chan<T, P>) -> &WaitList {
        &chan.receiving
    }

    fn at<T, P: RingPolicy>(chan: &Chan<T, P>) -> &P::Position {
        &chan.receiver_at
    }

    fn other_at<T, P: RingPolicy>(chan: &Chan<T, P>) -> &P::Position {
        &chan.sender_at
    }

    fn could_go<T, P: RingPolicy>(chan: &Chan<T, P>, bits: u32) -> bool {
        chan.head.look() != chan.tail.look() || bits & SENDER_GONE != 0
    }
}

/// One of the operations. All of it is done without the lock.
pub(super) trait RingAction<T, P: RingPolicy> {
    /// The side that the operation belongs to.
    type End: End;
    /// The operation's output.
    type Output;
    /// Name of the operation in dumps.
    const NAME: &'static str;

    /// Completes the operation, if that is simple; `None` says nothing.
    #[inline(always)]
    fn quickly(&mut self) -> Option<Self::Output> {
        None
    }

    /// Completes the operation, if that can be at once.
    fn attempt(&mut self) -> Option<Self::Output>;

    /// Whether there is nothing to wait for.
    fn is_nothing(&self) -> bool {
        false
    }
}

/// An action as the wait queue knows it: under the lock it does nothing but look.
pub(super) struct Waits<A>(pub(super) A);

/// Whether a side that parks has to say so before its last look: the other side may go on meanwhile.
fn has_to_announce<P: RingPolicy>() -> bool {
    !P::is_alone() && !gossamer_core::mutant!("spsc_parks_unannounced")
}

/// Completes an action, or says that it waits.
#[inline(never)]
fn go<T, P: RingPolicy, A: RingAction<T, P>>(
    action: &mut A,
    chan: &Chan<T, P>,
) -> Option<A::Output> {
    let mut looks = 0;
    loop {
        if let Some(output) = action.attempt() {
            return Some(output);
        }
        if looks == LOOKS || P::Word::THREAD_BOUND || !may_spin() {
            break;
        }
        pause(looks);
        looks += 1;
    }
    if has_to_announce::<P>() {
        chan.announce::<A::End>();
    }
    None
}

/// Completes an action that may be done, or has not said yet that it waits.
#[cold]
#[inline(never)]
fn attempt_anew<'a, T, P: RingPolicy, A: RingAction<T, P>>(
    action: &mut A,
    mut held: Held<'a, T, P>,
) -> Result<A::Output, Held<'a, T, P>> {
    let chan = held.object();
    loop {
        held.unlock();
        if let Some(output) = go(action, chan) {
            return Ok(output);
        }
        held = chan.locked();
        if has_announced::<P, A::End>(held.bits) && !could_go(action, &held) {
            return Err(held);
        }
    }
}

/// Whether the side, which is about to park, has its bit set since before its barrier; or needs none.
fn has_announced<P: RingPolicy, E: End>(bits: u32) -> bool {
    let is_set = bits & E::WAITS != 0 || gossamer_core::mutant!("spsc_trusts_a_cleared_bit");
    is_set || !has_to_announce::<P>()
}

/// Whether the action could be completed.
fn could_go<T, P: RingPolicy, A: RingAction<T, P>>(action: &A, held: &Held<'_, T, P>) -> bool {
    A::End::could_go(held.object(), held.bits) || action.is_nothing()
}

// SAFETY: the queue is that of the action's end; nobody looks at the actions in it.
unsafe impl<T, P: RingPolicy, A: RingAction<T, P>> Action<Chan<T, P>> for Waits<A> {
    type Output = A::Output;
    type Shown = ();
    const NAME: &'static str = A::NAME;

    #[inline(always)]
    fn queue(chan: &Chan<T, P>) -> &WaitList {
        A::End::queue(chan)
    }

    #[inline(always)]
    fn try_quickly<'a>(
        &mut self,
        chan: &'a Chan<T, P>,
    ) -> Result<A::Output, Option<Held<'a, T, P>>> {
        let output = self.0.quickly().or_else(|| go(&mut self.0, chan));
        output.ok_or(None)
    }

    /// It parks only where its bit has been set before, since when the other side has not taken it away.
    #[inline(always)]
    fn attempt<'a>(&mut self, held: Held<'a, T, P>) -> Result<A::Output, Held<'a, T, P>> {
        if has_announced::<P, A::End>(held.bits) && !could_go(&self.0, &held) {
            return Err(held);
        }
        attempt_anew(&mut self.0, held)
    }

    #[inline(always)]
    fn resume<'a>(&mut self, held: Held<'a, T, P>, _: State) -> Result<A::Output, Held<'a, T, P>> {
        let chan = held.object();
        held.unlock();
        // What it was woken for is there: nobody else takes it.
        match self.0.attempt() {
            Some(output) => Ok(output),
            None => attempt_anew(&mut self.0, chan.locked()),
        }
    }

    /// It was promised nothing that another one could have.
    fn cancel(&mut self, _: &mut Held<'_, T, P>, _: State) {}

    fn could_complete(&self, held: &Held<'_, T, P>) -> Could {
        could_go(&self.0, held).into()
    }
}

// SAFETY: the word is a lock, an atomic one unless it is `Local`'s.
unsafe impl<T, P: RingPolicy> Waitable for Chan<T, P> {
    type Word = P::Word;

    #[inline(always)]
    fn word(&self, _: Key) -> &P::Word {
        &self.word
    }

    /// The bit of a side stays if that waits.
    #[inline(always)]
    fn unlock(mut held: Held<'_, T, P>) {
        let chan = held.object();
        held.bits &= !(SENDER_WAITS | RECEIVER_WAITS);
        if !chan.sending.is_empty() {
            held.bits |= SENDER_WAITS;
        }
        if !chan.receiving.is_empty() {
            held.bits |= RECEIVER_WAITS;
        }
        held.into_word().unlock();
    }

    #[inline(always)]
    fn has_waiters(held: &Held<'_, T, P>) -> bool {
        let chan = held.object();
        !chan.sending.is_empty() || !chan.receiving.is_empty() || held.bits & SET_WAITS != 0
    }

    /// One that is woken finds what it waits for, as nobody else takes it; but a set may have taken it by then.
    fn wake_next(held: &mut Held<'_, T, P>) -> Option<Deferred> {
        let chan = held.object();
        let queue = if !chan.sending.is_empty() && SendingEnd::could_go(chan, held.bits) {
            &chan.sending
        } else if !chan.receiving.is_empty() && ReceivingEnd::could_go(chan, held.bits) {
            &chan.receiving
        } else if held.bits & SET_WAITS != 0 && ReceivingEnd::could_go(chan, held.bits) {
            return Self::wait_in_set(held, None).map(Deferred::new);
        } else {
            return None;
        };
        // SAFETY: under the lock, and not empty.
        Some(unsafe { queue.release_first() })
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
