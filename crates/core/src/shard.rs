//! Where the tasks of one runtime live: the part of a runtime that other threads may touch.
//!
//! Shards stand in one table and are never freed, only used again, so a waker may touch the shard of
//! its task at any time, even when the runtime has just ended. A task leaves its shard at its end, when the runner
//! releases it: from then on it names none ([`NOWHERE`](context::NOWHERE)), however long a join handle or a waker
//! keeps its memory. A shard is used again only when it is closed and the last of its tasks has left; so the shard that
//! a task names is never another runtime's.
//! (A thread that wakes a task may have read its shard just before: then it pushes a task that is over into
//! the inbox of somebody else, who finds that out and releases it.)
//! In a pool the shard need not stay the same: workers take tasks from each other (crate `sched`, `pool/README.md`).
//! What a pool does at a shard it does behind [`PoolHooks`]; how other threads wake a task, `shard/sending.rs` tells.

use core::any::Any;
use core::ptr::{self, NonNull};
use std::sync::OnceLock;

use alloc::boxed::Box;

use crate::context::{self, Context};
use crate::header::Header;
#[cfg(loom)]
use crate::platform::atomic::fence;
use crate::platform::atomic::{AtomicBool, AtomicI64, AtomicPtr, AtomicU8, AtomicU32, Ordering};
use crate::platform::{Mutex, QuietPtr, UnmodelledU32, is_light, process_global};

mod guard;
mod inbox;
mod list;
mod owner;
mod pool_hooks;
mod runner;
mod sending;
mod table;
mod thread_bound;

pub use self::guard::ShardGuard;
pub(crate) use self::guard::cancel_here;
pub use self::inbox::Closed;
use self::inbox::Inbox;
pub(crate) use self::list::add_to_list;
pub use self::pool_hooks::PoolHooks;
pub use self::runner::Runner;
pub use self::sending::forward;
pub use self::thread_bound::thread_ends;

/// Added to the count of tasks while the shard is open.
const OPEN: i64 = 1 << 40;

/// Nobody holds the guard.
const FREE: u8 = 0;
/// A thread runs the shard.
const RUNNING: u8 = 1;
/// A thread holds the guard for a short time.
const VISITED: u8 = 2;

/// No thread runs it in every wait ([`owner`]): others run, or whoever calls.
const NO_OWNER: u32 = 0;

/// The part of a runtime that its tasks' wakers may touch.
#[derive(Debug)]
pub struct Shard {
    index: u16,
    /// A hint: the inbox has something.
    pending: AtomicBool,
    inbox: Mutex<Inbox>,
    /// Whether a thread runs this shard, or visits it: [`FREE`], [`RUNNING`] or [`VISITED`].
    acquired: AtomicU8,
    /// The address of the context of the thread that runs it, or zero.
    run_by: AtomicPtr<Context>,
    /// Whether its runner looks at parked nodes, as a simulation does.
    watched: AtomicU8,
    /// The pool it belongs to, or zero.
    pool: AtomicU32,
    /// Not zero: its runner is a thread that does nothing but run it, and what it runs is one task.
    threaded: UnmodelledU32,
    /// Not zero: this is a child that was forked in a poll of the runner.
    lost: UnmodelledU32,
    /// Whether a thread runs it in every wait, and has ended ([`owner`]).
    owner: UnmodelledU32,
    /// In a pool: who touches the list of all tasks.
    list: Mutex<()>,
    /// If it is, or was, a worker's: what its pool does here.
    hooks: OnceLock<Box<dyn PoolHooks>>,
    /// Not zero: it is a worker's.
    is_workers: UnmodelledU32,
    /// Not zero: a task that is spawned here is put on the list after its first poll.
    lists_late: UnmodelledU32,
    /// The shard's timers, which the crate of timers sets once; null until then.
    timers: QuietPtr<()>,
    /// Tasks that came and left by threads other than the runner, plus [`OPEN`] while open.
    tasks: AtomicI64,
    /// The runner's own.
    pub(crate) runner: Runner,
}

// SAFETY: `runner` is touched only by the thread that holds `acquired`, which is acquired and released; but for
// `runner.owned` of a pool's shard, from which thieves take tasks: it is changed only under `list`, and read without
// it only by the runner, when its steal queue is empty for good; and but for a shard that is open for evacuation, whose
// `runner.slot`, tasks and runner's context belong to who holds the steal queue's lock. The pointers in the inbox's
// loans are loans; none is tied to a thread.
unsafe impl Sync for Shard {}
// SAFETY: what is in it is tied to no thread, as said above for sharing it.
unsafe impl Send for Shard {}

