//! The header that every task begins with: 56 bytes that the scheduler, wakers and dumps share.
//!
//! # Who may touch which field when
//!
//! A task has a *shard*: one runtime's, or one worker's, run by at most one thread at a time (the *runner*).
//!
//! 1. `vtable` and `spawned` never change. The shard in `state` changes only between the shards of one pool, by the
//!    runner, by who takes a new task out of the injector, or by a thief (crate `sched`, `pool/README.md`).
//! 2. `next`, `owned` and the rest of `state` belong to the runner alone and are plain memory (`state` is
//!    an atomic only because others read it). Whoever finds
//!    [`Context::shard`](crate::context::Context) equal to the task's shard *is* the runner.
//!    (While a shard is open for evacuation, that is who holds the lock of its steal queue: see
//!    `context/access_flag.rs`.)
//!    Two exceptions, in a pool: `next` and `state` of a task in a steal queue belong to who holds that queue's
//!    lock, so there the runner writes to no task that it finds scheduled; and `owned` is changed only under the
//!    lock of its shard's list.
//!    (A task that is over has [`NOWHERE`] there, from the moment when its runner releases
//!    it; then it is nobody's but its handles', which touch `refs` and `join` alone.)
//! 3. `refs` and `join` are atomic and anyone's.
//! 4. The future belongs to the runner; the output to the runner until `join` says `DONE`, then to
//!    the join handle.
//!
//! # States
//!
//! `state`, the runner's view (see [`TaskState`] for the bits):
//!
//! | bits | meaning |
//! | --- | --- |
//! | none | parked: nothing to do until a wake |
//! | `SCHEDULED` | in the run queue (or just being polled and woken meanwhile: it will be polled again) |
//! | `CANCELLED` | with `SCHEDULED`: at its next turn the future is dropped, not polled |
//! | `DONE` | the future is gone; the output, if any, is published |
//! | `DONE`, `SCHEDULED` | finished, but a queue still points here: whoever pops it releases it |
//!
//! `SCHEDULED` is cleared *before* a poll, so a wake during the poll queues the task again and no
//! transition is needed after the poll. (A task that wakes itself in its poll, by its waker, yields: it is queued after
//! the poll.)
//!
//! `refs`, everybody's view (one atomic word), says who still needs the memory:
//!
//! | bits | meaning |
//! | --- | --- |
//! | `ALIVE` | the runner holds it: from the spawn until the future is gone and no queue points here |
//! | `QUEUED` | it is in its shard's inbox, or a thread is about to put it there |
//! | `CANCEL` | somebody called abort; counts for nothing |
//! | the rest | number of wakers and join handles |
//!
//! The one who clears the last counting bit frees the cell. A wake from another thread sets
//! `QUEUED` and, if it was clear, pushes the task into the inbox: the inbox then holds the memory,
//! so the push may follow the bit at leisure. The runner clears `QUEUED` *before* it polls, by a
//! read-modify-write, so a wake that found the bit set is seen by the poll to come.
//!
//! `join` is told in [`crate::header::join`].
//!
//! # Loaned nodes
//!
//! A parked node of a primitive for one thread may point at its task without owning a waker (see
//! [`crate::waiter`]). The task's memory must then stay: such nodes are counted in `state`, and the runner
//! gives up its reference only when the count is zero. Mostly there is one, and the task is parked: then the
//! word is the same for all local tasks of a shard, and one comparison finds that out.

pub mod join;
mod list;
mod loan;
mod queued;
pub mod ref_count;
mod running;
mod state;

use core::any::Any;
use core::cell::Cell;
use core::marker::PhantomData;
use core::ops::Deref;
use core::panic::Location;
use core::ptr::NonNull;
use core::task::Poll;

use alloc::boxed::Box;

use crate::platform::UnmodelledU32;
use crate::platform::atomic::{AtomicPtr, Ordering};
use crate::waiter::Node;

pub(crate) use self::list::RunNextSlot;
pub use self::list::{NewTaskStack, Owned, ScheduledTask, TaskQueue};
pub use self::queued::Queued;
pub use self::ref_count::RefCount;
pub use self::running::{Description, Turn, WaitsFor};
pub use self::state::{NOWHERE, TaskState};

/// The payload of a panic, as [`std::panic::catch_unwind`] returns it.
pub type Payload = Box<dyn Any + Send + 'static>;

/// The reason why a task has no output.
#[derive(Debug)]
pub enum Failure {
    /// It was aborted, or its runtime shut down.
    Cancelled,
    /// It panicked.
    Panicked(Box<Payload>),
}

/// One word, so that the place for the output of a task without one takes no more than two.
#[cfg(target_pointer_width = "64")]
const _: () = assert!(size_of::<Result<(), Failure>>() == 16);

impl Failure {
    /// It panicked.
    pub fn panicked(payload: Payload) -> Self {
        Self::Panicked(Box::new(payload))
    }
}

