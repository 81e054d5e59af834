//! Mapping items to a vector, in order: each result is written to its place at once.

use std::mem;
use std::ptr;

use crate::in_parts::in_parts;
use crate::items::{Items, Sealed};

/// Places of a vector, from `first` on. Nobody else has them, and the vector stays while they are there.
struct Places<R> {
    first: *mut R,
    len: usize,
}

// SAFETY: they are nobody else's, and what is in them is `Send`.
unsafe impl<R: Send> Send for Places<R> {}

impl<R> Places<R> {
    fn at(first: *mut R, len: usize) -> Self {
        Self { first, len }
    }
}

/// Items, each with the place of its result.
struct Placed<I, R> {
    items: I,
    places: Places<R>,
}

impl<I, R> Sealed for Placed<I, R> {}

impl<I: Items, R: Send> Items for Placed<I, R> {
    type Item = I::Item;
    type Iter = I::Iter;

    fn count(&self) -> usize {
        self.places.len
    }

    fn split_at(self, at: usize) -> (Self, Self) {
        let (left, right) = self.items.split_at(at);
        let Places { first, len } = self.places;
        // SAFETY: `at` is at most their number.
        let middle = unsafe { first.add(at) };
        let left = Self {
            items: left,
            places: Places::at(first, at),
        };
        let right = Self {
            items: right,
            places: Places::at(middle, len - at),
        };
        (left, right)
    }

    fn iter(self) -> I::Iter {
        self.items.iter()
    }
}

/// Places that are filled. Dropped, it drops what is there.
struct Filled<R>(Places<R>);

impl<R> Drop for Filled<R> {
    fn drop(&mut self) {
        let filled = ptr::slice_from_raw_parts_mut(self.0.first, self.0.len);
        // SAFETY: all of them are written, and nobody else drops them.
        unsafe { filled.drop_in_place() };
    }
}

impl<R> Filled<R> {
    /// Fills these places too, in order: they are behind its own.
    fn and_fill(mut self, places: &Places<R>, results: impl Iterator<Item = R>) -> Self {
        for result in results.take(places.len) {
            // SAFETY: it is one of its own places or of these, as fewer are filled than there are.
            let place = unsafe { self.0.first.add(self.0.len) };
            // SAFETY: it is a place that nobody else has, and has nothing in it.
            unsafe { place.write(result) };
            self.0.len += 1;
        }
        self
    }

    /// Both; if there is a gap between them, the first alone.
    fn and(mut self, next: Self) -> Self {
        if ptr::eq(self.0.first.wrapping_add(self.0.len), next.0.first) {
            self.0.len += next.0.len;
            mem::forget(next);
        }
        self
    }
}

/// Maps every item, perhaps several at the same time; see the facade.
pub fn map<I: Items, R: Send>(items: I, map: impl Fn(I::Item) -> R + Sync) -> Vec<R> {
    let count = items.count();
    let mut results = Vec::with_capacity(count);
    let places = Places::at(results.as_mut_ptr(), count);
    let leaf = |done: Option<Filled<R>>, piece: Placed<I, R>| {
        let places = piece.places;
        let done = done.unwrap_or_else(|| Filled(Places::at(places.first, 0)));
        done.and_fill(&places, piece.items.iter().map(&map))
    };
    let filled = in_parts(Placed { items, places }, &leaf, &Filled::and);
    let len = filled.0.len;
    mem::forget(filled);
    assert!(len == count, "as many results as items");
    // SAFETY: so many are written, from the first on, and nobody drops them.
    unsafe { results.set_len(len) };
    results
}
