//! Places for messages that are still to come.
//!
//! A permit is a place that is reserved: it counts as one that is reserved for a sender that was woken, so nobody else
//! has it. A channel that is closed counts those places that permits have, and no others.

use std::fmt;
use std::mem::ManuallyDrop;
use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use gossamer_core::policy::LockPolicy;
use gossamer_core::wait_queue::{Action, Leave};
use gossamer_core::waiter::{Could, State, WaitList};
use pin_project_lite::pin_project;

use super::action::{Effect, Op, attempt};
use super::chan::{Chan, Held, Locked, NO_RECEIVERS};
use super::ends::{Sender, try_now};
use super::offer::Offer;
use crate::error::{SendError, TrySendError};

type Reserved = Result<(), SendError<()>>;

/// Waiting for a place, in the queue of those that send.
#[repr(transparent)]
pub(crate) struct Reserves<T>(Offer<T>);

impl<T, P: LockPolicy> Locked<'_, T, P> {
    /// Reserves a place, if there is one and nobody waits for it.
    fn reserve(&mut self) -> Option<Reserved> {
        if self.has(NO_RECEIVERS) {
            return Some(Err(SendError(())));
        }
        if !self.has_room() || !self.chan().sending().is_empty() {
            return None;
        }
        self.reserved += usize::from(!gossamer_core::mutant!("permit_is_not_counted"));
        self.permits += 1;
        Some(Ok(()))
    }

    /// A permit ends: its message, if there is one, has its place, or the next sender that waits.
    ///
    /// # Returns
    /// The message, if nobody will receive it: to be dropped without the lock.
    fn end_permit(mut self, message: Option<T>) -> Option<T> {
        self.permits -= 1;
        if message.is_some() || !gossamer_core::mutant!("permit_keeps_its_place") {
            self.reserved -= 1;
        }
        let unsent = match message {
            Some(message) if self.receivers > 0 => {
                self.push(message);
                None
            }
            message => message,
        };
        self.settle();
        unsent
    }
}

// SAFETY: what it shows is an offer, as all operations in this queue do. It is in none of a rendezvous channel, so nobody
// takes its message.
unsafe impl<T, P: LockPolicy> Action<Chan<T, P>> for Reserves<T> {
    type Output = Reserved;
    type Shown = Offer<T>;
    const NAME: &'static str = "Sender::reserve";

    fn queue(chan: &Chan<T, P>) -> &WaitList {
        chan.sending()
    }

    fn attempt<'a>(&mut self, held: Held<'a, T, P>) -> Result<Reserved, Held<'a, T, P>> {
        attempt(Locked::from(held), Effect::Other, Locked::reserve).map_err(Locked::into_held)
    }

    /// The place is reserved, unless it was closed.
    fn resume<'a>(&mut self, held: Held<'a, T, P>, _: State) -> Result<Reserved, Held<'a, T, P>> {
        let mut locked = Locked::from(held);
        let is_closed = locked.has(NO_RECEIVERS);
        locked.permits += usize::from(!is_closed);
        locked.unlock();
        Ok(match is_closed {
            true => Err(SendError(())),
            false => Ok(()),
        })
    }

    fn cancel(&mut self, held: &mut Held<'_, T, P>, state: State) {
        let locked = Locked::of_held(held);
        if state != State::Parked && !locked.has(NO_RECEIVERS) {
            locked.reserved -= 1;
        }
    }

    fn could_complete(&self, held: &Held<'_, T, P>) -> Could {
        let locked = Locked::seen(held);
        (locked.has(NO_RECEIVERS) || locked.has_room()).into()
    }
}

impl<T, P: LockPolicy> Sender<T, P> {
    #[track_caller]
    fn check_places(&self) {
        assert!(
            !self.0.is_rendezvous(),
            "a rendezvous channel has no places that could be reserved: send, or make a channel with a capacity"
        );
    }