/// The operations on a task that depend on its future's type.
#[derive(Debug)]
pub struct Vtable {
    /// Polls the future; ready when its output is stored.
    ///
    /// # Safety
    /// On the runner, the future present. A panic of the future passes through.
    pub poll: unsafe fn(NonNull<Header>) -> Poll<()>,
    /// Drops the future and stores the failure in its place. A panic of the drop ends here.
    ///
    /// # Safety
    /// On the runner, the future present.
    pub fail: unsafe fn(NonNull<Header>, Failure),
    /// Moves the output out, into a `Result<Output, Failure>`.
    ///
    /// # Safety
    /// The caller owns the output (see [`join`]); nobody may read it afterwards. The pointer is to
    /// writable memory for such a result.
    pub take_output: unsafe fn(NonNull<Header>, *mut ()),
    /// Drops the output.
    ///
    /// # Safety
    /// The caller owns the output (see [`join`]); nobody may read it afterwards.
    pub drop_output: unsafe fn(NonNull<Header>),
    /// Frees the memory of the cell.
    ///
    /// # Safety
    /// `refs` has no counting bit left; future and output are gone.
    pub free: unsafe fn(NonNull<Header>),
    /// Ends the name and the values that are kept for the task elsewhere.
    ///
    /// # Safety
    /// The task is over: nobody uses one of its values.
    pub end_locals: unsafe fn(NonNull<Header>),
    /// Leaks them instead.
    pub leak_locals: fn(NonNull<Header>),
}

/// The waiter for the output, in one word; [`join`] describes its states.
#[derive(Debug)]
pub struct Join(AtomicPtr<()>);

/// The first 56 bytes of a task. What a poll touches comes last, beside the future. A pointer to it has room for three
/// tags, also where it has four bytes.
#[derive(Debug)]
#[repr(C, align(8))]
pub struct Header {
    /// Links of the list of all tasks of a shard.
    pub(crate) owned: OwnedLinks,
    /// The waiter for the output.
    pub(crate) join: Join,
    /// Where the task was spawned.
    pub spawned: &'static Location<'static>,
    /// The reference count: who still needs the memory.
    pub(crate) refs: RefCount,
    /// A [`TaskState`]: the shard, and the runner's view of the state.
    state: UnmodelledU32,
    /// How often the task has moved. loom does not know of `state`; so it learns that a look and a move meet.
    #[cfg(loom)]
    moved: crate::platform::atomic::AtomicU32,
    /// Run-queue link while scheduled; what the task waits for while parked.
    pub(crate) next: Cell<QueueLink>,
    /// The operations that depend on the type of the future.
    pub vtable: &'static Vtable,
}

#[cfg(all(target_pointer_width = "64", not(any(loom, shuttle))))]
const _: () = assert!(size_of::<Header>() == 56);

impl Header {
    /// The header of a task that is scheduled, held by its runner and by one join handle.
    pub fn new(
        vtable: &'static Vtable,
        state: TaskState,
        spawned: &'static Location<'static>,
    ) -> Self {
        #[cfg(loom)]
        crate::platform::model::task_created();
        Self {
            next: Cell::new(QueueLink::NOTHING),
            vtable,
            refs: RefCount::new(),
            state: UnmodelledU32::new(state.word()),
            #[cfg(loom)]
            moved: crate::platform::atomic::AtomicU32::new(0),
            owned: OwnedLinks::new(),
            join: Join::new(),
            spawned,
        }
    }

    /// Where the task lives; anyone may ask. The rest of the word is the runner's.
    #[inline(always)]
    pub fn state(&self) -> TaskState {
        // Acquire pairs with the release in `move_to`: who finds the task at the shard it runs sees what the
        // runner before did.
        TaskState::from_word(self.state.load(Ordering::Acquire))
    }

    /// [`Header::state`], for a thread that may not be the runner: the task may move at this moment.
    #[inline(always)]
    pub fn look(&self) -> TaskState {
        #[cfg(loom)]
        let _ = self.moved.load(Ordering::Relaxed); // Relaxed: the value says nothing
        self.state()
    }

    /// Changes the runner's part of the word.
    ///
    /// # Safety
    /// On the runner, or in its place; and what the state says is so.
    #[inline(always)]
    pub(crate) unsafe fn set_state(&self, state: TaskState) {
        // Relaxed: others read only the shard, which stays until the task is over.
        self.state.store(state.word(), Ordering::Relaxed);
    }

    /// Sends the task to another shard; the last thing its runner does with it.
    ///
    /// # Safety
    /// On the runner, or in its place; the task is in no list.
    pub(crate) unsafe fn move_to(&self, shard: u16) {
        #[cfg(loom)]
        let _ = self.moved.fetch_add(1, Ordering::Relaxed); // Relaxed: the value says nothing
        // Release pairs with the acquire in `state`.
        self.state
            .store(self.state().moved_to(shard).word(), Ordering::Release);
    }
}

