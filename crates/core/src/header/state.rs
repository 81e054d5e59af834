//! A word of a header, the runner's but in a pool's steal queue: shard and state.

/// The index of no shard.
pub const NOWHERE: u16 = u16::MAX;

/// The shard's index.
const SHARD: u32 = 0xFFFF;
/// The task belongs to a local scope: it never leaves its thread, and may be `!Send`.
const LOCAL: u32 = 1 << 16;
/// One node that points here without owning a waker.
const ONE_LOAN: u32 = 1 << 17;
/// How many [`ONE_LOAN`] there are.
const LOANS: u32 = 0x7F << 17;
/// In the run queue, or about to be.
const SCHEDULED: u32 = 1 << 24;
/// The future is gone.
const DONE: u32 = 1 << 25;
/// The future is to be dropped at the task's next turn.
const CANCELLED: u32 = 1 << 26;
/// Not in its shard's list: spawned or sent by another thread and on its way through the inbox; or runnable, and not
/// polled there so far (in a pool, and where the scheduler is the default one).
const NEW: u32 = 1 << 27;

/// The runner keeps one waker's reference in store, for the next node that wants one.
const CACHED_REF: u32 = 1 << 28;
/// The task stays with the thread that polls it.
const PINNED: u32 = 1 << 29;

/// The task has something in the side table (crate `task`, `locals.rs`).
const HAS_LOCALS: u32 = 1 << 30;

/// The task is in the midst of a foreign call, and is not cancelled before that has returned.
const FOREIGN: u32 = 1 << 31;

/// Where a task lives and how it stands there, in one word.
///
/// ```text
///  31      30         29     28         27  26        25   24        23      17 16    15           0
/// +-------+----------+------+----------+---+---------+----+---------+---------+-----+--------------+
/// |FOREIGN|HAS_LOCALS|PINNED|CACHED_REF|NEW|CANCELLED|DONE|SCHEDULED|  loans  |LOCAL| index of shard|
/// +-------+----------+------+----------+---+---------+----+---------+---------+-----+--------------+
/// ```
///
/// Anyone may read the lower 17 bits; the others are the runner's. While the task is in a steal queue all are written
/// only by who holds the queue's lock, a thief perhaps. `LOCAL` never changes, nor does the shard of a local task. The
/// word of a local task that parks or is woken is mostly one of two: running, or loaned to one node. One comparison finds
/// out that all is plain and simple.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(transparent)]
pub struct TaskState(u32);

impl TaskState {
    /// A new task spawned by its runner: about to be pushed to the run queue.
    pub fn spawned_here(shard: u16, local: bool) -> Self {
        Self(Self::fixed_part(shard, local) | SCHEDULED)
    }

    /// A new task spawned by its runner that goes on the list only if it is pending after its first poll.
    pub fn spawned_unlisted(shard: u16) -> Self {
        Self(Self::fixed_part(shard, false) | SCHEDULED | NEW)
    }

    /// A new task spawned by another thread (or from inside another runtime): about to be pushed to
    /// the inbox.
    pub fn spawned_elsewhere(shard: u16, local: bool) -> Self {
        Self(Self::fixed_part(shard, local) | NEW)
    }

    const fn fixed_part(shard: u16, local: bool) -> u32 {
        shard as u32 | if local { LOCAL } else { 0 }
    }

    /// A running local task of this shard, with nothing loaned.
    #[inline(always)]
    pub const fn running_local(shard: u16) -> Self {
        Self(Self::fixed_part(shard, true))
    }

    /// A parked local task of this shard, loaned to the one node it waits with.
    #[inline(always)]
    pub const fn loaned_local(shard: u16) -> Self {
        Self(Self::fixed_part(shard, true) + ONE_LOAN)
    }

    #[inline(always)]
    pub(super) fn from_word(word: u32) -> Self {
        Self(word)
    }

    #[inline(always)]
    pub(super) fn word(self) -> u32 {
        self.0
    }

    /// The state after a move to another shard: the task is not yet in that shard's list.
    #[inline]
    pub(crate) fn moved_to(self, shard: u16) -> Self {
        Self(self.0 & !SHARD | u32::from(shard) | NEW)
    }

    /// The state of a task that is over and has no shard any more.
    pub(crate) fn without_shard(self) -> Self {
        Self(self.0 | SHARD)
    }

    /// The shard's index, or [`NOWHERE`](crate::context::NOWHERE).
    #[inline(always)]
    pub fn shard(self) -> u16 {
        (self.0 & SHARD) as u16
    }

    /// In no list yet.
    pub fn is_new(self) -> bool {
        self.0 & NEW != 0
    }

    /// In no list yet, and runnable here.
    #[inline(always)]
    pub fn is_unlisted(self) -> bool {
        self.0 & (NEW | SCHEDULED) == NEW | SCHEDULED
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

    /// Whether a task that was just taken from the run queue is to be polled, and not for the first time there.
    #[inline(always)]
    pub fn is_plain(self) -> bool {
        self.0 & (DONE | CANCELLED | NEW) == 0
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

    /// In the midst of a foreign call.
    pub(crate) fn is_foreign(self) -> bool {
        self.0 & FOREIGN != 0
    }

    pub(crate) fn with_foreign(self) -> Self {
        Self(self.0 | FOREIGN)
    }

    pub(crate) fn without_foreign(self) -> Self {
        Self(self.0 & !FOREIGN)
    }

    /// Something is kept for the task in the side table.
    #[inline(always)]
    pub(crate) fn has_locals(self) -> bool {
        self.0 & HAS_LOCALS != 0
    }

    pub(crate) fn with_locals(self) -> Self {
        Self(self.0 | HAS_LOCALS)
    }

    /// A waker's reference is in store.
    #[inline(always)]
    pub(crate) fn has_cached_ref(self) -> bool {
        self.0 & CACHED_REF != 0
    }

    #[inline(always)]
    pub(crate) fn with_cached_ref(self) -> Self {
        Self(self.0 | CACHED_REF)
    }

    #[inline(always)]
    pub(crate) fn without_cached_ref(self) -> Self {
        Self(self.0 & !CACHED_REF)
    }

    /// From loaned to one node to scheduled.
    #[inline(always)]
    pub(crate) fn woken_by_loan(self) -> Self {
        debug_assert!(self.loans() == 1 && !self.is_scheduled());
        Self(self.0 + (SCHEDULED - ONE_LOAN))
    }

    /// To how many nodes it is loaned.
    pub(crate) fn loans(self) -> u32 {
        (self.0 & LOANS) / ONE_LOAN
    }

    /// One more loaned node. There is always room for one more than [`TaskState::may_loan`] admits.
    pub(crate) fn with_loan(self) -> Self {
        debug_assert!(
            self.0 & LOANS != LOANS,
            "more nodes loaned than can be counted"
        );
        Self(self.0 + ONE_LOAN)
    }

    /// One loaned node fewer.
    pub(crate) fn without_loan(self) -> Self {
        debug_assert!(self.0 & LOANS != 0, "a node was given back twice");
        Self(self.0 - ONE_LOAN)
    }

    /// Whether one more node may be loaned by counting it.
    pub(crate) fn may_loan(self) -> bool {
        self.is_local() && self.loans() < LOANS / ONE_LOAN - 1
    }
}
