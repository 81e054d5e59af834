//! What only the driver of a home touches.

use core::cell::Cell;
use std::time::Instant;

use crate::door::thread::{self, ThreadId};
use crate::header::{Owned, Place};

/// Plain memory of whoever holds the home's claim.
#[derive(Debug, Default)]
pub struct Driver {
    /// Tasks that any thread may drive. In a pool thieves touch the list too: see [`Home::with_list`].
    pub owned: Owned,
    /// Tasks of the current local scope.
    pub owned_local: Owned,
    /// Whether new tasks are turned away, because the runtime is shutting down.
    pub closing: Cell<bool>,
    /// Cells made and freed by the driver.
    pub(crate) cells: Cell<i64>,
    /// Tasks that stay with the thread that drives now, and which that is.
    pinned: Cell<usize>,
    /// How many useless offers are left until it stops to offer, and when the current poll offered first.
    pub(super) credit: Cell<u32>,
    pub(super) offered_at: Cell<Option<Instant>>,
    pinned_to: Cell<Option<ThreadId>>,
}

impl Driver {
    /// How many tasks stay with the thread that polled them first.
    pub fn pinned(&self) -> usize {
        self.pinned.get()
    }

    /// Whether there are tasks that stay with another thread, so that this one must not drive.
    pub fn is_pinned_elsewhere(&self) -> bool {
        self.pinned.get() > 0 && self.pinned_to.get() != Some(thread::current().id())
    }

    pub(crate) fn pin_one(&self) {
        self.pinned.set(self.pinned.get() + 1);
        self.pinned_to.set(Some(thread::current().id()));
    }

    /// The home is another runtime's.
    pub(super) fn begin_anew(&self) {
        self.closing.set(false);
        self.pinned.set(0);
        self.pinned_to.set(None);
        self.credit.set(0);
        self.offered_at.set(None);
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
