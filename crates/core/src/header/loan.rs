//! Loaning a task to nodes that own no waker, and keeping a waker's reference in store.
//!
//! Both keep atomics off the way of a task that parks and is woken on its own thread.

use core::ptr::NonNull;

use super::{Header, QueueLink, TaskRef, TaskState, ref_count, ref_dec};
use crate::context::{self, Context};
use crate::waiter::Node;

impl TaskRef<'_> {
    /// Loans the task to a node, which will point at it without owning a waker; `false` if the task is not
    /// local to what this thread runs, or has loaned too often. It is given back by [`Header::end_loan`] or
    /// [`TaskRef::wake_loaned`].
    pub(crate) fn loan(self, context: &Context) -> bool {
        if self.loan_quickly(context) {
            return true;
        }
        // The waker of a poll may be any task's, so this one may have finished; then the runner's reference, which a
        // loan prolongs, is gone.
        let state = self.state();
        if state.is_done() || state.shard() != context.shard() || !state.may_loan() {
            return false;
        }
        // SAFETY: a local task of the shard that this thread runs.
        unsafe { self.set_state(state.with_loan()) };
        true
    }

    /// Like [`TaskRef::loan`], but only where that costs nothing: the task is running, and loaned to nobody.
    #[inline(always)]
    pub(crate) fn loan_quickly(self, context: &Context) -> bool {
        let state = self.state();
        let may = state == context.running_local();
        if may {
            // SAFETY: a local task of the shard that this thread runs.
            unsafe { self.set_state(state.with_loan()) };
        }
        may
    }

    /// Like [`TaskRef::wake_loaned`], where that is two stores: parked here, loaned to nobody else, and no other task
    /// woken so far.
    ///
    /// # Safety
    /// As [`TaskRef::wake_loaned`].
    #[inline(always)]
    pub(crate) unsafe fn wake_loaned_quickly(self, context: &Context) -> bool {
        let state = self.state();
        let may = state == context.loaned_local() && context.has_room();
        if may {
            // SAFETY: on the runner; loaned to one node, so parked; there is room.
            unsafe { context.schedule_only(self, state.woken_by_loan()) };
        }
        may
    }

    /// Ends a loan and queues the task; `false` if this thread does not run it, and then nothing was
    /// done.
    ///
    /// # Safety
    /// The task was loaned to `node`.
    pub(crate) unsafe fn wake_loaned(self, node: NonNull<Node>, context: &Context) -> bool {
        let state = self.state();
        if state.shard() != context.shard() {
            return false;
        }
        if state.is_done() {
            // SAFETY: on the runner; the loan is the caller's.
            unsafe { Header::end_loan(self.pointer(), node) };
            return true;
        }
        // SAFETY: on the runner; the loan is the caller's.
        unsafe { self.set_state(state.without_loan()) };
        // SAFETY: on the runner; local, so in no steal queue.
        unsafe { context::wake_here(context, self) };
        true
    }

    /// A reference for one more waker: the one in store, or a new one.
    #[inline(always)]
    pub(crate) fn take_ref(self, context: &Context) {
        let state = self.state();
        let is_its = || state.shard() == context.shard();
        let is_there = state.has_cached_ref() && !state.ignores_wake();
        if is_there && context.owns(self.pointer(), is_its) {
            // SAFETY: on the runner, and neither scheduled nor another's meanwhile; the reference goes to the caller.
            unsafe { self.set_state(state.without_cached_ref()) };
        } else {
            self.refs.ref_inc();
        }
    }

    /// Puts a waker's reference into the store, if this thread runs the task and the store is empty; `false` if not,
    /// and then nothing was done.
    ///
    /// # Safety
    /// The caller owns the reference.
    #[inline(always)]
    pub(crate) unsafe fn cache_ref(self, context: &Context) -> bool {
        let state = self.state();
        let is_its = || state.shard() == context.shard();
        let is_room = !state.has_cached_ref() && !state.ignores_wake();
        let may = is_room && context.owns(self.pointer(), is_its);
        if may {
            // SAFETY: on the runner, and neither scheduled nor another's meanwhile; the reference is the caller's.
            unsafe { self.set_state(state.with_cached_ref()) };
        }
        may
    }
}

