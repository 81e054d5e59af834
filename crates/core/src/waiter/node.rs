//! The node itself, and what it says of its operation: memory that [`super`] and its lists write. And the parts of a
//! waker, of which a node keeps some.

use core::cell::Cell;
use core::fmt;
use core::marker::{PhantomData, PhantomPinned};
use core::mem::{ManuallyDrop, MaybeUninit};
use core::panic::Location;
use core::ptr::NonNull;
use core::task::{RawWaker, RawWakerVTable, Waker};

/// The kind of an operation: its name, and a check whether it could complete. Each kind has one static.
#[repr(align(8))]
pub struct Kind {
    /// `"MVar::take"` and the like, for dumps.
    pub name: &'static str,
    /// Whether a parked operation of this kind could complete now. If it could and nothing is
    /// going to poll the operation, a wake-up was lost.
    ///
    /// # Safety
    /// The node is alive, of this kind, parked on or notified by a live object; no lock is held.
    pub could_complete: unsafe fn(NonNull<Node>) -> Could,
    /// Whether it is worth while to let an operation of this kind begin.
    ///
    /// # Safety
    /// The node is alive, of this kind, and its operation has not begun; its object is alive; no lock is held.
    pub could_begin: unsafe fn(NonNull<Node>) -> Begins,
}

/// What comes of it if an operation begins that a simulation holds back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Begins {
    /// It would wait, and nobody would notice.
    InVain,
    /// Others notice that it waits, if it does.
    ToBeNoticed,
    /// It takes effect.
    ToTakeEffect,
}

/// Whether an operation that waits could complete: what a simulation asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Could {
    /// The operation must still wait: the thing that it waits for has not come.
    No,
    /// Others were called for what has come, and it goes on only if none of them comes.
    IfOthersDoNot,
    /// The thing that it waits for is there.
    Yes,
}

impl From<bool> for Could {
    fn from(could: bool) -> Self {
        if could { Self::Yes } else { Self::No }
    }
}

impl fmt::Debug for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// Where a node stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// Not parked.
    Idle,
    /// In a list.
    Parked,
    /// Woken, with something reserved for it.
    Notified,
    /// Woken and taken out of the list: it has what it waited for.
    Released,
}

pub(super) const IDLE: usize = 0;
pub(super) const LOANED: usize = 1;
pub(super) const OWNED: usize = 2;
pub(super) const NOTIFIED: usize = 3;
pub(super) const BARE: usize = 4;
pub(super) const RELEASED: usize = 5;
pub(super) const FOREIGN: usize = 6;
pub(super) const STATE: usize = 7;

/// A field that parking writes: before, there is nothing in it.
pub(super) struct Later<T: Copy>(Cell<MaybeUninit<T>>);

impl<T: Copy> Later<T> {
    const fn new() -> Self {
        Self(Cell::new(MaybeUninit::uninit()))
    }

    #[inline(always)]
    pub(super) fn set(&self, value: T) {
        self.0.set(MaybeUninit::new(value));
    }

    /// # Safety
    /// It has been written.
    #[inline(always)]
    pub(super) unsafe fn get(&self) -> T {
        // SAFETY: the field has been written, as the caller vouches.
        unsafe { self.0.get().assume_init() }
    }
}

/// A waiter: 56 bytes inside a waiting operation. Only the object and the place of the call are written
/// before it parks, and of an inline one nothing more.
#[repr(C)]
pub struct Node {
    pub(super) object: *const (),
    pub(super) location: &'static Location<'static>,
    /// The [`Kind`]; its three low bits are the state.
    pub(super) kind: Later<*const Kind>,
    pub(super) next: Later<NonNull<Node>>,
    pub(super) prev: Later<NonNull<Node>>,
    pub(super) waker_data: Later<*const ()>,
    pub(super) waker_vtable: Later<&'static RawWakerVTable>,
    _pinned: PhantomPinned,
}

#[cfg(target_pointer_width = "64")]
const _: () = assert!(size_of::<Node>() == 56);

crate::impl_debug!([] Node[], this => location: this.location);

impl Node {
    /// An idle node of an operation on `object`, called at `location`.
    #[inline(always)]
    pub fn new(object: *const (), location: &'static Location<'static>) -> Self {
        Self {
            next: Later::new(),
            prev: Later::new(),
            waker_data: Later::new(),
            waker_vtable: Later::new(),
            object,
            kind: Later::new(),
            location,
            _pinned: PhantomPinned,
        }
    }

    /// The primitive the operation is on.
    #[inline(always)]
    pub fn object(&self) -> *const () {
        self.object
    }

    /// Where the operation was called.
    pub fn location(&self) -> &'static Location<'static> {
        self.location
    }

    /// Returns the kind of the operation.
    ///
    /// # Safety
    /// The node has been parked.
    pub unsafe fn kind(&self) -> &'static Kind {
        // SAFETY: written by parking, as the caller vouches.
        let kind = unsafe { self.kind.get() };
        // SAFETY: made from a `&'static Kind`, whose alignment leaves the state's bits free.
        unsafe { &*kind.map_addr(|at| at & !STATE) }
    }

    /// Where the node stands; only under the primitive's lock, and when its list is not inline.
    ///
    /// Its operation asks when it is polled or dropped, and then acts on what is reserved for it; so that is not noted
    /// any more, for a test that hangs.
    ///
    /// # Safety
    /// The node has been parked.
    #[inline(always)]
    pub unsafe fn state(&self) -> State {
        // SAFETY: the node has been parked, as the caller vouches.
        let state = unsafe { self.raw_state() };
        if state == NOTIFIED {
            return self.acts(State::Notified);
        }
        match state {
            IDLE => State::Idle,
            RELEASED => self.acts(State::Released),
            _ => State::Parked,
        }
    }

    /// # Safety
    /// The node has been parked.
    #[inline(always)]
    pub(super) unsafe fn raw_state(&self) -> usize {
        // SAFETY: parking has written the kind, and the node has been parked, as the caller vouches.
        unsafe { self.kind.get() }.addr() & STATE
    }
}

/// The waker of a poll, by value: what nobody points at need not be in memory, and its vtable is known where
/// the poll is inlined into the one that made the waker.
#[derive(Debug, Clone, Copy)]
pub struct RawWakerParts<'a> {
    data: *const (),
    vtable: &'static RawWakerVTable,
    _waker: PhantomData<&'a Waker>,
}

impl<'a> RawWakerParts<'a> {
    /// The parts of a waker.
    #[inline(always)]
    pub fn new(waker: &'a Waker) -> Self {
        Self {
            data: waker.data(),
            vtable: waker.vtable(),
            _waker: PhantomData,
        }
    }

    /// Loans the waker itself out.
    #[inline(always)]
    pub fn with<R>(self, use_it: impl FnOnce(&Waker) -> R) -> R {
        // SAFETY: the parts are those of a waker that is borrowed as long as this lives, and the copy is not
        // dropped.
        let waker = unsafe { Waker::from_raw(RawWaker::new(self.data, self.vtable)) };
        use_it(&ManuallyDrop::new(waker))
    }

    #[inline(always)]
    pub(crate) fn data(self) -> *const () {
        self.data
    }

    #[cfg_attr(not(feature = "std"), allow(dead_code))]
    #[inline(always)]
    pub(crate) fn vtable(self) -> &'static RawWakerVTable {
        self.vtable
    }
}
