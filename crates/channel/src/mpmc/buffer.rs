//! The messages that wait to be received. Memory is given back when the messages are gone.

use std::mem::MaybeUninit;
use std::ptr;

use crate::drop_all::drop_all;

/// First in, first out, in memory that grows eightfold while it is small, else twofold.
///
/// A ring. A message is put at `write`, and the next one to come out is at `read`; both go up to the end of the places,
/// and begin anew. So that putting and taking need one comparison each, *runs* say how far either may go without a
/// second look: as far as there is memory and room, or messages, and all in one piece.
pub(crate) struct Buffer<T> {
    places: Box<[MaybeUninit<T>]>,
    len: usize,
    read: usize,
    /// Where the run of reading ends; if that is no more than `read`, there is none.
    read_end: usize,
    write: usize,
    /// Where the run of writing ends.
    write_end: usize,
    /// One if there is more memory than an idle channel keeps, so that it is given back with the last message.
    kept: usize,
}

/// Number of places at first.
const FIRST: usize = 4;
/// Number of places from which on it doubles.
const LARGE: usize = 256;
/// Bytes that an empty channel keeps.
const KEPT: usize = 128;

/// Copies as many messages as both have places. Of each message only one copy may be used.
fn copy<T>(from: &[MaybeUninit<T>], to: &mut [MaybeUninit<T>]) {
    let count = from.len().min(to.len());
    // SAFETY: both have `count` places, and a borrow that is mutable is apart from any other one.
    unsafe { ptr::copy_nonoverlapping(from.as_ptr(), to.as_mut_ptr(), count) };
}

impl<T> Buffer<T> {
    /// Makes a buffer without memory.
    pub(crate) fn new() -> Self {
        Self {
            places: Box::new_uninit_slice(0),
            len: 0,
            read: 0,
            read_end: 0,
            write: 0,
            write_end: 0,
            kept: 0,
        }
    }

    #[inline(always)]
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    #[inline(always)]
    pub(crate) fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// True if a message can be put without asking for memory.
    #[inline(always)]
    pub(crate) fn has_room(&self) -> bool {
        self.len < self.places.len()
    }

    /// Allocates more places: as many as a channel of at most `most` messages should have next, at least one more.
    #[cold]
    #[inline(never)]
    fn grow(&mut self, most: usize) {
        let now = self.places.len();
        let factor = if now < LARGE { 8 } else { 2 };
        let next = now.saturating_mul(factor).clamp(FIRST.min(most), most);
        // A rendezvous may be asked for more than it should have.
        let more = if next > now {
            next
        } else {
            (now + 1).next_power_of_two()
        };
        self.reserve(more);
    }

    /// Puts a message, if the run goes on, or if `may_extend` and there is a place for it in a channel of at most
    /// `most` messages. Returns whether it has put the message.
    #[inline(always)]
    pub(crate) fn push_in_window(
        &mut self,
        may_extend: bool,
        most: usize,
        message: impl FnOnce() -> T,
    ) -> bool {
        let goes_on = self.write < self.write_end || may_extend && self.extend_writing(most);
        if goes_on {
            // SAFETY: the run has the place, and no message is there.
            unsafe { self.write_next(message()) };
        }
        goes_on
    }

    /// Takes a message, if the run goes on, or if `may_extend` and there is one with which no memory is to be given
    /// back.
    #[inline(always)]
    pub(crate) fn pop_in_window(&mut self, may_extend: bool) -> Option<T> {
        let goes_on = self.read < self.read_end || may_extend && self.extend_reading();
        // SAFETY: the run has the place, and a message is there.
        goes_on.then(|| unsafe { self.read_next() })
    }

    /// Returns the message that comes `by` messages after the next one, if the run goes on until there.
    #[inline(always)]
    pub(crate) fn ahead(&self, by: usize) -> Option<&T> {
        let at = self.read + by;
        let place = self.places.get(at).filter(|_| at < self.read_end)?;
        // SAFETY: the run has the place, and a message is there.
        Some(unsafe { place.assume_init_ref() })
    }

