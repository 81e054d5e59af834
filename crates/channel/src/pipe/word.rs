//! The word of a pipe: whose turn it is, which waker waits, whether one side is gone. The word owns its waker, which
//! comes out once, as a [`PackedWaker`].
//!
//! # Protocol
//!
//! One allocation for the whole session: a word, and a slot for one message, which is reused. The word says whose turn
//! it is, and who of the other side waits for it:
//!
//! ```text
//!  63             3         2         1      0
//! +----------------+----------------+------+------+
//! |     waker      | GONE or LOANED | TASK | turn |
//! +----------------+----------------+------+------+
//! ```
//!
//! A waker is packed with two tags: `TASK` says that it is a task's, not a box of a foreign one, and `LOANED`, beside
//! that, that the pointer has no reference of its own. So the third bit alone, with no waker and no `TASK`, is `GONE`.
//!
//! | the word | meaning | who may leave it |
//! | --- | --- | --- |
//! | turn, no waker | it is that side's turn; its message, if it has not taken it so far, is in the slot | that side: gives the turn; the other: puts its waker there |
//! | turn, waker | the same; the other side waits, and the word owns its waker | the same |
//! | turn, `GONE` | one side is gone | the side that is left: frees |
//!
//! Only the side whose turn it is touches the slot. A sender fills the slot and gives the turn in one exchange, which
//! also takes the waker of a waiting receiver out. A receiver reads the word; if it has to wait, it puts its waker
//! there in one exchange. So a message costs one exchange, or two if its receiver waits. (One waker is enough: the side
//! that has the turn does not wait.)
//!
//! When one side sends several messages in a row, the other gives the turn back after each, with an empty slot; the
//! sender waits for that as for a message. That is one exchange more.
//!
//! A side that goes says so in the word and leaves the turn as it is, so that a message that it has sent is still
//! received. The second side to go frees the allocation. The side to which a message was sent drops it if it has not
//! taken it; if that side had gone before, the sender has the message back.
//!
//! The race to fear: one side gives the turn, or goes, as the other registers, or goes. All of them are
//! read-modify-writes of the one word: the second one sees what the first has done. A side that goes takes the
//! other's waker out by the same exchange, so the allocation may be freed before the waker is called.

use std::cell::Cell;
use std::fmt;
use std::hint::cold_path;
use std::marker::PhantomData;
use std::ptr;
use std::task::Waker;

use gossamer_core::platform::atomic::{AtomicPtr, Ordering};
use gossamer_core::platform::single_threaded;
use gossamer_core::policy::{Local, LockPolicy, Shared};
use gossamer_core::waiter::packed;

/// Whose turn it is: the second side's.
const SECOND: usize = 1;
/// One side is gone: all but the turn is this. (It is no waker: what has this bit there is more than it.)
const GONE: usize = 4;

/// Which of a pipe's two sides an end belongs to. [`First`] and [`Second`] are the two there are.
pub trait Side: sealed::Sealed + fmt::Debug + 'static {
    /// The side's turn, in the word.
    #[doc(hidden)]
    const TURN: usize;
}

/// The side that speaks first.
#[derive(Debug)]
pub struct First;

/// The side that listens first.
#[derive(Debug)]
pub struct Second;

impl Side for First {
    const TURN: usize = 0;
}

impl Side for Second {
    const TURN: usize = SECOND;
}

/// A copy of a word's content, as one access found it. It does not own the waker.
#[derive(Clone, Copy)]
pub(super) struct Content(*mut ());

impl Content {
    #[inline(always)]
    pub(super) fn is_turn_of<S: Side>(self) -> bool {
        self.0.addr() & SECOND == S::TURN
    }

    /// Nobody waits, and nobody is gone.
    #[inline(always)]
    pub(super) fn is_idle(self) -> bool {
        self.0.addr() & !SECOND == 0
    }

    #[inline(always)]
    pub(super) fn is_gone(self) -> bool {
        self.0.addr() & !SECOND == GONE
    }

    /// Returns the content in which the turn is the same and `waiter` waits.
    #[inline(always)]
    fn with<P>(self, waiter: &PackedWaker<P>) -> *mut () {
        waiter.0.map_addr(|at| at | self.0.addr() & SECOND)
    }

    /// Returns the same turn, with one side gone.
    pub(super) fn gone(self) -> Turn {
        Turn(self.0.addr() & SECOND | GONE)
    }

    /// True if a foreign waker waits, which is in a box.
    pub(super) fn waits_boxed(self) -> bool {
        packed::is_boxed(self.waiting())
    }

    /// True if `waker` is known to be the one that waits.
    pub(super) fn waits_with(self, waker: &Waker) -> bool {
        packed::same(self.waiting(), waker)
    }

    /// Returns the waker that waits, packed; null if none does. Neither side may be gone.
    #[inline(always)]
    fn waiting(self) -> *mut () {
        debug_assert!(!self.is_gone());
        self.0.map_addr(|at| at & !SECOND)
    }
}

