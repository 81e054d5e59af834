//! Lending a task to nodes that own no waker, and keeping a waker's hold in store.
//!
//! Both keep atomics off the way of a task that parks and is woken on its own thread.

use core::ptr::NonNull;

use super::{Header, Parked, life, release};
use crate::context::{self, Context};
use crate::home::Home;
use crate::waiter::Node;

impl Header {
    /// Lends the task to a node, which will point at it without owning a waker; `false` if the task is not
    /// local to what this thread drives, or has lent too often.
    ///
    /// # Safety
    /// The task is alive; it is given back by [`Header::take_back`] or [`Header::wake_lent`].
    pub(crate) unsafe fn lend(this: NonNull<Header>, context: &Context) -> bool {
        // SAFETY: passed on to the caller.
        if unsafe { Self::lend_quickly(this, context) } {
            return true;
        }
        // SAFETY: alive. (The waker of a poll may be any task's, so this one may have finished; then the
        // driver's hold, which a loan prolongs, is gone.)
        let header = unsafe { this.as_ref() };
        let place = header.place();
        if place.is_done() || place.home() != context.home() || !place.may_lend() {
            return false;
        }
        header.set_place(place.lend());
        true
    }

    /// The same, only if it costs nothing: the task is running, and lent to nobody.
    ///
    /// # Safety
    /// As [`Header::lend`].
    #[inline(always)]
    pub(crate) unsafe fn lend_quickly(this: NonNull<Header>, context: &Context) -> bool {
        // SAFETY: alive.
        let header = unsafe { this.as_ref() };
        let place = header.place();
        let may = place == context.running_local();
        if may {
            header.set_place(place.lend());
        }
        may
    }

    /// Ends a loan without waking.
    ///
    /// # Safety
    /// On the driver; the task was lent to `node`.
    pub(crate) unsafe fn take_back(this: NonNull<Header>, node: NonNull<Node>) {
        // SAFETY: the loan keeps the task alive, and ends last.
        unsafe {
            Self::unpark_from(this, Parked::on_node(node));
            let header = this.as_ref();
            header.set_place(header.place().give_back());
            Self::let_go_if_over(this);
        }
    }

    /// Ends a loan and queues the task; `false` if this thread does not drive it, and then nothing was
    /// done.
    ///
    /// # Safety
    /// The task was lent to `node`.
    #[inline(always)]
    pub(crate) unsafe fn wake_lent(
        this: NonNull<Header>,
        node: NonNull<Node>,
        context: &Context,
    ) -> bool {
        // SAFETY: passed on to the caller.
        unsafe {
            Self::wake_lent_quickly(this, context) || Self::wake_lent_slowly(this, node, context)
        }
    }

    /// # Safety
    /// As [`Header::wake_lent`].
    #[inline(always)]
    pub(crate) unsafe fn wake_lent_quickly(this: NonNull<Header>, context: &Context) -> bool {
        // SAFETY: the loan keeps the task alive.
        let header = unsafe { this.as_ref() };
        let place = header.place();
        let may = place == context.lent_local() && context.has_room();
        if may {
            header.set_place(place.woken_by_lender());
            context.set_only_woken(this);
        }
        may
    }

    /// # Safety
    /// As [`Header::wake_lent`].
    #[cold]
    #[inline(never)]
    unsafe fn wake_lent_slowly(
        this: NonNull<Header>,
        node: NonNull<Node>,
        context: &Context,
    ) -> bool {
        // SAFETY: the loan keeps the task alive.
        let header = unsafe { this.as_ref() };
        if header.place().home() != context.home() {
            return false;
        }
        // SAFETY: on the driver; alive, as the loan is ended last.
        unsafe {
            if header.place().is_done() {
                Self::take_back(this, node);
                return true;
            }
            header.set_place(header.place().give_back());
            context::wake_here(context, this);
        }
        true
    }

    /// A hold for one more waker: the one in store, or a new one.
    ///
    /// # Safety
    /// The task is alive.
    #[inline(always)]
    pub(crate) unsafe fn take_hold(this: NonNull<Header>, context: &Context) {
        // SAFETY: alive.
        let header = unsafe { this.as_ref() };
        let place = header.place();
        let ours = place.home() == context.home() && !place.ignores_wake();
        if ours && place.has_spare() && context.owns(this) {
            header.set_place(place.without_spare());
        } else {
            header.life.add_handle();
        }
    }

    /// Puts a waker's hold into the store, if this thread drives the task and the store is empty; `false` if not, and
    /// then nothing was done.
    ///
    /// # Safety
    /// The caller owns the hold.
    #[inline(always)]
    pub(crate) unsafe fn store_hold(this: NonNull<Header>, context: &Context) -> bool {
        // SAFETY: the hold keeps the task alive.
        let header = unsafe { this.as_ref() };
        let place = header.place();
        let ours = place.home() == context.home() && !place.ignores_wake();
        let may = ours && !place.has_spare() && context.owns(this);
        if may {
            header.set_place(place.with_spare());
        }
        may
    }

    /// Queues the task of a waker and gives the waker's hold up, into the store if that is empty;
    /// `false` if this thread does not drive it, and then nothing was done.
    ///
    /// # Safety
    /// The caller owns the hold.
    #[inline(always)]
    pub(crate) unsafe fn wake_held(this: NonNull<Header>, context: &Context) -> bool {
        let Some(marks) = context.marks_if_out() else {
            // SAFETY: passed on to the caller; the driver is inside.
            return unsafe { Self::wake_held_inside(this, context) };
        };
        if !marks.come_in() {
            // SAFETY: passed on to the caller; the driver has found its home open.
            return unsafe { Self::wake_held_while_open(this, context) };
        }
        // SAFETY: passed on to the caller; the driver is inside.
        let woken = unsafe { Self::wake_held_inside(this, context) };
        marks.go_out();
        woken
    }

    /// # Safety
    /// As [`Header::wake_held`]; the driver has said that it is inside, and goes out here.
    #[cold]
    #[inline(never)]
    unsafe fn wake_held_while_open(this: NonNull<Header>, context: &Context) -> bool {
        // SAFETY: the hold keeps the task alive.
        let woken = unsafe { Home::at(context.home()).wake_while_open(context, this) };
        if woken {
            // SAFETY: the hold is the caller's, and given up last.
            unsafe { release(this, life::HANDLE) };
        }
        woken
    }

    /// # Safety
    /// As [`Header::wake_held`]; the driver is inside.
    #[inline(always)]
    unsafe fn wake_held_inside(this: NonNull<Header>, context: &Context) -> bool {
        // SAFETY: the hold keeps the task alive.
        let header = unsafe { this.as_ref() };
        let place = header.place();
        if place.home() != context.home() {
            return false;
        }
        if place.ignores_wake() || place.has_spare() {
            // SAFETY: the hold is given up last.
            unsafe {
                let woken = context::wake_inside(context, this);
                if woken {
                    release(this, life::HANDLE);
                }
                return woken;
            }
        }
        // SAFETY: on the driver; alive.
        unsafe {
            header.set_place(header.place().with_scheduled().with_spare());
            context.push_woken(this);
        }
        true
    }
}
