//! The node inside a waiting operation, and the list of them inside a primitive.
//!
//! A waiting operation owns one [`Node`], in place: parking allocates nothing. All fields are
//! touched only under the lock of the primitive in whose [`WaitList`] the node is (or was) linked.
//!
//! | node state | meaning | in a list |
//! | --- | --- | --- |
//! | idle | never parked, or unlinked by its owner | no |
//! | parked, loaned | waits; points at its task without owning a waker | yes |
//! | parked, owned | waits; it owns a reference to its task | yes |
//! | parked, foreign | waits; it owns a [`Waker`] that is none of ours | yes |
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
//! node either owns a reference, which is counted; or, if it cannot leave its thread
//! ([`Local`](crate::policy::Local)) and its task cannot either, the task is *loaned* to it: the
//! task's header counts the loan, in plain memory (see [`crate::header`]).
//!
//! # The inline waiter
//!
//! Mostly there is one waiter. A primitive of one thread may then keep it *inline*: its list names the node, and another
//! list of the primitive the task, which is loaned to the node. Nothing of the node is written; the primitive's word
//! says the rest. [`WaitList::spill_inline`] makes a proper list of it, before anything else is done to the list. When an
//! inline waiter has left, the list is not emptied: [`WaitList::forget_inline`] does it, before the list is looked at.

mod deferred;
mod list;
mod node;
#[cfg(feature = "std")]
pub mod packed;
mod poll_waker;

use core::marker::PhantomData;
use core::mem::ManuallyDrop;
use core::ptr::{self, NonNull};
use core::task::{RawWaker, Waker};

use crate::{context, waker};

pub use self::deferred::Deferred;
pub(crate) use self::deferred::drop_quietly;
pub use self::list::WaitList;
pub use self::node::{Begins, Could, Kind, Node, RawWakerParts, State};
use self::node::{FOREIGN, IDLE, LOANED, OWNED, STATE};
pub use self::poll_waker::PollWaker;

impl Node {
    /// Keeps a waker in the node: with `may_loan` its task is loaned if that can be.
    ///
    /// # Safety
    /// Under the primitive's lock; the node stays in place until it is unlinked. With `may_loan` it never leaves this
    /// thread.
    #[inline(always)]
    unsafe fn keep(&self, kind: &'static Kind, new: PollWaker<'_>, may_loan: bool) {
        let parts = new.parts();
        let state = if may_loan && waker::loan(parts) {
            self.waker_data.set(parts.data());
            LOANED
        } else {
            let owned = ManuallyDrop::new(new.into_owned());
            self.waker_data.set(owned.data());
            if waker::is_ours(owned.vtable()) {
                OWNED
            } else {
                self.waker_vtable.set(owned.vtable());
                FOREIGN
            }
        };
        self.set_kind(kind, state);
        self.name(parts);
    }

    /// Says what the operation is and where the node stands.
    #[inline(always)]
    fn set_kind(&self, kind: *const Kind, state: usize) {
        self.kind.set(kind.map_addr(|at| at & !STATE | state));
        #[cfg(all(debug_assertions, feature = "std", not(any(loom, shuttle))))]
        self.note(state);
    }

    /// Notes, for a test that hangs, that the node begins to wait, has something reserved for it, or does not wait any
    /// more.
    #[cfg(all(debug_assertions, feature = "std", not(any(loom, shuttle))))]
    fn note(&self, state: usize) {
        let at = ptr::from_ref(self).addr();
        match state {
            LOANED | OWNED | FOREIGN => {
                // SAFETY: the kind has just been written.
                let name = unsafe { self.kind() }.name;
                crate::waits::begins(at, name, self.object.addr(), self.location);
            }
            node::NOTIFIED | node::RELEASED => crate::waits::is_promised(at),
            _ => crate::waits::ends(at),
        }
    }

    /// The operation acts on what is reserved for it.
    #[inline(always)]
    fn acts(&self, state: State) -> State {
        #[cfg(all(debug_assertions, feature = "std", not(any(loom, shuttle))))]
        crate::waits::ends(ptr::from_ref(self).addr());
        state
    }

    /// Whether a node that parks inline is noted: for dumps of a simulation, and to find errors.
    #[inline(always)]
    pub(crate) fn is_noted() -> bool {
        cfg!(debug_assertions) || context::is_watched()
    }

    /// Notes, for dumps of a simulation, that the task that is being polled parks on the node.
    #[inline(always)]
    fn name(&self, waker: RawWakerParts<'_>) {
        if context::is_watched() {
            waker::park_on(waker, NonNull::from_ref(self));
        }
    }

