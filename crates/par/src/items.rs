//! What can be split, so that threads go over its parts at the same time.

use std::ops::Range;
use std::slice;

/// Nobody else implements [`Items`]: what they say of their number is relied on.
#[doc(hidden)]
pub trait Sealed {}

/// Things in order that can be split in two: slices, ranges, chunks. Others cannot implement it.
pub trait Items: Send + Sized + Sealed {
    /// One of them.
    type Item;
    /// Goes over them in order.
    type Iter: Iterator<Item = Self::Item>;

    /// How many there are.
    fn count(&self) -> usize;

    /// The first `at` of them, and the rest; `at` is at most their number.
    fn split_at(self, at: usize) -> (Self, Self);

    /// All of them, in order.
    fn iter(self) -> Self::Iter;
}

/// What [`Items`] can be had of: `&vec`, `&mut vec`, `&array`, and all that are some.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be split into parts",
    label = "not a slice, a range of integers, or chunks",
    note = "use `&slice`, `&mut slice`, `&vec`, a range such as `0..n`, `par::chunks(&slice, size)` or `par::chunks_mut`; \
            collect an iterator into a `Vec` first"
)]
pub trait IntoItems {
    /// What it becomes.
    type Items: Items;

    /// Becomes that.
    fn into_items(self) -> Self::Items;
}

impl<I: Items> IntoItems for I {
    type Items = I;

    fn into_items(self) -> I {
        self
    }
}

impl<'a, T: Sync> IntoItems for &'a Vec<T> {
    type Items = &'a [T];

    fn into_items(self) -> &'a [T] {
        self
    }
}

impl<'a, T: Send> IntoItems for &'a mut Vec<T> {
    type Items = &'a mut [T];

    fn into_items(self) -> &'a mut [T] {
        self
    }
}

impl<'a, T: Sync, const N: usize> IntoItems for &'a [T; N] {
    type Items = &'a [T];

    fn into_items(self) -> &'a [T] {
        self
    }
}

impl<'a, T: Send, const N: usize> IntoItems for &'a mut [T; N] {
    type Items = &'a mut [T];

    fn into_items(self) -> &'a mut [T] {
        self
    }
}

impl<T: Sync> Sealed for &[T] {}

impl<'a, T: Sync> Items for &'a [T] {
    type Item = &'a T;
    type Iter = slice::Iter<'a, T>;

    fn count(&self) -> usize {
        self.len()
    }

    fn split_at(self, at: usize) -> (Self, Self) {
        <[T]>::split_at(self, at)
    }

    fn iter(self) -> Self::Iter {
        <[T]>::iter(self)
    }
}

impl<T: Send> Sealed for &mut [T] {}

impl<'a, T: Send> Items for &'a mut [T] {
    type Item = &'a mut T;
    type Iter = slice::IterMut<'a, T>;

    fn count(&self) -> usize {
        self.len()
    }

    fn split_at(self, at: usize) -> (Self, Self) {
        self.split_at_mut(at)
    }

    fn iter(self) -> Self::Iter {
        self.iter_mut()
    }
}

macro_rules! range {
    ($($int:ty)*) => { $(
        impl Sealed for Range<$int> {}

        impl Items for Range<$int> {
            type Item = $int;
            type Iter = Self;

            fn count(&self) -> usize {
                if self.is_empty() {
                    return 0;
                }
                usize::try_from(self.end.abs_diff(self.start)).expect("as many as can be counted")
            }

            fn split_at(self, at: usize) -> (Self, Self) {
                // It wraps only on its way: the middle is between both ends.
                let middle = self.start.wrapping_add(at as $int);
                (self.start..middle, middle..self.end)
            }

            fn iter(self) -> Self {
                self
            }
        }
    )* };
}

range! { u8 u16 u32 u64 usize i8 i16 i32 i64 isize }

/// The parts of a slice, each of the same length but for the last: see [`chunks`].
#[derive(Debug, Clone)]
pub struct Chunks<'a, T> {
    slice: &'a [T],
    size: usize,
}

/// As [`Chunks`], to write to: see [`chunks_mut`].
#[derive(Debug)]
pub struct ChunksMut<'a, T> {
    slice: &'a mut [T],
    size: usize,
}

/// The parts of a slice, each `size` long but for the last.
#[track_caller]
pub fn chunks<T>(slice: &[T], size: usize) -> Chunks<'_, T> {
    assert!(size > 0, "chunks of 0 items: a chunk has at least one");
    Chunks { slice, size }
}

/// As [`chunks`], to write to.
#[track_caller]
pub fn chunks_mut<T>(slice: &mut [T], size: usize) -> ChunksMut<'_, T> {
    assert!(size > 0, "chunks of 0 items: a chunk has at least one");
    ChunksMut { slice, size }
}

impl<T: Sync> Sealed for Chunks<'_, T> {}

impl<'a, T: Sync> Items for Chunks<'a, T> {
    type Item = &'a [T];
    type Iter = slice::Chunks<'a, T>;

    fn count(&self) -> usize {
        self.slice.len().div_ceil(self.size)
    }

    fn split_at(self, at: usize) -> (Self, Self) {
        let at = (at * self.size).min(self.slice.len());
        let (left, right) = self.slice.split_at(at);
        (chunks(left, self.size), chunks(right, self.size))
    }

    fn iter(self) -> Self::Iter {
        self.slice.chunks(self.size)
    }
}

impl<T: Send> Sealed for ChunksMut<'_, T> {}

impl<'a, T: Send> Items for ChunksMut<'a, T> {
    type Item = &'a mut [T];
    type Iter = slice::ChunksMut<'a, T>;

    fn count(&self) -> usize {
        self.slice.len().div_ceil(self.size)
    }

    fn split_at(self, at: usize) -> (Self, Self) {
        let at = (at * self.size).min(self.slice.len());
        let (left, right) = self.slice.split_at_mut(at);
        (chunks_mut(left, self.size), chunks_mut(right, self.size))
    }

    fn iter(self) -> Self::Iter {
        self.slice.chunks_mut(self.size)
    }
}
