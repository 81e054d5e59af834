//! The futures of a channel's operations, and its messages as a stream.

use std::fmt;
use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll, Waker, ready};

use futures_core::{FusedStream, Stream};
use gossamer_core::policy::LockPolicy;
use gossamer_core::wait_queue::Leave;
use gossamer_core::waiter::Kind;
use pin_project_lite::pin_project;

use super::action::{Many, One, Op, Receives, withdraw};
use super::chan::Chan;
use super::offer::Offer;
use crate::error::{Closed, SendError};
use crate::operations::operations;

operations! { LockPolicy;
    /// [`Sender::send`](super::Sender::send).
    Sending<T>: Offer<T> => Result<(), SendError<T>>;
    /// [`Receiver::recv`](super::Receiver::recv).
    Receiving<T>: Receives<One> => Result<T, Closed>;
    /// [`Receiver::recv_many`](super::Receiver::recv_many).
    ReceivingMany<T>: Receives<Many<'a, T>> => Result<usize, Closed>;
}

impl<T, P: LockPolicy> Chan<T, P> {
    /// What waits inline.
    pub(super) fn receiver_kind() -> &'static Kind {
        Op::<T, P, Receives<One>>::KIND
    }
}

pin_project! {
    /// [`Sender::send_from`](super::Sender::send_from).
    #[must_use = "operations do nothing until they are awaited or waited for"]
    #[derive(Debug)]
    pub struct SendingFrom<'a, T, P: LockPolicy> {
        #[pin]
        pub(super) op: Op<'a, T, P, Offer<T>>,
        // Empty as long as the operation has the message.
        pub(super) from: &'a mut Option<T>,
    }

    impl<T, P: LockPolicy> PinnedDrop for SendingFrom<'_, T, P> {
        fn drop(this: Pin<&mut Self>) {
            if gossamer_core::mutant!("channel_forgets_message") {
                return;
            }
            let mut this = this.project();
            // Mutant: what has a place sends though it is dropped.
            if gossamer_core::mutant!("dropped_send_has_sent")
                && this.op.is_queued()
                && this.op.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_ready()
            {
                return;
            }
            withdraw(this.op, this.from);
        }
    }
}

impl<T, P: LockPolicy> Future for SendingFrom<'_, T, P> {
    type Output = Result<(), SendError<()>>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        this.op.poll(cx).map_err(|SendError(message)| {
            **this.from = Some(message);
            SendError(())
        })
    }
}

impl<T, P: LockPolicy> Leave for SendingFrom<'_, T, P> {
    fn leave(self: Pin<&mut Self>) {
        self.project().op.leave();
    }
}

pin_project! {
    /// [`Receiver::stream`].
    #[must_use = "streams do nothing until they are polled"]
    pub struct Messages<'a, T, P: LockPolicy> {
        #[pin]
        op: Op<'a, T, P, Receives<One>>,
        is_over: bool,
    }
}

impl<'a, T, P: LockPolicy> Messages<'a, T, P> {
    pub(super) fn new(chan: &'a Chan<T, P>, location: &'static Location<'static>) -> Self {
        Self {
            op: Op::new(chan, Receives::new(One), location),
            is_over: false,
        }
    }
}

impl<T, P: LockPolicy> Stream for Messages<'_, T, P> {
    type Item = T;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<T>> {
        // Also after the end, which then comes once more: as an operation that yields.
        if self.is_over && gossamer_core::mutant!("end_comes_at_once") {
            return Poll::Ready(None);
        }
        let mut this = self.project();
        let message = ready!(this.op.as_mut().poll(cx)).ok();
        *this.is_over = message.is_none();
        this.op.restart(|_| ());
        Poll::Ready(message)
    }
}

impl<T, P: LockPolicy> FusedStream for Messages<'_, T, P> {
    fn is_terminated(&self) -> bool {
        self.is_over
    }
}

impl<T, P: LockPolicy> fmt::Debug for Messages<'_, T, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "messages of {:?}", self.op)
    }
}
