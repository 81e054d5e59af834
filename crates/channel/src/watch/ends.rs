//! The two sides of a watch channel.
//!
//! # Protocol
//!
//! The value is behind a counted pointer, and has a version, which changes with it, under the lock. Who reads takes a
//! pointer; who modifies makes a new value from the latest, without the lock, and begins anew if another one has come
//! meanwhile. A receiver knows the version that it has seen, and waits for another one.

use std::fmt;
use std::mem;
use std::ops::Deref;
use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use gossamer_core::policy::{Counted, LockPolicy};
use gossamer_core::wait_queue::Operation;
use pin_project_lite::pin_project;

use crate::error::Closed;
use crate::operations::operations;
use crate::shared_state::{Content, SharedState, Waiting, WaitsForClose, counted_ends};

/// The value, as it is under the lock.
pub(super) type Value<T, P> = <P as LockPolicy>::Counted<T>;
/// The state that the ends share.
type Chan<T, P> = SharedState<Watched<Value<T, P>>, P>;
type Handle<T, P> = <P as LockPolicy>::Counted<Chan<T, P>>;
type Op<'a, T, P, A> = Operation<'a, Chan<T, P>, A>;

/// No value has this version.
const NONE_SEEN: u64 = u64::MAX;

/// The state under the lock.
pub(super) struct Watched<M> {
    value: M,
    version: u64,
    senders: usize,
    receivers: usize,
}

pub(super) const CHANGED: usize = 0;
const WAIT_FOR: usize = 1;

impl<M> Content for Watched<M> {
    const NAMES: &'static [&'static str] =
        &["watch::Receiver::changed", "watch::Receiver::wait_for"];

    fn goes(&self, seen: u64) -> bool {
        seen != self.version || self.senders == 0
    }

    fn is_closed(&self) -> bool {
        self.receivers == 0
    }
}

impl<M> Watched<M> {
    /// Replaces the value and returns the old one.
    fn replace(&mut self, value: M) -> M {
        if !gossamer_core::mutant!("watch_keeps_version") {
            self.version += 1;
        }
        mem::replace(&mut self.value, value)
    }
}

impl<M: Clone> Watched<M> {
    /// The value and its version, unless that has been seen.
    pub(super) fn unseen(&self, seen: u64) -> Result<(M, u64), Closed> {
        if self.version == seen {
            return Err(Closed);
        }
        Ok((self.value.clone(), self.version))
    }
}

/// Both sides of a new channel.
pub(crate) fn pair<T, P: LockPolicy>(word: P::Word, initial: T) -> (Sender<T, P>, Receiver<T, P>) {
    let watched = Watched {
        value: Value::<T, P>::new(initial),
        version: 0,
        senders: 1,
        receivers: 1,
    };
    let chan = Handle::<T, P>::new(SharedState::new(word, watched));
    let receiver = Receiver {
        chan: chan.clone(),
        seen: 0,
    };
    (Sender { chan }, receiver)
}

/// The value as it was when it was asked for. Others may be sent meanwhile.
pub struct Snapshot<T, P: LockPolicy>(pub(super) Value<T, P>);

impl<T, P: LockPolicy> Deref for Snapshot<T, P> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T, P: LockPolicy> Clone for Snapshot<T, P> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<T: fmt::Debug, P: LockPolicy> fmt::Debug for Snapshot<T, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        T::fmt(self, f)
    }
}

/// The side that sends. Clones send into the same channel; when the last one goes, the receivers are told.
pub struct Sender<T, P: LockPolicy> {
    chan: Handle<T, P>,
}

impl<T, P: LockPolicy> Sender<T, P> {
    /// Replaces the value, whether there are receivers or not. Never waits, and never fails: one that
    /// [subscribes](Sender::subscribe) later sees the value too. [`is_closed`](Sender::is_closed) says whether there is one.
    pub fn send(&self, value: T) {
        drop(self.send_replace(value));
    }

    /// Replaces the value, and gives the old one.
    ///
    /// # Examples
    /// ```
    /// use gossamer::channel::watch;
    ///
    /// let (tx, rx) = watch::watch(1);
    /// assert_eq!(*tx.send_replace(2), 1);
    /// assert_eq!(rx.get(), 2);
    /// ```
    pub fn send_replace(&self, value: T) -> Snapshot<T, P> {
        let value = Value::<T, P>::new(value);
        Snapshot(self.chan.change(|watched| watched.replace(value)))
    }

