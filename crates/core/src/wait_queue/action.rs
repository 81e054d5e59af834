//! The traits that each primitive implements: its lock, its rule of admission, and the actions of its operations.

use crate::context;
use crate::policy::{HeldWord, Word};
use crate::waiter::{Could, Deferred, Kind, Node, RawWakerParts, State, WaitList};
use core::marker::PhantomData;
use core::mem::offset_of;
use core::ptr::NonNull;
use core::task::Poll;

/// Waiters woken before the lock is released for a moment, so that other threads can make progress.
const BATCH: u32 = if cfg!(any(loom, shuttle)) { 2 } else { 64 };

/// Is given to the functions that nobody but the wait queue may call.
#[derive(Debug)]
pub struct Key(());

/// An object that operations wait for: a lock, and the rule by which waiters go on.
///
/// # Safety
/// [`word`](Waitable::word) gives the same word each time. [`lock`](Waitable::lock) takes its lock, and nothing but the
/// holder of that gives it up. The object's queues are used through its [`Locked`] alone.
pub unsafe trait Waitable: Sized {
    /// The kind of its word. Whether that is bound to a thread says whether the object and its operations are.
    type Word: Word;

    /// The word of the object's lock and bits.
    fn word(&self, key: Key) -> &Self::Word;

    /// Takes the lock.
    ///
    /// # Returns
    /// The object's bits.
    #[inline(always)]
    fn lock(&self, key: Key) -> u32 {
        self.word(key).lock().bits
    }

    /// Releases the lock and leaves the object's bits as `locked` has them. Wakes nobody.
    fn unlock(locked: Locked<'_, Self>);

    /// Whether any operation waits.
    fn has_waiters(locked: &Locked<'_, Self>) -> bool;

    /// Wakes the next waiter that the bits let go on; `None` if there is none.
    fn wake_next(locked: &mut Locked<'_, Self>) -> Option<Deferred>;
}

/// The lock of an object, held: it is given up by [`unlock`](Locked::unlock) or [`wake_ready`](Locked::wake_ready). No
/// user code runs until then.
#[must_use = "the lock stays held"]
pub struct Locked<'a, O: Waitable> {
    object: &'a O,
    /// The object's bits, as unlocking leaves them.
    pub bits: u32,
}

impl<'a, O: Waitable> Locked<'a, O> {
    /// Takes the lock.
    ///
    /// # Safety
    /// This thread does not hold it.
    #[inline(always)]
    pub unsafe fn lock(object: &'a O) -> Self {
        let bits = object.lock(Key(()));
        Self { object, bits }
    }

    /// The lock is held without a `Locked`, with these bits.
    ///
    /// # Safety
    /// The caller has taken the lock, and uses it through the result alone.
    #[inline(always)]
    pub unsafe fn assume(object: &'a O, bits: u32) -> Self {
        Self { object, bits }
    }

    /// The object.
    #[inline(always)]
    pub fn object(&self) -> &'a O {
        self.object
    }

    /// The word's lock alone: for [`Waitable::unlock`].
    #[inline(always)]
    pub fn into_word(self) -> HeldWord<'a, O::Word> {
        HeldWord {
            word: self.object.word(Key(())),
            bits: self.bits,
        }
    }

    /// With other bits.
    #[inline(always)]
    pub fn with(mut self, bits: u32) -> Self {
        self.bits = bits;
        self
    }

    /// Releases the lock. Wakes nobody.
    #[inline(always)]
    pub fn unlock(self) {
        O::unlock(self);
    }

    /// Wakes every waiter that can go on, and releases the lock.
    ///
    /// A foreign waker is called without the lock. Until it returns, the waiters behind it wait for that, unless
    /// another thread wakes them.
    #[inline(always)]
    pub fn wake_ready(self) {
        if O::has_waiters(&self) {
            self.wake_waiters();
        } else {
            self.unlock();
        }
    }

    /// Like [`Locked::wake_ready`], where operations wait.
    #[inline(never)]
    fn wake_waiters(mut self) {
        let mut woken = 0;
        while let Some(deferred) = O::wake_next(&mut self) {
            woken += 1;
            if crate::mutant!("wake_ready_wakes_one") {
                return self.run(deferred);
            }
            if woken % BATCH != 0 && deferred.is_nothing() {
                continue;
            }
            let object = self.object;
            self.run(deferred);
            if woken % BATCH == 0 && crate::mutant!("wake_ready_ends_with_a_batch") {
                return;
            }
            // SAFETY: it was just released.
            self = unsafe { Self::lock(object) };
        }
        self.unlock();
    }

    /// Releases the lock, and does what was left for then.
    #[inline(always)]
    pub fn run(self, deferred: Deferred) {
        self.unlock();
        deferred.run();
    }

