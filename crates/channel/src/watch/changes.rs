//! One value after the other, each the latest of its moment: as a stream, and by an iterator.

use std::fmt;
use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use futures_core::{FusedStream, Stream};
use gossamer_core::policy::LockPolicy;
use gossamer_core::wait::Wait;
use pin_project_lite::pin_project;

use super::ends::{CHANGED, Changed, Receiver, Snapshot, Value, Watched};
use crate::shared_state::OwnedWaiting;

impl<T, P: LockPolicy> Receiver<T, P> {
    /// The values that this receiver has not seen, as [`changed`](Receiver::changed) gives them, until no sender is
    /// left: waits for each as `.wait()` does, in a thread or a fiber. What is replaced before it is asked for is
    /// passed over.
    pub fn iter(&mut self) -> Iter<'_, T, P> {
        Iter(self)
    }

    /// Like [`iter`](Receiver::iter), as a stream. The stream ends when no sender is left.
    ///
    /// # Cancellation
    /// Dropping the stream has no effect, except that the receiver has seen the values that the stream has given.
    #[track_caller]
    pub fn stream(&mut self) -> Changes<'_, T, P> {
        Changes {
            changed: Changed::new(self, Location::caller()),
            is_over: false,
        }
    }
}

pin_project! {
    /// [`Receiver::stream`].
    #[must_use = "streams do nothing until they are polled"]
    pub struct Changes<'a, T, P: LockPolicy> {
        #[pin]
        changed: Changed<'a, T, P>,
        is_over: bool,
    }
}

impl<T, P: LockPolicy> Stream for Changes<'_, T, P> {
    type Item = Snapshot<T, P>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Snapshot<T, P>>> {
        let mut this = self.project();
        // Also after the end, which then comes once more: as an operation that yields.
        let latest = ready!(this.changed.as_mut().poll(cx)).ok();
        *this.is_over = latest.is_none();
        this.changed.begin_anew();
        Poll::Ready(latest)
    }
}

impl<T, P: LockPolicy> FusedStream for Changes<'_, T, P> {
    fn is_terminated(&self) -> bool {
        self.is_over
    }
}

impl<T, P: LockPolicy> fmt::Debug for Changes<'_, T, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.changed.fmt(f)
    }
}

impl<T, P: LockPolicy> Receiver<T, P> {
    /// Like [`stream`](Receiver::stream), as a stream that owns the receiver.
    ///
    /// # Cancellation
    /// Dropping the stream has no effect, except that the receiver is dropped with it.
    #[track_caller]
    pub fn into_stream(self) -> OwnedChanges<T, P>
    where
        T: 'static,
    {
        OwnedChanges {
            waiting: OwnedWaiting::new(self.chan.clone(), self.seen, Location::caller()),
            receiver: self,
            is_over: false,
        }
    }
}

pin_project! {
    /// [`Receiver::into_stream`].
    #[must_use = "streams do nothing until they are polled"]
    pub struct OwnedChanges<T: 'static, P: LockPolicy> {
        #[pin]
        waiting: OwnedWaiting<Watched<Value<T, P>>, P, CHANGED>,
        receiver: Receiver<T, P>,
        is_over: bool,
    }
}

impl<T: 'static, P: LockPolicy> OwnedChanges<T, P> {
    /// The receiver, to look at.
    pub fn receiver(&self) -> &Receiver<T, P> {
        &self.receiver
    }
}

impl<T: 'static, P: LockPolicy> Stream for OwnedChanges<T, P> {
    type Item = Snapshot<T, P>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Snapshot<T, P>>> {
        let mut this = self.project();
        let seen = &mut this.receiver.seen;
        let unseen = |watched: &mut Watched<_>| watched.unseen(*seen);
        let unseen = ready!(this.waiting.as_mut().poll(cx, unseen));
        let latest = unseen.ok().map(|(value, version)| {
            *seen = version;
            Snapshot(value)
        });
        this.waiting.wait_again(*seen);
        *this.is_over = latest.is_none();
        Poll::Ready(latest)
    }
}

impl<T: 'static, P: LockPolicy> FusedStream for OwnedChanges<T, P> {
    fn is_terminated(&self) -> bool {
        self.is_over
    }
}

impl<T: 'static, P: LockPolicy> fmt::Debug for OwnedChanges<T, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.waiting.fmt(f)
    }
}

/// [`Receiver::iter`].
pub struct Iter<'a, T, P: LockPolicy>(&'a mut Receiver<T, P>);

impl<T, P: LockPolicy> Iterator for Iter<'_, T, P> {
    type Item = Snapshot<T, P>;

    #[track_caller]
    fn next(&mut self) -> Option<Snapshot<T, P>> {
        self.0.changed().wait().ok()
    }
}

impl<T: fmt::Debug, P: LockPolicy> fmt::Debug for Iter<'_, T, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Iter").field(self.0).finish()
    }
}
