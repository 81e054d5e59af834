//! The select whose branches are polled on a thread, as its context knows it.

use core::cell::Cell;
use core::ptr;

use alloc::sync::Arc;

use crate::group::Group;
use crate::platform::UnmodelledU64;
use crate::platform::atomic::Ordering;

/// More than the parts of an operation beside its action take, and less than a second operation takes besides: its node
/// alone has seven words.
pub(super) const ROOM: usize = 15 * size_of::<usize>();

/// The number of the next select of the process that needs one. (64 bits do not wrap.)
static NEXT: UnmodelledU64 = UnmodelledU64::new(1);

/// Why a select asks its branches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pass {
    /// It holds its group: a branch that can take effect does.
    All,
    /// A receiver has taken the message of a member.
    Taken,
    /// A receiver may be about to.
    Claimed,
    /// It waits, and its members are announced anew.
    Announces,
}

/// A select whose branches are polled, as the operations in them see it. It lies on the stack of that poll.
pub(super) struct Asking<'a> {
    /// The select's.
    group: &'a Cell<Option<Arc<Group>>>,
    /// Zero: nobody has asked for it so far.
    number: &'a Cell<u64>,
    pub(super) branch: Cell<MemoryRange>,
    pub(super) pass: Cell<Pass>,
    /// Whether a member waits in the branch.
    pub(super) offers: Cell<bool>,
}

/// Address and size of something in memory.
pub type MemoryRange = (usize, usize);

/// Where this is in memory.
pub fn range_of<T>(of: &T) -> MemoryRange {
    (ptr::from_ref(of).addr(), size_of::<T>())
}

impl<'a> Asking<'a> {
    #[inline(always)]
    pub(super) fn new(group: &'a Cell<Option<Arc<Group>>>, number: &'a Cell<u64>) -> Self {
        Self {
            group,
            number,
            branch: Cell::new((0, 0)),
            pass: Cell::new(Pass::All),
            offers: Cell::new(false),
        }
    }

    /// The number of the select: no other one has it, and it is not zero.
    pub(super) fn number(&self) -> u64 {
        if self.number.get() == 0 {
            // Relaxed: only the number counts.
            self.number.set(NEXT.fetch_add(1, Ordering::Relaxed));
        }
        self.number.get()
    }

    /// Whether what is there is the branch that is polled, or all of it but for less than `room`.
    #[inline(always)]
    pub(super) fn is_branch(&self, (at, size): MemoryRange, room: usize) -> bool {
        let (branch, branch_size) = self.branch.get();
        branch <= at && at + size <= branch + branch_size && branch_size < size + room
    }

    /// The group, which is made if there is none so far.
    pub(super) fn group(&self) -> Arc<Group> {
        let group = self.group.take();
        let group = group.unwrap_or_else(|| Arc::new(Group::held(self.number())));
        self.group.set(Some(group.clone()));
        group
    }

    /// Calls `look` with the group, if there is one.
    #[inline(always)]
    pub(super) fn with_group<R>(&self, look: impl FnOnce(&Group) -> R) -> Option<R> {
        let group = self.group.take();
        let seen = group.as_deref().map(look);
        self.group.set(group);
        seen
    }
}