    /// Replaces the value by one that is made from it, if `make` gives one; whether it did. Never waits.
    ///
    /// `make` is called without a lock, and again if somebody else has replaced the value meanwhile. (So it must not do
    /// that itself each time.) If it panics, the value stays as it is.
    pub fn send_update(&self, mut make: impl FnMut(&T) -> Option<T>) -> bool {
        loop {
            let before = self.snapshot();
            let Some(value) = make(&before) else {
                return false;
            };
            let value = Value::<T, P>::new(value);
            let replaced = self.chan.change(|watched| {
                // One that is kept here is no other one at the same place.
                if Counted::is_same(&watched.value, &before.0)
                    || gossamer_core::mutant!("watch_loses_update")
                {
                    Ok(watched.replace(value))
                } else {
                    Err(value)
                }
            });
            // Whichever it is, it is dropped here.
            if replaced.is_ok() {
                return true;
            }
        }
    }

    /// Modifies a clone of the value, and sends it.
    ///
    /// As [`send_update`](Sender::send_update): `modify` may be called several times, each time with a clone of the
    /// latest value.
    pub fn send_modify(&self, mut modify: impl FnMut(&mut T))
    where
        T: Clone,
    {
        self.send_if_modified(|value| {
            modify(value);
            true
        });
    }

    /// Modifies a clone of the value, and sends it if `modify` says so; whether it did.
    ///
    /// As [`send_update`](Sender::send_update): `modify` may be called several times, each time with a clone of the
    /// latest value.
    pub fn send_if_modified(&self, mut modify: impl FnMut(&mut T) -> bool) -> bool
    where
        T: Clone,
    {
        self.send_update(|value| {
            let mut value = value.clone();
            modify(&mut value).then_some(value)
        })
    }

    /// A new receiver, which has seen the value of this moment.
    pub fn subscribe(&self) -> Receiver<T, P> {
        let chan = self.chan.clone();
        let seen = chan.look(|watched| {
            watched.receivers += 1;
            watched.version
        });
        Receiver { chan, seen }
    }
}

/// The side that receives. A clone has seen what the original has seen.
pub struct Receiver<T, P: LockPolicy> {
    pub(super) chan: Handle<T, P>,
    /// The version it has seen.
    pub(super) seen: u64,
}

impl<T, P: LockPolicy> Receiver<T, P> {
    /// Whether there is a value that this receiver has not [been told of](Receiver::changed).
    pub fn has_changed(&self) -> bool {
        self.chan.look(|watched| watched.version) != self.seen
    }

    /// The value of this moment, which counts as seen.
    ///
    /// # Examples
    /// ```
    /// use gossamer::channel::watch;
    ///
    /// let (tx, mut rx) = watch::watch(1);
    /// tx.send(2);
    /// assert_eq!(*rx.snapshot(), 2);
    /// assert!(rx.has_changed());
    /// assert_eq!(*rx.snapshot_and_update(), 2);
    /// assert!(!rx.has_changed());
    /// ```
    #[doc(alias = "borrow_and_update")]
    pub fn snapshot_and_update(&mut self) -> Snapshot<T, P> {
        let look = |watched: &mut Watched<Value<T, P>>| (watched.value.clone(), watched.version);
        let (value, version) = self.chan.look(look);
        self.seen = version;
        Snapshot(value)
    }

    /// Lets the value of this moment count as not seen.
    pub fn mark_changed(&mut self) {
        self.seen = NONE_SEEN;
    }

    /// Lets the value of this moment count as seen.
    pub fn mark_unchanged(&mut self) {
        self.seen = self.chan.look(|watched| watched.version);
    }

    /// Waits for a value that this receiver has not seen, and gives the latest. (What it [reads](Receiver::snapshot)
    /// without waiting does not count as seen.)
    ///
    /// # Blocking
    /// `.await` it in a task, `.wait()` for it in a fiber or a thread.
    ///
    /// # Cancellation
    /// Dropped unfinished, it has no effect.
    ///
    /// # Errors
    /// [`Closed`]: no sender is left, and the last value has been seen.
    #[track_caller]
    #[inline]
    pub fn changed(&mut self) -> Changed<'_, T, P> {
        Changed::new(self, Location::caller())
    }

    /// Waits for a value that meets the condition, and gives it: the first one that is looked at is the latest, whether
    /// it has been seen or not. All that are looked at count as seen.
    ///
    /// The condition is looked at without a lock. Values that are replaced at once are not looked at.
    ///
    /// # Blocking
    /// `.await` it in a task, `.wait()` for it in a fiber or a thread.
    ///
    /// # Cancellation
    /// Dropped unfinished, it has no effect but that what has been looked at is seen.
    ///
    /// # Errors
    /// [`Closed`]: no sender is left, and the last value does not meet the condition.
    ///
    /// # Panics
    /// As the condition does.
    #[track_caller]
    #[inline]
    pub fn wait_for<F: FnMut(&T) -> bool>(&mut self, condition: F) -> WaitFor<'_, T, P, F> {
        WaitFor {
            waiting: Waiting::new(&self.chan, NONE_SEEN, Location::caller()),
            seen: &mut self.seen,
            condition,
        }
    }
}

