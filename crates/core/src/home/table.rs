//! The table of homes: chunks that are made when needed and never freed.

use alloc::boxed::Box;
use alloc::vec::Vec;
use std::sync::OnceLock;

use super::Home;
use crate::context::NOWHERE;
use crate::door::{Mutex, MutexGuard};

/// Homes in the first chunk; each further chunk doubles the table. One in models, where the table is made
/// anew in every execution.
const FIRST: usize = if cfg!(any(loom, shuttle)) { 1 } else { 64 };
/// Chunks up to the 65,536 that a `u16` can name.
const CHUNKS: usize = 11;

/// All homes, by index.
#[derive(Debug)]
pub(super) struct Table {
    chunks: [OnceLock<Box<[Home]>>; CHUNKS],
    free: Mutex<Free>,
}

#[derive(Debug)]
pub(super) struct Free {
    given_back: Vec<u16>,
    never_used: u16,
}

impl Table {
    pub(super) fn new() -> Self {
        Self {
            chunks: [const { OnceLock::new() }; CHUNKS],
            free: Mutex::new(Free {
                given_back: Vec::new(),
                never_used: 0,
            }),
        }
    }

    /// A home that is not in use; makes it if it was never used.
    pub(super) fn take(&self, make: impl Fn(u16) -> Home) -> Option<&Home> {
        // Held while a chunk is made, so that no fork finds one half made.
        let mut free = self.free.lock();
        let index = match free.given_back.pop() {
            Some(index) => index,
            None if free.never_used == NOWHERE => return None,
            None => {
                free.never_used += 1;
                free.never_used - 1
            }
        };
        let (chunk, offset) = place(index);
        let homes = self.chunks[chunk].get_or_init(|| {
            let first = if chunk == 0 { 0 } else { FIRST << (chunk - 1) };
            let size = FIRST << chunk.saturating_sub(1);
            (first..first + size)
                .map(|at| make(u16::try_from(at).unwrap_or(NOWHERE)))
                .collect()
        });
        Some(&homes[offset])
    }

    /// The home with this index, which has been taken at least once.
    #[inline]
    pub(super) fn at(&self, index: u16) -> &Home {
        let (chunk, offset) = place(index);
        &self.chunks[chunk]
            .get()
            .expect("a task's home has been opened")[offset]
    }

    /// Keeps homes from being taken and given back as long as the guard lives, and gives all there have been.
    pub(super) fn freeze(&self) -> (MutexGuard<'_, Free>, impl Iterator<Item = &Home>) {
        let free = self.free.lock();
        let used = 0..free.never_used;
        (free, used.map(|index| self.at(index)))
    }

    pub(super) fn give_back(&self, index: u16) {
        self.free.lock().given_back.push(index);
    }
}

/// Chunk and place in it.
fn place(index: u16) -> (usize, usize) {
    let index = usize::from(index);
    if index < FIRST {
        return (0, index);
    }
    let chunk = (index / FIRST).ilog2() as usize + 1;
    (chunk, index - (FIRST << (chunk - 1)))
}
