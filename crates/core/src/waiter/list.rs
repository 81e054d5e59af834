//! The list of waiting nodes inside a primitive.

use core::cell::Cell;
use core::ptr::{self, NonNull};
use core::task::Waker;

use super::node::{BARE, IDLE, LOANED, NOTIFIED, OWNED, RELEASED};
use super::{Deferred, Kind, Node, PollWaker, RawWakerParts};
use crate::waker;

/// Nodes in order of arrival: a circular list, of which the primitive holds the oldest.
#[derive(Debug)]
pub struct WaitList(Cell<*const Node>);

impl WaitList {
    /// Nobody waits.
    #[inline(always)]
    pub const fn new() -> Self {
        Self(Cell::new(ptr::null()))
    }

    /// Whether nobody waits.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.0.get().is_null()
    }

    /// Parks `node` behind all others, to be woken by `waker`.
    ///
    /// # Safety
    /// Under the lock; the node is idle and stays where it is until [`WaitList::unlink`] has taken it
    /// out, and so does this list. With `may_loan` the node never leaves this thread. The waker is ready.
    #[inline(always)]
    pub unsafe fn park(
        &self,
        node: NonNull<Node>,
        kind: &'static Kind,
        waker: &mut PollWaker<'_>,
        may_loan: bool,
    ) {
        // SAFETY: passed on to the caller.
        unsafe {
            node.as_ref().kind.set(kind);
            self.put_last(node);
            Node::keep(node, waker, may_loan);
        }
    }

    /// Parks `node` as the only one of the two lists, if its task can be loaned to it at no cost; `false` if not,
    /// and then nothing was done. The lists are then inline.
    ///
    /// # Safety
    /// As [`WaitList::park`], with `may_loan`; and nobody waits in either list.
    #[inline(always)]
    pub unsafe fn park_inline(
        &self,
        other: &Self,
        node: NonNull<Node>,
        waker: RawWakerParts<'_>,
    ) -> bool {
        let loaned = waker::loan_quickly(waker);
        if loaned {
            self.0.set(waker.data().cast());
            other.0.set(node.as_ptr());
        }
        loaned
    }

    /// Wakes the task of the only node, which is in this list, if the current thread runs it and it is
    /// parked; `false` if not, and then nothing was done. The caller's word says that it is notified.
    ///
    /// # Safety
    /// Under the lock; the lists are inline, and the node not notified.
    #[inline(always)]
    pub unsafe fn notify_inline_here(&self) -> bool {
        // SAFETY: this list names a task, which is loaned and therefore alive.
        unsafe { waker::wake_loaned_here(self.0.get().cast()) }
    }

    /// Wakes the task of the only node, which is in this list; the caller's word says that it is notified.
    ///
    /// # Safety
    /// Under the lock; the lists are inline, and the node not notified.
    #[inline(always)]
    pub unsafe fn notify_inline(&self, other: &Self) -> Deferred {
        // SAFETY: the lists name a task and the node it is loaned to.
        Deferred(unsafe {
            waker::wake_loaned(
                self.0.get().cast(),
                NonNull::new_unchecked(other.0.get().cast_mut()),
            )
        })
    }

    /// Empties the list, which no longer says anything: a inline node that was notified has left.
    #[inline(always)]
    pub fn forget_inline(&self) {
        self.0.set(ptr::null());
    }

    /// Makes proper lists of two inline ones; the node is in this one.
    ///
    /// # Safety
    /// Under the lock; the lists are inline, and the node notified or not, and of the kind, as told.
    #[cold]
    pub unsafe fn spill_inline(&self, other: &Self, kind: &'static Kind, notified: bool) {
        let task = self.0.replace(other.0.replace(ptr::null()));
        // SAFETY: the other list named the node, which has been parked, and is alive as long as the lock is
        // held.
        unsafe {
            let node = &*self.0.get();
            node.kind.set(kind);
            node.next.set(node);
            node.prev.set(node);
            node.waker_data.set(task.cast());
            let notified = notified && !crate::mutant!("settle_forgets_promise");
            node.set_state(if notified { NOTIFIED } else { LOANED });
        }
    }

    /// Parks `node` before all others.
    ///
    /// # Safety
    /// As [`WaitList::park`]; and the first node is not notified.
    #[cold]
    pub unsafe fn park_first(
        &self,
        node: NonNull<Node>,
        kind: &'static Kind,
        waker: &mut PollWaker<'_>,
        may_loan: bool,
    ) {
        // SAFETY: passed on to the caller.
        unsafe { self.park(node, kind, waker, may_loan) };
        if crate::mutant!("replace_parks_last") {
            return;
        }
        self.0.set(node.as_ptr());
    }

    /// # Safety
    /// As [`WaitList::park`].
    unsafe fn put_last(&self, node: NonNull<Node>) {
        let first = self.0.get();
        // SAFETY: the caller's node is alive, and so are those in the list.
        unsafe {
            let new = node.as_ref();
            if first.is_null() {
                new.next.set(new);
                new.prev.set(new);
                self.0.set(new);
                return;
            }
            let last = (*first).prev.get();
            (*first).prev.set(new);
            (*last).next.set(new);
            new.next.set(first);
            new.prev.set(last);
        }
    }

    /// Whether the node keeps this very waker already, so that renewing it needs no clone. One that was notified keeps
    /// none: its parts still say which that was, or were never written.
    ///
    /// # Safety
    /// Under the lock; the node is in this list.
    pub unsafe fn is_current(&self, node: NonNull<Node>, waker: &PollWaker<'_>) -> bool {
        // SAFETY: nodes in the list are alive; the parts are looked at where they are written.
        unsafe {
            let parked = node.as_ref();
            matches!(parked.raw_state(), LOANED | OWNED) && parked.will_wake(waker.waker())
        }
    }

    /// A parked operation was polled again: from now on `waker` is the one to wake.
    ///
    /// # Returns
    /// The waker it replaces, to be dropped after the lock is given up.
    ///
    /// # Safety
    /// Under the lock; the node is parked in this list; `may_loan` as when it parked. The waker is ready, or
    /// is the current one.
    pub unsafe fn renew(
        &self,
        node: NonNull<Node>,
        waker: &mut PollWaker<'_>,
        may_loan: bool,
    ) -> Option<Waker> {
        // SAFETY: parked nodes are alive, and so is a task that is being polled.
        unsafe {
            if crate::mutant!("renew_keeps_old_waker") {
                return None;
            }
            if self.is_current(node, waker) {
                waker::park_on(waker.waker(), node);
                return None;
            }
            let before = Node::let_go(node);
            Node::keep(node, waker, may_loan);
            before
        }
    }

    /// Takes a parked or notified node out: its operation is complete, or dropped.
    ///
    /// # Returns
    /// Its waker, to be dropped after the lock is given up.
    ///
    /// # Safety
    /// Under the lock; the node is in this list.
    #[inline(always)]
    pub unsafe fn unlink(&self, node: NonNull<Node>) -> Option<Waker> {
        // SAFETY: passed on to the caller.
        unsafe {
            self.take_out(node);
            if node.as_ref().raw_state() == NOTIFIED {
                node.as_ref().set_state(IDLE);
                None
            } else {
                Node::let_go(node)
            }
        }
    }

    /// Takes the oldest node out, if there is one, because the primitive is about to go: only operations
    /// that were forgotten can still wait.
    ///
    /// # Returns
    /// Its waker, to be dropped after the lock is given up.
    ///
    /// # Safety
    /// Under the lock; the list is not inline.
    #[cold]
    pub unsafe fn unlink_first(&self) -> Option<Option<Waker>> {
        // SAFETY: nodes in the list are alive.
        NonNull::new(self.0.get().cast_mut()).map(|node| unsafe { self.unlink(node) })
    }

    /// Marks the node that has waited longest and wakes its task; the caller has reserved for it
    /// what it waits for. One of our tasks is scheduled here and now, under the lock: the node may
    /// be gone as soon as the lock is.
    ///
    /// # Safety
    /// Under the lock; the list is not empty, and its first node not notified.
    #[inline(always)]
    pub unsafe fn notify_first(&self) -> Deferred {
        // SAFETY: the list is not empty.
        let node = unsafe { NonNull::new_unchecked(self.0.get().cast_mut()) };
        // SAFETY: nodes in the list are alive as long as the lock is held.
        unsafe { Self::wake(node, NOTIFIED) }
    }

    /// The node that has waited longest.
    #[inline(always)]
    pub fn first(&self) -> Option<NonNull<Node>> {
        NonNull::new(self.0.get().cast_mut())
    }

    /// Takes the node that has waited longest out of the list, gives it what it waits for, and wakes its task, if that
    /// has not been done. The node may be gone as soon as the lock is.
    ///
    /// # Safety
    /// Under the lock; the list is not empty.
    #[inline(always)]
    pub unsafe fn release_first(&self) -> Deferred {
        // SAFETY: the list is not empty, and nodes in it are alive as long as the lock is held, also those that were
        // just taken out: their owners ask for the state under the lock before they go.
        unsafe {
            let node = NonNull::new_unchecked(self.0.get().cast_mut());
            self.take_out(node);
            Self::wake(node, RELEASED)
        }
    }

    /// Gives a node this state and wakes its task, if it has not been woken before.
    ///
    /// # Safety
    /// Under the lock; the node is alive and has been parked.
    #[inline(always)]
    unsafe fn wake(node: NonNull<Node>, new: usize) -> Deferred {
        // SAFETY: alive; a loan or an owned waker keeps the node's task alive.
        unsafe {
            let woken = node.as_ref();
            let state = woken.raw_state();
            woken.set_state(new);
            Deferred(match state {
                LOANED => waker::wake_loaned(woken.waker_data.get(), node),
                OWNED => {
                    let waker = woken.take_waker();
                    if waker::is_ours(waker.vtable()) {
                        waker::wake_owned(waker)
                    } else {
                        Some(waker)
                    }
                }
                _ => None,
            })
        }
    }

    /// Takes a notification back: the first node goes on waiting, still first. Its task has been
    /// woken and will find so.
    ///
    /// # Safety
    /// Under the lock; the first node is notified.
    #[cold]
    pub unsafe fn take_notification_back(&self) {
        if crate::mutant!("replace_keeps_promise") {
            return;
        }
        // SAFETY: the list is not empty, and nodes in it are alive as long as the lock is held.
        unsafe { (*self.0.get()).set_state(BARE) };
    }

    /// # Safety
    /// Under the lock; the node is in this list.
    #[inline(always)]
    unsafe fn take_out(&self, node: NonNull<Node>) {
        // SAFETY: nodes in the list are alive.
        unsafe {
            let gone = node.as_ref();
            let next = gone.next.get();
            if ptr::eq(next, gone) {
                self.0.set(ptr::null());
                return;
            }
            let prev = gone.prev.get();
            (*prev).next.set(next);
            (*next).prev.set(prev);
            if ptr::eq(self.0.get(), gone) {
                self.0.set(next);
            }
        }
    }
}

impl Default for WaitList {
    fn default() -> Self {
        Self::new()
    }
}
