//! The select whose branches are polled on a thread, as its context knows it.

use core::cell::Cell;
use core::mem::ManuallyDrop;
use core::ptr;

use alloc::sync::Arc;

use crate::group::Group;

/// More than the parts of an operation beside its action take, and less than a second operation takes besides: its node
/// alone has seven words.
pub(super) const ROOM: usize = 15 * size_of::<usize>();

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

/// The select whose branches are polled on this thread.
pub(super) struct Asking {
    /// Address of the select; zero: none.
    pub(super) owner: Cell<usize>,
    pub(super) branch: Cell<MemoryRange>,
    pub(super) pass: Cell<Pass>,
    /// Whether a member waits in the branch.
    pub(super) offers: Cell<bool>,
    /// (Dropped by hand, as a context has no drop.)
    group: Cell<ManuallyDrop<Option<Arc<Group>>>>,
}

/// What is put aside of it.
pub(super) type Asked = (usize, MemoryRange, Pass, bool, Option<Arc<Group>>);

/// Address and size of something in memory.
pub type MemoryRange = (usize, usize);

/// Where this is in memory.
pub fn range_of<T>(of: &T) -> MemoryRange {
    (ptr::from_ref(of).addr(), size_of::<T>())
}

impl Asking {
    pub(super) const fn new() -> Self {
        Self {
            owner: Cell::new(0),
            branch: Cell::new((0, 0)),
            pass: Cell::new(Pass::All),
            offers: Cell::new(false),
            group: Cell::new(ManuallyDrop::new(None)),
        }
    }

    /// Begins to ask the branches of this select, which has this group; gives what was before.
    #[inline(always)]
    pub(super) fn begin(&self, owner: usize, group: Option<Arc<Group>>) -> Asked {
        self.restore((owner, (0, 0), Pass::All, false, group))
    }

    /// As before; gives what is now.
    #[inline(always)]
    pub(super) fn restore(&self, (owner, branch, pass, offers, group): Asked) -> Asked {
        (
            self.owner.replace(owner),
            self.branch.replace(branch),
            self.pass.replace(pass),
            self.offers.replace(offers),
            ManuallyDrop::into_inner(self.group.replace(ManuallyDrop::new(group))),
        )
    }

    /// Whether what is there is the branch that is polled, or all of it but for less than `room`.
    #[inline(always)]
    pub(super) fn is_branch(&self, (at, size): MemoryRange, room: usize) -> bool {
        let (branch, branch_size) = self.branch.get();
        self.owner.get() != 0
            && branch <= at
            && at + size <= branch + branch_size
            && branch_size < size + room
    }

    /// The group, which is made if there is none so far.
    pub(super) fn group(&self) -> Arc<Group> {
        let group = ManuallyDrop::into_inner(self.group.replace(ManuallyDrop::new(None)));
        let group = group.unwrap_or_else(|| Arc::new(Group::held(self.owner.get())));
        self.group.set(ManuallyDrop::new(Some(group.clone())));
        group
    }
}

crate::impl_debug!([] Asking[], this => owner: this.owner, branch: this.branch);
