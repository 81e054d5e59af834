//! The differences between the flavours: how the numbers are kept, what a fence is, and where a side runs.

use std::cell::Cell;

use gossamer_core::context::{self, NOWHERE};
use gossamer_core::platform;
use gossamer_core::platform::atomic::{AtomicUsize, Ordering, fence};
use gossamer_core::policy::{Local, LocalWord, LockPolicy, Shared, SharedWord};

/// The place of a side that has done nothing so far, or that needs a full fence in every operation.
pub(super) const UNSETTLED: usize = usize::MAX;

/// A number that one side writes and both read.
pub trait Number {
    /// A new one.
    fn new(number: usize) -> Self;

    /// Returns the number at this moment. The caller sees all that was done before it was published.
    fn look(&self) -> usize;

    /// Writes it, by the only side that does.
    fn publish(&self, number: usize);
}

impl Number for AtomicUsize {
    fn new(number: usize) -> Self {
        Self::new(number)
    }

    #[inline(always)]
    fn look(&self) -> usize {
        // Acquire pairs with the release in `publish`: a message that was put into its place, or taken out of it.
        self.load(Ordering::Acquire)
    }

    #[inline(always)]
    fn publish(&self, number: usize) {
        // Release pairs with the acquire in `look`.
        self.store(number, Ordering::Release);
    }
}

impl Number for Cell<usize> {
    fn new(number: usize) -> Self {
        Self::new(number)
    }

    #[inline(always)]
    fn look(&self) -> usize {
        self.get()
    }

    #[inline(always)]
    fn publish(&self, number: usize) {
        self.set(number);
    }
}

/// A number in a line of the cache of its own; two lines, as processors fetch them in pairs.
#[derive(Debug)]
#[repr(align(128))]
pub struct Padded(AtomicUsize);

impl Number for Padded {
    fn new(number: usize) -> Self {
        Self(AtomicUsize::new(number))
    }

    #[inline(always)]
    fn look(&self) -> usize {
        self.0.look()
    }

    #[inline(always)]
    fn publish(&self, number: usize) {
        self.0.publish(number);
    }
}

/// One of the two flavours, and what is different in this channel: the lock policies are the two there are.
pub trait RingPolicy: LockPolicy {
    /// How many messages were sent, or received.
    type Count: Number;
    /// Where a side runs.
    type Position: Number;

    /// The word, with no bit set.
    fn word() -> Self::Word;

    /// The worker that this thread is; [`NOWHERE`] if it is none.
    fn here() -> usize;

    /// A fence that the processor knows of.
    fn full_fence();

    /// The fence of the side that passes a message.
    fn light_fence();

    /// Like [`light_fence`](RingPolicy::light_fence), where [`is_light`](RingPolicy::is_light) is true.
    fn quick_fence();

    /// Whether the light fence costs nothing.
    fn is_light() -> bool;

    /// The fence of the side that parks, if the other one runs there.
    fn heavy_fence(there: usize);

    /// Whether no other thread can use a channel at this moment.
    fn is_alone() -> bool;
}

impl RingPolicy for Shared {
    type Count = Padded;
    type Position = AtomicUsize;

    fn word() -> SharedWord {
        SharedWord::new(0)
    }

    #[inline(always)]
    fn here() -> usize {
        context::with(context::Context::shard).into()
    }

    #[inline(always)]
    fn full_fence() {
        fence(Ordering::SeqCst); // pairs with itself: in `Chan::reach` and in `Chan::settle`
    }

    #[inline(always)]
    fn light_fence() {
        platform::light_fence();
    }

    #[inline(always)]
    fn quick_fence() {
        platform::quick_fence();
    }

    fn is_light() -> bool {
        platform::is_light()
    }

    fn heavy_fence(there: usize) {
        let is_together = there == Self::here() && there != usize::from(NOWHERE);
        if there != UNSETTLED && !is_together && !Self::is_alone() {
            platform::heavy_fence();
        }
    }

    #[inline(always)]
    fn is_alone() -> bool {
        platform::single_threaded()
    }
}

impl RingPolicy for Local {
    type Count = Cell<usize>;
    type Position = Cell<usize>;

    fn word() -> LocalWord {
        LocalWord::new(0)
    }

    #[inline(always)]
    fn here() -> usize {
        0
    }

    #[inline(always)]
    fn full_fence() {}

    #[inline(always)]
    fn light_fence() {}

    #[inline(always)]
    fn quick_fence() {}

    #[inline(always)]
    fn is_light() -> bool {
        true
    }

    #[inline(always)]
    fn heavy_fence(_there: usize) {}

    #[inline(always)]
    fn is_alone() -> bool {
        true
    }
}
