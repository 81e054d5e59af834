//! The node inside a waiting operation, and the list of them inside a primitive.
//!
//! A waiting operation owns one [`Node`], in place: parking allocates nothing. All fields are
//! touched only under the lock of the primitive in whose [`WaitList`] the node is (or was) linked.
//!
//! | node state | meaning | in a list |
//! | --- | --- | --- |
//! | idle | never parked, or unlinked by its owner | no |
//! | parked, loaned | waits; points at its task without owning a waker | yes |
//! | parked, owned | waits; it owns a [`Waker`] | yes |
//! | parked, bare | waits; its task has been woken and will poll it and park it anew | yes |
//! | notified | the primitive has reserved something for it; its task has been woken | yes, first |
//! | released | what it waited for is its own; its task has been woken | no |
//!
//! A notified node stays first in its list until its owner acts on the reservation or is dropped. A released one
//! has left the list, so that the next may be released as well; its owner still finds that out under the lock.
//!
//! # Why a task must know of the nodes that point at it
//!
//! A task cannot end before the operations inside its future are dropped, so one would think a
//! node may point at its task for nothing. But an operation can be polled in one task, boxed, and
//! forgotten or handed to another task; then the first task ends while the node is linked. So a
//! node either owns a waker, which is counted; or, if it cannot leave its thread
//! ([`Local`](crate::policy::Local)) and its task cannot either, the task is *loaned* to it: the
//! task's header counts the loan, in plain memory (see [`crate::header`]).
//!
//! # The inline waiter
//!
//! Mostly there is one waiter. A primitive with two lists may then keep it *inline*: its list names the task,
//! which is loaned to the node, and the other list, empty otherwise, names the node. The node's kind, state
//! and links are not written; the primitive's word says the rest. So a wake finds the task by one load.
//! [`WaitList::spill_inline`] makes proper lists of the two, before anything else is done to them. When a inline
//! waiter has left, the lists are not emptied: [`WaitList::forget_inline`] does it, before they are looked at.

mod deferred;
mod list;
#[cfg(feature = "std")]
pub mod packed;
mod poll_waker;

use core::cell::Cell;
use core::fmt;
use core::marker::PhantomPinned;
use core::mem::{ManuallyDrop, MaybeUninit};
use core::panic::Location;
use core::ptr::{self, NonNull};
use core::task::{RawWaker, RawWakerVTable, Waker};

use crate::waker;

pub use self::deferred::Deferred;
#[cfg(feature = "std")]
pub(crate) use self::deferred::drop_quietly;
pub use self::list::WaitList;
pub use self::poll_waker::{PollWaker, RawWakerParts};

/// What an operation is and when it could go on; one static for each kind of operation.
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
}

/// Whether an operation that waits could complete: what a simulation asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Could {
    /// What it waits for has not come.
    No,
    /// Others were called for what has come, and it goes on only if none of them comes.
    IfOthersDoNot,
    /// What it waits for is there.
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

const IDLE: usize = 0;
const LOANED: usize = 1;
const OWNED: usize = 2;
const NOTIFIED: usize = 3;
const BARE: usize = 4;
const RELEASED: usize = 5;
const STATE: usize = 7;

/// A field that parking writes: before, there is nothing in it.
struct Later<T: Copy>(Cell<MaybeUninit<T>>);

impl<T: Copy> Later<T> {
    const fn new() -> Self {
        Self(Cell::new(MaybeUninit::uninit()))
    }

    #[inline(always)]
    fn set(&self, value: T) {
        self.0.set(MaybeUninit::new(value));
    }

    /// # Safety
    /// It has been written.
    #[inline(always)]
    unsafe fn get(&self) -> T {
        // SAFETY: passed on to the caller.
        unsafe { self.0.get().assume_init() }
    }
}

/// A waiter: 56 bytes inside a waiting operation. Only the object and the place of the call are written
/// before it parks, and a inline one writes no more.
#[repr(C)]
pub struct Node {
    object: *const (),
    location: &'static Location<'static>,
    /// The [`Kind`]; its three low bits are the state.
    kind: Later<*const Kind>,
    next: Later<*const Node>,
    prev: Later<*const Node>,
    waker_data: Later<*const ()>,
    waker_vtable: Later<&'static RawWakerVTable>,
    _pinned: PhantomPinned,
}

#[cfg(target_pointer_width = "64")]
const _: () = assert!(size_of::<Node>() == 56);

