//! Where the tasks of one runtime live: the part of a runtime that other threads may touch.
//!
//! Shards stand in one table and are never freed, only used again, so a waker may touch the shard of
//! its task at any time, even when the runtime has just ended. A task leaves its shard at its end, when the runner
//! releases it: from then on it names none ([`NOWHERE`](context::NOWHERE)), however long a join handle or a waker
//! keeps its memory. A shard is used again only when it is closed and the last of its tasks has left; so the shard that
//! a task names is never another runtime's.
//! (A thread that wakes a task may have read its shard just before: then it pushes a task that is over into
//! the inbox of somebody else, who finds that out and releases it.)
//! In a pool the shard need not stay the same: workers take tasks from each other (`shard/moving.rs`).
//!
//! # Waking from another thread
//!
//! The waker sets `QUEUED` in the task's [`RefCount`](crate::header::RefCount) and pushes the task into the
//! inbox. The runner, when it has nothing to do, announces under the inbox's lock that it parks,
//! after it has seen the inbox empty under the same lock; a push finds the announcement and wakes
//! it. So a push comes either before the look (the runner sees the task) or after the announcement
//! (the pusher sees the parked runner). `pending` is a hint that saves the runner the lock.
//!
//! After the push the pusher touches only the shard (never freed) and the waker it took out.

use core::ptr::{self, NonNull};
use core::task::Waker;

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use crate::context::{self, Context};
use crate::header::Header;
use crate::platform::atomic::{
    AtomicBool, AtomicI64, AtomicPtr, AtomicU8, AtomicU32, AtomicUsize, Ordering,
};
use crate::platform::{Mutex, QuietPtr, UnmodelledU32, is_light, process_global};
use crate::waiter::Node;

mod access_flag;
mod calling;
mod evacuating;
mod guard;
mod moving;
mod owner;
mod publishing;
mod runner;
mod steal_queue;
mod table;
mod thread_bound;

pub(crate) use self::access_flag::AccessFlag;
pub use self::evacuating::StuckPoll;
pub use self::guard::ShardGuard;
pub(crate) use self::guard::cancel_here;
pub(crate) use self::moving::pull;
pub use self::publishing::settle_publishing;
pub use self::runner::Runner;
use self::steal_queue::StealQueue;
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

/// Loans that other threads have ended, each with the node that the task was loaned to ([`guard`]).
type EndedLoans = Vec<(NonNull<Header>, NonNull<Node>)>;

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
    watched: AtomicBool,
    /// The pool it belongs to, or zero.
    pool: AtomicU32,
    /// Not zero: its runner is a thread that does nothing but run it, and what it runs is one task.
    threaded: UnmodelledU32,
    /// Not zero: this is a child that was forked in a poll of the runner.
    lost: UnmodelledU32,
    /// Whether a thread runs it in every wait, and has ended ([`owner`]).
    owner: UnmodelledU32,
    /// Not zero: its runner may be found stuck in a poll ([`evacuating`]), and its access flag tells.
    monitored: UnmodelledU32,
    access: AccessFlag,
    /// Not zero: a monitor has pinged, and the runner has not acknowledged.
    pinged: UnmodelledU32,
    /// An idle worker has found the runner in a long poll (see [`publishing`]).
    publish_wanted: AtomicBool,
    /// The shard whose fallback waker is called when a task is published.
    notify_shard: UnmodelledU32,
    /// In a pool: tasks that other workers may take, and how many (a hint).
    steal_queue: Mutex<StealQueue>,
    steal_len: AtomicUsize,
    /// In a pool: who touches the list of all tasks.
    list: Mutex<()>,
    /// The shard's timers, which the crate of timers sets once; null until then.
    timers: QuietPtr<()>,
    /// Tasks that came and left by threads other than the runner, plus [`OPEN`] while open.
    tasks: AtomicI64,
    /// The runner's own.
    pub(crate) runner: Runner,
}