    /// Links the node with its neighbours.
    #[inline(always)]
    fn link(&self, prev: NonNull<Node>, next: NonNull<Node>) {
        self.prev.set(prev);
        self.next.set(next);
    }
}

/// A node that has been parked, and that lives: its fields are written, as its state says. (By a pointer, which reaches
/// the whole operation.)
#[derive(Clone, Copy)]
struct Parked<'l>(NonNull<Node>, PhantomData<&'l Node>);

/// How a node wakes its task.
enum Waking {
    Loan(*const ()),
    /// A waker of ours.
    Owned(Waker),
    Foreign(Waker),
    Nothing,
}

impl<'l> Parked<'l> {
    /// # Safety
    /// As long as the result is used, the lock is held under which the node was parked, and the node lives. It is not
    /// inline.
    #[inline(always)]
    unsafe fn new(node: NonNull<Node>) -> Self {
        Self(node, PhantomData)
    }

    #[inline(always)]
    fn node(self) -> &'l Node {
        // SAFETY: it lives.
        unsafe { self.0.as_ref() }
    }

    #[inline(always)]
    fn state(self) -> usize {
        // SAFETY: it has been parked.
        unsafe { self.node().raw_state() }
    }

    #[inline(always)]
    fn kind(self) -> &'static Kind {
        // SAFETY: it has been parked.
        unsafe { self.node().kind() }
    }

    #[inline(always)]
    fn next(self) -> Self {
        // SAFETY: parking writes it.
        let next = unsafe { self.node().next.get() };
        // SAFETY: a node in a list has neighbours that have been parked and live as long as the lock is held.
        unsafe { Self::new(next) }
    }

    #[inline(always)]
    fn prev(self) -> Self {
        // SAFETY: parking writes it.
        let prev = unsafe { self.node().prev.get() };
        // SAFETY: as in `next`.
        unsafe { Self::new(prev) }
    }

    #[inline(always)]
    fn waker_data(self) -> *const () {
        // SAFETY: parking writes it.
        unsafe { self.node().waker_data.get() }
    }

    /// Sets the state to one in which the node keeps nothing, and takes out what it kept.
    #[inline(always)]
    fn take(self, state: usize) -> Waking {
        let before = self.state();
        self.node().set_kind(self.kind(), state);
        match before {
            LOANED => Waking::Loan(self.waker_data()),
            // SAFETY: the reference was put here, and is not taken again.
            OWNED => Waking::Owned(unsafe { waker::from_data(self.waker_data()) }),
            FOREIGN => {
                // SAFETY: written with this state.
                let vtable = unsafe { self.node().waker_vtable.get() };
                let raw = RawWaker::new(self.waker_data(), vtable);
                // SAFETY: these are the parts of a waker that was put here, and is not taken again.
                Waking::Foreign(unsafe { Waker::from_raw(raw) })
            }
            _ => Waking::Nothing,
        }
    }

    /// Marks the node as idle and no longer holding a waker.
    ///
    /// # Returns
    /// The waker it owned, to be dropped after the primitive's lock is given up.
    fn let_go(self) -> Option<Waker> {
        let node = self.0;
        match self.take(IDLE) {
            Waking::Loan(data) => {
                // SAFETY: the loan keeps the task alive, and is ended once.
                unsafe { waker::end_loan(data, node) };
                None
            }
            Waking::Owned(owned) | Waking::Foreign(owned) => {
                waker::unpark_from(&owned, node);
                Some(owned)
            }
            Waking::Nothing => None,
        }
    }

    /// Gives the node this state and wakes its task, if it has not been woken before. The node may be gone as soon as
    /// the lock is.
    #[inline(always)]
    fn wake(self, state: usize) -> Deferred {
        let node = self.0;
        Deferred(match self.take(state) {
            // SAFETY: the loan keeps the task alive, and is ended once.
            Waking::Loan(data) => unsafe { waker::wake_loaned(data, node) },
            Waking::Owned(waker) => waker::wake_owned(waker),
            Waking::Foreign(waker) => Some(waker),
            Waking::Nothing => None,
        })
    }

    /// Whether the node keeps a waker that wakes what `other` wakes.
    fn will_wake(self, other: RawWakerParts<'_>) -> bool {
        match self.state() {
            LOANED | OWNED => self.waker_data() == other.data() && waker::is_ours(other.vtable()),
            FOREIGN => {
                // SAFETY: written with this state.
                let vtable = unsafe { self.node().waker_vtable.get() };
                self.waker_data() == other.data() && ptr::eq(vtable, other.vtable())
            }
            _ => false,
        }
    }
}
