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

    /// Moves messages out, as many as there are and as `into` has room for, and at most so many.
    ///
    /// # Returns
    /// How many.
    pub(super) fn pop_into(&mut self, into: &mut Vec<T>, most: usize) -> usize {
        let count = self.len.min(most).min(into.capacity() - into.len());
        if count > 0 {
            // SAFETY: there are so many messages, and there is so much room; they are forgotten here.
            unsafe {
                self.copy_to(into.as_mut_ptr().add(into.len()), count);
                into.set_len(into.len() + count);
            }
            self.first = self.first.wrapping_add(count);
            self.len -= count;
        }
        count
    }

    /// Copies the first messages: those up to the end of the places, and those at their beginning.
    ///
    /// # Safety
    /// There are so many, and at least one; there is so much room; and they are used at one place only.
    unsafe fn copy_to(&self, into: *mut T, count: usize) {
        let (from, first) = (
            self.places.as_ptr().cast::<T>(),
            self.first & (self.places.len() - 1),
        );
        let until_end = (self.places.len() - first).min(count);
        // SAFETY: passed on to the caller; the two pieces of memory are apart.
        unsafe {
            ptr::copy_nonoverlapping(from.add(first), into, until_end);
            ptr::copy_nonoverlapping(from, into.add(until_end), count - until_end);
        }
    }

    /// Moves into larger memory, in a channel of at most `most`; gives the old one, to be dropped after the lock is given
    /// up.
    #[must_use]
    pub(super) fn move_to(&mut self, mut larger: Memory<T>, most: usize) -> Memory<T> {
        if larger.len() <= self.places.len() {
            // Somebody else was quicker.
            return larger;
        }
        if self.len > 0 {
            // SAFETY: there is more room in the new memory, and the old one is without messages from here on.
            unsafe { self.copy_to(larger.as_mut_ptr().cast(), self.len) };
        }
        let before = mem::replace(&mut self.places, larger);
        self.first = 0;
        let places = self.places.len();
        self.limit = places.min(most);
        self.floor = usize::from(places > KEPT / size_of::<T>().max(1) && size_of::<T>() > 0);
        before
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
