//! The messages that wait to be received. Memory is asked for without the channel's lock, and given back when the
//! messages are gone.

use std::collections::VecDeque;
use std::mem;

/// First in, first out, in memory that grows eightfold while it is small, else twofold.
pub(super) struct Buffer<T> {
    messages: VecDeque<T>,
    /// As many as may be put without a second look.
    limit: usize,
    /// As many are to stay for one to be taken without a second look.
    floor: usize,
}

/// As many places at first.
const FIRST: usize = 4;
/// From so many on it doubles.
const LARGE: usize = 256;
/// So many bytes an empty channel keeps.
const KEPT: usize = 128;

impl<T> Buffer<T> {
    /// For a channel of at most so many.
    pub(super) fn new(most: usize) -> Self {
        let mut buffer = Self {
            messages: VecDeque::new(),
            limit: 0,
            floor: 0,
        };
        buffer.measure(most);
        buffer
    }

    #[inline(always)]
    pub(super) fn len(&self) -> usize {
        self.messages.len()
    }

    #[inline(always)]
    pub(super) fn is_empty(&self) -> bool {
        self.messages.is_empty()
    }

    #[inline(always)]
    pub(super) fn limit(&self) -> usize {
        self.limit
    }

    #[inline(always)]
    pub(super) fn floor(&self) -> usize {
        self.floor
    }

    /// The memory has changed, in a channel of at most so many.
    fn measure(&mut self, most: usize) {
        let places = self.messages.capacity();
        self.limit = places.min(most);
        self.floor = usize::from(places > KEPT / size_of::<T>().max(1) && size_of::<T>() > 0);
    }

    /// Whether a message can be put without asking for memory.
    #[inline(always)]
    pub(super) fn has_room(&self) -> bool {
        self.messages.len() < self.messages.capacity()
    }

    /// As many fit without asking for memory.
    pub(super) fn places(&self) -> usize {
        self.messages.capacity()
    }

    /// How many places it should have next, in a channel of at most so many.
    pub(super) fn next_size(&self, most: usize) -> usize {
        let now = self.messages.capacity();
        let factor = if now < LARGE { 8 } else { 2 };
        now.saturating_mul(factor).clamp(FIRST.min(most), most)
    }

    #[inline(always)]
    pub(super) fn push(&mut self, message: T) {
        debug_assert!(self.has_room(), "memory is asked for without the lock");
        self.messages.push_back(message);
    }

    #[inline(always)]
    pub(super) fn pop(&mut self) -> Option<T> {
        self.messages.pop_front()
    }

    /// Moves into larger memory; gives the old one, to be dropped after the lock is given up.
    #[must_use]
    pub(super) fn move_to(&mut self, mut larger: VecDeque<T>, most: usize) -> VecDeque<T> {
        if larger.capacity() <= self.messages.capacity() {
            // Somebody else was quicker.
            return larger;
        }
        larger.append(&mut self.messages);
        let before = mem::replace(&mut self.messages, larger);
        self.measure(most);
        before
    }

    /// Whether it is empty, and more than an idle channel keeps.
    #[inline(always)]
    pub(super) fn is_to_shrink(&self) -> bool {
        self.floor > 0 && self.messages.is_empty()
    }

    /// All there is.
    pub(super) fn take(&mut self) -> VecDeque<T> {
        let messages = mem::take(&mut self.messages);
        self.measure(0);
        messages
    }
}
