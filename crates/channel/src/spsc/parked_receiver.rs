//! The receiver in a port set: between two looks of the set it waits in its line, as an operation would, with the
//! waker of its entry.

use std::panic::Location;
use std::pin::Pin;
use std::task::Waker;

use gossamer_core::waiter::{Deferred, PollWaker};

use super::chan::{SENDER_WAITS, let_first_go};
use super::flavour::RingPolicy;
use super::receiver::Receiver;
use super::waiter::{End, Named, Waiter};
use crate::error::TryRecvError;

/// The kind of waiter that waits in a receiver's queue for a port set.
struct InSet;

impl Named for InSet {
    const NAME: &'static str = "a port of a PortSet";
}

type InLine<T, P> = Waiter<T, P, Receiver<T, P>, InSet>;

/// A receiver in a set, and its place in its line.
pub(crate) struct ParkedReceiver<T, P: RingPolicy> {
    // Leaves the line as it is dropped: before the receiver.
    waiter: Pin<Box<InLine<T, P>>>,
    receiver: Receiver<T, P>,
}

impl<T, P: RingPolicy> ParkedReceiver<T, P> {
    /// Not in line.
    pub(crate) fn new(receiver: Receiver<T, P>, location: &'static Location<'static>) -> Self {
        // SAFETY: the receiver is dropped after the waiter, and no function here replaces it.
        let waiter = unsafe { Waiter::new(&receiver, location) };
        Self {
            waiter: Box::pin(waiter),
            receiver,
        }
    }

    /// The receiver, which leaves the line.
    pub(crate) fn into_receiver(self) -> Receiver<T, P> {
        drop(self.waiter);
        self.receiver
    }

    /// Gets in line, if it is not there; whether it waits. If not, the receiver has something to do instead.
    ///
    /// The waker is known to wake the same as the one before, and to run no code of a user when it is cloned or
    /// dropped.
    pub(crate) fn waits(&mut self, waker: &Waker) -> bool {
        let waiter = self.waiter.as_mut();
        let mut waker = PollWaker::new(waker);
        waker.prepare();
        if waiter.is_queued() {
            waiter.stays_queued(&mut waker)
        } else {
            waiter.parks(&mut waker)
        }
    }

    /// The next message, and how many more there are, while locks are held; whether the sender
    /// [is to be let go](ParkedReceiver::let_sender_go).
    pub(crate) fn take(&mut self) -> Result<(T, usize, bool), TryRecvError> {
        let message = self.receiver.take_and_publish()?;
        let (sent, received) = self.receiver.counts();
        let more = sent.wrapping_sub(received);
        Ok((message, more, self.receiver.sender_waits()))
    }

    /// Lets a sender go that waits for a place: it is woken without any lock. And whether there are more, which
    /// are those that were forgotten while they waited. One that comes later has looked, and waits for another place.
    pub(crate) fn let_sender_go(&self) -> Option<(Deferred, bool)> {
        let chan = self.receiver.chan();
        let first = let_first_go(chan.lock(), &chan.sending, SENDER_WAITS);
        first.map(|(deferred, is_last)| (deferred, !is_last))
    }
}
