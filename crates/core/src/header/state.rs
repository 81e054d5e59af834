//! Two words of a header, the driver's but in a pool's open queue: place and state, and what `next` points at.

use core::ptr::NonNull;

use super::Header;
use crate::waiter::Node;

/// The home's index.
const HOME: u32 = 0xFFFF;
/// The task belongs to a local scope: it never leaves its thread, and may be `!Send`.
const LOCAL: u32 = 1 << 16;
/// One node that points here without owning a waker.
const LENT_ONE: u32 = 1 << 17;
/// How many [`LENT_ONE`] there are.
const LENT: u32 = 0x7F << 17;
/// In the run queue, or about to be.
const SCHEDULED: u32 = 1 << 24;
/// The future is gone.
const DONE: u32 = 1 << 25;
/// The future is to be dropped at the task's next turn.
const CANCELLED: u32 = 1 << 26;
/// Not in its home's list: spawned or sent by another thread and on its way through the inbox; or, in a pool,
/// runnable and not polled there so far.
const NEW: u32 = 1 << 27;

/// The driver keeps one hold of a waker in store, for the next node that wants one.
const SPARE: u32 = 1 << 28;
/// The task stays with the thread that polls it.
const PINNED: u32 = 1 << 29;

/// The task has something in the side table ([`crate::aside`]).
const ASIDE: u32 = 1 << 30;

/// Where a task lives and how it stands there, in one word.
///
/// ```text
///  31  30    29     28    27  26        25   24        23    17 16   15           0
/// +---+-----+------+-----+---+---------+----+---------+--------+-----+--------------+
/// | 0 |ASIDE|PINNED|SPARE|NEW|CANCELLED|DONE|SCHEDULED|  lent  |LOCAL| index of home|
/// +---+-----+------+-----+---+---------+----+---------+--------+-----+--------------+
/// ```
///
/// Anyone may read the lower 17 bits; the others are the driver's. While the task is in an open queue all are written
/// only by who holds the queue's lock, a thief perhaps. `LOCAL` never changes, nor does the home of a local task. The
/// word of a local task is mostly one of three: running, lent to one node, or scheduled. One comparison finds out
/// that all is plain and simple.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(transparent)]
pub struct Place(u32);

impl Place {
    /// A new task spawned by its driver: about to be pushed to the run queue.
    pub fn spawned_here(home: u16, local: bool) -> Self {
        Self(Self::fixed_part(home, local) | SCHEDULED)
    }

    /// The same in a pool, where it is put on the list only if it is pending after its first poll.
    pub fn spawned_in_pool(home: u16) -> Self {
        Self(Self::fixed_part(home, false) | SCHEDULED | NEW)
    }

    /// A new task spawned by another thread (or from inside another runtime): about to be pushed to
    /// the inbox.
    pub fn spawned_elsewhere(home: u16, local: bool) -> Self {
        Self(Self::fixed_part(home, local) | NEW)
    }

    const fn fixed_part(home: u16, local: bool) -> u32 {
        home as u32 | if local { LOCAL } else { 0 }
    }

    /// A running local task of this home, with nothing lent.
    #[inline(always)]
    pub const fn running_local(home: u16) -> Self {
        Self(Self::fixed_part(home, true))
    }

    /// A parked local task of this home, lent to the one node it waits with.
    #[inline(always)]
    pub const fn lent_local(home: u16) -> Self {
        Self(Self::fixed_part(home, true) + LENT_ONE)
    }

    #[inline(always)]
    pub(super) fn from_word(word: u32) -> Self {
        Self(word)
    }

    #[inline(always)]
    pub(super) fn word(self) -> u32 {
        self.0
    }

    /// The same task at another home, and not yet in that home's list.
    #[inline]
    pub(crate) fn moved_to(self, home: u16) -> Self {
        Self(self.0 & !HOME | u32::from(home) | NEW)
    }

    /// The same task, which is over and has no home any more.
    pub(crate) fn without_home(self) -> Self {
        Self(self.0 | HOME)
    }

    /// The home's index, or [`NOWHERE`](crate::context::NOWHERE).
    #[inline(always)]
    pub fn home(self) -> u16 {
        (self.0 & HOME) as u16
    }

    /// In no list yet.
    pub fn is_new(self) -> bool {
        self.0 & NEW != 0
    }

    pub(crate) fn without_new(self) -> Self {
        Self(self.0 & !NEW)
    }

    /// In the run queue.
    #[inline(always)]
    pub fn is_scheduled(self) -> bool {
        self.0 & SCHEDULED != 0
    }

    /// The future is gone.
    #[inline(always)]
    pub fn is_done(self) -> bool {
        self.0 & DONE != 0
    }

    /// The future is to be dropped.
    #[inline(always)]
    pub fn is_cancelled(self) -> bool {
        self.0 & CANCELLED != 0
    }

    /// The task belongs to a local scope.
    #[inline(always)]
    pub fn is_local(self) -> bool {
        self.0 & LOCAL != 0
    }

