//! The select whose branches are polled on a thread, as its context knows it.

use core::mem::ManuallyDrop;
use core::ptr;

use alloc::sync::Arc;

use crate::group::Group;

/// More than the parts of an operation beside its action take, and less than a second operation takes besides: its node
/// alone has seven words.
const ROOM: usize = 15 * size_of::<usize>();

/// Why a select asks its branches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pass {
    /// It holds its group: a branch that can take effect does.
    All,
    /// A receiver has, or may have, taken the message of a member.
    Taken,
    /// It waits, and its members are announced anew.
    Announces,
}

/// The select whose branches are polled on this thread. (It is dropped by hand, as a context has no drop.)
#[derive(Debug)]
pub(super) struct Asking {
    /// Address of the select; zero: none.
    pub(super) owner: usize,
    /// Address and size of the branch.
    pub(super) branch: MemoryRange,
    pub(super) pass: Pass,
    /// Whether a member waits in the branch.
    pub(super) offers: bool,
    pub(super) group: Option<Arc<Group>>,
}

/// Address and size of something in memory.
pub type MemoryRange = (usize, usize);

/// Where this is in memory.
pub fn range_of<T>(of: &T) -> MemoryRange {
    (ptr::from_ref(of).addr(), size_of::<T>())
}

impl Asking {
    pub(super) const NONE: ManuallyDrop<Self> = ManuallyDrop::new(Self {
        owner: 0,
        branch: (0, 0),
        pass: Pass::All,
        offers: false,
        group: None,
    });

    /// Whether an operation there is the branch that is polled.
    pub(super) fn is_branch(&self, (at, size): MemoryRange) -> bool {
        let (branch, branch_size) = self.branch;
        let is_inside = branch <= at && at + size <= branch + branch_size;
        self.owner != 0 && is_inside && branch_size < size + ROOM
    }
}