process_global! {
    /// All shards.
    fn shards() -> table::Table<Shard> = table::Table::new()
}

impl Shard {
    fn new(index: u16) -> Self {
        Self {
            index,
            pending: AtomicBool::new(false),
            inbox: Mutex::new(Inbox::new()),
            acquired: AtomicU8::new(FREE),
            run_by: AtomicPtr::new(ptr::null_mut()),
            watched: AtomicU8::new(0),
            pool: AtomicU32::new(0),
            threaded: UnmodelledU32::new(0),
            lost: UnmodelledU32::new(0),
            owner: UnmodelledU32::new(NO_OWNER),
            list: Mutex::new(()),
            hooks: OnceLock::new(),
            is_workers: UnmodelledU32::new(0),
            lists_late: UnmodelledU32::new(0),
            timers: QuietPtr::new(ptr::null_mut()),
            tasks: AtomicI64::new(0),
            runner: Runner::default(),
        }
    }

    /// Takes a free shard out of the table; `None` when all 65,535 are in use.
    pub fn open() -> Option<&'static Self> {
        Self::open_in_pool(0)
    }

    /// Like [`Shard::open`], for a shard of this pool; zero is no pool.
    pub fn open_in_pool(pool: u32) -> Option<&'static Self> {
        // The first one finds out about fences: a seccomp filter may come later.
        let _is_known = is_light();
        let shard = shards().take(Self::new)?;
        // Relaxed: as below.
        shard.threaded.store(0, Ordering::Relaxed);
        shard.lost.store(0, Ordering::Relaxed); // Relaxed: as below
        shard.is_workers.store(0, Ordering::Relaxed); // Relaxed: as below
        shard.owner.store(NO_OWNER, Ordering::Relaxed); // Relaxed: as below
        // Relaxed: published to other threads with the runtime itself.
        shard.tasks.store(OPEN, Ordering::Relaxed);
        // Relaxed: published with the pool itself.
        shard.pool.store(pool, Ordering::Relaxed);
        shard.set_lists_late(pool != 0);
        shard.watch(false);
        shard.begin_anew();
        Some(shard)
    }

    /// It is open, and has no tasks.
    fn begin_anew(&self) {
        self.runner.begin_anew();
        let mut inbox = self.inbox.lock();
        (inbox.closed, inbox.called) = (false, false);
        // Relaxed: kept under the lock.
        self.pending.store(false, Ordering::Relaxed);
    }

    /// The shard with this index.
    pub fn at(index: u16) -> &'static Self {
        shards().at(index)
    }

    /// The memory that only the runner touches. A thread with the guard asks [`ShardGuard::runner`].
    ///
    /// # Safety
    /// The current thread runs this shard, as long as the result is used; or it stands for who does: the shard is open
    /// for evacuation, and the thread holds the lock of its steal queue.
    #[inline(always)]
    pub unsafe fn runner(&self) -> &Runner {
        &self.runner
    }

    /// How many polls there have been here, about.
    pub fn polls(&self) -> u64 {
        self.runner.polls()
    }

    /// How many panics there have been here, of all runtimes whose shard this was.
    pub fn panics(&self) -> u64 {
        self.runner.panics()
    }

    /// The index that tasks carry.
    #[inline]
    pub fn index(&self) -> u16 {
        self.index
    }

    /// Whether this thread runs the shard, be it from inside another one that it runs now (a runtime inside a
    /// runtime): then its plain memory may be touched.
    pub fn is_run_by_this_thread(&self) -> bool {
        // Relaxed: nobody but this thread writes this thread's address.
        self.run_by.load(Ordering::Relaxed) == context::address()
    }

    /// The runner waits while this thread runs the shard in its place, or goes on itself.
    pub(crate) fn set_run_by_this_thread(&self) {
        // Relaxed: only this thread compares it with its own address.
        self.run_by.store(context::address(), Ordering::Relaxed);
    }

    /// Says that the runner is a thread that does nothing but run it, for one task; before it has that.
    pub fn set_threaded(&self) {
        // Relaxed: published with the task.
        self.threaded.store(1, Ordering::Relaxed);
    }

    /// Whether its runner is such a thread.
    pub(crate) fn is_one_thread(&self) -> bool {
        // Relaxed: as above.
        self.threaded.load(Ordering::Relaxed) != 0
    }

    /// In a forked child: the runner, this thread, must not go on after its poll.
    pub(crate) fn lose(&self) {
        // Relaxed: the child has one thread.
        self.lost.store(1, Ordering::Relaxed);
        self.pending.store(true, Ordering::Relaxed); // Relaxed: as above
    }

    /// Whether this is a child that was forked in a poll of the runner. [`has_pending`](Shard::has_pending) says so
    /// too.
    #[inline]
    pub fn is_lost(&self) -> bool {
        // Relaxed: written by the runner.
        self.lost.load(Ordering::Relaxed) != 0
    }

    /// Says whether the runner will look at parked nodes; before any task is spawned.
    pub fn watch(&self, watched: bool) {
        let watched = if watched { context::SIMULATION } else { 0 };
        self.watched.store(watched, Ordering::Release); // pairs with the acquire in `is_watched`
    }

    /// Says whether a task that is spawned here by the runner is put on the list only if it is pending after its first
    /// poll. Till then the scheduler has it, and nobody else: it must not lose it. Before there are tasks.
    pub fn set_lists_late(&self, late: bool) {
        // Relaxed: published to other threads with the runtime itself.
        self.lists_late.store(late.into(), Ordering::Relaxed);
    }

    /// Whether a task that is spawned here is put on the list after its first poll.
    #[inline]
    pub fn lists_late(&self) -> bool {
        // Relaxed: never changes while the shard has tasks.
        self.lists_late.load(Ordering::Relaxed) != 0
    }

    /// Whether a simulation reads what the tasks wait for.
    pub(crate) fn is_watched(&self) -> bool {
        // Acquire pairs with the release in `watch`: a simulation that got this shard after a task had ended is not
        // taken for that task's.
        self.watched.load(Ordering::Acquire) & context::SIMULATION != 0
    }

    /// Says whether those that run it [answer](crate::roll_call).
    pub(crate) fn set_roll_call(&self, is_on: bool) {
        // Relaxed: its runner is woken afterwards, or begins later.
        match is_on {
            true => self.watched.fetch_or(context::ROLL_CALL, Ordering::Relaxed), // Relaxed: as above
            false => self
                .watched
                .fetch_and(!context::ROLL_CALL, Ordering::Relaxed), // Relaxed: as above
        };
    }

    /// All shards that there are, and that there were.
    pub(crate) fn all() -> impl Iterator<Item = &'static Self> {
        (0..shards().used()).map(Self::at)
    }

    /// An operation that a task of this shard had parked is dropped on a thread that does not run the shard. The
    /// runner's note of it cannot be taken back from here. Only a simulation reads such notes, and it
    /// would read freed memory: a simulated operation has no business on another thread.
    ///
    /// Nothing, if the task has ended: nobody reads its note, and the shard may be another runtime's by now.
    pub(crate) fn node_leaves_elsewhere(&self, task: &Header) {
        if self.is_watched() && !task.state().is_done() {
            left_elsewhere();
        }
    }

    /// Counts a task that is about to be made; `false` if the shard has been closed, and then it cannot be made here.
    /// Its runner asks [`is_closing`](Shard::is_closing) too.
    #[must_use]
    pub fn task_created(&self) -> bool {
        if context::runs(self.index) {
            self.runner.count_task(1);
            return true;
        }
        // Tasks that the runner has counted may have left elsewhere, so the count may be a little less than `OPEN`.
        let count = |tasks| (tasks > OPEN / 2).then_some(tasks + 1);
        // Relaxed: while the shard is open the count cannot reach zero, and this task keeps it from zero afterwards.
        let counted = self
            .tasks
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, count);
        counted.is_ok()
    }

    /// A task has left this shard, by a thread that does not run it.
    pub(crate) fn task_left_elsewhere(&self) {
        // AcqRel pairs with the same in other threads and in `close`: the last one sees all others
        // done with the shard.
        if self.tasks.fetch_sub(1, Ordering::AcqRel) == 1 {
            table::give_back(self.index);
        }
    }

    /// How many tasks there are, about, while the shard is open: those that have not ended, or that operations for one
    /// thread still point at.
    pub fn tasks(&self) -> u64 {
        // Relaxed: a figure to look at.
        let tasks = self.tasks.load(Ordering::Relaxed) - OPEN + self.runner.tasks();
        u64::try_from(tasks).unwrap_or(0)
    }

    /// The timers of this shard, which its runner serves, as the crate knows them that has timers; null as long as it
    /// has made none.
    #[inline(always)]
    pub fn timers(&self) -> *const () {
        // Acquire pairs with the release in `set_timers`.
        let timers = self.timers.load(Ordering::Acquire);
        #[cfg(loom)]
        if !timers.is_null() {
            // loom does not see the pointer, or each look would be a step in every model. A fence pairs with the same
            // below.
            fence(Ordering::SeqCst);
        }
        timers
    }

    /// Gives this shard, which has none, its timers.
    ///
    /// # Safety
    /// They are never freed, and they are what everybody takes them for who asks for them.
    pub unsafe fn set_timers(&self, timers: NonNull<()>) {
        #[cfg(loom)]
        fence(Ordering::SeqCst); // pairs with the one above
        // Release pairs with the acquire in `timers`.
        self.timers.store(timers.as_ptr(), Ordering::Release);
    }

    /// The pool it belongs to, or zero.
    #[inline]
    pub fn pool(&self) -> u32 {
        // Relaxed: never changes while the shard has tasks.
        self.pool.load(Ordering::Relaxed)
    }

    /// Of a worker's shard: what its pool does here.
    #[inline]
    pub(crate) fn pool_hooks(&self) -> Option<&dyn PoolHooks> {
        // Relaxed: published with the pool itself.
        if self.is_workers.load(Ordering::Relaxed) == 0 {
            return None;
        }
        self.hooks.get().map(|hooks| &**hooks)
    }

    /// This shard, of a pool, is a worker's: gives what the pool does here, made by `make` if the shard never was a
    /// worker's before. Before it has any task.
    ///
    /// # Safety
    /// They do what [`PoolHooks`] says.
    pub unsafe fn set_pool_hooks(&self, make: impl FnOnce() -> Box<dyn PoolHooks>) -> &dyn Any {
        let hooks = &**self.hooks.get_or_init(make);
        // Relaxed: published with the pool itself.
        self.is_workers.store(1, Ordering::Relaxed);
        hooks
    }

    /// Whether new tasks are turned away, because the runtime is shutting down: the last word for the runner alone.
    #[inline(always)]
    pub fn is_closing(&self) -> bool {
        // Relaxed: written by the runner.
        self.runner.closing.load(Ordering::Relaxed) != 0
    }

    /// Whether nobody has the guard: a hint.
    pub fn is_free(&self) -> bool {
        // Relaxed: a hint.
        self.acquired.load(Ordering::Relaxed) == FREE
    }

    /// Whether a thread runs this shard: a hint.
    pub fn is_running(&self) -> bool {
        // Relaxed: a hint.
        self.acquired.load(Ordering::Relaxed) == RUNNING
    }

    /// The context of the thread that runs, while the shard is open for evacuation.
    ///
    /// # Safety
    /// The shard is open, and the lock of its steal queue is held as long as the result is used.
    pub unsafe fn runner_context(&self) -> Option<&Context> {
        // Relaxed: the lock, and the access flag, order it.
        let context = NonNull::new(self.run_by.load(Ordering::Relaxed))?;
        // SAFETY: open, so its runner is in a poll, and stays there as long as the lock is held.
        Some(unsafe { context.as_ref() })
    }

    /// Calls `with` while nobody else touches the list of the shard's tasks.
    #[inline]
    pub(crate) fn with_list<R>(&self, with: impl FnOnce() -> R) -> R {
        let _locked = (self.pool() != 0).then(|| self.list.lock());
        with()
    }

    /// Adds to the count of tasks; who brings it to zero gives the shard back.
    fn count_late(&self, balance: i64) {
        // AcqRel pairs with `task_left_elsewhere`.
        if self.tasks.fetch_add(balance, Ordering::AcqRel) + balance == 0 {
            table::give_back(self.index);
        }
    }
}

/// An operation of a simulated task is dropped where the simulation cannot be told.
pub(crate) fn left_elsewhere() -> ! {
    std::eprintln!(
        "gossamer: an operation that a simulated task had begun was dropped on another thread, or after its simulation; a \
         simulation must keep its operations to itself"
    );
    std::process::abort();
}
