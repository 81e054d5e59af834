//! The runner's side of a task: its turn, what it waits for, and the end of the runner's hold.
//!
//! Above the task's own memory, the context and the shard: who runs a task knows all three.

use core::panic::Location;
use core::ptr::NonNull;

use super::ref_count::Queue;
use super::{Failure, Header, Owned, QueueLink, Queued, TaskRef, TaskState, ref_count, ref_dec};
use crate::context;
use crate::context::simulated::{self, Wanted};
use crate::recording;
use crate::shard::{Closed, Shard};
use crate::waiter::{Could, Node};

impl TaskRef<'_> {
    /// Marks a parked task as waiting for `what`, for dumps; nothing, if this thread does not run it. If `next`
    /// is a link of the run queue, or names a node already, it is left alone; then a simulation is told.
    pub fn park_on(self, what: QueueLink) {
        let state = self.state();
        if state.ignores_wake() {
            return;
        }
        if self.is_ours(state) {
            match self.next.get().is_nothing() {
                true => self.next.set(what),
                false => self.tell_of(what),
            }
        }
    }

    /// The task, which is polled here, waits since it was polled at that [moment](recording), as it has waited in vain
    /// since then.
    pub(crate) fn polled_before(self, count: u64) {
        let state = self.state();
        if !state.ignores_wake() && self.is_ours(state) && self.next.get().polled().is_some() {
            self.next.set(QueueLink::polled_at(count));
        }
    }

    /// Whether nobody else touches `next` of a task that is not scheduled, and not over: it is run here.
    fn is_ours(self, state: TaskState) -> bool {
        context::with(|context| context.owns(self.pointer(), || state.shard() == context.shard()))
    }

    /// Tells a simulation of one more thing that its task waits for.
    #[cold]
    fn tell_of(self, what: QueueLink) {
        if cfg!(debug_assertions) && context::is_watched() && !self.next.get().is(what) {
            simulated::want(self.pointer().addr().get(), what.0.addr(), wanted(what));
        }
    }

    /// Takes back what [`TaskRef::park_on`] said, if it still says `what`: the thing is about to go. Nothing, if this
    /// thread does not run the task; in a simulation, the process ends then.
    pub(crate) fn unpark_from(self, what: QueueLink) {
        let state = self.state();
        if state.is_done() {
            // Nobody reads what it says.
            return;
        }
        let shard = Shard::at(state.shard());
        if !context::runs(state.shard()) && !shard.is_run_by_this_thread() {
            return shard.node_leaves_elsewhere(&self);
        }
        // While it is scheduled, `next` is a link, and perhaps somebody else's.
        // One that is not being polled may be evacuated at this moment; then its name stays as it was.
        let ours = context::with(|context| context.owns(self.pointer(), || true));
        if ours && !state.is_scheduled() && self.next.get().is(what) {
            self.next.set(QueueLink::NOTHING);
        } else if cfg!(debug_assertions) && context::is_watched() {
            self.tell_gone(what);
        }
    }

    /// Tells a simulation that its task does not wait for that any more.
    #[cold]
    fn tell_gone(self, what: QueueLink) {
        simulated::leave(self.pointer().addr().get(), what.0.addr());
    }
}

/// What a simulation is told of a link.
#[cold]
fn wanted(what: QueueLink) -> Wanted {
    let Some(node) = what.node() else {
        return Wanted::Task(what.task().map_or(0, |task| task.addr().get()));
    };
    // SAFETY: the operation that is being polled parks on it.
    let node = unsafe { node.as_ref() };
    Wanted::Operation {
        // SAFETY: its kind is written before its task is told of it.
        name: unsafe { node.kind() }.name,
        object: node.object().addr(),
        called: Some(node.location()),
    }
}

impl Header {
    /// Begins a turn as [`Header::begin_turn`] does, if the task is to be polled, and not for the first time here; `false`
    /// if not, and then nothing was done.
    ///
    /// # Safety
    /// As [`Header::begin_turn`].
    #[inline(always)]
    #[must_use]
    pub unsafe fn begin_plain_turn(this: NonNull<Self>, moves: bool) -> bool {
        // SAFETY: queued tasks are alive.
        let header = unsafe { this.as_ref() };
        let state = header.state();
        let is_plain = state.is_plain() && !(moves && header.refs.wants_cancel());
        if is_plain {
            // SAFETY: on the runner; the task was queued.
            unsafe { header.leave_run_queue(state) };
        }
        is_plain
    }

