//! Dropping what is left of a channel's messages.

use std::mem;

/// Drops all that `next` gives, which is user code; also the rest, if one panics.
pub(crate) fn drop_all<T>(mut next: impl FnMut() -> Option<T>) {
    drop(Rest(&mut next));
}

struct Rest<'a, T>(&'a mut dyn FnMut() -> Option<T>);

impl<T> Drop for Rest<'_, T> {
    fn drop(&mut self) {
        while let Some(message) = (self.0)() {
            let rest = Rest(&mut *self.0);
            drop(message);
            mem::forget(rest);
        }
    }
}