    /// Ends both runs, so that the next operation takes the second look first.
    #[inline(always)]
    pub(crate) fn stop(&mut self) {
        self.read_end = 0;
        self.write_end = 0;
    }

    /// Begins another run of writing in a channel of at most `most` messages. Returns `false` if there is no place.
    #[inline(always)]
    fn extend_writing(&mut self, most: usize) -> bool {
        let limit = self.places.len().min(most);
        if self.len >= limit {
            return false;
        }
        self.wrap_writing();
        let places = limit - self.len;
        self.write_end = (self.write + places).min(self.places.len());
        true
    }

    /// Begins another run of reading. Returns `false` if there is no message for it: the last one is in no run if
    /// memory is to be given back with it.
    #[inline(always)]
    fn extend_reading(&mut self) -> bool {
        if self.len <= self.kept {
            return false;
        }
        self.wrap_reading();
        let messages = self.len - self.kept;
        self.read_end = (self.read + messages).min(self.places.len());
        true
    }

    /// Begins anew at the first place, if there is none after the last one.
    #[inline(always)]
    fn wrap_writing(&mut self) {
        if self.write == self.places.len() {
            (self.write, self.write_end) = (0, 0);
        }
    }

    /// Goes on reading at the first place, if there is none after the last one.
    #[inline(always)]
    fn wrap_reading(&mut self) {
        if self.read == self.places.len() {
            (self.read, self.read_end) = (0, 0);
        }
    }

    /// # Safety
    /// `write` is a place, and no message is there.
    #[inline(always)]
    unsafe fn write_next(&mut self, message: T) {
        // SAFETY: `write` is a place, as the caller vouches.
        unsafe { self.places.get_unchecked_mut(self.write) }.write(message);
        self.write += 1;
        self.len += 1;
    }

    /// # Safety
    /// `read` is a place, and a message is there.
    #[inline(always)]
    unsafe fn read_next(&mut self) -> T {
        // SAFETY: `read` is a place, as the caller vouches.
        let place = unsafe { self.places.get_unchecked(self.read) };
        // SAFETY: a message is there, as the caller vouches; it is taken out once, as `read` goes on.
        let message = unsafe { place.assume_init_read() };
        self.read += 1;
        self.len -= 1;
        message
    }

    /// Whether it is empty and simple: there is a place, and no memory is to be given back. Then the next message comes
    /// into the first place, and both runs have ended.
    #[inline(always)]
    pub(crate) fn begin_anew(&mut self) -> bool {
        let may = self.len == 0 && self.kept == 0 && !self.places.is_empty();
        if may {
            (self.read, self.read_end) = (0, 0);
            (self.write, self.write_end) = (0, 0);
        }
        may
    }

    /// Puts a message into the first place, without taking note of it.
    ///
    /// # Safety
    /// The buffer has [begun anew](Buffer::begin_anew), and nothing else was done to it.
    #[inline(always)]
    pub(crate) unsafe fn write_first(&mut self, message: T) {
        // SAFETY: there is a place, as the caller says.
        unsafe { self.places.get_unchecked_mut(0) }.write(message);
    }

    /// Takes the message out of the first place.
    ///
    /// # Safety
    /// It was [put there](Buffer::write_first), and nothing else was done to the buffer.
    #[inline(always)]
    pub(crate) unsafe fn read_first(&self) -> T {
        // SAFETY: there is a place, as the caller says.
        let place = unsafe { self.places.get_unchecked(0) };
        // SAFETY: and a message, which is taken once.
        unsafe { place.assume_init_read() }
    }

    /// Takes note of the message that was [put into the first place](Buffer::write_first).
    pub(crate) fn note_first(&mut self) {
        (self.len, self.write) = (1, 1);
    }

    /// Puts a message at the end, in a channel of at most `most` messages.
    #[inline(always)]
    pub(crate) fn push(&mut self, message: T, most: usize) {
        if !self.has_room() {
            self.grow(most);
        }
        self.wrap_writing();
        // SAFETY: it has room, and `write` is a place, as it begins anew at the end.
        unsafe { self.write_next(message) };
    }

