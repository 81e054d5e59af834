//! The messages that wait to be received. Memory is asked for without the channel's lock, and given back when the
//! messages are gone.

use std::mem::{self, MaybeUninit};
use std::ptr;

/// First in, first out, in memory that grows eightfold while it is small, else twofold.
///
/// A ring. A message is put at `write`, and the next one to come out is at `read`; both go up to the end of the places,
/// and begin anew. So that putting and taking need one comparison each, *runs* say how far either may go without a
/// second look: as far as there is memory and room, or messages, and all in one piece.
pub(super) struct Buffer<T> {
    places: Box<[MaybeUninit<T>]>,
    len: usize,
    read: usize,
    /// Where the run of reading ends; if that is no more than `read`, there is none.
    read_end: usize,
    write: usize,
    /// Where the run of writing ends.
    write_end: usize,
}

/// Memory without messages.
pub(super) type Memory<T> = Box<[MaybeUninit<T>]>;

/// As many places at first.
const FIRST: usize = 4;
/// From so many on it doubles.
const LARGE: usize = 256;
/// So many bytes an empty channel keeps.
const KEPT: usize = 128;

/// For so many messages.
pub(super) fn memory<T>(messages: usize) -> Memory<T> {
    Box::new_uninit_slice(messages)
}

impl<T> Buffer<T> {
    /// Without memory.
    pub(super) fn new() -> Self {
        Self {
            places: memory(0),
            len: 0,
            read: 0,
            read_end: 0,
            write: 0,
            write_end: 0,
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

    /// Puts a message, if the run goes on, or if `may_extend` and there is a place for it in a channel of at most so
    /// many.
    #[inline(always)]
    pub(super) fn push_in_window(
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
    pub(super) fn pop_in_window(&mut self, may_extend: bool) -> Option<T> {
        let goes_on = self.read < self.read_end || may_extend && self.extend_reading();
        // SAFETY: the run has the place, and a message is there.
        goes_on.then(|| unsafe { self.read_next() })
    }

    /// The message that comes so many after the next one, if the run goes on until there.
    #[inline(always)]
    pub(super) fn ahead(&self, by: usize) -> Option<&T> {
        let at = self.read + by;
        // SAFETY: the run has the place, and a message is there.
        (at < self.read_end).then(|| unsafe { self.places.get_unchecked(at).assume_init_ref() })
    }

    /// Ends both runs, as somebody is to be asked first.
    #[inline(always)]
    pub(super) fn stop(&mut self) {
        self.read_end = 0;
        self.write_end = 0;
    }

    /// Begins another run of writing in a channel of at most so many; whether there is a place.
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

    /// Begins another run of reading; whether there is a message. The last one is in none if memory is to be given back
    /// with it.
    #[inline(always)]
    fn extend_reading(&mut self) -> bool {
        let kept = usize::from(self.is_large());
        if self.len <= kept {
            return false;
        }
        self.wrap_reading();
        let messages = self.len - kept;
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

    /// The same for the next message.
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
        // SAFETY: passed on to the caller.
        unsafe { self.places.get_unchecked_mut(self.write).write(message) };
        self.write += 1;
        self.len += 1;
    }

    /// # Safety
    /// `read` is a place, and a message is there.
    #[inline(always)]
    unsafe fn read_next(&mut self) -> T {
        // SAFETY: passed on to the caller; it is taken out once.
        let message = unsafe { self.places.get_unchecked(self.read).assume_init_read() };
        self.read += 1;
        self.len -= 1;
        message
    }

    #[inline(always)]
    pub(super) fn push(&mut self, message: T) {
        assert!(self.has_room(), "memory is asked for without the lock");
        self.wrap_writing();
        // SAFETY: it has room, and `write` is a place, as it begins anew at the end.
        unsafe { self.write_next(message) };
    }

    /// Puts a message back, before all others.
    pub(super) fn push_front(&mut self, message: T) {
        assert!(self.has_room(), "memory is asked for without the lock");
        self.stop();
        self.read = self.read.checked_sub(1).unwrap_or(self.places.len() - 1);
        self.places[self.read].write(message);
        self.len += 1;
    }

    #[inline(always)]
    pub(super) fn pop(&mut self) -> Option<T> {
        if self.is_empty() {
            return None;
        }
        self.wrap_reading();
        // SAFETY: there is a message, so the next one is at `read`.
        Some(unsafe { self.read_next() })
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
            self.forget(count);
        }
        count
    }

    /// Takes so many out, which there are: they are the caller's, and those that it does not take from the iterator are
    /// forgotten.
    #[inline(always)]
    pub(super) fn pop_many(&mut self, number: usize) -> impl ExactSizeIterator<Item = T> {
        assert!(number <= self.len, "there are so many");
        let (places, first, end) = (self.places.as_ptr(), self.read, self.places.len());
        self.forget(number);
        (first..first + number).map(move |at| {
            let at = if at < end { at } else { at - end };
            // SAFETY: there were so many messages, so they are at these places; each is taken out once.
            unsafe { places.add(at).cast::<T>().read() }
        })
    }

    /// So many of the first have been moved out.
    #[inline(always)]
    fn forget(&mut self, count: usize) {
        self.len -= count;
        self.read += count;
        if self.read > self.places.len() {
            self.read -= self.places.len();
            self.read_end = 0;
        }
    }

    /// Copies the first messages: those up to the end of the places, and those at their beginning.
    ///
    /// # Safety
    /// There are so many; there is so much room; and they are used at one place only.
    unsafe fn copy_to(&self, into: *mut T, count: usize) {
        let from = self.places.as_ptr().cast::<T>();
        let until_end = (self.places.len() - self.read).min(count);
        // SAFETY: passed on to the caller; the two pieces of memory are apart.
        unsafe {
            ptr::copy_nonoverlapping(from.add(self.read), into, until_end);
            ptr::copy_nonoverlapping(from, into.add(until_end), count - until_end);
        }
    }

    /// Moves into larger memory; gives the old one, to be dropped after the lock is given up.
    #[must_use]
    pub(super) fn move_to(&mut self, mut larger: Memory<T>) -> Memory<T> {
        if larger.len() <= self.places.len() {
            // Somebody else was quicker.
            return larger;
        }
        let len = self.len;
        // SAFETY: there is more room in the new memory, and the old one is without messages from here on.
        unsafe { self.copy_to(larger.as_mut_ptr().cast(), len) };
        self.begin_in(larger, len)
    }

    /// Whether it has more memory than an idle channel keeps.
    #[inline(always)]
    pub(super) fn is_large(&self) -> bool {
        self.places.len() > KEPT / size_of::<T>().max(1) && size_of::<T>() > 0
    }

    /// Whether it is empty, and more than an idle channel keeps.
    #[inline(always)]
    pub(super) fn is_to_shrink(&self) -> bool {
        self.is_empty() && self.is_large()
    }

    /// The memory, of which it has no longer need.
    pub(super) fn take_memory(&mut self) -> Memory<T> {
        debug_assert!(self.is_empty(), "the messages would be lost");
        self.begin_in(memory(0), 0)
    }

    /// Goes on in other memory, which has so many messages; gives the old one.
    fn begin_in(&mut self, places: Memory<T>, len: usize) -> Memory<T> {
        (self.read, self.read_end) = (0, 0);
        (self.write, self.write_end) = (len, 0);
        mem::replace(&mut self.places, places)
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
