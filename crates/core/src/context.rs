//! The context of the current thread: the shard and the task that it runs, and the tasks woken meanwhile.
//!
//! One [`Context`] a thread. It is a save/restore stack: entering a shard puts the outer state
//! aside and leaving brings it back, so a simulation inside a task and a runtime inside a runtime
//! work. A wake of a task whose shard this thread runs only notes the task in the context:
//! no atomics, no scheduler called. The runner hands the woken tasks to its scheduler after the
//! poll, so no scheduler is ever entered from inside a task.

use core::cell::Cell;
use core::ptr::{self, NonNull};

pub use crate::header::NOWHERE;
use crate::header::{Header, ScheduledTask, TaskQueue, TaskRef, TaskState};
use crate::platform::{thread, thread_local};

mod access_flag;
mod asking;
mod baton;
mod budget;
mod held_back;
mod inside;
mod rng;
pub(crate) mod roll_call;
mod selecting;
pub mod simulated;
mod stackful;
mod timers;
mod waking;
mod watching;

pub use self::access_flag::AccessFlag;
use self::asking::Asking;
pub use self::asking::{MemoryRange, range_of};
pub use self::baton::Baton;
pub(crate) use self::budget::holds_back;
pub use self::budget::{
    SchedulingPoint, must_yield, operation_must_yield, receiver_must_yield, spend, yield_to_others,
    yields_so_far,
};
pub(crate) use self::inside::take_along;
pub use self::rng::{Walk, random, seed_rng, walk};
pub use self::roll_call::waits_still;
pub(crate) use self::roll_call::wants_operation;

pub(crate) use self::selecting::leave_selects;
pub use self::selecting::{
    Selecting, announces, asks_members, is_in_select, join_group, outside_selects, poll_branch,
    poll_branch_at, poll_part, selecting,
};
pub use self::stackful::Stackful;
pub use self::waking::wake_inside;
pub(crate) use self::waking::{wake_here, wake_if_here, wake_seen};
pub(crate) use self::watching::record;
pub(crate) use self::watching::{ROLL_CALL, SIMULATION, is_told};
pub use self::watching::{is_watched, records};

/// Units of the cooperative budget of one poll. Operations that begin after it is used up yield, so that a task whose
/// operations are always ready does not keep other tasks from running. Even with two microseconds of work beside each
/// operation, a pool does not take such a poll to be stuck.
const BUDGET: u32 = 8_192;
/// Of [`Context::watched`]: who takes a lock here is [recorded](crate::recording).
const RECORDS: u8 = 4;
/// The budget where every operation yields: less than any takes.
const NOTHING: u32 = 1;

/// The shard and the task that the current thread runs, and the tasks woken meanwhile.
#[derive(Debug)]
pub struct Context {
    /// The one task woken, or null, or [`MANY`].
    woken_one: Cell<*const Header>,
    /// The words of local tasks of the shard that is run: running, and loaned to one node.
    running_local: Cell<TaskState>,
    loaned_local: Cell<TaskState>,
    scheduling_points: Cell<bool>,
    /// [`SIMULATION`], [`ROLL_CALL`] and [`RECORDS`], as far as they are so.
    watched: Cell<u8>,
    /// Units of the budget that operations may still take in this poll before one yields.
    left: Cell<u32>,
    /// Units of the budget when a poll begins.
    budget: Cell<u32>,
    /// How many have yielded on this thread so far.
    yields: Cell<u32>,
    /// See [`random`].
    rng: Cell<u32>,
    polling: Cell<*const Header>,
    /// Whether the task being polled has yielded: it is to be queued after the poll.
    yielded: Cell<bool>,
    /// Of the shard that is run, if its runner may be found stuck (`context/access_flag.rs`).
    access: Cell<Option<&'static AccessFlag>>,
    /// The number of the poll, from anywhere on; it wraps. See [`stamp`].
    turn: Cell<u16>,
    /// Whether what a poll wakes is published to other workers at once ([`PoolHooks`](crate::shard::PoolHooks)).
    publishes: Cell<bool>,
    /// The [fiber](crate::fiber) that runs on this thread, or null.
    fiber: Cell<*const ()>,
    /// The thread of a simulation that this thread is.
    simulated: Cell<Option<NonNull<dyn Stackful>>>,
    /// The [timers](crate::shard::Shard::timers) of the shard that is run, whose runner serves what is polled here.
    /// Null: nobody has looked for them since it was entered, or it has none so far, or nobody runs.
    timers: Cell<*const ()>,
    /// Whether the thread waits, and so serves its own. (Two words of their own: what is written in two parts and read
    /// in one keeps the processor waiting.)
    waits: Cell<bool>,
    /// All tasks woken, in order, when there are [`MANY`].
    woken_many: TaskQueue,
    /// The innermost select whose branches are polled, or null.
    asking: Cell<*const Asking<'static>>,
}