    const fn shows<A: Action<O>>() -> bool {
        size_of::<A::Shown>() == 0
            || offset_of!(Waiter<A>, action) == offset_of!(Waiter<A::Shown>, action)
    }

    /// Of the operation that has waited longest in this queue, what its action shows.
    #[inline(always)]
    pub fn first<A: Action<O>>(&self) -> Option<&A::Shown> {
        const {
            assert!(
                Self::shows::<A>(),
                "what the action shows has to be aligned as the action is"
            )
        }
        let first = A::queue(self.object).first()?;
        // SAFETY: nodes in the queue are alive as long as the lock is held, which the result borrows; who wrote the
        // `Action` vouches for the type.
        Some(unsafe { action_of::<A::Shown>(first) })
    }

    /// Marks the operation that has waited longest in this queue and wakes its task; the caller has reserved for it
    /// what it waits for. `None`: nobody waits.
    #[inline(always)]
    pub fn notify_first<A: Action<O>>(&mut self) -> Option<Deferred> {
        let queue = A::queue(self.object);
        // SAFETY: under the lock; not empty.
        (!queue.is_empty()).then(|| unsafe { queue.notify_first() })
    }

    /// Takes the operation that has waited longest out of this queue, gives it what it waits for, and wakes its task,
    /// if that has not been done. `None`: nobody waits.
    #[inline(always)]
    pub fn release_first<A: Action<O>>(&mut self) -> Option<Deferred> {
        let queue = A::queue(self.object);
        // SAFETY: under the lock; not empty.
        (!queue.is_empty()).then(|| unsafe { queue.release_first() })
    }

    /// Of the operations in this queue, what the action of the first one shows that `is_it` accepts. The queue is not
    /// inline.
    #[inline(always)]
    pub fn find<A: Action<O>>(
        &self,
        is_it: impl FnMut(&Self, &A::Shown) -> bool,
    ) -> Option<&A::Shown> {
        let found = self.find_node::<A>(is_it)?;
        // SAFETY: as in `first`.
        Some(unsafe { action_of::<A::Shown>(found) })
    }

    /// As [`Locked::release_first`], the first operation that `is_it` accepts.
    #[inline(always)]
    pub fn release_found<A: Action<O>>(
        &mut self,
        is_it: impl FnMut(&Self, &A::Shown) -> bool,
    ) -> Option<Deferred> {
        let found = self.find_node::<A>(is_it)?;
        // SAFETY: under the lock, and in this queue.
        Some(unsafe { A::queue(self.object).release(found) })
    }

    /// Wakes the task of the first operation that `is_it` accepts. The operation goes on waiting where it is.
    #[cold]
    pub fn rouse_found<A: Action<O>>(
        &mut self,
        is_it: impl FnMut(&Self, &A::Shown) -> bool,
    ) -> Option<Deferred> {
        let found = self.find_node::<A>(is_it)?;
        // SAFETY: under the lock, and in this queue, in which a released operation is not.
        Some(unsafe { A::queue(self.object).rouse(found) })
    }

    #[inline(always)]
    fn find_node<A: Action<O>>(
        &self,
        mut is_it: impl FnMut(&Self, &A::Shown) -> bool,
    ) -> Option<NonNull<Node>> {
        const {
            assert!(
                Self::shows::<A>(),
                "what the action shows has to be aligned as the action is"
            )
        }
        // SAFETY: nodes in the queue are alive as long as the lock is held; who wrote the `Action` vouches for the type.
        let is_it = |node| is_it(self, unsafe { action_of::<A::Shown>(node) });
        // SAFETY: under the lock. Only an action that waits inline has such queues.
        unsafe { A::queue(self.object).find(is_it) }
    }

    /// Takes a notification back: the first operation of this queue goes on waiting, still first. Its task has been
    /// woken and will find so. Nothing, if that was not notified.
    pub fn take_notification_back<A: Action<O>>(&mut self) {
        // SAFETY: under the lock.
        unsafe { A::queue(self.object).take_notification_back() };
    }
}

