//! The list of waiting nodes inside a primitive.

use core::cell::Cell;
use core::ptr::{self, NonNull};
use core::task::Waker;

use super::node::{BARE, LOANED, NOTIFIED, RELEASED};
use super::{Deferred, Kind, Node, Parked, PollWaker, RawWakerParts, State};
use crate::{context, waker};

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
    /// out, and so does this list. With `may_loan` the node never leaves this thread.
    #[inline(always)]
    pub unsafe fn park(
        &self,
        node: NonNull<Node>,
        kind: &'static Kind,
        waker: PollWaker<'_>,
        may_loan: bool,
    ) {
        // SAFETY: alive and in place.
        let new = unsafe { node.as_ref() };
        match self.oldest() {
            None => {
                new.link(node, node);
                self.0.set(node.as_ptr());
            }
            Some(first) => {
                let last = first.prev();
                first.node().prev.set(node);
                last.node().next.set(node);
                new.link(last.0, first.0);
            }
        }
        // SAFETY: under the lock, and in place, as the caller vouches.
        unsafe { new.keep(kind, waker, may_loan) };
    }

    /// The node that has waited longest: used under the lock alone, as it may be gone afterwards.
    #[inline(always)]
    fn oldest(&self) -> Option<Parked<'_>> {
        // SAFETY: nodes in the list have been parked, and live as long as the lock is held.
        self.first().map(|first| unsafe { Parked::new(first) })
    }

    /// Parks `node` inline, if its task can be loaned to it at no cost; `false` if not, and then nothing was done.
    /// `beside`, another list, keeps the task meanwhile: a wake finds it without a look at the node. `is_noted`: whether
    /// the node's kind is written and its task told of it.
    ///
    /// # Safety
    /// As [`WaitList::park`], with `may_loan`; and nobody waits here or there.
    #[inline(always)]
    pub unsafe fn park_inline(
        &self,
        beside: &Self,
        node: NonNull<Node>,
        kind: &'static Kind,
        waker: RawWakerParts<'_>,
        is_noted: impl FnOnce() -> bool,
    ) -> bool {
        let loaned = waker::loan_quickly(waker);
        if loaned {
            self.0.set(node.as_ptr());
            beside.0.set(waker.data().cast());
            // SAFETY: alive and in place.
            let parked = unsafe { node.as_ref() };
            if is_noted() {
                parked.kind.set(kind);
                parked.name(waker);
            }
        }
        loaned
    }

    /// Wakes the task of the inline node if the current thread runs it and it is parked; `false` if not, and then
    /// nothing was done. The caller's word says that the node is notified.
    ///
    /// # Safety
    /// Under the lock; the list is inline, with this one `beside`, and the node not notified.
    #[inline(always)]
    pub unsafe fn notify_inline_here(&self, beside: &Self) -> bool {
        // SAFETY: the task is loaned to the node, and therefore alive.
        unsafe { waker::wake_loaned_here(beside.0.get().cast()) }
    }

    /// Wakes the task of the inline node; the caller's word says that the node is notified.
    ///
    /// # Safety
    /// As [`WaitList::notify_inline_here`].
    #[inline(always)]
    pub unsafe fn notify_inline(&self, beside: &Self) -> Deferred {
        // SAFETY: the list names the node.
        let node = unsafe { NonNull::new_unchecked(self.0.get().cast_mut()) };
        // SAFETY: the task is loaned to the node, and therefore alive.
        Deferred(unsafe { waker::wake_loaned(beside.0.get().cast(), node) })
    }

    /// Empties the list, which no longer says anything: an inline node that was notified has left, or its task was woken.
    #[inline(always)]
    pub fn forget_inline(&self) {
        self.0.set(ptr::null());
    }

    /// Makes a proper list of an inline one (an empty one, if the node was released), and empties the one `beside`.
    ///
    /// # Safety
    /// Under the lock; the list is inline, with this one `beside`, and the node stands as `state` says (parked, notified
    /// or released), and is of this kind.
    #[cold]
    pub unsafe fn spill_inline(&self, beside: &Self, kind: &'static Kind, state: State) {
        // SAFETY: the list names the node.
        let node = unsafe { NonNull::new_unchecked(self.0.get().cast_mut()) };
        // SAFETY: it lives as long as the lock is held.
        let spilled = unsafe { node.as_ref() };
        spilled.link(node, node);
        spilled.waker_data.set(beside.0.replace(ptr::null()).cast());
        let state = match state {
            State::Notified if !crate::mutant!("settle_forgets_promise") => NOTIFIED,
            State::Released => {
                self.0.set(ptr::null());
                RELEASED
            }
            _ => LOANED,
        };
        spilled.set_kind(kind, state);
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
        waker: PollWaker<'_>,
        may_loan: bool,
    ) {
        // SAFETY: the caller keeps the contract of `park`.
        unsafe { self.park(node, kind, waker, may_loan) };
        if crate::mutant!("replace_parks_last") {
            return;
        }
        self.0.set(node.as_ptr());
    }

    /// A parked operation was polled again: from now on `waker` is the one to wake.
    ///
    /// # Returns
    /// What is to be dropped after the lock is given up: the waker it replaces, or this one's clone.
    ///
    /// # Safety
    /// Under the lock; the node is parked in this list; `may_loan` as when it parked.
    pub unsafe fn renew(
        &self,
        node: NonNull<Node>,
        waker: PollWaker<'_>,
        may_loan: bool,
    ) -> Option<Waker> {
        if crate::mutant!("renew_keeps_old_waker") {
            return waker.into_clone();
        }
        // SAFETY: nodes in the list have been parked, and are alive.
        let parked = unsafe { Parked::new(node) };
        if parked.will_wake(waker.parts()) {
            if context::is_told() {
                let node = parked.node();
                node.name(waker.parts());
                context::wants_operation(parked.kind().name, node.object.addr(), node.location);
            }
            return waker.into_clone();
        }
        let before = parked.let_go();
        // SAFETY: under the lock, and in place, as the caller vouches.
        unsafe { parked.node().keep(parked.kind(), waker, may_loan) };
        before
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
        // SAFETY: nodes in the list have been parked, and are alive.
        let gone = unsafe { Parked::new(node) };
        self.take_out(gone);
        gone.let_go()
    }

    /// Takes a notified node out: its operation acts on what was reserved for it.
    ///
    /// # Safety
    /// Under the lock; the node is in this list, and notified.
    #[inline(always)]
    pub unsafe fn unlink_notified(&self, node: NonNull<Node>) {
        // SAFETY: nodes in the list have been parked, and are alive.
        self.take_out(unsafe { Parked::new(node) });
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
        let first = self.oldest()?;
        self.take_out(first);
        Some(first.let_go())
    }

    /// Marks the node that has waited longest and wakes its task; the caller has reserved for it
    /// what it waits for. One of our tasks is scheduled here and now, under the lock: the node may
    /// be gone as soon as the lock is.
    ///
    /// # Safety
    /// Under the lock.
    #[inline(always)]
    pub unsafe fn notify_first(&self) -> Deferred {
        match self.oldest() {
            Some(first) => first.wake(NOTIFIED),
            None => Deferred::NOTHING,
        }
    }

    /// The node that has waited longest.
    #[inline(always)]
    pub fn first(&self) -> Option<NonNull<Node>> {
        NonNull::new(self.0.get().cast_mut())
    }

    /// The node that has waited longest of those that `is_it` accepts.
    ///
    /// # Safety
    /// Under the lock; the list is not inline.
    #[inline(always)]
    pub unsafe fn find(
        &self,
        mut is_it: impl FnMut(NonNull<Node>) -> bool,
    ) -> Option<NonNull<Node>> {
        let first = self.oldest()?;
        let mut node = first;
        while !is_it(node.0) {
            node = node.next();
            if node.0 == first.0 {
                return None;
            }
        }
        Some(node.0)
    }

    /// Takes the node that has waited longest out of the list, gives it what it waits for, and wakes its task, if that
    /// has not been done. The node may be gone as soon as the lock is.
    ///
    /// # Safety
    /// Under the lock.
    #[inline(always)]
    pub unsafe fn release_first(&self) -> Deferred {
        match self.first() {
            // SAFETY: under the lock; the first one is in the list.
            Some(first) => unsafe { self.release(first) },
            None => Deferred::NOTHING,
        }
    }

    /// As [`WaitList::release_first`], any node.
    ///
    /// # Safety
    /// Under the lock; the node is in this list.
    #[inline(always)]
    pub unsafe fn release(&self, node: NonNull<Node>) -> Deferred {
        // SAFETY: nodes in the list have been parked, and are alive.
        let released = unsafe { Parked::new(node) };
        self.take_out(released);
        released.wake(RELEASED)
    }

    /// Wakes the task of a node that goes on waiting where it is: it polls the operation, which is parked anew.
    ///
    /// # Safety
    /// Under the lock; the node is parked in this list.
    #[cold]
    pub unsafe fn rouse(&self, node: NonNull<Node>) -> Deferred {
        // SAFETY: nodes in the list have been parked, and are alive.
        unsafe { Parked::new(node) }.wake(BARE)
    }

    /// Takes a notification back: the first node goes on waiting, still first. Its task has been
    /// woken and will find so. Nothing, if it was not notified.
    ///
    /// # Safety
    /// Under the lock.
    #[cold]
    pub unsafe fn take_notification_back(&self) {
        if crate::mutant!("replace_keeps_promise") {
            return;
        }
        if let Some(first) = self.oldest()
            && first.state() == NOTIFIED
        {
            first.node().set_kind(first.kind(), BARE);
        }
    }

    /// Under the lock; the node is in this list.
    #[inline(always)]
    fn take_out(&self, gone: Parked<'_>) {
        let next = gone.next();
        if next.0 == gone.0 {
            self.0.set(ptr::null());
            return;
        }
        let prev = gone.prev();
        prev.node().next.set(next.0);
        next.node().prev.set(prev.0);
        if ptr::eq(self.0.get(), gone.0.as_ptr()) {
            self.0.set(next.0.as_ptr());
        }
    }
}

impl Default for WaitList {
    fn default() -> Self {
        Self::new()
    }
}