/// A word with no waker in it: whose turn it is, and whether one side is gone.
#[derive(Clone, Copy)]
pub(super) struct Turn(usize);

impl Turn {
    /// It is `S`'s turn.
    #[inline(always)]
    pub(super) fn of<S: Side>() -> Self {
        Self(S::TURN)
    }

    /// It is the other side's turn.
    #[inline(always)]
    pub(super) fn of_other<S: Side>() -> Self {
        Self(S::TURN ^ SECOND)
    }

    /// Returns the same turn, with one side gone.
    #[inline(always)]
    pub(super) fn gone(self) -> Self {
        Self(self.0 | GONE)
    }
}

/// A waker that is in no word, or nobody: its owner wakes it, drops it, or puts it into a word of this flavour.
#[must_use]
pub(super) struct PackedWaker<P>(*mut (), PhantomData<fn() -> P>);

impl<P: PipePolicy> PackedWaker<P> {
    /// Nobody.
    pub(super) const NOBODY: Self = Self(ptr::null_mut(), PhantomData);

    /// A waker of the poll that goes on. A foreign one is cloned, which is user code.
    pub(super) fn new(waker: &Waker) -> Self {
        Self(packed::pack(waker), PhantomData)
    }

    /// Like [`new`](PackedWaker::new), if that costs next to nothing; returns `None` otherwise.
    #[inline(always)]
    pub(super) fn new_quickly(waker: &Waker) -> Option<Self> {
        // SAFETY: only a flavour that stays on its thread loans; the owner of the result wakes it or drops it.
        let packed = unsafe { packed::pack_quickly(waker, P::THREAD_BOUND) };
        packed.map(|packed| Self(packed, PhantomData))
    }

    #[inline(always)]
    pub(super) fn is_nobody(&self) -> bool {
        self.0.is_null()
    }

    /// Puts a foreign waker in the place of a foreign one.
    pub(super) fn renew(self, waker: &Waker) -> Self {
        if !packed::is_boxed(self.0) || !packed::is_foreign(waker) {
            self.let_go();
            return Self::new(waker);
        }
        // SAFETY: a box, and owned.
        Self(unsafe { packed::repack(self.0, waker) }, PhantomData)
    }

    /// Wakes.
    #[inline(always)]
    pub(super) fn wake(self) {
        // SAFETY: owned; one that is loaned has not left its thread.
        unsafe { packed::wake(self.0) };
    }

    /// Drops it.
    pub(super) fn let_go(self) {
        // SAFETY: owned; one that is loaned has not left its thread.
        unsafe { packed::let_go(self.0) };
    }
}

/// One side was gone.
pub(super) struct Gone;

/// How the word of a pipe is touched: a policy that has such words.
pub trait PipePolicy: LockPolicy {
    /// The word.
    #[doc(hidden)]
    type Pointer: Pointer;
}

impl PipePolicy for Shared {
    type Pointer = SharedPointer;
}

impl PipePolicy for Local {
    type Pointer = LocalPointer;
}

/// A flavour whose pipes may be used by any thread.
#[diagnostic::on_unimplemented(
    message = "the two ends of this pipe have to stay on one thread",
    label = "it is a local pipe",
    note = "`pipe()` instead of `local_pipe()` makes one whose ends may be sent to other threads"
)]
pub trait AnyThread: PipePolicy {}

impl AnyThread for Shared {}

/// A word that is one pointer.
#[doc(hidden)]
pub trait Pointer {
    /// Makes a word with this content.
    fn new(content: *mut ()) -> Self;

    /// Returns the content. The caller sees all that the content's writer did before it wrote.
    fn look(&self) -> *mut ();

    /// Replaces the content and returns the old one.
    fn swap(&self, content: *mut ()) -> *mut ();

    /// Replaces the content if it is `before`.
    ///
    /// # Errors
    /// The content is another one, which is returned.
    fn exchange(&self, before: *mut (), content: *mut ()) -> Result<(), *mut ()>;

    /// Like [`exchange`](Pointer::exchange). The caller has just read `before`, and no user code has run since.
    ///
    /// # Errors
    /// Another thread was quicker: returns the content that it has left.
    #[inline(always)]
    fn exchange_at_once(&self, before: *mut (), content: *mut ()) -> Result<(), *mut ()> {
        self.exchange(before, content)
    }
}

/// The word of [`Shared`].
#[doc(hidden)]
#[derive(Debug)]
pub struct SharedPointer(AtomicPtr<()>);

impl Pointer for SharedPointer {
    fn new(content: *mut ()) -> Self {
        Self(AtomicPtr::new(content))
    }

    #[inline(always)]
    fn look(&self) -> *mut () {
        // Acquire pairs with the exchanges below: the message, or that it was taken.
        self.0.load(Ordering::Acquire)
    }