/// The links of a task in its shard's list.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct OwnedLinks {
    next: Cell<LinkedTask>,
    prev: Cell<LinkedTask>,
}

impl OwnedLinks {
    fn new() -> Self {
        Self {
            next: Cell::new(None),
            prev: Cell::new(None),
        }
    }
}

/// The value of `next`: a run-queue link, or the thing that a parked task waits for. The two low bits tell which.
///
/// ```text
///  63                      2   1   0
/// +-------------------------+---+---+
/// |        pointer          |  tag  |   0 link     1 node     2 task joined     3 a time, not a pointer
/// +-------------------------+---+---+
/// ```
#[derive(Debug, Clone, Copy)]
#[repr(transparent)]
pub struct QueueLink(*const ());

const TAG: usize = 3;
const NODE: usize = 1;
const TASK: usize = 2;
const TIME: usize = 3;

impl QueueLink {
    /// Nothing known: not parked on anything of ours.
    pub const NOTHING: Self = Self(core::ptr::null());

    /// Parked on a primitive.
    pub(crate) fn on_node(node: NonNull<Node>) -> Self {
        Self::tagged(node.as_ptr().cast(), NODE)
    }

    /// Parked on the end of this task.
    pub fn on_task(task: NonNull<Header>) -> Self {
        Self::tagged(task.as_ptr().cast(), TASK)
    }

    /// Polled last at this [moment](crate::recording), whose highest bits are lost.
    pub(crate) fn polled_at(count: u64) -> Self {
        // Where a word has 32 bits it wraps soon.
        Self(core::ptr::without_provenance((count as usize) << 2 | TIME))
    }

    /// The moment, if it is one.
    pub(crate) fn polled(self) -> Option<u64> {
        let is_time = self.0.addr() & TAG == TIME;
        is_time.then_some(self.0.addr() as u64 >> 2)
    }

    fn tagged(pointer: *mut (), tag: usize) -> Self {
        Self(pointer.cast_const().map_addr(|at| at | tag))
    }

    /// The node, if parked on a primitive. [`Description::waits_for`] says when it may be read.
    fn node(self) -> Option<NonNull<Node>> {
        (self.0.addr() & TAG == NODE)
            .then(|| self.untagged())
            .flatten()
    }

    /// The task, if parked on the end of one.
    fn task(self) -> Option<NonNull<Header>> {
        (self.0.addr() & TAG == TASK)
            .then(|| self.untagged())
            .flatten()
    }

    fn untagged<T>(self) -> Option<NonNull<T>> {
        NonNull::new(self.0.map_addr(|at| at & !TAG).cast_mut().cast())
    }

    #[inline(always)]
    fn link(next: TaskRef<'static>) -> Self {
        Self(next.pointer().as_ptr().cast_const().cast())
    }

    /// # Safety
    /// Of a task in a queue.
    #[inline(always)]
    unsafe fn as_link(self) -> LinkedTask {
        // SAFETY: the next one is in the same queue, so alive until it is taken out.
        NonNull::new(self.0.cast_mut().cast()).map(|task| unsafe { TaskRef::new(task) })
    }

    pub(crate) fn is_nothing(self) -> bool {
        self.0.is_null()
    }

    pub(crate) fn is(self, other: Self) -> bool {
        core::ptr::eq(self.0, other.0)
    }
}

/// A task that is alive as long as this is: safe code may look at its header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TaskRef<'a> {
    task: NonNull<Header>,
    _alive: PhantomData<&'a Header>,
}

/// A task in a list: alive until it is taken out.
type LinkedTask = Option<TaskRef<'static>>;

impl TaskRef<'_> {
    /// Of a pointer to a task.
    ///
    /// # Safety
    /// The task is alive as long as the result, and what is copied of it, is used.
    #[inline(always)]
    pub const unsafe fn new(task: NonNull<Header>) -> Self {
        Self {
            task,
            _alive: PhantomData,
        }
    }

    /// The pointer, good for the whole task.
    #[inline(always)]
    pub const fn pointer(self) -> NonNull<Header> {
        self.task
    }
}

impl Deref for TaskRef<'_> {
    type Target = Header;

    #[inline(always)]
    fn deref(&self) -> &Header {
        // SAFETY: alive, as whoever made this has vouched.
        unsafe { self.task.as_ref() }
    }
}

/// Releases one counted reference on a task, and frees it if that was the last.
///
/// # Safety
/// The caller owns that hold and does not use the task through it afterwards.
#[inline]
pub unsafe fn ref_dec(task: NonNull<Header>, refs: u32) {
    // SAFETY: the reference keeps the header alive; and after the last one the caller frees it.
    let header: TaskRef<'_> = unsafe { TaskRef::new(task) };
    if header.refs.ref_dec(refs) {
        #[cfg(loom)]
        crate::platform::model::task_freed();
        // SAFETY: nobody else holds the task any more; future and output are gone with `ALIVE` and the join
        // handle.
        unsafe { (header.vtable.free)(task) };
    }
}
