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
mod node;
#[cfg(feature = "std")]
pub mod packed;
mod poll_waker;
mod raw_waker;

use core::mem::ManuallyDrop;
use core::ptr::{self, NonNull};
use core::task::{RawWaker, Waker};

use crate::waker;

pub use self::deferred::Deferred;
#[cfg(feature = "std")]
pub(crate) use self::deferred::drop_quietly;
pub use self::list::WaitList;
pub use self::node::{Could, Kind, Node, State};
use self::node::{IDLE, LOANED, OWNED, STATE};
pub use self::poll_waker::PollWaker;
pub use self::raw_waker::RawWakerParts;

impl Node {
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
        // SAFETY: parked, so alive.
        unsafe { this.as_ref() }.kind.set(kind);
        waker::park_on(waker, this);
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