/// Says who serves a timer that is polled on a thread: the runner of its shard, with these timers; or the thread
/// itself, which waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Serves {
    pub(crate) timers: *const (),
    pub(crate) waits: bool,
}

impl Serves {
    /// The runner of the shard, if there is one, with timers that nobody has looked for so far.
    pub(crate) const RUNNER: Self = Self {
        timers: ptr::null(),
        waits: false,
    };
    /// The thread, which waits.
    pub(crate) const WAITING: Self = Self {
        waits: true,
        ..Self::RUNNER
    };
}

/// More than one task was woken: they are in the queue.
const MANY: *const Header = ptr::without_provenance(1);

thread_local! {
    static CONTEXT: Context = const { Context::new() };
}

impl Context {
    const fn new() -> Self {
        Self {
            woken_one: Cell::new(ptr::null()),
            running_local: Cell::new(TaskState::running_local(NOWHERE)),
            loaned_local: Cell::new(TaskState::loaned_local(NOWHERE)),
            scheduling_points: Cell::new(false),
            watched: Cell::new(0),
            left: Cell::new(BUDGET),
            budget: Cell::new(BUDGET),
            yields: Cell::new(0),
            rng: Cell::new(0),
            access: Cell::new(None),
            publishes: Cell::new(false),
            fiber: Cell::new(ptr::null()),
            simulated: Cell::new(None),
            timers: Cell::new(ptr::null()),
            waits: Cell::new(false),
            polling: Cell::new(ptr::null()),
            yielded: Cell::new(false),
            turn: Cell::new(0),
            woken_many: TaskQueue::new(),
            asking: Cell::new(ptr::null()),
        }
    }

    /// The word of a running local task of the shard that is run.
    #[inline(always)]
    pub(crate) fn running_local(&self) -> TaskState {
        self.running_local.get()
    }

    /// The word of a local task of the shard that is run, parked and loaned to one node.
    #[inline(always)]
    pub(crate) fn loaned_local(&self) -> TaskState {
        self.loaned_local.get()
    }

    /// Sets the shard that is run; gives the one before.
    fn set_shard(&self, shard: u16) -> u16 {
        self.loaned_local.set(TaskState::loaned_local(shard));
        let before = self.running_local.replace(TaskState::running_local(shard));
        // The threads that run shards count from numbers that lie apart.
        let apart = shard.wrapping_sub(before.shard()).wrapping_mul(0x9E37);
        self.turn.set(self.turn.get().wrapping_add(apart));
        before.shard()
    }

    /// Whether no task is woken.
    #[inline(always)]
    pub fn has_room(&self) -> bool {
        self.woken_one.get().is_null()
    }

    /// The woken task, taken out, if there is exactly one.
    ///
    /// # Safety
    /// As [`Context::take_woken`].
    #[inline(always)]
    pub unsafe fn take_only_woken(&self) -> Option<ScheduledTask> {
        let one = self.woken_one.get();
        if one.addr() <= MANY.addr() {
            return None;
        }
        self.woken_one.set(ptr::null());
        // SAFETY: not `MANY`, so a task that was noted, and is taken out now.
        NonNull::new(one.cast_mut()).map(|task| unsafe { ScheduledTask::new(task) })
    }

    /// The next woken task, taken out, in the order of waking.
    ///
    /// # Safety
    /// The runner is inside its shard, or the lock of the open shard's steal queue is held.
    pub unsafe fn take_woken(&self) -> Option<ScheduledTask> {
        if self.woken_one.get() != MANY {
            // SAFETY: the caller vouches for it.
            return unsafe { self.take_only_woken() };
        }
        let task = self.woken_many.pop_front();
        if self.woken_many.is_empty() && !self.publishes.get() {
            self.woken_one.set(ptr::null());
        }
        task
    }

    /// Whether what a poll wakes is published to other workers at once.
    #[inline(always)]
    pub fn publishes(&self) -> bool {
        self.publishes.get()
    }

    /// Begins or ends publishing what a poll wakes. While it does, there is never room for only one woken task, so
    /// every wake comes by `Context::push_another`. In a poll it does nothing.
    pub fn set_publishes(&self, publishes: bool) {
        if self.is_polling() || publishes == self.publishes.replace(publishes) {
            return;
        }
        if publishes {
            // SAFETY: in no poll, so inside.
            if let Some(one) = unsafe { self.take_only_woken() } {
                self.woken_many.push_back(one);
            }
            self.woken_one.set(MANY);
        } else if self.woken_many.is_empty() {
            self.woken_one.set(ptr::null());
        }
    }

