//! Receiving one message after the other: as a stream, by an iterator, many at once. What was missed is told in its
//! place among them.

use std::fmt;
use std::iter;
use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use futures_core::{FusedStream, Stream};
use gossamer_core::context::SchedulingPoint;
use gossamer_core::policy::LockPolicy;
use gossamer_core::wait::Wait;
use pin_project_lite::pin_project;

use super::ends::{Receiver, Receiving, own, received};
use super::error::{Lagged, RecvError, TryRecvError};
use crate::iterators::iterators;

impl<T: Clone, P: LockPolicy> Receiver<T, P> {
    /// Receives all messages that there are for this receiver, but at most `most`, and waits until there is one: puts
    /// them at the end of `into`, and gives their number. Zero only if `most` is. (What is sent meanwhile is left for
    /// the next call.)
    ///
    /// # Blocking
    /// As [`recv`](Receiver::recv).
    ///
    /// # Cancellation
    /// Dropped unfinished, it has received nothing, and the receiver stands where it stood.
    ///
    /// # Errors
    /// As [`recv`](Receiver::recv), and nothing has been received. Where the receiver is overtaken in the midst of it,
    /// it ends with the messages before; the next call tells how many are gone.
    ///
    /// # Panics
    /// As cloning a message does; that one has been received then, those before it are in `into`, and those behind it
    /// are left.
    ///
    /// # Examples
    /// ```
    /// use gossamer::Wait;
    /// use gossamer::channel::broadcast::{self, RecvError};
    ///
    /// let (tx, mut rx) = broadcast::broadcast(3);
    /// for number in 1..=5 {
    ///     tx.send(number).unwrap();
    /// }
    /// let mut got = Vec::new();
    /// assert_eq!(rx.recv_many(&mut got, 9).wait(), Err(RecvError::Lagged(2)));
    /// assert_eq!(rx.recv_many(&mut got, 9).wait(), Ok(3));
    /// assert_eq!(got, [3, 4, 5]);
    /// ```
    #[track_caller]
    pub fn recv_many<'a>(
        &'a mut self,
        into: &'a mut Vec<T>,
        most: usize,
    ) -> ReceivingMany<'a, T, P> {
        ReceivingMany {
            receiving: Receiving::new(self, Location::caller()),
            point: SchedulingPoint::new(),
            into,
            most,
        }
    }

    /// The messages there are, without waiting for more; [`Lagged`], where some are gone.
    pub fn try_iter(&mut self) -> impl Iterator<Item = Result<T, Lagged>> {
        iter::from_fn(|| match self.try_recv() {
            Ok(message) => Some(Ok(message)),
            Err(TryRecvError::Lagged(number)) => Some(Err(Lagged(number))),
            Err(TryRecvError::Empty | TryRecvError::Closed) => None,
        })
    }

    /// The messages as a stream, which ends when no sender is left; [`Lagged`], where some are gone.
    ///
    /// # Cancellation
    /// Dropped, it has received what it has given, and nothing more.
    ///
    /// # Panics
    /// As cloning the message does; it has been received then, and the stream goes on.
    #[track_caller]
    pub fn stream(&mut self) -> Messages<'_, T, P> {
        Messages {
            receiving: Receiving::new(self, Location::caller()),
            is_over: false,
        }
    }
}

/// An item of an iterator or a stream; `None`: the end.
pub(super) fn item<T>(received: Result<T, RecvError>) -> Option<Result<T, Lagged>> {
    match received {
        Ok(message) => Some(Ok(message)),
        Err(RecvError::Lagged(number)) => Some(Err(Lagged(number))),
        Err(RecvError::Closed) => None,
    }
}

pin_project! {
    /// [`Receiver::recv_many`].
    #[must_use = "operations do nothing until they are awaited or waited for"]
    pub struct ReceivingMany<'a, T, P: LockPolicy> {
        #[pin]
        receiving: Receiving<'a, T, P>,
        // Of one that is to receive nothing.
        point: SchedulingPoint,
        into: &'a mut Vec<T>,
        most: usize,
    }
}

impl<T: Clone, P: LockPolicy> Future for ReceivingMany<'_, T, P> {
    type Output = Result<usize, RecvError>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let (mut receiving, into, most) = (this.receiving, this.into, *this.most);
        if most == 0 {
            return this.point.pass(cx.waker()).map(|()| Ok(0));
        }
        into.reserve(1);
        into.push(ready!(receiving.as_mut().poll(cx))?);
        let (chan, next) = receiving.place();
        let more = chan.look(|ring| ring.len_from(*next)).min(most - 1);
        into.reserve(more);
        for received in 0..more {
            let (message, _memory) = chan.look(|ring| (ring.receive_next(next), ring.shrink()));
            let Some(message) = message else {
                return Poll::Ready(Ok(1 + received));
            };
            into.push(own::<T, P>(message));
        }
        Poll::Ready(Ok(1 + more))
    }
}

impl<T, P: LockPolicy> fmt::Debug for ReceivingMany<'_, T, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.receiving.fmt(f)
    }
}

pin_project! {
    /// [`Receiver::stream`].
    #[must_use = "streams do nothing until they are polled"]
    pub struct Messages<'a, T, P: LockPolicy> {
        #[pin]
        receiving: Receiving<'a, T, P>,
        is_over: bool,
    }
}

impl<T: Clone, P: LockPolicy> Stream for Messages<'_, T, P> {
    type Item = Result<T, Lagged>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let mut this = self.project();
        // Also after the end, which then comes once more: as an operation that yields.
        let found = ready!(this.receiving.as_mut().poll_found(cx));
        // Before the message is cloned, which may panic.
        this.receiving.begin_anew();
        let item = item(received::<T, P>(found));
        *this.is_over = item.is_none();
        Poll::Ready(item)
    }
}

impl<T: Clone, P: LockPolicy> FusedStream for Messages<'_, T, P> {
    fn is_terminated(&self) -> bool {
        self.is_over
    }
}

impl<T, P: LockPolicy> fmt::Debug for Messages<'_, T, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.receiving.fmt(f)
    }
}

#[track_caller]
#[inline(always)]
fn next<T: Clone, P: LockPolicy>(receiver: &mut Receiver<T, P>) -> Option<Result<T, Lagged>> {
    item(receiver.recv().wait())
}

iterators! { LockPolicy, next, Result<T, Lagged>: Clone, mut;
    /// Where some are gone, it gives [`Lagged`].
    ///
    /// # Examples
    /// ```
    /// use gossamer::channel::broadcast::{self, Lagged};
    ///
    /// let (tx, mut rx) = broadcast::broadcast(2);
    /// for number in 1..=3 {
    ///     tx.send(number).unwrap();
    /// }
    /// drop(tx);
    /// assert_eq!(rx.iter().collect::<Vec<_>>(), [Err(Lagged(1)), Ok(2), Ok(3)]);
    /// ```
}