    /// Waits for room, and reserves it for a message that comes later: by the permit, which cannot fail.
    ///
    /// For a message that is costly to make, or must not be made in vain. Others that
    /// send, and `room()`, find the channel as full as if the message were in it; `len()` and `is_full()` count messages.
    ///
    /// # Blocking
    /// `.await` it in a task, `.wait()` for it in a fiber or a thread. In an unbounded channel it never waits.
    ///
    /// # Cancellation
    /// Dropped unfinished, it has no effect. (One that has been woken and is neither polled nor dropped keeps its place, as
    /// a [`send`](Sender::send) does.)
    ///
    /// # Errors
    /// No receiver is left, or the channel was closed.
    ///
    /// # Panics
    /// It is a rendezvous channel, which has no room.
    ///
    /// # Examples
    /// ```
    /// use gossamer::Wait;
    /// use gossamer::channel::{TrySendError, bounded};
    ///
    /// let (tx, rx) = bounded(1);
    /// let permit = tx.reserve().wait()?;
    /// assert_eq!(tx.try_send(2), Err(TrySendError::Full(2)));
    /// permit.send(1);
    /// assert_eq!(rx.recv().wait(), Ok(1));
    /// # Ok::<(), gossamer::channel::SendError<()>>(())
    /// ```
    #[track_caller]
    pub fn reserve(&self) -> Reserving<'_, T, P> {
        self.check_places();
        let action = Reserves(Offer::without_message());
        Reserving {
            op: Op::new(&self.0, action, Location::caller()),
            sender: self,
        }
    }

    /// Like [`reserve`](Sender::reserve), for a permit that owns the sender, and gives it back when it is used.
    ///
    /// # Blocking
    /// As [`reserve`](Sender::reserve).
    ///
    /// # Cancellation
    /// As [`reserve`](Sender::reserve); the sender is dropped with it.
    ///
    /// # Errors
    /// As [`reserve`](Sender::reserve): gives the sender back.
    ///
    /// # Panics
    /// As [`reserve`](Sender::reserve).
    ///
    /// # Examples
    /// ```
    /// use gossamer::Wait;
    /// use gossamer::channel::bounded;
    ///
    /// let (tx, rx) = bounded(1);
    /// let permit = tx.reserve_owned().wait().unwrap();
    /// let tx = std::thread::spawn(|| permit.send(1)).join().unwrap();
    /// assert_eq!(rx.recv().wait(), Ok(1));
    /// # drop(tx);
    /// ```
    #[track_caller]
    pub fn reserve_owned(self) -> ReservingOwned<T, P>
    where
        T: 'static,
    {
        self.check_places();
        let action = Reserves(Offer::without_message());
        // SAFETY: the sender is dropped after the operation, or moved out once that is complete.
        let chan = unsafe { self.0.outliving() };
        ReservingOwned {
            op: Op::new(chan, action, Location::caller()),
            sender: Some(self),
        }
    }

    /// Reserves room, if there is any that is not reserved for others. See [`reserve`](Sender::reserve).
    ///
    /// # Errors
    /// As [`try_send`](Sender::try_send).
    ///
    /// # Panics
    /// As [`reserve`](Sender::reserve).
    #[track_caller]
    pub fn try_reserve(&self) -> Result<SendPermit<'_, T, P>, TrySendError<()>> {
        self.check_places();
        match try_now(&self.0, Effect::Other, |locked| locked.reserve()) {
            Some(Ok(())) => Ok(SendPermit { sender: self }),
            Some(Err(error)) => Err(error.into()),
            None => Err(TrySendError::Full(())),
        }
    }

    /// Like [`try_reserve`](Sender::try_reserve), for a permit that owns the sender.
    ///
    /// # Errors
    /// As [`try_send`](Sender::try_send): gives the sender back.
    ///
    /// # Panics
    /// As [`reserve`](Sender::reserve).
    #[track_caller]
    pub fn try_reserve_owned(self) -> Result<OwnedSendPermit<T, P>, TrySendError<Self>> {
        match self.try_reserve().map(std::mem::forget) {
            Ok(()) => Ok(OwnedSendPermit { sender: Some(self) }),
            Err(TrySendError::Full(())) => Err(TrySendError::Full(self)),
            Err(TrySendError::Closed(())) => Err(TrySendError::Closed(self)),
        }
    }
}

pin_project! {
    /// [`Sender::reserve`].
    #[must_use = "operations do nothing until they are awaited or waited for"]
    #[derive(Debug)]
    pub struct Reserving<'a, T, P: LockPolicy> {
        #[pin]
        op: Op<'a, T, P, Reserves<T>>,
        sender: &'a Sender<T, P>,
    }
}