    /// The runner has taken the task out of its run queue. A task that `moves` between shards may be about to be cancelled
    /// at another one, whose runner has not told it so far.
    ///
    /// # Returns
    /// The runner's next step with it.
    ///
    /// # Safety
    /// On the runner; the task was queued.
    #[inline]
    pub unsafe fn begin_turn(this: NonNull<Self>, moves: bool) -> Turn {
        // SAFETY: queued tasks are alive.
        let header = unsafe { this.as_ref() };
        let state = header.state();
        // SAFETY: on the runner; the task was queued.
        unsafe { header.leave_run_queue(state) };
        if state.is_done() {
            // SAFETY: no queue points here any more.
            unsafe { Self::ref_dec_if_over(this) };
            return Turn::Over;
        }
        if (state.is_cancelled() || moves && header.refs.wants_cancel())
            && (!state.is_foreign() || crate::mutant!("foreign_call_is_cancelled"))
        {
            return Turn::Cancel;
        }
        Turn::Poll
    }

    /// # Safety
    /// On the runner; the task was queued, and stood so.
    #[inline(always)]
    unsafe fn leave_run_queue(&self, state: TaskState) {
        // SAFETY: on the runner, as the caller says.
        unsafe { self.set_state(state.without_scheduled()) };
        self.next.set(QueueLink::NOTHING);
    }

    /// Marks when the task was polled, as it is about to be ([`crate::recording`]).
    ///
    /// # Safety
    /// On the runner; its turn has begun, and it has not been polled in this turn.
    #[inline(always)]
    pub unsafe fn mark_polled(&self) {
        recording::comes(core::ptr::from_ref(self).addr());
        self.next.set(QueueLink::polled_at(recording::count()));
    }

    /// When the task was polled last, if that was marked, and it is parked.
    ///
    /// # Safety
    /// On the runner.
    pub(crate) unsafe fn polled(&self) -> Option<u64> {
        // Of one that is queued the word is perhaps a thief's. And what half a word can hold wraps soon.
        let is_there = !self.state().ignores_wake() && usize::BITS == 64;
        is_there.then(|| self.next.get().polled()).flatten()
    }

    /// The first step of a wake, for a model that holds a thread up before the second.
    ///
    /// # Safety
    /// The caller pushes the task into its shard's inbox, or releases the reference, if it has become its own.
    #[cfg(loom)]
    pub unsafe fn queue(&self) -> ref_count::Queue {
        self.refs.queue()
    }

    /// Sends a new task to its shard. If that is closed, the task is cancelled here and now.
    ///
    /// # Safety
    /// The task is new, in no list, and held by its join handle; its runner is another thread.
    pub unsafe fn send_new(this: NonNull<Self>, shard: &Shard) {
        // SAFETY: held by its handle.
        let queue = unsafe { this.as_ref() }.refs.queue();
        debug_assert_eq!(queue, Queue::Push, "a new task is in no inbox");
        // SAFETY: this thread has just set `QUEUED`.
        match shard.push(unsafe { Queued::new(this) }) {
            Ok(Some(runner)) => runner.wake(),
            Ok(None) => {}
            Err(Closed) => {
                // SAFETY: nobody else touches a new task, so this thread may act as its runner.
                unsafe { Self::fail(this, Failure::Cancelled) };
            }
        }
    }

    /// Takes a task off its shard's list: its future is gone.
    ///
    /// # Safety
    /// On the runner of `shard`, or in its place; the task is on its list, unless it is new there.
    #[inline]
    pub unsafe fn leave_shard(this: NonNull<Self>, shard: &Shard) {
        // SAFETY: the runner's reference keeps the task alive.
        let state = unsafe { this.as_ref() }.state();
        if !state.is_new() {
            // SAFETY: not new, so on the list, which nobody else touches meanwhile.
            shard.with_list(|| unsafe { shard.runner.list_of(state).remove(this) });
        }
    }

    /// [`Header::finish`] of a task at `shard`, whose list it leaves.
    ///
    /// # Safety
    /// This thread runs `shard`, where the task lives; the rest as in [`Header::finish`].
    #[inline(never)]
    pub unsafe fn finish_at(this: NonNull<Self>, shard: &Shard) {
        // SAFETY: on the runner of that shard; the task has not finished so far.
        unsafe { Self::leave_shard(this, shard) };
        // SAFETY: on the runner, and off the list.
        unsafe { Self::publish(this) };
        // SAFETY: the last use of the task, which has not moved: it is over.
        unsafe { Self::ref_dec_and_leave(this, |_| shard.runner.count_task(-1)) };
    }

    /// Gives up the runner's reference, if the future is gone and neither a queue nor a node points here.
    ///
    /// # Safety
    /// On the runner, which still has its hold and does not use the task afterwards.
    pub(super) unsafe fn ref_dec_if_over(this: NonNull<Self>) {
        // SAFETY: as the caller says.
        unsafe { Self::ref_dec_and_leave(this, left) };
    }

