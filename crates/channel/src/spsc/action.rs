//! What sending and receiving do.

use std::mem::ManuallyDrop;

use super::ends::End;
use super::flavour::RingPolicy;
use super::receiver::Receiver;
use super::sender::{Put, Sender};
use crate::error::{Closed, SendError, TryRecvError};

/// One of the operations.
pub(super) trait RingAction<T, P: RingPolicy> {
    /// Whose it is.
    type End: End<T, P>;
    /// What it gives.
    type Output;
    /// Its name in dumps.
    const NAME: &'static str;

    /// Does it, if that is simple; `None` says nothing.
    ///
    /// # Safety
    /// Not again after it has been done.
    #[inline(always)]
    unsafe fn quickly(&mut self, _end: &mut Self::End) -> Option<Self::Output> {
        None
    }

    /// Does it, if that can be at once.
    ///
    /// # Safety
    /// Not again after it has been done.
    unsafe fn attempt(&mut self, end: &mut Self::End) -> Option<Self::Output>;

    /// Drops what it has, as it has not been done; user code.
    ///
    /// # Safety
    /// Once, and then it is not used again.
    unsafe fn abandon(&mut self) {}
}

/// Sending one message.
pub(super) struct Sends<T>(ManuallyDrop<T>);

impl<T> Sends<T> {
    #[inline(always)]
    pub(super) fn new(message: T) -> Self {
        Self(ManuallyDrop::new(message))
    }

    /// # Safety
    /// It was there, and is the caller's if it comes back; not again otherwise.
    #[inline(always)]
    unsafe fn ended(&mut self, put: Put) -> Option<Result<(), SendError<T>>> {
        match put {
            Put::Sent => Some(Ok(())),
            Put::Full => None,
            // SAFETY: it has not been moved.
            Put::Closed => Some(Err(SendError(unsafe { ManuallyDrop::take(&mut self.0) }))),
        }
    }
}

impl<T, P: RingPolicy> RingAction<T, P> for Sends<T> {
    type End = Sender<T, P>;
    type Output = Result<(), SendError<T>>;
    const NAME: &'static str = "spsc::Sender::send";

    #[inline(always)]
    unsafe fn quickly(&mut self, end: &mut Sender<T, P>) -> Option<Self::Output> {
        // SAFETY: passed on to the caller.
        unsafe {
            let put = end.put_quickly(&raw const *self.0);
            self.ended(put)
        }
    }

    unsafe fn attempt(&mut self, end: &mut Sender<T, P>) -> Option<Self::Output> {
        // SAFETY: passed on to the caller.
        unsafe {
            let put = end.put(&raw const *self.0);
            self.ended(put)
        }
    }

    #[inline(always)]
    unsafe fn abandon(&mut self) {
        // SAFETY: passed on to the caller.
        unsafe { ManuallyDrop::drop(&mut self.0) };
    }
}

/// Receiving one message.
pub(super) struct Receives;

impl<T, P: RingPolicy> RingAction<T, P> for Receives {
    type End = Receiver<T, P>;
    type Output = Result<T, Closed>;
    const NAME: &'static str = "spsc::Receiver::recv";

    #[inline(always)]
    unsafe fn quickly(&mut self, end: &mut Receiver<T, P>) -> Option<Self::Output> {
        end.take_quickly().map(Ok)
    }

    unsafe fn attempt(&mut self, end: &mut Receiver<T, P>) -> Option<Self::Output> {
        unless_empty(end.take())
    }
}

/// Receiving several messages.
pub(super) struct ReceivesMany<'a, T> {
    into: &'a mut Vec<T>,
    most: usize,
}

impl<'a, T> ReceivesMany<'a, T> {
    pub(super) fn new(into: &'a mut Vec<T>, most: usize) -> Self {
        Self { into, most }
    }
}

impl<T, P: RingPolicy> RingAction<T, P> for ReceivesMany<'_, T> {
    type End = Receiver<T, P>;
    type Output = Result<usize, Closed>;
    const NAME: &'static str = "spsc::Receiver::recv_many";

    unsafe fn attempt(&mut self, end: &mut Receiver<T, P>) -> Option<Self::Output> {
        if self.most == 0 {
            return Some(Ok(0));
        }
        unless_empty(end.take_many(self.into, self.most))
    }
}

/// What an operation gives; nothing, if it has to wait.
fn unless_empty<R>(taken: Result<R, TryRecvError>) -> Option<Result<R, Closed>> {
    match taken {
        Ok(taken) => Some(Ok(taken)),
        Err(TryRecvError::Closed) => Some(Err(Closed)),
        Err(TryRecvError::Empty) => None,
    }
}
