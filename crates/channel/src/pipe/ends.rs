//! The two kinds of ends.

use std::fmt;
use std::mem::ManuallyDrop;
use std::task::{Poll, Waker};

use super::slot::{Handle, handles};
use super::word::{AnyThread, First, PipePolicy, Second, Side};
use crate::error::{Closed, SendError};

/// A new pipe: one end that speaks, one that listens.
///
/// # Examples
/// ```
/// use gossamer_channel::pipe;
/// use gossamer_core::policy::Shared;
///
/// let (client, server) = pipe::pair::<u32, Shared>();
/// let client = client.say(7).unwrap();
/// drop(server); // which has not taken it
/// assert_eq!(format!("{client:?}"), "ReceivingEnd");
/// ```
pub fn pair<M, P: PipePolicy>() -> (SendingEnd<M, P, First>, ReceivingEnd<M, P, Second>) {
    let (first, second) = handles();
    (SendingEnd(first), ReceivingEnd(second))
}

/// An end whose turn it is; dropped, it closes the pipe, and the other one is told.
#[must_use = "dropping the end closes the pipe"]
pub struct SendingEnd<M, P: PipePolicy, S: Side>(Handle<M, P, S>);

/// An end that waits for its turn; dropped, it closes the pipe.
#[must_use = "dropping the end closes the pipe"]
pub struct ReceivingEnd<M, P: PipePolicy, S: Side>(Handle<M, P, S>);

// SAFETY: only messages move between threads; the word is atomic, and says whose the slot is.
unsafe impl<M: Send, P: AnyThread, S: Side> Send for SendingEnd<M, P, S> {}
// SAFETY: `&SendingEnd` gives access to nothing.
unsafe impl<M: Send, P: AnyThread, S: Side> Sync for SendingEnd<M, P, S> {}
// SAFETY: as for `SendingEnd`.
unsafe impl<M: Send, P: AnyThread, S: Side> Send for ReceivingEnd<M, P, S> {}
// SAFETY: as for `SendingEnd`; `poll` and `forget_waker` are this crate's, and go with the one owner, by `&mut`.
unsafe impl<M: Send, P: AnyThread, S: Side> Sync for ReceivingEnd<M, P, S> {}

impl<M, P: PipePolicy, S: Side> SendingEnd<M, P, S> {
    fn into_handle(self) -> Handle<M, P, S> {
        ManuallyDrop::new(self).0
    }

    /// Sends a message, and with it the turn. Never waits.
    ///
    /// # Errors
    /// The other end is gone: gives the message back. (One that goes later drops it.)
    #[inline(always)]
    pub fn say(self, message: M) -> Result<ReceivingEnd<M, P, S>, SendError<M>> {
        let handle = self.into_handle();
        // SAFETY: one that speaks has the turn, and has taken what was in the slot.
        match unsafe { handle.say(message) } {
            Ok(()) => Ok(ReceivingEnd(handle)),
            Err(message) => Err(SendError(message)),
        }
    }

    /// Gives the turn without a message. Never waits.
    #[inline(always)]
    pub fn pass(self) -> ReceivingEnd<M, P, S> {
        let handle = self.into_handle();
        // SAFETY: one that speaks has the turn, and has taken what was in the slot.
        unsafe { handle.pass() };
        ReceivingEnd(handle)
    }
}

impl<M, P: PipePolicy, S: Side> ReceivingEnd<M, P, S> {
    /// Whether the turn has come; if not, the waker is called when it has, or when the other end has gone.
    #[inline(always)]
    pub(crate) fn poll(&mut self, waker: &Waker) -> Poll<Result<(), Closed>> {
        // SAFETY: the end has not gone.
        unsafe { self.0.poll(waker) }
    }

    /// Whether the turn has come.
    #[inline(always)]
    pub(super) fn is_ready(&self) -> bool {
        // SAFETY: the end has not gone.
        gossamer_core::mutant!("pipe_ready_too_early") || unsafe { self.0.has_turn() }
    }

    /// What has come with the turn.
    ///
    /// # Safety
    /// The turn has come. The end is not used or dropped any more.
    #[inline(always)]
    pub(crate) unsafe fn take(&mut self) -> (Option<M>, SendingEnd<M, P, S>) {
        // SAFETY: passed on to the caller.
        let message = unsafe { self.0.take() };
        (message, SendingEnd(self.0))
    }

    /// Speaks again, having sent: what it had sent was taken before the turn was given back.
    ///
    /// # Safety
    /// The turn has come, without a message.
    #[inline(always)]
    pub(super) unsafe fn resume(self) -> SendingEnd<M, P, S> {
        SendingEnd(ManuallyDrop::new(self).0)
    }

    /// No waker is called any more.
    pub(crate) fn forget_waker(&mut self) {
        // SAFETY: it listens, and has not gone.
        unsafe { self.0.forget_waker() };
    }
}

impl<M, P: PipePolicy, S: Side> Drop for SendingEnd<M, P, S> {
    fn drop(&mut self) {
        // SAFETY: one that speaks has the turn, and has taken what was in the slot; it goes.
        unsafe { self.0.drop_sending_end() };
    }
}

impl<M, P: PipePolicy, S: Side> Drop for ReceivingEnd<M, P, S> {
    fn drop(&mut self) {
        // SAFETY: it goes.
        unsafe { self.0.drop_receiving_end() };
    }
}

impl<M, P: PipePolicy, S: Side> fmt::Debug for SendingEnd<M, P, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SendingEnd")
    }
}

impl<M, P: PipePolicy, S: Side> fmt::Debug for ReceivingEnd<M, P, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ReceivingEnd")
    }
}