impl fmt::Debug for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Node")
            .field("location", &self.location)
            .finish_non_exhaustive()
    }
}

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

    /// What the operation is.
    ///
    /// # Safety
    /// The node has been parked.
    pub unsafe fn kind(&self) -> &'static Kind {
        // SAFETY: written by parking, as the caller vouches; made from a `&'static Kind`, whose alignment
        // leaves the state's bits free.
        unsafe { &*self.kind.get().map_addr(|at| at & !STATE) }
    }

    /// Where the node stands; only under the primitive's lock, and when its list is not inline.
    ///
    /// # Safety
    /// The node has been parked.
    #[inline(always)]
    pub unsafe fn state(&self) -> State {
        // SAFETY: passed on to the caller.
        match unsafe { self.raw_state() } {
            IDLE => State::Idle,
            NOTIFIED => State::Notified,
            RELEASED => State::Released,
            _ => State::Parked,
        }
    }

    /// # Safety
    /// The node has been parked.
    #[inline(always)]
    unsafe fn raw_state(&self) -> usize {
        // SAFETY: passed on to the caller.
        unsafe { self.kind.get() }.addr() & STATE
    }

    /// # Safety
    /// The node has been parked.
    #[inline(always)]
    unsafe fn set_state(&self, state: usize) {
        // SAFETY: passed on to the caller.
        self.kind
            .set(unsafe { self.kind.get() }.map_addr(|at| (at & !STATE) | state));
        #[cfg(all(debug_assertions, feature = "std", not(any(loom, shuttle))))]
        if matches!(state, LOANED | OWNED) {
            // SAFETY: written just now.
            let name = unsafe { self.kind() }.name;
            crate::waits::begins(
                ptr::from_ref(self).addr(),
                name,
                self.object.addr(),
                self.location,
            );
        } else {
            crate::waits::ends(ptr::from_ref(self).addr());
        }
    }

    /// Keeps a waker in the node: with `may_loan` its task is loaned if that can be.
    ///
    /// # Safety
    /// Under the primitive's lock; the node, whose kind is written, stays in place until it is unlinked.
    /// With `may_loan` it never leaves this thread. The waker is ready.
    #[inline(always)]
    unsafe fn keep(this: NonNull<Self>, new: &mut PollWaker<'_>, may_loan: bool) {
        // SAFETY: the caller vouches for the node, and the task that is being polled is alive.
        unsafe {
            let node = this.as_ref();
            if may_loan && waker::loan(new.waker()) {
                node.waker_data.set(new.waker().data());
                node.set_state(LOANED);
            } else {
                let owned = ManuallyDrop::new(new.take());
                node.waker_data.set(owned.data());
                node.waker_vtable.set(owned.vtable());
                node.set_state(OWNED);
            }
            waker::park_on(new.waker(), this);
        }
    }

    /// Notes, for dumps, what a inline node is and that its task waits with it.
    ///
    /// # Safety
    /// Under the primitive's lock; the node is inline, and the task that `waker` wakes is loaned to it.
    pub unsafe fn name_inline(this: NonNull<Self>, kind: &'static Kind, waker: &Waker) {
        // SAFETY: the caller vouches for both.
        unsafe {
            this.as_ref().kind.set(kind);
            waker::park_on(waker, this);
        }
    }

    /// Takes the owned waker out.
    ///
    /// # Safety
    /// The state was `OWNED`, and has been changed.
    #[inline(always)]
    unsafe fn take_waker(&self) -> Waker {
        // SAFETY: these are the parts of the waker that `keep` put here.
        unsafe {
            Waker::from_raw(RawWaker::new(
                self.waker_data.get(),
                self.waker_vtable.get(),
            ))
        }
    }

    /// Marks the node as idle and no longer holding a waker.
    ///
    /// # Returns
    /// The waker it owned, to be dropped after the primitive's lock is given up.
    ///
    /// # Safety
    /// Under the lock; the node has been parked and is not notified.
    unsafe fn let_go(this: NonNull<Self>) -> Option<Waker> {
        // SAFETY: the node is alive and parked; a loan or an owned waker keeps its task alive.
        unsafe {
            let parked = this.as_ref();
            let state = parked.raw_state();
            parked.set_state(IDLE);
            match state {
                LOANED => {
                    waker::end_loan(parked.waker_data.get(), this);
                    None
                }
                OWNED => {
                    let owned = parked.take_waker();
                    waker::unpark_from(&owned, this);
                    Some(owned)
                }
                _ => None,
            }
        }
    }

    /// Whether the parked node would wake what `other` wakes.
    ///
    /// # Safety
    /// The state is `LOANED` or `OWNED`.
    unsafe fn will_wake(&self, other: &Waker) -> bool {
        // SAFETY: both states have the data, and `OWNED` has the vtable.
        unsafe {
            self.waker_data.get() == other.data()
                && if self.raw_state() == LOANED {
                    waker::is_ours(other.vtable())
                } else {
                    ptr::eq(self.waker_vtable.get(), other.vtable())
                }
        }
    }
}
