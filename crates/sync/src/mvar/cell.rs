//! The cell of an `MVar`, and what each operation does to it once it is its turn.
//!
//! # Protocol
//!
//! A hand-over *reserves*. Whoever fills the `MVar` with takers waiting marks it `RESERVED` and wakes
//! the first taker; the value stays in the `MVar` until that taker's own poll takes it. Whoever
//! empties it with putters waiting promises the place to the first putter, and wakes it. So dropping an operation at
//! any moment loses nothing: if something was reserved for it, the mark moves on to the next in
//! line or is cleared.
//!
//! | FULL | RESERVED | BUSY | meaning | may go at once | waiting |
//! | --- | --- | --- | --- | --- | --- |
//! | 0 | 0 | 0 | empty | put, replace | takers |
//! | 1 | 0 | 0 | full | take, read, swap, replace | putters |
//! | 0 | 1 | 0 | empty, promised to the first putter | replace | both |
//! | 1 | 1 | 0 | full, promised to the first taker | replace | both |
//! | 1 | 1 | 1 | full, and the value is being cloned by a reader | nothing | both |
//!
//! *Takers* are take, read and swap in one line (and a replace that came while BUSY, before all of
//! them); *putters* another. The first of a line is the one the `MVar` is promised to. The other
//! combinations do not occur.
//!
//! All of it happens under the lock: values are moved, no user code runs.
//!
//! # The inline waiter
//!
//! Between tasks of one thread mostly one operation waits, a take or a put. Then its node is not linked
//! ([`gossamer_core::waiter`]), and each case of a plain take or put is one comparison of the whole word. Whatever does
//! not fit begins with [`MVar::lock`], which makes a proper list of the inline waiter.

use core::hint::cold_path;
use core::mem::{ManuallyDrop, MaybeUninit};

use gossamer_core::platform::UnsafeCell;
use gossamer_core::policy::{LockPolicy, Word};
use gossamer_core::wait_queue::{Action, Key, Locked, Operation, Waitable};
use gossamer_core::waiter::{Could, Deferred, State, WaitList};

use crate::constructors::constructors;

/// There is a value.
pub(super) const FULL: u32 = 1;
/// The value, or the empty place, is promised to the first of its line.
pub(super) const RESERVED: u32 = 2;
/// A reader clones the value, without the lock.
pub(super) const BUSY: u32 = 4;
/// Exactly one operation waits, a plain take or put of one thread, and its list is inline (see
/// [`gossamer_core::waiter`]): a taker if the `MVar` is empty and not promised, or full and promised to it; else a
/// putter. [`MVar::lock`] makes a proper list of it.
const INLINE: u32 = 8;
/// Operations wait in proper lists. Without this mark the lists say nothing, unless one is [`INLINE`]: they may name an
/// inline waiter that has left. Kept only where one thread has the `MVar`; [`MVar::lock`] takes it off,
/// [`MVar::unlock`] puts it on.
const HAS_WAITERS: u32 = 16;

/// A place that is empty or holds one value; both taking and putting can wait.
///
/// Waiting operations are served first come, first served; one change of the `MVar` wakes one of them,
/// and the one that is woken completes (as GHC promises), unless a [`replace`](MVar::replace)
/// overtakes a woken putter.
///
/// A take makes the next put possible and the other way round, so an `MVar<()>` is a lock, an
/// `MVar<T>` a channel of one, and a pair of them a rendezvous.
///
/// Use it as [`sync::MVar`](crate::sync::MVar) or [`local::MVar`](crate::local::MVar).
///
/// # Blocking
/// Every operation is a future: `.await` it in a task, `.wait()` for it in a thread. The `try_`
/// operations never wait. (In a simulation a `try_` operation takes place at the scheduling point of the
/// operation before it.)
///
/// # Cancellation
/// An operation dropped unfinished has not happened: no value is lost, and if the `MVar` was promised
/// to it, the next in line is woken.
///
/// # Examples
/// ```
/// use gossamer::Wait;
/// use gossamer::sync::MVar;
///
/// let place = MVar::new(1);
/// assert_eq!(place.take().wait(), 1);
/// assert_eq!(place.try_take(), None);
/// place.put(2).wait();
/// assert_eq!(place.replace(3).wait(), Some(2));
/// assert_eq!(place.read().wait(), 3);
/// ```
pub struct MVar<T, P: LockPolicy> {
    word: P::Word,
    pub(super) value: UnsafeCell<MaybeUninit<T>>,
    takers: WaitList,
    putters: WaitList,
}

