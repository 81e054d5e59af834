//! Where the runner of a shard that may be found stuck stands: `access_flag.rs` tells the protocol.

use core::ptr::NonNull;

use super::{AccessFlag, Context, wake_inside};
use crate::header::{Header, ScheduledTask, TaskRef};
use crate::shard::{PoolHooks, Shard, add_to_list};

impl Context {
    /// A poll begins.
    ///
    /// # Safety
    /// The flag is the shard's, and until [`Context::end_outside`] this thread touches the shard's plain memory only as a
    /// poll does: by wakes.
    #[inline(always)]
    pub unsafe fn begin_outside(&self, access: &AccessFlag) {
        access.go_outside();
    }

    /// A poll has ended: the shard's plain memory is the runner's again.
    ///
    /// # Safety
    /// The flag is the shard's.
    #[inline(always)]
    pub unsafe fn end_outside(&self, access: &AccessFlag) {
        if !access.go_inside() {
            self.pool_hooks().close();
        }
    }

    /// The access flag of the shard that is run, if its runner may be found stuck.
    #[inline(always)]
    pub fn access_flag(&self) -> Option<&'static AccessFlag> {
        self.access.get()
    }

    /// The runner leaves the shard's plain memory alone, but for wakes.
    #[inline(always)]
    pub(super) fn go_outside(&self) {
        if let Some(access) = self.access.get() {
            access.go_outside();
        }
    }

    /// The shard's plain memory is the runner's again.
    #[inline(always)]
    pub fn go_inside(&self) {
        if let Some(access) = self.access.get() {
            // SAFETY: that of the shard that is run.
            unsafe { self.end_outside(access) };
        }
    }

    /// [`Context::go_inside`] in the midst of a poll, or of the runner's own code. Returns `true` if the caller has to
    /// go outside again.
    pub(super) fn go_inside_if_outside(&self) -> bool {
        let was_outside = self.is_outside();
        if was_outside {
            self.go_inside();
        }
        was_outside
    }

    /// The task yields, if it is the one that is being polled: that is noted, and the runner asks for it after the poll.
    /// `false` if it is another, and then nothing was done.
    #[inline(always)]
    pub(crate) fn yields(&self, task: NonNull<Header>) -> bool {
        let polled = self.polling() == Some(task);
        if polled {
            self.yielded.set(true);
        }
        polled
    }

    /// Whether the task that is being polled will be polled again; not, if it is at its end.
    pub(super) fn polled_is_woken(&self) -> bool {
        let is_woken = |task: TaskRef<'_>| {
            let state = task.look();
            let is_done = state.is_done() && !crate::mutant!("polled_after_its_end");
            !is_done && (self.yielded.get() || state.is_scheduled())
        };
        self.with_polled(is_woken).unwrap_or(false)
    }

    /// Whether the task that was polled last has yielded.
    #[inline(always)]
    pub fn has_yielded(&self) -> bool {
        self.yielded.get() && !crate::mutant!("yield_forgotten")
    }

    /// The task that was polled last, which has yielded, as one that is to be queued; `None` if it is queued already.
    ///
    /// # Safety
    /// It is pending, and this thread runs its shard, inside.
    #[inline(always)]
    pub unsafe fn schedule_yielded(&self, task: NonNull<Header>) -> Option<ScheduledTask> {
        // SAFETY: pending, so alive.
        let task: TaskRef<'_> = unsafe { TaskRef::new(task) };
        let state = task.state();
        // SAFETY: on the runner, and not scheduled.
        (!state.ignores_wake()).then(|| unsafe { task.schedule(state.with_scheduled()) })
    }

    /// Runs foreign code that is part of no poll, but may be stuck as one is: out of the shard, if the runner is
    /// inside.
    pub(crate) fn outside(run: impl FnOnce()) {
        /// Goes inside again, also if the code panics.
        struct GoesInside;
        impl Drop for GoesInside {
            fn drop(&mut self) {
                super::with(Context::go_inside);
            }
        }
        let goes_outside = super::with(|context| {
            let inside = context.access.get().is_some_and(AccessFlag::is_inside);
            if inside {
                context.go_outside();
            }
            inside
        });
        let _goes_inside = goes_outside.then_some(GoesInside);
        run();
    }

    /// What the pool does at the shard that is run.
    #[cold]
    pub(crate) fn pool_hooks(&self) -> &'static dyn PoolHooks {
        let hooks = Shard::at(self.shard()).pool_hooks();
        hooks.expect("a shard that can be opened for evacuation is a pool's")
    }

    /// The access flag of the shard that is run, if its runner may be found stuck, and is outside.
    #[inline(always)]
    pub(crate) fn access_if_outside(&self) -> Option<&'static AccessFlag> {
        self.access.get().filter(|access| !access.is_inside())
    }

    /// Whether the runner may be found stuck, and is outside.
    #[inline(always)]
    pub(crate) fn is_outside(&self) -> bool {
        self.access_if_outside().is_some()
    }

    /// Makes sure that nobody may find the runner stuck at this moment, and open its shard.
    ///
    /// # Panics
    /// It is in a poll.
    #[inline(always)]
    pub fn expect_inside(&self) {
        assert!(
            !self.is_outside(),
            "the runner's work was asked for in a poll"
        );
    }

    /// Whether the runner may touch the plain memory of a task in the midst of a poll: the task is the one that is polled,
    /// or one of its shard, and nobody may find the runner stuck.
    #[inline(always)]
    pub(crate) fn owns(&self, task: NonNull<Header>, is_its: impl FnOnce() -> bool) -> bool {
        self.polling() == Some(task) || self.access.get().is_none() && is_its()
    }

    /// Has `wake` wake the task while the runner is inside its shard; if the shard is open, the task is woken as it
    /// must be then. Says whether it was one of the shard's. `wake` is called only if nobody else has touched the
    /// shard's plain memory since this thread last did.
    #[inline(always)]
    pub(crate) fn inside(&self, task: TaskRef<'_>, wake: impl FnOnce(&Self) -> bool) -> bool {
        let Some(access) = self.access_if_outside() else {
            return wake(self);
        };
        if !access.go_inside() {
            return self.pool_hooks().wake_while_open(self, task);
        }
        let woken = wake(self);
        access.go_outside();
        woken
    }

    /// Has `wake` wake a task, like [`Context::inside`], if the shard is not open and [there is room](Context::has_room);
    /// `false` if not, and then nothing was done.
    #[inline(always)]
    pub(crate) fn inside_quickly(&self, wake: impl FnOnce()) -> bool {
        if let Some(access) = self.access.get() {
            return access.while_inside(|| self.has_room(), wake);
        }
        let has_room = self.has_room();
        if has_room {
            wake();
        }
        has_room
    }

    /// Notes a new task of the shard that is run, in the midst of a poll or not.
    ///
    /// # Safety
    /// The current thread runs the shard where the task lives.
    #[inline(always)]
    pub unsafe fn push_new(&self, task: ScheduledTask) {
        if self.access.get().is_some() {
            // SAFETY: the caller vouches for it.
            unsafe { self.push_new_where_watched(task) };
        } else {
            // SAFETY: the caller's task, noted once.
            unsafe { self.push_woken(task) };
        }
    }

    /// [`Context::push_new`] where the runner may be found stuck. (Each future's spawn calls it, and is not to be longer
    /// by it.)
    ///
    /// # Safety
    /// As there.
    #[inline(never)]
    unsafe fn push_new_where_watched(&self, task: ScheduledTask) {
        let Some(access) = self.access_if_outside() else {
            // SAFETY: the caller's task, noted once.
            return unsafe { self.push_woken(task) };
        };
        if !access.go_inside() {
            return self.pool_hooks().push_while_open(self, task);
        }
        // SAFETY: the caller's task, noted once.
        unsafe { self.push_woken(task) };
        access.go_outside();
    }
}

/// Wakes a parked task of another worker here, if its pool moves it here; `false` if not, and then nothing was done.
/// This thread runs a shard, and the task's is not that one, but was `there` a moment ago.
pub(crate) fn take_along(context: &Context, task: TaskRef<'_>, there: u16) -> bool {
    let hooks = Shard::at(context.shard()).pool_hooks();
    let moves = hooks.is_some_and(|hooks| hooks.take_along(context, task, there));
    if moves {
        let wake = |context: &_| {
            // SAFETY: it lives here now, in no list.
            unsafe { add_to_list(task) };
            // SAFETY: the runner is inside.
            unsafe { wake_inside(context, task) }
        };
        context.inside(task, wake);
    }
    moves
}