    #[inline(always)]
    fn swap(&self, content: *mut ()) -> *mut () {
        if single_threaded() {
            // Relaxed: this process has one thread, and no user code runs in between.
            let before = self.0.load(Ordering::Relaxed);
            self.0.store(content, Ordering::Relaxed);
            return before;
        }
        // AcqRel pairs with `look` (the slot), with `exchange` (the waker), and with the other side's last exchange.
        // Mutant: releases nothing.
        if gossamer_core::mutant!("pipe_unpublished") {
            self.0.swap(content, Ordering::Acquire)
        } else {
            self.0.swap(content, Ordering::AcqRel)
        }
    }

    #[inline(always)]
    fn exchange(&self, before: *mut (), content: *mut ()) -> Result<(), *mut ()> {
        if single_threaded() {
            // Relaxed: as in `swap`.
            let now = self.0.load(Ordering::Relaxed);
            if now == before {
                self.0.store(content, Ordering::Relaxed);
            }
            return if now == before { Ok(()) } else { Err(now) };
        }
        // AcqRel pairs with `swap`: the waker, or all that a side that goes has done; Acquire on failure, as in `look`.
        self.0
            .compare_exchange(before, content, Ordering::AcqRel, Ordering::Acquire)
            .map(drop)
    }
}

/// The word of [`Local`].
#[doc(hidden)]
#[derive(Debug)]
pub struct LocalPointer(Cell<*mut ()>);

impl Pointer for LocalPointer {
    fn new(content: *mut ()) -> Self {
        Self(Cell::new(content))
    }

    #[inline(always)]
    fn look(&self) -> *mut () {
        self.0.get()
    }

    #[inline(always)]
    fn swap(&self, content: *mut ()) -> *mut () {
        self.0.replace(content)
    }

    #[inline(always)]
    fn exchange(&self, before: *mut (), content: *mut ()) -> Result<(), *mut ()> {
        if self.0.get() != before {
            return Err(self.0.get());
        }
        self.0.set(content);
        Ok(())
    }

    #[inline(always)]
    fn exchange_at_once(&self, before: *mut (), content: *mut ()) -> Result<(), *mut ()> {
        debug_assert_eq!(self.0.get(), before);
        self.0.set(content);
        Ok(())
    }
}

/// A pipe's word, which owns its waker. A call that replaces the content returns the waker to its caller.
pub(super) struct Word<P: PipePolicy>(P::Pointer);

impl<P: PipePolicy> Word<P> {
    /// Makes a word in which it is the first side's turn and nobody waits.
    pub(super) fn new() -> Self {
        Self(P::Pointer::new(ptr::without_provenance_mut(First::TURN)))
    }

    #[inline(always)]
    pub(super) fn look(&self) -> Content {
        Content(self.0.look())
    }

    /// Stores `turn` and returns the waker that waited.
    #[inline(always)]
    pub(super) fn swap(&self, turn: Turn) -> Result<PackedWaker<P>, Gone> {
        Self::taken(Content(self.0.swap(ptr::without_provenance_mut(turn.0))))
    }

    /// Stores `turn` if the word still holds `before`, and returns the waker that waited.
    ///
    /// # Errors
    /// The word has changed, or one side is gone: returns the word's content.
    pub(super) fn exchange(&self, before: Content, turn: Turn) -> Result<PackedWaker<P>, Content> {
        if before.is_gone() {
            return Err(before);
        }
        let after = ptr::without_provenance_mut(turn.0);
        self.0.exchange(before.0, after).map_err(Content)?;
        Ok(PackedWaker(before.waiting(), PhantomData))
    }

    /// Stores `waiter`, with the turn as it is, if the word still holds `before`; returns the waker that waited before.
    ///
    /// # Errors
    /// The word has changed, or one side is gone: returns the word's content, and `waiter`.
    pub(super) fn wait(
        &self,
        before: Content,
        waiter: PackedWaker<P>,
    ) -> Result<PackedWaker<P>, (Content, PackedWaker<P>)> {
        if before.is_gone() {
            return Err((before, waiter));
        }
        match self.0.exchange(before.0, before.with(&waiter)) {
            Ok(()) => Ok(PackedWaker(before.waiting(), PhantomData)),
            Err(now) => Err((Content(now), waiter)),
        }
    }

    /// Like [`wait`](Word::wait). Nobody waits, and no user code has run since the caller read `before`.
    ///
    /// # Errors
    /// As [`wait`](Word::wait).
    #[inline(always)]
    pub(super) fn wait_at_once(
        &self,
        before: Content,
        waiter: PackedWaker<P>,
    ) -> Result<(), (Content, PackedWaker<P>)> {
        debug_assert!(before.is_idle());
        match self.0.exchange_at_once(before.0, before.with(&waiter)) {
            Ok(()) => Ok(()),
            Err(now) => Err((Content(now), waiter)),
        }
    }

    #[inline(always)]
    fn taken(before: Content) -> Result<PackedWaker<P>, Gone> {
        if before.is_gone() {
            cold_path();
            return Err(Gone);
        }
        Ok(PackedWaker(before.waiting(), PhantomData))
    }
}

mod sealed {
    /// Keeps [`super::Side`] to this module.
    pub trait Sealed {}
    impl Sealed for super::First {}
    impl Sealed for super::Second {}
}