impl<'a, T, P: LockPolicy> Future for Reserving<'a, T, P> {
    type Output = Result<SendPermit<'a, T, P>, SendError<()>>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let sender = *this.sender;
        this.op.poll(cx).map_ok(|()| SendPermit { sender })
    }
}

impl<T, P: LockPolicy> Leave for Reserving<'_, T, P> {
    fn leave(self: Pin<&mut Self>) {
        self.project().op.leave();
    }
}

pin_project! {
    /// [`Sender::reserve_owned`].
    #[must_use = "operations do nothing until they are awaited or waited for"]
    #[derive(Debug)]
    pub struct ReservingOwned<T: 'static, P: LockPolicy> {
        // Dropped before the sender, which keeps the channel.
        #[pin]
        op: Op<'static, T, P, Reserves<T>>,
        // None: the operation is complete.
        sender: Option<Sender<T, P>>,
    }
}

impl<T: 'static, P: LockPolicy> Future for ReservingOwned<T, P> {
    type Output = Result<OwnedSendPermit<T, P>, SendError<Sender<T, P>>>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        // The channel may be gone.
        assert!(
            this.sender.is_some(),
            "Sender::reserve_owned was polled after it was complete"
        );
        let reserved = ready!(this.op.poll(cx));
        let sender = this.sender.take();
        Poll::Ready(match (reserved, sender) {
            (Err(_), Some(sender)) => Err(SendError(sender)),
            (_, sender) => Ok(OwnedSendPermit { sender }),
        })
    }
}

impl<T: 'static, P: LockPolicy> Leave for ReservingOwned<T, P> {
    fn leave(self: Pin<&mut Self>) {
        self.project().op.leave();
    }
}

/// A place for one message. Dropped unused, it passes the place on to the next sender that waits.
#[must_use = "a permit that is dropped gives its place back"]
pub struct SendPermit<'a, T, P: LockPolicy> {
    sender: &'a Sender<T, P>,
}

impl<T, P: LockPolicy> SendPermit<'_, T, P> {
    /// Sends a message. Never waits, and never fails: as with any message, it is dropped if the receivers go before they
    /// have received it.
    pub fn send(self, message: T) {
        let permit = ManuallyDrop::new(self);
        drop(permit.sender.0.locked().end_permit(Some(message)));
    }
}

impl<T, P: LockPolicy> Drop for SendPermit<'_, T, P> {
    fn drop(&mut self) {
        let _none = self.sender.0.locked().end_permit(None);
    }
}

/// A place for one message, with its sender. Dropped unused, it passes the place on to the next sender that waits.
#[must_use = "a permit that is dropped gives its place back"]
pub struct OwnedSendPermit<T, P: LockPolicy> {
    /// None: used.
    sender: Option<Sender<T, P>>,
}

impl<T, P: LockPolicy> OwnedSendPermit<T, P> {
    /// Sends a message, as [`SendPermit::send`] does, and gives the sender back.
    pub fn send(mut self, message: T) -> Sender<T, P> {
        let sender = self.take();
        drop(sender.0.locked().end_permit(Some(message)));
        sender
    }

    /// Passes the place on, and gives the sender back.
    pub fn release(mut self) -> Sender<T, P> {
        let sender = self.take();
        let _none = sender.0.locked().end_permit(None);
        sender
    }

    /// Whether both are of the same channel.
    pub fn same_channel(&self, other: &Self) -> bool {
        match (&self.sender, &other.sender) {
            (Some(one), Some(other)) => one.same_channel(other),
            _ => false,
        }
    }

    /// Whether the sender is of the same channel.
    pub fn same_channel_as_sender(&self, other: &Sender<T, P>) -> bool {
        let sender = self.sender.as_ref();
        sender.is_some_and(|sender| sender.same_channel(other))
    }

    fn take(&mut self) -> Sender<T, P> {
        self.sender.take().expect("a permit is used once")
    }
}

impl<T, P: LockPolicy> Drop for OwnedSendPermit<T, P> {
    fn drop(&mut self) {
        if let Some(sender) = &self.sender {
            let _none = sender.0.locked().end_permit(None);
        }
    }
}

impl<T, P: LockPolicy> fmt::Debug for SendPermit<'_, T, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("SendPermit").field(self.sender).finish()
    }
}

impl<T, P: LockPolicy> fmt::Debug for OwnedSendPermit<T, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("OwnedSendPermit")
            .field(&self.sender)
            .finish()
    }
}
