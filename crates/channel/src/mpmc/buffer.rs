//! The messages that wait to be received. Memory is asked for without the channel's lock, and given back when the
//! messages are gone.

use std::mem::{self, MaybeUninit};
use std::ptr;

/// First in, first out, in memory that grows eightfold while it is small, else twofold.
///
/// A ring: the message that is `n`-th to come out is at the place `first + n`, less as many whole rounds as there are in
/// that. The places are a power of two, so that this is one instruction.
pub(super) struct Buffer<T> {
    places: Box<[MaybeUninit<T>]>,
    /// It wraps.
    first: usize,
    len: usize,
    /// As many as may be put without a second look.
    limit: usize,
    /// As many are to stay for one to be taken without a second look.
    floor: usize,
}

/// Memory without messages.
pub(super) type Memory<T> = Box<[MaybeUninit<T>]>;

/// As many places at first.
const FIRST: usize = 4;
/// From so many on it doubles.
const LARGE: usize = 256;
/// So many bytes an empty channel keeps.
const KEPT: usize = 128;

/// For so many messages at least, but for none none.
pub(super) fn memory<T>(messages: usize) -> Memory<T> {
    let places = messages.checked_next_power_of_two().unwrap_or(messages);
    Box::new_uninit_slice(if messages == 0 { 0 } else { places })
}

impl<T> Buffer<T> {
    /// Without memory.
    pub(super) fn new() -> Self {
        Self {
            places: memory(0),
            first: 0,
            len: 0,
            limit: 0,
            floor: 0,
        }
    }

    #[inline(always)]
    pub(super) fn len(&self) -> usize {
        self.len
    }

    #[inline(always)]
    pub(super) fn is_empty(&self) -> bool {
        self.len == 0
    }

    #[inline(always)]
    pub(super) fn limit(&self) -> usize {
        self.limit
    }

    #[inline(always)]
    pub(super) fn floor(&self) -> usize {
        self.floor
    }

    /// Whether a message can be put without asking for memory.
    #[inline(always)]
    pub(super) fn has_room(&self) -> bool {
        self.len < self.places.len()
    }

    /// As many fit without asking for memory.
    pub(super) fn places(&self) -> usize {
        self.places.len()
    }

    /// How many places it should have next, in a channel of at most so many.
    pub(super) fn next_size(&self, most: usize) -> usize {
        let now = self.places.len();
        let factor = if now < LARGE { 8 } else { 2 };
        now.saturating_mul(factor).clamp(FIRST.min(most), most)
    }

    /// The place of the message that is `n`-th to come out.
    ///
    /// # Safety
    /// There is memory.
    #[inline(always)]
    unsafe fn place(&mut self, n: usize) -> *mut T {
        let at = self.first.wrapping_add(n) & self.places.len().wrapping_sub(1);
        // SAFETY: the places are a power of two, so that is the number of one.
        unsafe { self.places.as_mut_ptr().add(at) }.cast()
    }

    #[inline(always)]
    pub(super) fn push(&mut self, message: T) {
        assert!(self.has_room(), "memory is asked for without the lock");
        // SAFETY: it has room.
        unsafe { self.push_unchecked(message) };
    }

    /// # Safety
    /// It has room.
    #[inline(always)]
    pub(super) unsafe fn push_unchecked(&mut self, message: T) {
        // SAFETY: there is memory, and at that place no message.
        unsafe { self.place(self.len).write(message) };
        self.len += 1;
    }

    #[inline(always)]
    pub(super) fn pop(&mut self) -> Option<T> {
        if self.len == 0 {
            return None;
        }
        // SAFETY: there is a message, so there is memory; it is taken out once.
        let message = unsafe { self.place(0).read() };
        self.first = self.first.wrapping_add(1);
        self.len -= 1;
        Some(message)
    }

    /// Takes so many out, which there are: they are the caller's, and those that it does not take from the iterator are
    /// forgotten.
    #[inline(always)]
    pub(super) fn pop_many(&mut self, number: usize) -> impl ExactSizeIterator<Item = T> {
        assert!(number <= self.len, "there are so many");
        let (places, first) = (self.places.as_ptr(), self.first);
        let mask = self.places.len().wrapping_sub(1);
        self.first = first.wrapping_add(number);
        self.len -= number;
        (0..number).map(move |n| {
            // SAFETY: there were so many messages, so there is memory; each is taken out once.
            unsafe { places.add(first.wrapping_add(n) & mask).cast::<T>().read() }
        })
    }

    /// Moves into larger memory, in a channel of at most `most`; gives the old one, to be dropped after the lock is given
    /// up.
    #[must_use]
    pub(super) fn move_to(&mut self, mut larger: Memory<T>, most: usize) -> Memory<T> {
        if larger.len() <= self.places.len() {
            // Somebody else was quicker.
            return larger;
        }
        let until_end = match self.places.len() {
            0 => 0,
            places => (places - (self.first & (places - 1))).min(self.len),
        };
        let into = larger.as_mut_ptr();
        if self.len > 0 {
            // SAFETY: the messages up to the end of the places, and those at their beginning; there are more in the new
            // memory, and the old one is without messages from here on.
            unsafe {
                let (from, first) = (self.places.as_ptr(), self.first & (self.places.len() - 1));
                ptr::copy_nonoverlapping(from.add(first), into, until_end);
                ptr::copy_nonoverlapping(from, into.add(until_end), self.len - until_end);
            }
        }
        let before = mem::replace(&mut self.places, larger);
        self.first = 0;
        let places = self.places.len();
        self.limit = places.min(most);
        self.floor = usize::from(places > KEPT / size_of::<T>().max(1) && size_of::<T>() > 0);
        before
    }

    /// Whether it has more memory than an idle channel keeps.
    #[inline(always)]
    pub(super) fn is_large(&self) -> bool {
        self.floor > 0
    }

    /// Whether it is empty, and more than an idle channel keeps.
    #[inline(always)]
    pub(super) fn is_to_shrink(&self) -> bool {
        self.floor > 0 && self.len == 0
    }

    /// The memory, of which it has no longer need.
    pub(super) fn take_memory(&mut self) -> Memory<T> {
        debug_assert!(self.is_empty(), "the messages would be lost");
        self.limit = 0;
        self.floor = 0;
        mem::take(&mut self.places)
    }

    /// All there is.
    pub(super) fn take(&mut self) -> Self {
        mem::replace(self, Self::new())
    }
}

impl<T> Drop for Buffer<T> {
    /// User code; of the rest of the messages too, if the drop of one panics.
    fn drop(&mut self) {
        struct Rest<'a, T>(&'a mut Buffer<T>);
        impl<T> Drop for Rest<'_, T> {
            fn drop(&mut self) {
                while let Some(message) = self.0.pop() {
                    drop(message);
                }
            }
        }
        let rest = Rest(self);
        while let Some(message) = rest.0.pop() {
            drop(message);
        }
    }
}
