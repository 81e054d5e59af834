//! The receiver in a port set: between two looks of the set it waits in its line, as an operation would, with the
//! waker of its place.

use std::panic::Location;
use std::pin::Pin;
use std::task::Waker;

use gossamer_core::waiter::{Deferred, PollWaker};
use pin_project_lite::pin_project;

use super::chan::SENDER_WAITS;
use super::flavour::RingPolicy;
use super::receiver::Receiver;
use super::waiter::{End, Named, Waiter};
use crate::error::TryRecvError;

/// What waits in the line of a receiver.
struct InSet;

impl Named for InSet {
    const NAME: &'static str = "a port of a PortSet";
}

pin_project! {
    /// A place in the line of a receiver; dropped, it leaves that.
    pub(crate) struct ParkedReceiver<T, P: RingPolicy> {
        #[pin]
        waiter: Waiter<T, P, Receiver<T, P>, InSet>,
    }
}

impl<T, P: RingPolicy> ParkedReceiver<T, P> {
    /// Of this receiver, and not in line.
    ///
    /// # Safety
    /// The receiver is dropped after it.
    pub(crate) unsafe fn new(
        receiver: &Receiver<T, P>,
        location: &'static Location<'static>,
    ) -> Self {
        // SAFETY: the caller vouches for it.
        let waiter = unsafe { Waiter::new(receiver, location) };
        Self { waiter }
    }

    /// Gets in line, if it is not there; whether the receiver has something to do instead.
    ///
    /// The waker is known to wake the same as the one before, and to run no code of a user when it is cloned or
    /// dropped.
    pub(crate) fn waits(self: Pin<&mut Self>, waker: &Waker) -> bool {
        let mut waiter = self.project().waiter;
        let mut waker = PollWaker::new(waker);
        waker.prepare();
        let waits = if waiter.is_queued() {
            waiter.as_mut().stays_queued(&mut waker)
        } else {
            waiter.as_mut().parks(&mut waker)
        };
        !waits
    }
}

impl<T, P: RingPolicy> Receiver<T, P> {
    /// The next message, and how many more there are, while locks are held; whether the sender
    /// [is to be let go](Receiver::let_sender_go).
    pub(crate) fn take_for_set(&mut self) -> Result<(T, usize, bool), TryRecvError> {
        let message = self.take_and_publish()?;
        let more = self.counts().0.wrapping_sub(self.counts().1);
        Ok((message, more, self.sender_waits()))
    }

    /// Lets a sender go that waits for a place: it is woken without any lock. And whether there are more, which
    /// are those that were forgotten while they waited. One that comes later has looked, and waits for another place.
    pub(crate) fn let_sender_go(&self) -> Option<(Deferred, bool)> {
        let chan = self.chan();
        let first = chan.let_first_go(chan.lock(), &chan.sending, SENDER_WAITS);
        first.map(|(deferred, is_last)| (deferred, !is_last))
    }
}
