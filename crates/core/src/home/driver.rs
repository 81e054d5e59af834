//! What only the driver of a home touches.

use core::cell::{Cell, RefCell};
use core::ptr::NonNull;
use std::time::Instant;

use alloc::sync::Arc;

use super::staying::Stays;
use crate::door::atomic::Ordering;
use crate::door::{QuietI64, QuietU64};
use crate::header::{Header, Owned, Place};

/// Plain memory of whoever holds the home's claim: on cache lines of its own, as others look at the home's queues while
/// the driver writes here.
#[derive(Debug, Default)]
#[repr(align(64))]
pub struct Driver {
    /// Tasks that any thread may drive. In a pool thieves touch the list too: see [`with_list`](super::Home::with_list).
    pub owned: Owned,
    /// Tasks of the current local scope.
    pub owned_local: Owned,
    /// Whether new tasks are turned away, because the runtime is shutting down.
    pub closing: Cell<bool>,
    /// Whether somebody wants the driver to look around: the pool ends, say, or shrinks; or a poll has used up what its
    /// operations may take.
    pub called: Cell<bool>,
    /// The run-next slot of a pool's worker: a runnable task that nobody else touches, unless the home is open.
    pub slot: Cell<Option<NonNull<Header>>>,
    /// Whether a poll has ended for which the home had been opened to adopters.
    pub returned: Cell<bool>,
    /// Cells made and freed by the driver; others may look.
    cells: QuietI64,
    /// Polls by drivers of this home; others may look.
    polls: QuietU64,
    /// Panics that its drivers have caught; others may look.
    panics: QuietU64,
    /// Tasks that stay with one thread, which is the one that drives, and which that is, or was last.
    pinned: Cell<usize>,
    pinned_to: RefCell<Option<Arc<Stays>>>,
    /// How many useless offers are left until it stops to offer, and when the current poll offered first.
    pub(super) credit: Cell<u32>,
    pub(super) offered_at: Cell<Option<Instant>>,
}

impl Driver {
    /// The driver has made (1) or freed (-1) a cell.
    #[inline(always)]
    pub(crate) fn count_cell(&self, more: i64) {
        // Relaxed: only the driver writes it, and others only want to know about how many there are.
        let cells = self.cells.load(Ordering::Relaxed) + more;
        self.cells.store(cells, Ordering::Relaxed); // Relaxed: as above
    }

    /// What the driver has counted, taken out.
    pub(super) fn take_cells(&self) -> i64 {
        let cells = self.cells();
        self.cells.store(0, Ordering::Relaxed); // Relaxed: as above
        cells
    }

    pub(super) fn cells(&self) -> i64 {
        // Relaxed: as above.
        self.cells.load(Ordering::Relaxed)
    }

    /// Adds to the polls that there have been.
    pub fn count_polls(&self, more: u64) {
        // Relaxed: as for the cells.
        let polls = self.polls.load(Ordering::Relaxed) + more;
        self.polls.store(polls, Ordering::Relaxed); // Relaxed: as above
    }

    /// How many polls there have been here, about.
    pub fn polls(&self) -> u64 {
        // Relaxed: as for the cells.
        self.polls.load(Ordering::Relaxed)
    }

    /// The driver has caught a panic, be it in the midst of a poll: until then it may have been busy reporting it.
    #[cold]
    pub fn count_panic(&self) {
        // Relaxed: as for the cells.
        let panics = self.panics.load(Ordering::Relaxed) + 1;
        self.panics.store(panics, Ordering::Relaxed); // Relaxed: as above
    }

    /// How many panics there have been here, of all runtimes whose home this was.
    pub fn panics(&self) -> u64 {
        // Relaxed: as for the cells; whoever takes one more or less into account reports once too often, or not.
        self.panics.load(Ordering::Relaxed)
    }

    /// How many tasks stay with the thread that polled them first.
    pub fn pinned(&self) -> usize {
        self.pinned.get()
    }

    /// Whether there are tasks that stay with another thread, so that this one must not drive.
    pub fn is_pinned_elsewhere(&self) -> bool {
        self.is_pinned_to(|thread| !thread.is_here() && !thread.has_ended())
    }

    /// Whether there are tasks that stay with a thread that has ended.
    pub(super) fn is_left(&self) -> bool {
        self.is_pinned_to(Stays::has_ended)
    }

    fn is_pinned_to(&self, such: impl FnOnce(&Stays) -> bool) -> bool {
        self.pinned.get() > 0 && self.pinned_to.borrow().as_deref().is_some_and(such)
    }

    /// One more task of this home, `home`, stays with the current thread.
    pub(crate) fn pin_one(&self, home: u16) {
        self.pinned.set(self.pinned.get() + 1);
        let mut pinned_to = self.pinned_to.borrow_mut();
        if !pinned_to.as_ref().is_some_and(|thread| thread.is_here()) {
            *pinned_to = Some(Stays::at(home));
        }
    }

    /// The home is another runtime's.
    pub(super) fn begin_anew(&self) {
        self.closing.set(false);
        self.called.set(false);
        self.returned.set(false);
        self.pinned.set(0);
        *self.pinned_to.borrow_mut() = None;
        self.credit.set(0);
        self.offered_at.set(None);
        // Relaxed: nobody looks at a home that is free.
        self.polls.store(0, Ordering::Relaxed);
    }

    pub(crate) fn unpin_one(&self) {
        self.pinned.set(self.pinned.get() - 1);
    }

    /// The list that such a task belongs to.
    #[inline]
    pub fn list_of(&self, place: Place) -> &Owned {
        if place.is_local() {
            &self.owned_local
        } else {
            &self.owned
        }
    }
}
