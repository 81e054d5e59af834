//! Messages as iterators.

use gossamer_core::context::{self, Context};
use gossamer_core::wait::Wait;

use super::flavour::RingPolicy;
use super::receiver::Receiver;
use crate::error::TryRecvError;

impl<T, P: RingPolicy> Receiver<T, P> {
    /// The messages there are, without waiting for more.
    pub fn try_iter(&mut self) -> TryIter<'_, T, P> {
        TryIter(self)
    }

    /// Messages until the sender is gone: waits for each as `.wait()` does, in a thread or a fiber.
    pub fn iter(&mut self) -> Iter<'_, T, P> {
        Iter(self)
    }
}

/// [`Receiver::try_iter`].
#[derive(Debug)]
pub struct TryIter<'a, T, P: RingPolicy>(&'a mut Receiver<T, P>);

impl<T, P: RingPolicy> Iterator for TryIter<'_, T, P> {
    type Item = T;

    #[inline(always)]
    fn next(&mut self) -> Option<T> {
        self.0.try_recv().ok()
    }
}

/// [`Receiver::iter`].
#[derive(Debug)]
pub struct Iter<'a, T, P: RingPolicy>(&'a mut Receiver<T, P>);

impl<T, P: RingPolicy> Iterator for Iter<'_, T, P> {
    type Item = T;

    #[track_caller]
    #[inline(always)]
    fn next(&mut self) -> Option<T> {
        next(self.0)
    }
}

/// [`Receiver::into_iter`].
#[derive(Debug)]
pub struct IntoIter<T, P: RingPolicy>(Receiver<T, P>);

impl<T, P: RingPolicy> Iterator for IntoIter<T, P> {
    type Item = T;

    #[track_caller]
    #[inline(always)]
    fn next(&mut self) -> Option<T> {
        next(&mut self.0)
    }
}

#[track_caller]
#[inline(always)]
fn next<T, P: RingPolicy>(receiver: &mut Receiver<T, P>) -> Option<T> {
    // In a fiber each message counts, so that others have their turns; in a task it is refused, whatever is there.
    if context::with(Context::is_polling) {
        return receiver.recv().wait().ok();
    }
    match receiver.try_recv() {
        Ok(message) => Some(message),
        Err(TryRecvError::Empty) => receiver.recv().wait().ok(),
        Err(TryRecvError::Closed) => None,
    }
}

impl<'a, T, P: RingPolicy> IntoIterator for &'a mut Receiver<T, P> {
    type Item = T;
    type IntoIter = Iter<'a, T, P>;

    fn into_iter(self) -> Iter<'a, T, P> {
        self.iter()
    }
}

impl<T, P: RingPolicy> IntoIterator for Receiver<T, P> {
    type Item = T;
    type IntoIter = IntoIter<T, P>;

    /// As [`iter`](Receiver::iter).
    fn into_iter(self) -> IntoIter<T, P> {
        IntoIter(self)
    }
}
