//! The word of a pipe: whose turn it is, who waits, whether one side is gone. What it holds it owns: a waker comes out
//! of it once, as a [`PackedWaker`].

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

/// What a word held, at a look. It owns nothing.
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

    /// The same turn, and this one waits.
    #[inline(always)]
    fn with<P>(self, waiter: &PackedWaker<P>) -> *mut () {
        waiter.0.map_addr(|at| at | self.0.addr() & SECOND)
    }

    /// The same turn, and one side is gone.
    pub(super) fn gone(self) -> Turn {
        Turn(self.0.addr() & SECOND | GONE)
    }

    /// Whether somebody waits whose waker is a foreign one, in a box.
    pub(super) fn waits_boxed(self) -> bool {
        packed::is_boxed(self.waiting())
    }

    /// Whether this waker waits, as far as is known.
    pub(super) fn waits_with(self, waker: &Waker) -> bool {
        packed::same(self.waiting(), waker)
    }

    /// Who waits, packed; null if nobody does. Nobody is gone.
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

    /// The same turn, and one side is gone.
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

    /// The same if that costs next to nothing.
    #[inline(always)]
    pub(super) fn new_quickly(waker: &Waker) -> Option<Self> {
        // SAFETY: what is loaned is in a flavour that stays on its thread; whoever has it wakes it or drops it.
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
        // SAFETY: as in `wake`.
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
    /// With this content.
    fn new(content: *mut ()) -> Self;

    /// What it holds; what was done before it was left so is seen.
    fn look(&self) -> *mut ();

    /// Replaces what it holds; gives that.
    fn swap(&self, content: *mut ()) -> *mut ();

    /// Replaces what it holds if that is `before`.
    ///
    /// # Errors
    /// It holds this.
    fn exchange(&self, before: *mut (), content: *mut ()) -> Result<(), *mut ()>;

    /// The same, if `before` is what it just held, and nothing of the user's has run since.
    ///
    /// # Errors
    /// It holds this: another thread was quicker.
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
        // AcqRel pairs with `swap`: the waker, or all that was done by who goes; Acquire on failure, as in `look`.
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

/// A word; it owns the waker that it holds. Whoever replaces it has that.
pub(super) struct Word<P: PipePolicy>(P::Pointer);

impl<P: PipePolicy> Word<P> {
    /// The first side's turn, and nobody waits.
    pub(super) fn new() -> Self {
        Self(P::Pointer::new(ptr::without_provenance_mut(First::TURN)))
    }

    #[inline(always)]
    pub(super) fn look(&self) -> Content {
        Content(self.0.look())
    }

    /// Leaves this; who waited.
    #[inline(always)]
    pub(super) fn swap(&self, turn: Turn) -> Result<PackedWaker<P>, Gone> {
        Self::taken(Content(self.0.swap(ptr::without_provenance_mut(turn.0))))
    }

    /// Leaves this, if the word is as it was; who waited.
    ///
    /// # Errors
    /// What the word holds.
    pub(super) fn exchange(&self, before: Content, turn: Turn) -> Result<PackedWaker<P>, Content> {
        if before.is_gone() {
            return Err(before);
        }
        let after = ptr::without_provenance_mut(turn.0);
        self.0.exchange(before.0, after).map_err(Content)?;
        Ok(PackedWaker(before.waiting(), PhantomData))
    }

    /// The same turn, and this one waits, if the word is as it was; who waited before.
    ///
    /// # Errors
    /// What the word holds; and this one.
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

    /// The same where nobody waits, and nothing of the user's has run since the look.
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