    /// Puts a message back, before all others.
    pub(crate) fn push_front(&mut self, message: T) {
        assert!(self.has_room(), "it has had its place before");
        self.stop();
        self.read = self.read.checked_sub(1).unwrap_or(self.places.len() - 1);
        self.places[self.read].write(message);
        self.len += 1;
    }

    #[inline(always)]
    pub(crate) fn pop(&mut self) -> Option<T> {
        if self.is_empty() {
            return None;
        }
        self.wrap_reading();
        // SAFETY: there is a message, so the next one is at `read`.
        Some(unsafe { self.read_next() })
    }

    /// Takes a message, if no memory is to be given back with it.
    #[inline(always)]
    pub(crate) fn pop_simply(&mut self) -> Option<T> {
        if self.len <= self.kept {
            return None;
        }
        self.pop()
    }

    /// Moves messages out, as many as there are and as `into` has room for, and at most `most`.
    ///
    /// # Returns
    /// Number of messages moved.
    pub(crate) fn pop_into(&mut self, into: &mut Vec<T>, most: usize) -> usize {
        let count = self.len.min(most).min(into.capacity() - into.len());
        self.copy_to(&mut into.spare_capacity_mut()[..count]);
        // SAFETY: there are `count` messages, which have been moved there; they are forgotten here.
        unsafe { into.set_len(into.len() + count) };
        self.forget(count);
        count
    }

    /// Takes `number` messages out, which must be there. The caller owns them; those that it does not take from the
    /// iterator are forgotten.
    #[inline(always)]
    pub(crate) fn pop_many(&mut self, number: usize) -> impl Iterator<Item = T> {
        assert!(number <= self.len, "there are so many");
        let first = self.read;
        self.forget(number);
        let until_end = (self.places.len() - first).min(number);
        let (one, other) = (
            &self.places[first..first + until_end],
            &self.places[..number - until_end],
        );
        // SAFETY: there were `number` messages, so they are at these places; each is taken out once.
        let take = |place: &MaybeUninit<T>| unsafe { place.assume_init_read() };
        one.iter().chain(other).map(take)
    }

    /// Removes the first `count` messages, which have been moved out.
    #[inline(always)]
    fn forget(&mut self, count: usize) {
        self.len -= count;
        self.read += count;
        if self.read > self.places.len() {
            self.read -= self.places.len();
            self.read_end = 0;
        }
    }

    /// Copies as many of the first messages as `into` has places: those up to the end, and those at the beginning.
    fn copy_to(&self, into: &mut [MaybeUninit<T>]) {
        let until_end = (self.places.len() - self.read).min(into.len());
        let (one, other) = into.split_at_mut(until_end);
        copy(&self.places[self.read..][..until_end], one);
        copy(&self.places[..other.len()], other);
    }

    /// Makes room for `places` messages in all.
    pub(crate) fn reserve(&mut self, places: usize) {
        if places <= self.places.len() {
            return;
        }
        let mut larger = Box::new_uninit_slice(places);
        self.copy_to(&mut larger[..self.len]);
        self.places = larger;
        self.kept = usize::from(places > KEPT / size_of::<T>().max(1) && size_of::<T>() > 0);
        (self.read, self.read_end) = (0, 0);
        (self.write, self.write_end) = (self.len, 0);
    }

    /// Messages that can be taken without memory to be given back.
    #[inline(always)]
    pub(crate) fn simple(&self) -> usize {
        self.len.saturating_sub(self.kept)
    }

    /// Whether it is empty, and more than an idle channel keeps.
    #[inline(always)]
    pub(crate) fn is_to_shrink(&self) -> bool {
        self.is_empty() && self.kept > 0
    }
}

impl<T> Drop for Buffer<T> {
    /// User code.
    fn drop(&mut self) {
        drop_all(|| self.pop());
    }
}