crate::impl_debug!([O: Waitable] Locked['_, O], this => bits: this.bits);

/// Takes all waiters out of a queue of the object, which is about to be freed.
///
/// Operations borrow the object, so only forgotten ones can still wait. Their tasks must not keep the name of an object
/// that is gone.
pub fn forget_waiters<O: Waitable, A: Action<O>>(object: &mut O) {
    if cfg!(debug_assertions) && context::is_watched() {
        context::simulated::forget_object(core::ptr::from_ref(object).addr());
    }
    // Nobody else has the object. A list that names an inline waiter, or one that has left, is not empty.
    if A::queue(object).is_empty() {
        return;
    }
    /// Goes on where the drop of a waker panicked.
    struct Rest<'a, O: Waitable, A: Action<O>>(&'a O, PhantomData<A>);
    impl<O: Waitable, A: Action<O>> Rest<'_, O, A> {
        fn forget(&self) {
            loop {
                // SAFETY: the caller has the object alone.
                let locked = unsafe { Locked::lock(self.0) };
                // SAFETY: under the lock, which spills an inline waiter.
                let waker = unsafe { A::queue(self.0).unlink_first() };
                locked.unlock();
                match waker {
                    Some(waker) => drop(waker),
                    None => break,
                }
            }
        }
    }
    impl<O: Waitable, A: Action<O>> Drop for Rest<'_, O, A> {
        fn drop(&mut self) {
            self.forget();
        }
    }
    Rest::<O, A>(object, PhantomData).forget();
}

/// The part of an operation that the object sees.
#[repr(C)]
pub(super) struct Waiter<A> {
    pub(super) node: Node,
    pub(super) action: A,
}

/// The action of the operation that a node belongs to.
///
/// # Safety
/// The node is that of an [`Operation`](super::Operation) whose action is an `A`, or begins as an `A` does, and alive: as
/// long as the result is used, the lock of its object is held.
#[inline(always)]
pub(super) unsafe fn action_of<'n, A>(node: NonNull<Node>) -> &'n A {
    // SAFETY: the node is the first field of a `Waiter` and points at all of it (`Operation::node`); the caller vouches
    // for the type.
    unsafe { &(*node.cast::<Waiter<A>>().as_ptr()).action }
}

/// An operation that may park inline (see [`waiter`](crate::waiter)).
#[derive(Debug)]
pub struct ParkInline<'a> {
    pub(super) queue: &'a WaitList,
    pub(super) node: NonNull<Node>,
    pub(super) kind: &'static Kind,
    pub(super) waker: RawWakerParts<'a>,
    pub(super) is_noted: bool,
}

impl ParkInline<'_> {
    /// Parks it, with its task in another list of the object; `false` if the task cannot be loaned at no cost, and then
    /// nothing was done. The object's word has to say so. (What an [`Action`] owes.)
    #[inline(always)]
    pub fn park(self, beside: &WaitList) -> bool {
        // SAFETY: pinned by its poll; an action parks inline where nobody else waits, at an object that never leaves its
        // thread.
        unsafe {
            self.queue
                .park_inline(beside, self.node, self.kind, self.waker, || self.is_noted)
        }
    }
}

/// The effect of an operation when its turn comes, and its steps while it waits: parking, resuming, cancelling.
///
/// Except for [`prepare`](Action::prepare) and [`abandon`](Action::abandon), everything runs under the object's lock or
/// takes it, and runs no user code under it.
///
/// # Safety
/// [`queue`](Action::queue) gives the same queue of the same object each time. Every operation in it shows the same: its
/// action is a [`Shown`](Action::Shown), or begins with one (`#[repr(transparent)]`, `#[repr(C)]`).
/// [`park_inline`](Action::park_inline) and [`try_inline`](Action::try_inline) park only where nobody waits at the
/// object, which never leaves its thread; and all that is done to the object's queues otherwise comes after
/// [`WaitList::spill_inline`]. Without [`IS_RELEASED`](Action::IS_RELEASED) nobody releases a node of the queue.
pub unsafe trait Action<O: Waitable> {
    /// The output of the operation.
    type Output;
    /// The part of the action that others may read, under the lock, while the operation waits.
    type Shown;
    /// The operation's name in dumps.
    const NAME: &'static str;
    /// Whether all of the operation is inlined into the caller's future, not just the
    /// [simple case](Action::try_quickly). That is then the only one: if it gives the bits, the operation has to wait.
    const INLINE: bool = false;
    /// Whether the operation may wait [inline](Action::park_inline).
    const WAITS_INLINE: bool = false;
    /// Whether [`Action::try_inline`] does anything.
    const TRIES_INLINE: bool = false;
    /// Whether each poll begins with [`Action::prepare`].
    const PREPARES: bool = false;
    /// Whether it may be [released](State::Released), not only notified.
    const IS_RELEASED: bool = true;
    /// Whether it waits before all others, not behind them.
    const WAITS_FIRST: bool = false;

    /// The queue in which it waits.
    fn queue(object: &O) -> &WaitList;

    /// Whether the task yields at this operation (see [`context::operation_must_yield`]).
    #[inline(always)]
    fn has_to_yield() -> bool {
        context::operation_must_yield()
    }

