//! The word of a pipe: whose turn it is, who waits, whether one side is gone.

use std::cell::Cell;
use std::fmt;
use std::ptr;

use gossamer_core::platform::atomic::{AtomicPtr, Ordering};
use gossamer_core::platform::single_threaded;
use gossamer_core::policy::{Local, LockPolicy, Shared};

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

/// What a word holds.
#[derive(Clone, Copy)]
pub(super) struct Content(*mut ());

impl Content {
    /// The first side's turn, and nobody waits.
    pub(super) const START: Self = Self(ptr::null_mut());

    /// It is `S`'s turn, and nobody waits.
    #[inline(always)]
    pub(super) fn turn_of<S: Side>() -> Self {
        Self(ptr::without_provenance_mut(S::TURN))
    }

    /// It is the other side's turn, and nobody waits.
    #[inline(always)]
    pub(super) fn turn_of_other<S: Side>() -> Self {
        Self(ptr::without_provenance_mut(S::TURN ^ SECOND))
    }

    /// The same turn, and one side is gone.
    pub(super) fn gone(self) -> Self {
        Self(ptr::without_provenance_mut(self.0.addr() & SECOND | GONE))
    }

    /// The same turn, and the other side waits so.
    pub(super) fn waits(self, packed: *mut ()) -> Self {
        Self(packed.map_addr(|at| at | self.0.addr() & SECOND))
    }

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

    /// Who waits, packed; null if nobody does. Nobody is gone.
    #[inline(always)]
    pub(super) fn waker(self) -> *mut () {
        debug_assert!(!self.is_gone());
        self.0.map_addr(|at| at & !SECOND)
    }
}

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

/// A word, by its content.
pub(super) struct Word<P: PipePolicy>(P::Pointer);

impl<P: PipePolicy> Word<P> {
    pub(super) fn new() -> Self {
        Self(P::Pointer::new(Content::START.0))
    }

    #[inline(always)]
    pub(super) fn look(&self) -> Content {
        Content(self.0.look())
    }

    #[inline(always)]
    pub(super) fn swap(&self, content: Content) -> Content {
        Content(self.0.swap(content.0))
    }

    #[inline(always)]
    pub(super) fn exchange(&self, before: Content, content: Content) -> Result<(), Content> {
        self.0.exchange(before.0, content.0).map_err(Content)
    }

    #[inline(always)]
    pub(super) fn exchange_at_once(
        &self,
        before: Content,
        content: Content,
    ) -> Result<(), Content> {
        self.0
            .exchange_at_once(before.0, content.0)
            .map_err(Content)
    }
}

mod sealed {
    /// Keeps [`super::Side`] to this module.
    pub trait Sealed {}
    impl Sealed for super::First {}
    impl Sealed for super::Second {}
}