    /// [`Header::ref_dec_if_over`], with what counts the task out of the shard that it names.
    ///
    /// # Safety
    /// As there.
    #[inline(always)]
    unsafe fn ref_dec_and_leave(this: NonNull<Self>, left: impl FnOnce(u16)) {
        // SAFETY: the runner's reference keeps the task alive.
        let header = unsafe { this.as_ref() };
        let state = header.state();
        if state.is_done() && !state.is_scheduled() && state.loans() == 0 {
            let spare = if state.has_cached_ref() {
                ref_count::HANDLE
            } else {
                0
            };
            // Before the reference is given up: whoever frees the task, it has left its shard.
            // SAFETY: on the runner; over, and nothing points here.
            unsafe { header.set_state(state.without_cached_ref().without_shard()) };
            if !crate::mutant!("over_stays_at_shard") {
                left(state.shard());
            }
            // SAFETY: the runner's reference, and the one in store.
            unsafe { ref_dec(this, ref_count::ALIVE + spare) };
        }
    }
}

/// Tells the runner, which has taken a task out of its run queue, how to go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub enum Turn {
    /// Poll the future; if it is pending, a task that is new here is to be put on its shard's list ([`Shard::list`]).
    Poll,
    /// Drop the future and [`Header::finish`] the task.
    Cancel,
    /// Nothing: it has finished, and must not be touched any more.
    Over,
}

/// A task of `shard` is over. Plain arithmetic on the runner, an atomic elsewhere.
fn left(shard: u16) {
    if shard == context::NOWHERE {
        return;
    }
    if context::runs(shard) {
        Shard::at(shard).runner.count_task(-1);
    } else {
        Shard::at(shard).task_left_elsewhere();
    }
}

/// A dump's description of one task.
#[derive(Debug)]
pub struct Description<'a> {
    task: TaskRef<'a>,
    /// Where it was spawned.
    pub spawned: &'static Location<'static>,
    /// Whether it is in the run queue.
    pub scheduled: bool,
}

/// The thing that a living task waits for.
#[derive(Debug)]
pub enum WaitsFor {
    /// An operation on a primitive.
    Operation {
        /// `"MVar::take"` and the like.
        name: &'static str,
        /// The primitive's address.
        object: usize,
        /// Where the operation was called.
        called: &'static Location<'static>,
        /// Whether it could complete now.
        could_complete: Could,
    },
    /// The end of the task at this address, which may be gone by now.
    Task(usize),
    /// Nothing that says what it is.
    Foreign,
}

impl Owned {
    /// Describes each task, the newest first. Not in a pool, whose thieves touch the list.
    pub(crate) fn describe(&self, mut look: impl FnMut(&Description<'_>)) {
        let mut next = self.newest();
        while let Some(task) = next {
            look(&Description {
                task,
                spawned: task.spawned,
                scheduled: task.state().is_scheduled(),
            });
            next = task.owned.next.get();
        }
    }
}

impl Description<'_> {
    /// The task.
    pub(crate) fn task(&self) -> TaskRef<'_> {
        self.task
    }

    /// Its header's address.
    pub fn address(&self) -> usize {
        self.task.pointer().addr().get()
    }

    /// Returns what the task waits for. Where no simulation watches, operations count as foreign too.
    pub fn waits_for(&self) -> WaitsFor {
        let state = self.task.state();
        if state.is_scheduled() || state.is_done() {
            return WaitsFor::Foreign;
        }
        let link = self.task.next.get();
        match (link.node(), link.task()) {
            (Some(node), _) if Shard::at(state.shard()).is_watched() => {
                // SAFETY: the shard is watched, and the task is neither scheduled nor over.
                unsafe { describe_node(node) }
            }
            (None, Some(joined)) => WaitsFor::Task(joined.addr().get()),
            _ => WaitsFor::Foreign,
        }
    }
}

/// # Safety
/// On the runner of a shard that is watched, which finds this node in the header of a task that is not scheduled.
unsafe fn describe_node(parked: NonNull<Node>) -> WaitsFor {
    // SAFETY: the header of a living task that is not scheduled names a node only as long as the operation around
    // it exists: a wake overwrites the name before the scheduler looks, and the operation's end takes it back; on
    // another thread, where it cannot, it ends the process. An operation that is forgotten keeps its memory, as it
    // is pinned.
    let node = unsafe { parked.as_ref() };
    // SAFETY: a node that a task is parked on has been parked.
    let kind = unsafe { node.kind() };
    // SAFETY: the node is alive, and of its own kind; an operation borrows its primitive, so that one is alive too,
    // unless the operation was forgotten and the primitive then moved (docs/UNSAFE.md); no user code, which is what
    // asks, runs while a lock is held.
    let could_complete = unsafe { (kind.could_complete)(parked) };
    WaitsFor::Operation {
        name: kind.name,
        object: node.object().addr(),
        called: node.location(),
        could_complete,
    }
}