impl<T, P: LockPolicy> Clone for Receiver<T, P> {
    fn clone(&self) -> Self {
        let chan = self.chan.clone();
        chan.look(|watched| watched.receivers += 1);
        Self {
            chan,
            seen: self.seen,
        }
    }
}

impl<T, P: LockPolicy> Drop for Receiver<T, P> {
    fn drop(&mut self) {
        self.chan.look(|watched| watched.receivers -= 1);
        self.chan.tell_closed();
    }
}

pin_project! {
    /// [`Receiver::changed`].
    #[must_use = "operations do nothing until they are awaited or waited for"]
    pub struct Changed<'a, T, P: LockPolicy> {
        #[pin]
        waiting: Waiting<'a, Watched<Value<T, P>>, P, CHANGED>,
        seen: &'a mut u64,
    }
}

impl<'a, T, P: LockPolicy> Changed<'a, T, P> {
    #[inline]
    pub(super) fn new(
        receiver: &'a mut Receiver<T, P>,
        location: &'static Location<'static>,
    ) -> Self {
        Self {
            waiting: Waiting::new(&receiver.chan, receiver.seen, location),
            seen: &mut receiver.seen,
        }
    }

    /// Waits for the value after that. It is complete.
    pub(super) fn begin_anew(self: Pin<&mut Self>) {
        let this = self.project();
        this.waiting.wait_again(**this.seen);
    }
}

impl<T, P: LockPolicy> Future for Changed<'_, T, P> {
    type Output = Result<Snapshot<T, P>, Closed>;

    #[inline]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let seen = this.seen;
        let unseen = ready!(this.waiting.poll(cx, |watched| watched.unseen(**seen)));
        Poll::Ready(unseen.map(|(value, version)| {
            **seen = version;
            Snapshot(value)
        }))
    }
}

pin_project! {
    /// [`Receiver::wait_for`].
    #[must_use = "operations do nothing until they are awaited or waited for"]
    pub struct WaitFor<'a, T, P: LockPolicy, F> {
        // Its number is the version that was looked at last.
        #[pin]
        waiting: Waiting<'a, Watched<Value<T, P>>, P, WAIT_FOR>,
        seen: &'a mut u64,
        condition: F,
    }
}

impl<T, P: LockPolicy, F: FnMut(&T) -> bool> Future for WaitFor<'_, T, P, F> {
    type Output = Result<Snapshot<T, P>, Closed>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut this = self.project();
        loop {
            let before = this.waiting.as_mut().wants();
            let look = |watched: &mut Watched<_>| watched.unseen(before);
            let (value, version) = match ready!(this.waiting.as_mut().poll(cx, look)) {
                Ok(unseen) => unseen,
                Err(Closed) => return Poll::Ready(Err(Closed)),
            };
            **this.seen = version;
            if (this.condition)(&value) {
                return Poll::Ready(Ok(Snapshot(value)));
            }
            this.waiting.as_mut().wait_again(version);
        }
    }
}

macro_rules! shown {
    ($($name:ident[$($more:tt)*])*) => {$(
        impl<T, P: LockPolicy, $($more)*> fmt::Debug for $name<'_, T, P, $($more)*> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.waiting.fmt(f)
            }
        }
    )*};
}

shown! { Changed[] WaitFor[F] }

operations! { LockPolicy;
    /// [`Sender::closed`](super::Sender::closed).
    WaitForClose<T>: WaitsForClose => ();
}

macro_rules! both {
    ($($name:ident)*) => {$(
        impl<T, P: LockPolicy> $name<T, P> {
            /// The value of this moment.
            #[doc(alias = "borrow")]
            pub fn snapshot(&self) -> Snapshot<T, P> {
                Snapshot(self.chan.look(|watched| watched.value.clone()))
            }

            /// A clone of the value of this moment.
            pub fn get(&self) -> T
            where
                T: Clone,
            {
                T::clone(&self.snapshot())
            }
        }

        impl<T: fmt::Debug, P: LockPolicy> fmt::Debug for $name<T, P> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($name))
                    .field("latest", &*self.snapshot())
                    .finish_non_exhaustive()
            }
        }
    )*};
}

both! { Sender Receiver }
counted_ends! { Sender, Receiver }