    /// Whether a wake has nothing to do: already scheduled, or finished.
    #[inline(always)]
    pub fn ignores_wake(self) -> bool {
        self.0 & (SCHEDULED | DONE) != 0
    }

    /// Whether a task that was just taken from the run queue is to be polled.
    #[inline(always)]
    pub fn wants_poll(self) -> bool {
        self.0 & (DONE | CANCELLED) == 0
    }

    #[inline(always)]
    pub(crate) fn with_scheduled(self) -> Self {
        Self(self.0 | SCHEDULED)
    }

    #[inline(always)]
    pub(crate) fn without_scheduled(self) -> Self {
        Self(self.0 & !SCHEDULED)
    }

    pub(crate) fn with_cancelled(self) -> Self {
        Self(self.0 | CANCELLED)
    }

    pub(crate) fn with_done(self) -> Self {
        Self(self.0 | DONE)
    }

    /// The task has begun to run as a fiber, and stays with the thread it began on.
    #[inline(always)]
    pub fn is_pinned(self) -> bool {
        self.0 & PINNED != 0
    }

    pub(crate) fn with_pinned(self) -> Self {
        Self(self.0 | PINNED)
    }

    pub(crate) fn without_pinned(self) -> Self {
        Self(self.0 & !PINNED)
    }

    /// Something is kept for the task in the side table.
    #[inline(always)]
    pub(crate) fn has_aside(self) -> bool {
        self.0 & ASIDE != 0
    }

    pub(crate) fn with_aside(self) -> Self {
        Self(self.0 | ASIDE)
    }

    /// A hold of a waker is in store.
    #[inline(always)]
    pub(crate) fn has_spare(self) -> bool {
        self.0 & SPARE != 0
    }

    #[inline(always)]
    pub(crate) fn with_spare(self) -> Self {
        Self(self.0 | SPARE)
    }

    #[inline(always)]
    pub(crate) fn without_spare(self) -> Self {
        Self(self.0 & !SPARE)
    }

    /// From lent to one node to scheduled.
    #[inline(always)]
    pub(crate) fn woken_by_lender(self) -> Self {
        debug_assert!(self.lent() == 1 && !self.is_scheduled());
        Self(self.0 + (SCHEDULED - LENT_ONE))
    }

    /// To how many nodes it is lent.
    pub(crate) fn lent(self) -> u32 {
        (self.0 & LENT) / LENT_ONE
    }

    /// One more lent node. There is always room for one more than [`Place::may_lend`] admits.
    pub(crate) fn lend(self) -> Self {
        debug_assert!(self.0 & LENT != LENT, "more nodes lent than can be counted");
        Self(self.0 + LENT_ONE)
    }

    /// One lent node fewer.
    pub(crate) fn give_back(self) -> Self {
        debug_assert!(self.0 & LENT != 0, "a node was given back twice");
        Self(self.0 - LENT_ONE)
    }

    /// Whether one more node may be lent by counting it.
    pub(crate) fn may_lend(self) -> bool {
        self.is_local() && self.lent() < LENT / LENT_ONE - 1
    }
}

/// What `next` holds: a run-queue link, or what a parked task waits for. The two low bits tell.
///
/// ```text
///  63                      2   1   0
/// +-------------------------+---+---+
/// |        pointer          |  tag  |   0 link     1 node     2 task joined
/// +-------------------------+---+---+
/// ```
#[derive(Debug, Clone, Copy)]
#[repr(transparent)]
pub struct Parked(*const ());

const TAG: usize = 3;
const NODE: usize = 1;
const TASK: usize = 2;

impl Parked {
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

    fn tagged(pointer: *mut (), tag: usize) -> Self {
        Self(pointer.cast_const().map_addr(|at| at | tag))
    }

    /// The node, if parked on a primitive.
    ///
    /// It may be read only by the driver, between polls, and only if no operation of the task can have been
    /// dropped on another thread: in a simulation, which forbids that.
    pub fn node(self) -> Option<NonNull<Node>> {
        (self.0.addr() & TAG == NODE)
            .then(|| self.untagged())
            .flatten()
    }

    /// The task, if parked on the end of one.
    pub fn task(self) -> Option<NonNull<Header>> {
        (self.0.addr() & TAG == TASK)
            .then(|| self.untagged())
            .flatten()
    }

    fn untagged<T>(self) -> Option<NonNull<T>> {
        NonNull::new(self.0.map_addr(|at| at & !TAG).cast_mut().cast())
    }

    #[inline(always)]
    pub(super) fn link(next: *const Header) -> Self {
        Self(next.cast())
    }

    #[inline(always)]
    pub(super) fn as_link(self) -> *const Header {
        self.0.cast()
    }

    pub(crate) fn is_nothing(self) -> bool {
        self.0.is_null()
    }

    pub(crate) fn is(self, other: Self) -> bool {
        core::ptr::eq(self.0, other.0)
    }
}