#[cfg(all(not(any(loom, shuttle)), target_pointer_width = "64"))]
const _: () = assert!(size_of::<MVar<u32, gossamer_core::policy::Local>>() == 24);
// SAFETY: only values move between threads, and everything else is under an atomic lock.
unsafe impl<T: Send, P: LockPolicy> Send for MVar<T, P> where P::Word: Sync {}
// SAFETY: an atomic lock guards everything; `&MVar` gives out `T` only by value, or clones under the reservation.
unsafe impl<T: Send, P: LockPolicy> Sync for MVar<T, P> where P::Word: Sync {}

constructors! {
    impl[T] MVar<T, P> {
        /// An empty `MVar`.
        pub fn empty() -> Self {
            Self::with(0, MaybeUninit::uninit())
        }

        /// An `MVar` that holds `value`.
        pub fn new(value: T) -> Self {
            Self::with(FULL, MaybeUninit::new(value))
        }

        fn with(bits: u32, value: MaybeUninit<T>) -> Self {
            Self {
                word: <P as LockPolicy>::Word::new(bits),
                value: UnsafeCell::new(value),
                takers: WaitList::new(),
                putters: WaitList::new(),
            }
        }
    }
    /// An empty `MVar`.
    default[T] = Self::empty();
    from[T] = new;
}

// SAFETY: the word is a lock, an atomic one unless it is `Local`'s.
unsafe impl<T, P: LockPolicy> Waitable for MVar<T, P> {
    type Word = P::Word;

    #[inline(always)]
    fn word(&self, _: Key) -> &P::Word {
        &self.word
    }

    /// No list is inline afterwards.
    #[inline(always)]
    fn lock(&self, _: Key) -> u32 {
        let bits = self.word.lock().bits;
        if !P::THREAD_BOUND {
            return bits;
        }
        if bits & INLINE != 0 {
            return self.spill_inline(bits);
        }
        if bits & HAS_WAITERS == 0 && !gossamer_core::mutant!("inline_leaves_traces") {
            self.takers.forget_inline();
            self.putters.forget_inline();
        }
        bits & !HAS_WAITERS
    }

    #[inline(always)]
    fn unlock(mut locked: LockedMVar<'_, T, P>) {
        if P::THREAD_BOUND && Self::has_waiters(&locked) {
            locked.bits |= HAS_WAITERS;
        }
        locked.into_word().unlock();
    }

    #[inline(always)]
    fn has_waiters(locked: &LockedMVar<'_, T, P>) -> bool {
        let mvar = locked.object();
        !(mvar.takers.is_empty() && mvar.putters.is_empty())
    }

    /// Promises the `MVar` to the first of the line that can go, if it is promised to nobody.
    #[inline(always)]
    fn wake_next(locked: &mut LockedMVar<'_, T, P>) -> Option<Deferred> {
        let mvar = locked.object();
        let is_full = locked.bits & FULL != 0;
        let line = if is_full { &mvar.takers } else { &mvar.putters };
        if locked.bits & RESERVED != 0 || line.is_empty() {
            return None;
        }
        locked.bits |= RESERVED;
        if gossamer_core::mutant!("mvar_reserve_without_wake") {
            None
        } else if is_full {
            locked.notify_first::<Turn<Take>>()
        } else {
            locked.notify_first::<Turn<Put<T>>>()
        }
    }
}

/// The lock of an `MVar`, held.
pub(super) type LockedMVar<'a, T, P> = Locked<'a, MVar<T, P>>;

/// Takes the value out.
///
/// # Safety
/// There is one, and no reader has it.
#[inline(always)]
unsafe fn take<T, P: LockPolicy>(locked: &mut LockedMVar<'_, T, P>) -> T {
    debug_assert!(locked.bits & (FULL | BUSY) == FULL, "no value to be taken");
    locked.bits &= !FULL;
    // SAFETY: under the lock, full, and no reader has the value, as the caller says; it is not read again.
    let read = |place: *mut MaybeUninit<T>| unsafe { place.cast::<T>().read() };
    locked.object().value.with_mut(read)
}

/// Puts a value into an empty `MVar`.
#[inline(always)]
fn put<T, P: LockPolicy>(locked: &mut LockedMVar<'_, T, P>, value: T) {
    debug_assert!(locked.bits & FULL == 0, "one value is enough");
    locked.bits |= FULL;
    locked.object().value.with_mut(|place| {
        // SAFETY: under the lock, and nobody reads a value that is not there.
        unsafe { (*place).write(value) };
    });
}

impl<T, P: LockPolicy> MVar<T, P> {
    /// The bits at this moment.
    pub(super) fn bits(&self) -> u32 {
        self.word.look()
    }

    /// The queue of those who wait for what such an operation does, and the one in which it waits itself.
    #[inline(always)]
    fn queues_of<A: MVarAction<T>>(&self) -> (&WaitList, &WaitList) {
        match A::TAKES {
            true => (&self.putters, &self.takers),
            false => (&self.takers, &self.putters),
        }
    }

