//! Buffers that a handler has only while there is something to read.

use std::cell::RefCell;

const SIZE: usize = 4096;

thread_local! {
    /// Those that nobody has.
    static UNUSED: RefCell<Vec<Box<[u8]>>> = const { RefCell::new(Vec::new()) };
}

/// A buffer of 4 KiB, of its thread's or a new one.
pub(crate) struct Buffer(Option<Box<[u8]>>);

impl Buffer {
    pub(crate) fn take() -> Buffer {
        let unused = UNUSED.with_borrow_mut(Vec::pop);
        Buffer(Some(unused.unwrap_or_else(|| vec![0; SIZE].into())))
    }

    pub(crate) fn bytes(&mut self) -> &mut [u8] {
        self.0.as_deref_mut().unwrap_or_default()
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        if let Some(buffer) = self.0.take() {
            UNUSED.with_borrow_mut(|unused| unused.push(buffer));
        }
    }
}
