//! A set of vertices, one bit each.

use std::sync::atomic::{AtomicU64, Ordering};

/// How many vertices a word has.
pub(crate) const WORD: usize = 64;

/// A set of vertices that several threads may add to.
#[derive(Debug)]
pub(crate) struct Bitmap(Vec<AtomicU64>);

impl Bitmap {
    /// An empty one for so many vertices.
    pub(crate) fn new(vertices: usize) -> Self {
        let words = 0..vertices.div_ceil(WORD);
        Self(words.map(|_| AtomicU64::new(0)).collect())
    }

    pub(crate) fn clear(&mut self) {
        self.0.iter_mut().for_each(|word| *word.get_mut() = 0);
    }

    pub(crate) fn words(&self) -> &[AtomicU64] {
        &self.0
    }

    #[inline]
    pub(crate) fn has(&self, vertex: u32) -> bool {
        // Relaxed: what adds has ended before anybody asks.
        let word = self.0[vertex as usize / WORD].load(Ordering::Relaxed);
        word >> (vertex as usize % WORD) & 1 == 1
    }

    pub(crate) fn add(&self, vertex: u32) {
        let bit = 1 << (vertex as usize % WORD);
        // Relaxed: as in `has`.
        self.0[vertex as usize / WORD].fetch_or(bit, Ordering::Relaxed);
    }
}

/// The vertices of some words, of which the first is the word of this index.
pub(crate) fn vertices(words: &[AtomicU64], first: usize) -> impl Iterator<Item = u32> {
    words.iter().zip(first..).flat_map(|(word, index)| {
        // Relaxed: as in `Bitmap::has`.
        let mut left = word.load(Ordering::Relaxed);
        std::iter::from_fn(move || {
            let bit = (left != 0).then(|| left.trailing_zeros())?;
            left &= left - 1;
            Some((index * WORD) as u32 + bit)
        })
    })
}
