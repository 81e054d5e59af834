//! The table of shards: chunks that are made when needed and never freed.

use alloc::boxed::Box;
use alloc::vec::Vec;
use std::sync::OnceLock;

use crate::header::NOWHERE;
use crate::platform::atomic::Ordering;
use crate::platform::{Mutex, UnmodelledU32, per_process};

/// Shards in the first chunk; each further chunk doubles the table. One in models, where the table is made
/// anew in every execution.
const FIRST: usize = if cfg!(any(loom, shuttle)) { 1 } else { 64 };
/// Chunks up to the 65,536 that a `u16` can name.
const CHUNKS: usize = 11;

/// All shards, by index.
#[derive(Debug)]
pub(super) struct Table<T> {
    chunks: [OnceLock<Box<[T]>>; CHUNKS],
    /// The first that was never used. Changes under the lock of [`given_back`].
    never_used: UnmodelledU32,
}

per_process! {
    /// Shards to be used again. A forked child uses none of its parent's again: others may have their locks.
    fn given_back() -> Mutex<Vec<u16>> = Mutex::default()
}

pub(super) fn give_back(index: u16) {
    given_back().lock().push(index);
}

impl<T> Table<T> {
    pub(super) fn new() -> Self {
        Self {
            chunks: [const { OnceLock::new() }; CHUNKS],
            never_used: UnmodelledU32::new(0),
        }
    }

    /// A shard that is not in use; makes it if it was never used.
    pub(super) fn take(&self, make: impl Fn(u16) -> T) -> Option<&T> {
        let mut given_back = given_back().lock();
        if let Some(index) = given_back.pop() {
            return Some(self.at(index));
        }
        // Relaxed: under the lock.
        let index = u16::try_from(self.never_used.load(Ordering::Relaxed)).ok()?;
        if index == NOWHERE {
            return None;
        }
        let (chunk, offset) = place(index);
        let chunk_of = &self.chunks[chunk];
        if chunk_of.get().is_none() {
            let first = if chunk == 0 { 0 } else { FIRST << (chunk - 1) };
            let size = FIRST << chunk.saturating_sub(1);
            let shards = (first..first + size).map(|at| make(u16::try_from(at).unwrap_or(NOWHERE)));
            // Made before: a forked child would wait for a thread that is in the midst of it.
            let shards = shards.collect();
            let _first = chunk_of.set(shards);
        }
        self.never_used
            .store(u32::from(index) + 1, Ordering::Relaxed); // Relaxed: as above
        chunk_of.get()?.get(offset)
    }

    /// The shard with this index, which has been taken at least once.
    /// How many indices were ever in use.
    pub(super) fn used(&self) -> u16 {
        let _locked = given_back().lock();
        u16::try_from(self.never_used.load(Ordering::Relaxed)).unwrap_or(NOWHERE) // Relaxed: under the lock
    }

    #[inline]
    pub(super) fn at(&self, index: u16) -> &T {
        let (chunk, offset) = place(index);
        &self.chunks[chunk]
            .get()
            .expect("a task's shard has been opened")[offset]
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