    /// Makes a proper list of the inline waiter.
    #[cold]
    fn spill_inline(&self, bits: u32) -> u32 {
        let notified = bits & RESERVED != 0;
        let state = match notified {
            true => State::Notified,
            false => State::Parked,
        };
        let (queue, other, kind) = if (bits & FULL != 0) == notified {
            (&self.takers, &self.putters, Op::<T, P, Take>::KIND)
        } else {
            (&self.putters, &self.takers, Op::<T, P, Put<T>>::KIND)
        };
        // SAFETY: under the lock, and inline; only plain takes and puts wait so.
        unsafe { queue.spill_inline(other, kind, state) };
        bits & !INLINE
    }

    /// A plain take or put of one thread that can go while at most one operation waits, inline, for what comes of it.
    /// `None`: not such a case, nothing was done.
    #[inline(always)]
    pub(super) fn act_quickly<A: MVarAction<T>>(&self, act: &mut A) -> Option<A::Output> {
        let bits = self.word.lock().bits;
        let waits = bits == A::GOES | INLINE;
        if !waits && bits != A::GOES {
            cold_path();
            return None;
        }
        // SAFETY: under the lock; the word has been compared, so no queue is looked at.
        let mut locked = unsafe { Locked::assume(self, A::GOES) };
        // SAFETY: it may go, and has not acted.
        let output = unsafe { act.act(&mut locked) };
        if !waits {
            locked.into_word().unlock();
            return Some(output);
        }
        locked.bits |= RESERVED | INLINE;
        let (waiting, other) = self.queues_of::<A>();
        // SAFETY: the one waiter is in this queue, and was not notified: nothing was reserved.
        if unsafe { waiting.notify_inline_here(other) } {
            locked.into_word().unlock();
        } else {
            cold_path();
            Self::notify_inline(locked, waiting, other);
        }
        Some(output)
    }

    #[cold]
    #[inline(never)]
    fn notify_inline(locked: LockedMVar<'_, T, P>, waiting: &WaitList, other: &WaitList) {
        // SAFETY: under the lock; this queue is inline, and its node not notified.
        let deferred = unsafe { waiting.notify_inline(other) };
        locked.into_word().unlock();
        deferred.run();
    }
}

/// One operation.
pub(super) type Op<'a, T, P, A> = Operation<'a, MVar<T, P>, Turn<A>>;

/// Acting when it is the operation's turn.
#[derive(Debug)]
pub(super) struct Turn<A>(pub(super) A);

// SAFETY: nobody looks at the actions in these lines.
unsafe impl<T, P: LockPolicy, A: MVarAction<T>> Action<MVar<T, P>> for Turn<A> {
    type Output = A::Output;
    type Shown = ();
    const NAME: &'static str = A::NAME;
    const INLINE: bool = !(P::THREAD_BOUND && A::IS_PLAIN);
    const WAITS_INLINE: bool = P::THREAD_BOUND && A::IS_PLAIN;
    const IS_RELEASED: bool = false;
    /// Before all takers a reader is busy, so the `MVar` is promised to nobody in line.
    const WAITS_FIRST: bool = A::WAITS_FIRST;

    #[inline(always)]
    fn queue(mvar: &MVar<T, P>) -> &WaitList {
        mvar.queues_of::<A>().1
    }

    #[inline(always)]
    fn try_quickly<'a>(
        &mut self,
        mvar: &'a MVar<T, P>,
    ) -> Result<A::Output, Option<LockedMVar<'a, T, P>>> {
        if P::THREAD_BOUND && A::IS_PLAIN {
            return mvar.act_quickly(&mut self.0).ok_or(None);
        }
        // SAFETY: an operation is polled without the lock.
        self.attempt(unsafe { Locked::lock(mvar) }).map_err(Some)
    }

    #[inline(always)]
    fn park_inline(mvar: &MVar<T, P>, park: impl FnOnce(&WaitList) -> bool) -> bool {
        let mut word = mvar.word.lock();
        let parks = word.bits == A::GOES ^ FULL && park(mvar.queues_of::<A>().0);
        if parks {
            word.bits |= INLINE;
            word.unlock();
        }
        parks
    }

    #[inline(always)]
    fn resume_inline(&mut self, mvar: &MVar<T, P>) -> Option<A::Output> {
        (mvar.word.lock().bits == A::GOES | RESERVED | INLINE).then(|| {
            // SAFETY: under the lock; the word has been compared, so no queue is looked at.
            let mut locked = unsafe { Locked::assume(mvar, A::GOES) };
            // SAFETY: the one waiter, who is notified, is this one.
            let output = unsafe { self.0.act(&mut locked) };
            locked.into_word().unlock();
            output
        })
    }

    #[inline(always)]
    fn attempt<'a>(
        &mut self,
        locked: LockedMVar<'a, T, P>,
    ) -> Result<A::Output, LockedMVar<'a, T, P>> {
        if !A::may_go(locked.bits) {
            return Err(locked);
        }
        // SAFETY: the act may go, and has not acted: the operation has not taken effect.
        Ok(unsafe { self.0.finish(locked) })
    }

    #[inline(always)]
    fn resume<'a>(
        &mut self,
        mut locked: LockedMVar<'a, T, P>,
        _: State,
    ) -> Result<A::Output, LockedMVar<'a, T, P>> {
        locked.bits &= !RESERVED;
        // SAFETY: the `MVar` was promised to it, and it has not acted.
        Ok(unsafe { self.0.finish(locked) })
    }

    fn cancel(&mut self, locked: &mut LockedMVar<'_, T, P>, state: State) {
        if state == State::Notified {
            locked.bits &= !RESERVED;
        }
    }

    fn abandon(&mut self, _: State) {
        // SAFETY: the operation has ended without its output.
        drop(unsafe { self.0.give_up() });
    }

    fn could_complete(&self, locked: &LockedMVar<'_, T, P>) -> Could {
        A::may_go(locked.bits).into()
    }
}

