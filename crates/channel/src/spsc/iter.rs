//! Messages as iterators.

use gossamer_core::context::{self, Context};
use gossamer_core::wait::Wait;

use super::flavour::RingPolicy;
use super::receiver::Receiver;
use crate::error::TryRecvError;
use crate::iterators::iterators;

impl<T, P: RingPolicy> Receiver<T, P> {
    /// The messages there are, without waiting for more.
    pub fn try_iter(&mut self) -> TryIter<'_, T, P> {
        TryIter(self)
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

iterators! { RingPolicy, next, T, mut; }