    /// Whether it is recorded here who has done it: at a lock, if [somebody asks for that](crate::recording).
    #[inline(always)]
    fn is_recorded() -> bool {
        false
    }

    /// It has taken effect, without waiting, and is recorded.
    fn record(_object: &O) {}

    /// Whether others may go on because this one has begun to wait.
    #[inline(always)]
    fn wakes_when_parked(_object: &O) -> bool {
        false
    }

    /// Whether it makes a difference to others that this one waits: they may go on, or be told that it is there. Then a
    /// simulation lets it begin though it has to wait.
    fn counts_when_waiting(object: &O) -> bool {
        Self::wakes_when_parked(object)
    }

    /// Allocates what the action needs, if it [does](Action::PREPARES). Not under the lock, and perhaps while the
    /// operation is queued: what it [shows](Action::Shown) stays as it is.
    #[inline(always)]
    fn prepare(&mut self, _object: &O) {}

    /// Takes effect in the simple case, before all else.
    ///
    /// # Errors
    /// It did not. `Some`: the lock is held.
    #[inline(always)]
    fn try_quickly<'a>(&mut self, _object: &'a O) -> Result<Self::Output, Option<Locked<'a, O>>> {
        Err(None)
    }

    /// Goes on after [`Action::try_quickly`], without the lock, if the action [does so](Action::TRIES_INLINE): takes
    /// effect where a waiter is inline, or parks as the one by `park`. It is not inlined into the caller's future.
    ///
    /// # Returns
    /// `None`: nothing was done.
    #[inline(always)]
    fn try_inline(&mut self, _object: &O, _park: ParkInline<'_>) -> Option<Poll<Self::Output>> {
        None
    }

    /// Parks by `park` as an inline waiter (see [`waiter`](crate::waiter)), if the operation has to wait and nobody else
    /// does, and says so in the object's word. `park` is given another list of the object, to keep the task in, and says
    /// whether it could.
    ///
    /// # Returns
    /// Whether it has parked; if not, nothing was done.
    #[inline(always)]
    fn park_inline(_object: &O, _park: impl FnOnce(&WaitList) -> bool) -> bool {
        false
    }

    /// Takes effect if the word says that the operation is inline and notified. `None`: nothing was done.
    #[inline(always)]
    fn resume_inline(&mut self, _object: &O) -> Option<Self::Output> {
        None
    }

    /// Takes effect if it can at once; then it wakes the waiters that can go on because of it, and releases the lock. It
    /// has not taken effect before.
    ///
    /// # Errors
    /// It cannot. The lock is held.
    fn attempt<'a>(&mut self, locked: Locked<'a, O>) -> Result<Self::Output, Locked<'a, O>>;

    /// The operation is about to park.
    #[inline(always)]
    fn park(&mut self, _locked: &mut Locked<'_, O>) {}

    /// The operation was polled again, and still waits.
    ///
    /// # Returns
    /// Whether others may go on because of that.
    #[inline(always)]
    fn polled_again(&mut self, _locked: &mut Locked<'_, O>) -> bool {
        false
    }

    /// The operation was woken with something reserved or granted, and has left its queue: as [`Action::attempt`]. If
    /// it has to wait again, it waits before all others.
    ///
    /// # Errors
    /// As [`Action::attempt`].
    fn resume<'a>(
        &mut self,
        locked: Locked<'a, O>,
        state: State,
    ) -> Result<Self::Output, Locked<'a, O>>;

    /// Takes effect in the simple case of a poll after it was woken. `state` says where the operation stands, and is
    /// called under the lock; before, what the action [shows](Action::Shown) is not touched.
    ///
    /// # Errors
    /// It did not. `Some`: the lock is held.
    #[inline(always)]
    fn resume_quickly<'a>(
        &mut self,
        _object: &'a O,
        _state: impl FnOnce() -> State,
    ) -> Result<Self::Output, Option<Locked<'a, O>>> {
        Err(None)
    }

    /// Whether an operation in this state has taken effect, though it does not know so far: it cannot
    /// [leave](super::Leave) any more.
    #[inline(always)]
    fn is_done(_object: &O, _state: State) -> bool {
        false
    }

    /// The operation was parked or woken, as `state` says, and has left its queue without taking effect: it gives back
    /// what it was promised. Afterwards the waiters that can go on are woken.
    fn cancel(&mut self, locked: &mut Locked<'_, O>, state: State);

    /// The operation ends without its output: drops what it still has, which is user code. `state`: how it left its
    /// queue.
    #[inline(always)]
    fn abandon(&mut self, _state: State) {}

    /// Whether the first waiter of the queue, which was not woken, could go on now; or one that is to begin.
    fn could_complete(&self, locked: &Locked<'_, O>) -> Could;
}