    /// Whether this thread is inside a task's poll.
    pub fn is_polling(&self) -> bool {
        !self.polling.get().is_null()
    }

    /// The task being polled.
    pub fn polling(&self) -> Option<NonNull<Header>> {
        NonNull::new(self.polling.get().cast_mut())
    }

    /// The shard of the task that is being polled, if that belongs to a local scope.
    pub fn polled_local_shard(&self) -> Option<u16> {
        let state = self.with_polled(|task| task.state())?;
        let is_bound = state.is_local() || crate::mutant!("any_task_spawns_local");
        is_bound.then(|| state.shard())
    }

    /// Calls `use_it` with the task that is being polled, if one is.
    #[inline(always)]
    pub(crate) fn with_polled<R>(&self, use_it: impl FnOnce(TaskRef<'_>) -> R) -> Option<R> {
        // SAFETY: this thread polls the task, or drops its future, which keeps it alive until that is over.
        self.polling()
            .map(|task| use_it(unsafe { TaskRef::new(task) }))
    }

    /// Where the task was spawned that is being polled.
    #[cfg(all(debug_assertions, not(any(loom, shuttle))))]
    pub(crate) fn polled_from(&self) -> Option<&'static core::panic::Location<'static>> {
        self.with_polled(|task| task.spawned)
    }

    /// Notes that something is kept for the polled task elsewhere, to be [ended](crate::header::Vtable::end_locals) with
    /// it; `false` if none is polled, or it is over.
    pub fn mark_polled_has_locals(&self) -> bool {
        let mark = |task: TaskRef<'_>| {
            let state = task.state();
            if !state.is_done() {
                // SAFETY: on the runner, in the task's poll, the drop of its future, or its end.
                unsafe { task.set_state(state.with_locals()) };
            }
            !state.is_done()
        };
        self.with_polled(mark).unwrap_or(false)
    }

    /// Leaks what is kept so for the task that is polled, or dropped.
    pub fn leak_locals_of_polled(&self) {
        self.with_polled(|task| (task.vtable.leak_locals)(task.pointer()));
    }

    /// No task is being polled any more.
    ///
    /// # Safety
    /// The poll has returned: an evacuation leaves the task alone that is being polled.
    #[inline(always)]
    pub unsafe fn end_poll(&self) {
        self.polling.set(ptr::null());
    }

    /// A poll of this task begins, or the drop of its future, which counts as part of one. With the whole budget, but what
    /// may be simulated has that of the context, which may be nothing.
    ///
    /// # Safety
    /// This thread runs the task, which is alive until [`Context::end_poll`], the next poll, or its
    /// [end](Header::finish).
    #[inline(always)]
    pub unsafe fn begin_poll(&self, task: NonNull<Header>, may_be_simulated: bool) {
        self.turn.set(self.turn.get().wrapping_add(1));
        let budget = if may_be_simulated {
            self.budget.get()
        } else {
            BUDGET
        };
        self.left.set(budget);
        self.yielded.set(false);
        self.polling.set(task.as_ptr());
    }

    /// Whether this thread waits and runs nothing meanwhile: then it serves its own timers.
    #[inline(always)]
    pub fn waits(&self) -> bool {
        self.waits.get()
    }

    /// Says who serves a timer that is polled here from now on; gives who did.
    #[inline(always)]
    pub(crate) fn set_serves(&self, serves: Serves) -> Serves {
        Serves {
            timers: self.timers.replace(serves.timers),
            waits: self.waits.replace(serves.waits),
        }
    }

    /// The fiber that runs on this thread, or null.
    #[inline(always)]
    pub fn fiber(&self) -> *const () {
        self.fiber.get()
    }

    /// Says that a fiber runs on this thread from now on, or that none does any more (null).
    ///
    /// # Safety
    /// It is a [`fiber::OnStack`](crate::fiber::OnStack). It stays where it is, and runs on this thread, until the next call; who
    /// enters a shard may put it aside meanwhile. It goes on, and stands still, outside of all selects
    /// ([`outside_selects`]).
    #[inline(always)]
    pub unsafe fn set_fiber(&self, fiber: *const ()) {
        self.fiber.set(fiber);
    }

    /// Says which thread of a simulation this thread is.
    ///
    /// # Safety
    /// It stays where it is until the next call.
    pub unsafe fn set_simulated(&self, thread: Option<NonNull<dyn Stackful>>) {
        self.simulated.set(thread);
    }

