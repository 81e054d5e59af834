//! The seam between the program and what computes in parallel.
//!
//! All that is parallel in shared memory is one operation: a function of each item of a slice, the results in order. So
//! the lab's peers run the same searches on another library.

use gossamer::{Runtime, par};

/// What computes in parallel.
pub trait Workers: Sync {
    /// How many threads compute at the same time.
    fn count(&self) -> usize;

    /// Calls `work` once with each item, on any of the threads; the results in the order of the items.
    fn each<T: Send, R: Send>(&self, items: &mut [T], work: impl Fn(&mut T) -> R + Sync) -> Vec<R>;
}

/// The caller alone.
#[derive(Debug, Clone, Copy)]
pub struct Alone;

impl Workers for Alone {
    fn count(&self) -> usize {
        1
    }

    fn each<T: Send, R: Send>(&self, items: &mut [T], work: impl Fn(&mut T) -> R + Sync) -> Vec<R> {
        items.iter_mut().map(work).collect()
    }
}

/// The workers of a runtime.
#[derive(Debug, Clone, Copy)]
pub struct OnRuntime<'a> {
    runtime: &'a Runtime,
    count: usize,
}

impl<'a> OnRuntime<'a> {
    /// A runtime that has so many workers.
    #[must_use]
    pub fn new(runtime: &'a Runtime, count: usize) -> Self {
        Self { runtime, count }
    }
}

impl Workers for OnRuntime<'_> {
    fn count(&self) -> usize {
        self.count
    }

    fn each<T: Send, R: Send>(&self, items: &mut [T], work: impl Fn(&mut T) -> R + Sync) -> Vec<R> {
        self.runtime.enter(|| par::map(items, work))
    }
}