/// One kind of operation.
pub(super) trait MVarAction<T> {
    /// The result of the operation.
    type Output;
    /// Its name in dumps.
    const NAME: &'static str;
    /// Whether it waits among the takers.
    const TAKES: bool;
    /// Whether it waits before all others there.
    const WAITS_FIRST: bool = false;
    /// Whether it is a plain take or put: it goes in exactly the state [`MVarAction::GOES`], and makes that the
    /// other one.
    const IS_PLAIN: bool = false;
    /// `FULL` or nothing: the state it goes in.
    const GOES: u32 = if Self::TAKES { FULL } else { 0 };

    /// Whether it may go in this state, nothing being promised to it.
    fn may_go(bits: u32) -> bool;

    /// Does it, and says in the bits what has become of the `MVar`.
    ///
    /// # Safety
    /// Once. The operation may go, or the `MVar` was promised to it (and the bits do not say so any more).
    unsafe fn act<P: LockPolicy>(&mut self, locked: &mut LockedMVar<'_, T, P>) -> Self::Output;

    /// The value that it brought.
    ///
    /// # Safety
    /// It has not acted, does not act any more, and is given up once.
    unsafe fn give_up(&mut self) -> Option<T> {
        None
    }

    /// [Acts](MVarAction::act), then wakes the next in line and gives up the lock.
    ///
    /// # Safety
    /// As [`MVarAction::act`].
    #[inline(always)]
    unsafe fn finish<P: LockPolicy>(&mut self, mut locked: LockedMVar<'_, T, P>) -> Self::Output {
        // SAFETY: the contract of `finish` is that of `act`, which is called once.
        let output = unsafe { self.act(&mut locked) };
        match MVar::wake_next(&mut locked) {
            Some(woken) => locked.run(woken),
            None => locked.unlock(),
        }
        output
    }
}

/// Full, and promised to nobody.
#[inline(always)]
pub(super) fn has_value(bits: u32) -> bool {
    bits & (FULL | RESERVED) == FULL
}

#[derive(Debug)]
pub(super) struct Take;

impl<T> MVarAction<T> for Take {
    type Output = T;
    const NAME: &'static str = "MVar::take";
    const TAKES: bool = true;
    const IS_PLAIN: bool = true;

    #[inline(always)]
    fn may_go(bits: u32) -> bool {
        has_value(bits)
    }

    #[inline(always)]
    unsafe fn act<P: LockPolicy>(&mut self, locked: &mut LockedMVar<'_, T, P>) -> T {
        // SAFETY: it may go, or the `MVar` was promised to it: full, and not busy.
        unsafe { take(locked) }
    }
}

/// Brings a value, which it has until it acts.
#[derive(Debug)]
pub(super) struct Put<T>(ManuallyDrop<T>);

impl<T> Put<T> {
    #[inline(always)]
    pub(super) fn new(value: T) -> Self {
        Self(ManuallyDrop::new(value))
    }
}

impl<T> MVarAction<T> for Put<T> {
    type Output = ();
    const NAME: &'static str = "MVar::put";
    const TAKES: bool = false;
    const IS_PLAIN: bool = true;

    #[inline(always)]
    fn may_go(bits: u32) -> bool {
        bits & (FULL | RESERVED) == 0
    }

    #[inline(always)]
    unsafe fn act<P: LockPolicy>(&mut self, locked: &mut LockedMVar<'_, T, P>) {
        // SAFETY: it acts once.
        put(locked, unsafe { ManuallyDrop::take(&mut self.0) });
    }

    #[inline(always)]
    unsafe fn give_up(&mut self) -> Option<T> {
        // SAFETY: it has not acted, and does not act any more.
        Some(unsafe { ManuallyDrop::take(&mut self.0) })
    }
}