#[derive(Debug)]
struct Inbox {
    /// Each with its `QUEUED` hold.
    tasks: InboxQueue,
    closed: bool,
    /// Whether somebody has [called](Shard::call).
    called: bool,
    /// Wakes the runner, if it has parked or is about to.
    parked: Option<Waker>,
    /// Wakes somebody who looks after a shard without a runner.
    fallback_waker: Option<Waker>,
    /// Wakes a thread that would run, but found another one running.
    waiting: Option<Waker>,
    /// Loans of tasks that other threads have ended while one ran.
    loans: EndedLoans,
}

// SAFETY: `runner` is touched only by the thread that holds `acquired`, which is acquired and released; but for
// `runner.owned` of a pool's shard, from which thieves take tasks: it is changed only under `list`, and read without
// it only by the runner, when its steal queue is empty for good; and but for a shard that is open for evacuation, whose
// `runner.slot`, tasks and runner's context belong to who holds the steal queue's lock. The pointers in the inbox are
// references to tasks (`QUEUED`), those in the steal queue scheduled tasks, touched under its lock, and the loans' are
// loans; none is tied to a thread.
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
            inbox: Mutex::new(Inbox {
                tasks: InboxQueue::default(),
                closed: true,
                called: false,
                parked: None,
                fallback_waker: None,
                waiting: None,
                loans: Vec::new(),
            }),
            acquired: AtomicU8::new(FREE),
            run_by: AtomicPtr::new(ptr::null_mut()),
            watched: AtomicBool::new(false),
            pool: AtomicU32::new(0),
            threaded: UnmodelledU32::new(0),
            lost: UnmodelledU32::new(0),
            owner: UnmodelledU32::new(NO_OWNER),
            monitored: UnmodelledU32::new(0),
            access: AccessFlag::new(),
            pinged: UnmodelledU32::new(0),
            publish_wanted: AtomicBool::new(false),
            notify_shard: UnmodelledU32::new(u32::from(context::NOWHERE)),
            steal_queue: Mutex::new(StealQueue::default()),
            steal_len: AtomicUsize::new(0),
            list: Mutex::new(()),
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
        shard.monitored.store(0, Ordering::Relaxed); // Relaxed: as below
        shard.owner.store(NO_OWNER, Ordering::Relaxed); // Relaxed: as below
        shard.runner.begin_anew();
        // Relaxed: as below.
        shard.publish_wanted.store(false, Ordering::Relaxed);
        // Relaxed: published to other threads with the runtime itself.
        shard.tasks.store(OPEN, Ordering::Relaxed);
        // Relaxed: published with the pool itself.
        shard.pool.store(pool, Ordering::Relaxed);
        shard.watch(false);
        let mut inbox = shard.inbox.lock();
        (inbox.closed, inbox.called) = (false, false);
        // Relaxed: kept under the lock.
        shard.pending.store(false, Ordering::Relaxed);
        drop(inbox);
        Some(shard)
    }

    /// The shard with this index.
    pub fn at(index: u16) -> &'static Self {
        shards().at(index)
    }

    /// The memory that only the runner touches. A thread with the guard asks [`ShardGuard::runner`].
    ///
    /// # Safety
    /// The current thread runs this shard, as long as the result is used.
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
        // Release pairs with the acquire in `is_watched`.
        self.watched.store(watched, Ordering::Release);
    }

    /// Whether a simulation reads what the tasks wait for.
    pub(crate) fn is_watched(&self) -> bool {
        // Acquire pairs with the release in `watch`: a simulation that got this shard after a task had ended is not
        // taken for that task's.
        self.watched.load(Ordering::Acquire)
    }

    /// An operation that a task of this shard had parked is dropped on a thread that does not run the shard. The
    /// runner's note of it cannot be taken back from here. Only a simulation reads such notes, and it
    /// would read freed memory: a simulated operation has no business on another thread.
    ///
    /// Nothing, if the task has ended: nobody reads its note, and the shard may be another runtime's by now.
    pub(crate) fn node_leaves_elsewhere(&self, task: &Header) {
        if self.is_watched() && !task.state().is_done() {
            std::eprintln!(
                "gossamer: an operation that a simulated task had begun was dropped on another \
                 thread, or after its simulation; a simulation must keep its operations to itself"
            );
            std::process::abort();
        }
    }

    /// A task was made; call before it can be seen by others.
    pub fn task_created(&self) {
        if context::runs(self.index) {
            self.runner.count_task(1);
        } else {
            // Relaxed: the shard is open, so the count cannot reach zero meanwhile.
            self.tasks.fetch_add(1, Ordering::Relaxed);
        }
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

    /// Puts a task whose `QUEUED` hold the caller owns into the inbox, and the reference with it.
    ///
    /// # Safety
    /// The caller owns that hold, and gives it up unless the result is an error.
    ///
    /// # Errors
    /// The shard is closed: the reference is still the caller's.
    ///
    /// # Returns
    /// The parked runner, to be woken after all locks are given up.
    pub unsafe fn push(&self, task: NonNull<Header>) -> Result<Option<Waker>, Closed> {
        let mut inbox = self.inbox.lock();
        if inbox.closed && !crate::mutant!("inbox_never_closed") {
            return Err(Closed);
        }
        inbox.tasks.push_back(task);
        // Release pairs with the acquire in `has_pending`, though the lock alone would do.
        self.pending.store(true, Ordering::Release);
        if crate::mutant!("inbox_no_unpark") {
            return Ok(None);
        }
        Ok(inbox.parked.take().or_else(|| inbox.fallback_waker.clone()))
    }

    /// Whether the inbox may have something.
    #[inline(always)]
    pub fn has_pending(&self) -> bool {
        // Relaxed: a hint; who acts on it takes the lock, and who parks looks under the lock.
        self.pending.load(Ordering::Relaxed)
    }

    /// Announces that the runner is about to park and wants `waker` called; `false` if the inbox
    /// has something after all, and then nothing was announced.
    pub fn park(&self, waker: &Waker) -> bool {
        let mut inbox = self.inbox.lock();
        if !crate::mutant!("park_no_recheck") && !inbox.tasks.is_empty() {
            return false;
        }
        let before = inbox.parked.replace(waker.clone());
        drop(inbox);
        drop(before);
        true
    }

    /// Adds to the count of tasks; who brings it to zero gives the shard back.
    fn count_late(&self, balance: i64) {
        // AcqRel pairs with `task_left_elsewhere`.
        if self.tasks.fetch_add(balance, Ordering::AcqRel) + balance == 0 {
            table::give_back(self.index);
        }
    }
}