impl Header {
    /// Ends a loan without waking.
    ///
    /// # Safety
    /// On the runner; the task was loaned to `node`.
    pub(crate) unsafe fn end_loan(this: NonNull<Header>, node: NonNull<Node>) {
        // SAFETY: the loan keeps the task alive, and ends last.
        let task: TaskRef<'_> = unsafe { TaskRef::new(this) };
        task.unpark_from(QueueLink::on_node(node));
        // SAFETY: on the runner; the loan is the caller's.
        unsafe { task.set_state(task.state().without_loan()) };
        // SAFETY: on the runner.
        unsafe { Self::ref_dec_if_over(this) };
    }
}

impl TaskRef<'_> {
    /// Like [`TaskRef::wake_owned`], where that is a few plain stores: a parked task, with no reference in store, and no
    /// other one woken so far. (It calls nothing, so that whoever it is inlined into saves no registers for it.)
    ///
    /// # Safety
    /// As [`TaskRef::wake_owned`].
    #[inline(always)]
    pub(crate) unsafe fn wake_owned_quickly(self, context: &Context) -> bool {
        let seen = self.look();
        let is_parked = seen.shard() == context.shard() && !seen.ignores_wake();
        if !is_parked || seen.has_cached_ref() {
            return false;
        }
        // SAFETY: inside, and the shard has not been open since it was seen: on the runner, and not scheduled; there is
        // room.
        let wake =
            || unsafe { context.schedule_only(self, seen.with_scheduled().with_cached_ref()) };
        context.inside_quickly(wake)
    }

    /// Queues the task of a waker and gives the waker's reference up, into the store if that is empty; `false` if this
    /// thread does not run it, and then nothing was done. One look decides ([`crate::waker`] says why).
    ///
    /// # Safety
    /// The caller owns the reference.
    pub(crate) unsafe fn wake_owned(self, context: &Context) -> bool {
        let seen = self.look();
        let is_here = seen.shard() == context.shard();
        let Some(access) = context.access_if_outside() else {
            // SAFETY: the caller's reference; seen here just now, and the runner is inside.
            return is_here && unsafe { self.wake_owned_inside(context, seen) };
        };
        if !is_here {
            return false;
        }
        if !access.go_inside() {
            // SAFETY: the caller's reference; the runner has found its shard open.
            return unsafe { self.wake_owned_while_open(context) };
        }
        // SAFETY: the caller's reference; the runner is inside, and the shard has not been open meanwhile.
        let woken = unsafe { self.wake_owned_inside(context, seen) };
        access.go_outside();
        woken
    }

    /// # Safety
    /// The caller owns the reference; the runner has said that it is inside, and goes out here.
    #[cold]
    #[inline(never)]
    unsafe fn wake_owned_while_open(self, context: &Context) -> bool {
        let woken = context.pool_hooks().wake_while_open(context, self);
        if woken {
            // SAFETY: the reference is the caller's, and given up last.
            unsafe { ref_dec(self.pointer(), ref_count::HANDLE) };
        }
        woken
    }

    /// # Safety
    /// The caller owns the reference; the runner is inside, and the task was seen here, so, since the shard was last
    /// open.
    #[inline(always)]
    unsafe fn wake_owned_inside(self, context: &Context, seen: TaskState) -> bool {
        if seen.ignores_wake() || seen.has_cached_ref() {
            // SAFETY: as the caller says.
            let woken = unsafe { context::wake_seen(context, self, seen) };
            if woken {
                // SAFETY: the reference is the caller's, and given up last.
                unsafe { ref_dec(self.pointer(), ref_count::HANDLE) };
            }
            return woken;
        }
        // SAFETY: on the runner; it was not scheduled.
        unsafe { context.schedule(self, seen.with_scheduled().with_cached_ref()) };
        true
    }
}
