//! Values that are counted: every one made must be dropped, once.

use std::cell::Cell;
use std::rc::Rc;

/// Counts the values it makes.
#[derive(Clone, Default)]
pub(crate) struct Tally(Rc<Counts>);

#[derive(Default)]
struct Counts {
    made: Cell<usize>,
    cloned: Cell<usize>,
    dropped: Cell<usize>,
}

/// A counted value. Dropping it twice is caught by the count (or by the sanitizers).
pub(crate) struct Value {
    pub(crate) id: u32,
    tally: Tally,
}

impl Tally {
    pub(crate) fn value(&self, id: u32) -> Value {
        self.0.made.set(self.0.made.get() + 1);
        Value {
            id,
            tally: self.clone(),
        }
    }

    pub(crate) fn cloned(&self) -> usize {
        self.0.cloned.get()
    }

    pub(crate) fn dropped(&self) -> usize {
        self.0.dropped.get()
    }

    /// How many values are there: made or cloned, and not dropped.
    pub(crate) fn living(&self) -> usize {
        self.0.made.get() + self.0.cloned.get() - self.0.dropped.get()
    }
}

impl Clone for Value {
    fn clone(&self) -> Self {
        self.tally.0.cloned.set(self.tally.0.cloned.get() + 1);
        Self {
            id: self.id,
            tally: self.tally.clone(),
        }
    }
}

impl Drop for Value {
    fn drop(&mut self) {
        self.tally.0.dropped.set(self.tally.0.dropped.get() + 1);
    }
}