/// The tasks in an inbox, first in, first out. Mostly there is one, which needs no buffer: an OS thread of the model
/// 1:1 that has just woken finds it beside the lock, and no other memory has to come into the cache.
#[derive(Debug, Default)]
struct InboxQueue {
    first: Option<NonNull<Header>>,
    /// After the first; empty if there is none.
    rest: VecDeque<NonNull<Header>>,
}

impl InboxQueue {
    #[inline]
    fn is_empty(&self) -> bool {
        self.first.is_none()
    }

    fn len(&self) -> usize {
        usize::from(self.first.is_some()) + self.rest.len()
    }

    #[inline]
    fn push_back(&mut self, task: NonNull<Header>) {
        if self.first.is_none() {
            self.first = Some(task);
        } else {
            self.rest.push_back(task);
        }
    }

    #[inline]
    fn pop_front(&mut self) -> Option<NonNull<Header>> {
        let first = self.first.take()?;
        if !self.rest.is_empty() {
            self.first = self.rest.pop_front();
        }
        Some(first)
    }

    /// Takes all out. The buffer comes too, if it was needed: see [`InboxQueue::give_buffer`].
    #[inline]
    fn take(&mut self) -> Self {
        Self {
            first: self.first.take(),
            rest: if self.rest.is_empty() {
                VecDeque::new()
            } else {
                core::mem::take(&mut self.rest)
            },
        }
    }

    /// Whether it has a buffer, which is empty by now, to be given back.
    fn has_buffer(&self) -> bool {
        self.rest.capacity() > 0
    }

    /// Takes a buffer back, so that waking does not allocate again and again.
    fn give_buffer(&mut self, from: Self) {
        if !self.has_buffer() {
            self.rest = from.rest;
        }
    }

    /// All but the first go.
    fn forget_rest(&mut self) {
        self.rest.clear();
    }
}

/// The shard's runtime has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Closed;