    /// The thread of a simulation that this thread is.
    #[inline(always)]
    pub(crate) fn simulated(&self) -> Option<NonNull<dyn Stackful>> {
        self.simulated.get()
    }

    /// Whether a fiber runs on this thread, or it is a thread of a simulation.
    #[inline(always)]
    pub fn is_in_fiber(&self) -> bool {
        !self.fiber.get().is_null() || self.simulated.get().is_some()
    }

    /// The shard this thread runs, or [`NOWHERE`].
    #[inline(always)]
    pub fn shard(&self) -> u16 {
        self.running_local.get().shard()
    }
}

/// Gives the current thread's context.
#[inline(always)]
pub fn with<R>(use_it: impl FnOnce(&Context) -> R) -> R {
    CONTEXT.with(use_it)
}

/// The current thread's context, which stands for the thread as long as it lives.
pub fn address() -> *mut Context {
    with(|context| ptr::from_ref(context).cast_mut())
}

/// Whether the current thread runs `shard`.
#[inline(always)]
pub fn runs(shard: u16) -> bool {
    with(|context| context.shard() == shard)
}

/// A number that is another one in the next poll, and on another thread: two that are alike were most probably made in
/// one poll. A hint, of 16 bits.
#[inline(always)]
pub fn stamp() -> u16 {
    with(|context| context.turn.get())
}

/// The outer context, put aside; dropping it brings it back.
#[derive(Debug)]
#[must_use]
pub struct Entered {
    woken_one: *const Header,
    shard: u16,
    scheduling_points: bool,
    watched: u8,
    left: u32,
    budget: u32,
    publishes: bool,
    access: Option<&'static AccessFlag>,
    /// Whether the outer runner was in a poll.
    was_outside: bool,
    polling: *const Header,
    yielded: bool,
    fiber: *const (),
    simulated: Option<NonNull<dyn Stackful>>,
    serves: Serves,
    woken_many: TaskQueue,
    asking: *const Asking<'static>,
}

/// Puts the current context aside and runs `shard` from here on.
///
/// With `scheduling_points`, every operation on a primitive first yields once (see the crate `sim`); `watched` says
/// that the runner looks at parked operations, which then note what they are.
///
/// # Safety
/// The caller holds the guard of `shard` as long as the result lives, and drops the result on this
/// thread, before any that it entered earlier.
pub(crate) unsafe fn enter(
    shard: u16,
    scheduling_points: bool,
    watched: u8,
    access: Option<&'static AccessFlag>,
) -> Entered {
    let budget = if scheduling_points { NOTHING } else { BUDGET };
    with(|context| Entered {
        // First of all: what is put aside must not be evacuated.
        was_outside: context.go_inside_if_outside(),
        woken_one: context.woken_one.replace(ptr::null()),
        shard: context.set_shard(shard),
        scheduling_points: context.scheduling_points.replace(scheduling_points),
        watched: context.watched.replace(watched),
        left: context.left.replace(budget),
        budget: context.budget.replace(budget),
        publishes: context.publishes.replace(false),
        access: context.access.replace(access),
        polling: context.polling.replace(ptr::null()),
        yielded: context.yielded.replace(false),
        fiber: context.fiber.replace(ptr::null()),
        simulated: context.simulated.take(),
        serves: context.set_serves(Serves::RUNNER),
        woken_many: context.woken_many.take(),
        asking: context.asking.replace(ptr::null()),
    })
}

impl Drop for Entered {
    fn drop(&mut self) {
        with(|context| {
            // A scheduler that panicked is not handed anything any more.
            debug_assert!(
                context.woken_many.is_empty()
                    && (context.woken_one.get().is_null() || context.woken_one.get() == MANY)
                    || thread::panicking(),
                "woken tasks were not given to the scheduler"
            );
            context.woken_one.set(self.woken_one);
            context.set_shard(self.shard);
            context.scheduling_points.set(self.scheduling_points);
            let notes = context.watched.get() & RECORDS;
            context.watched.set(self.watched | notes);
            context.left.set(self.left);
            context.budget.set(self.budget);
            context.publishes.set(self.publishes);
            context.polling.set(self.polling);
            context.yielded.set(self.yielded);
            context.fiber.set(self.fiber);
            context.simulated.set(self.simulated);
            context.set_serves(self.serves);
            context.woken_many.restore(self.woken_many.take());
            context.asking.set(self.asking);
            context.access.set(self.access);
            if self.was_outside {
                context.go_outside();
            }
        });
    }
}
