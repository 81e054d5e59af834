//! The two sides of a broadcast channel.

use std::collections::VecDeque;
use std::fmt;
use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use gossamer_core::policy::{Counted, LockPolicy};
use gossamer_core::wait_queue::Operation;
use pin_project_lite::pin_project;

use super::error::{RecvError, TryRecvError};
use super::ring::{Found, Pushed, Ring};
use crate::drop_all::drop_all;
use crate::error::SendError;
use crate::operations::operations;
use crate::shared_state::{SharedState, Waiting, WaitsForClose, counted_ends};

/// A message, as it is under the lock.
pub(super) type Message<T, P> = <P as LockPolicy>::Counted<T>;
/// The state that the ends share.
type Chan<T, P> = SharedState<Ring<Message<T, P>>, P>;
type Handle<T, P> = <P as LockPolicy>::Counted<Chan<T, P>>;
type Op<'a, T, P, A> = Operation<'a, Chan<T, P>, A>;

/// Both sides of a new channel.
#[track_caller]
pub(crate) fn pair<T, P: LockPolicy>(
    word: P::Word,
    capacity: usize,
) -> (Sender<T, P>, Receiver<T, P>) {
    assert!(
        capacity > 0,
        "a broadcast channel has to hold one message at least: its capacity is 0"
    );
    let chan = Handle::<T, P>::new(SharedState::new(word, Ring::new(capacity)));
    let receiver = Receiver {
        chan: chan.clone(),
        next: 0,
    };
    (Sender { chan }, receiver)
}

/// The side that sends. Clones send into the same channel; when the last one goes, the receivers are told.
pub struct Sender<T, P: LockPolicy> {
    chan: Handle<T, P>,
}

impl<T, P: LockPolicy> Sender<T, P> {
    /// Sends a message to all receivers there are. Never waits: if the channel is full, the oldest message goes.
    ///
    /// # Errors
    /// There is no receiver at this moment: gives the message back.
    pub fn send(&self, message: T) -> Result<(), SendError<T>> {
        let mut message = Message::<T, P>::new(message);
        // `push` may leave old memory in it, which is dropped after the lock is given up.
        let mut memory = VecDeque::new();
        loop {
            match self.chan.change(|ring| ring.push(message, &mut memory)) {
                Pushed::Done(_too_old) => return Ok(()),
                Pushed::Refused(own) => match Message::<T, P>::unwrap_last(own) {
                    Ok(message) => return Err(SendError(message)),
                    Err(_) => unreachable!("a message that was not sent is owned by its sender"),
                },
                Pushed::Grow(own, places) => {
                    message = own;
                    memory = VecDeque::with_capacity(places);
                }
            }
        }
    }

    /// A new receiver, for the messages that are sent from now on.
    pub fn subscribe(&self) -> Receiver<T, P> {
        subscribe(&self.chan)
    }

    /// Returns a sender that does not keep the channel open: the receivers are told of the end though it is there.
    ///
    /// # Examples
    /// ```
    /// use gossamer::channel::broadcast::{self, TryRecvError};
    ///
    /// let (tx, mut rx) = broadcast::broadcast(2);
    /// let weak = tx.downgrade();
    /// weak.upgrade().unwrap().send(1).unwrap();
    /// drop(tx);
    /// assert!(weak.upgrade().is_none());
    /// assert_eq!(rx.try_recv(), Ok(1));
    /// assert_eq!(rx.try_recv(), Err(TryRecvError::Closed));
    /// ```
    pub fn downgrade(&self) -> WeakSender<T, P> {
        WeakSender::new(self.chan.clone())
    }

    /// How many messages there are that some receiver has not received.
    pub fn len(&self) -> usize {
        self.chan.look(|ring| ring.len())
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

fn subscribe<T, P: LockPolicy>(chan: &Handle<T, P>) -> Receiver<T, P> {
    let chan = chan.clone();
    let next = chan.look(|ring| {
        ring.enter(ring.sent());
        ring.sent()
    });
    Receiver { chan, next }
}

/// A [sender that does not keep its channel open](Sender::downgrade).
pub struct WeakSender<T, P: LockPolicy> {
    chan: Handle<T, P>,
}

impl<T, P: LockPolicy> WeakSender<T, P> {
    fn new(chan: Handle<T, P>) -> Self {
        chan.look(|ring| ring.weak += 1);
        Self { chan }
    }

    /// A sender, if any is left.
    pub fn upgrade(&self) -> Option<Sender<T, P>> {
        let is_sender = self.chan.look(|ring| {
            let is_sender = ring.senders > 0 || gossamer_core::mutant!("weak_broadcast_revives");
            ring.senders += usize::from(is_sender);
            is_sender
        });
        is_sender.then(|| Sender {
            chan: self.chan.clone(),
        })
    }
}

impl<T, P: LockPolicy> Clone for WeakSender<T, P> {
    fn clone(&self) -> Self {
        Self::new(self.chan.clone())
    }
}

impl<T, P: LockPolicy> Drop for WeakSender<T, P> {
    fn drop(&mut self) {
        self.chan.look(|ring| ring.weak -= 1);
    }
}

gossamer_core::impl_debug!([T, P: LockPolicy] WeakSender[T, P]);

impl<T, P: LockPolicy> WeakSender<T, P> {
    /// How many senders there are at this moment, weak ones not included.
    #[doc(alias = "strong_count")]
    pub fn sender_count(&self) -> usize {
        self.chan.look(|ring| ring.senders)
    }
}

macro_rules! weak_count {
    ($($name:ident)*) => {$(
        impl<T, P: LockPolicy> $name<T, P> {
            /// How many [weak senders](Sender::downgrade) there are at this moment.
            #[doc(alias = "sender_weak_count")]
            pub fn weak_count(&self) -> usize {
                self.chan.look(|ring| ring.weak)
            }
        }
    )*};
}

weak_count! { Sender WeakSender Receiver }

/// The side that receives: each receiver gets every message. A clone stands where the original stands.
///
/// When the last one goes, sending fails until another one [subscribes](Sender::subscribe).
pub struct Receiver<T, P: LockPolicy> {
    pub(super) chan: Handle<T, P>,
    /// The number of its next message.
    pub(super) next: u64,
}

impl<T: Clone, P: LockPolicy> Receiver<T, P> {
    /// Receives the next message, and waits until there is one.
    ///
    /// # Blocking
    /// `.await` it in a task, `.wait()` for it in a fiber or a thread.
    ///
    /// # Cancellation
    /// Dropped unfinished, it has received nothing, and the receiver stands where it stood.
    ///
    /// # Errors
    /// [`RecvError::Lagged`]: the receiver was too slow for this many messages. [`RecvError::Closed`]: no sender is
    /// left, and all messages have been received.
    ///
    /// # Panics
    /// As cloning the message does; it has been received then.
    #[track_caller]
    #[inline]
    pub fn recv(&mut self) -> Receiving<'_, T, P> {
        Receiving::new(self, Location::caller())
    }

    /// The next message, if there is one.
    ///
    /// # Errors
    /// [`TryRecvError::Empty`]: not at this moment. The others as for [`recv`](Receiver::recv).
    pub fn try_recv(&mut self) -> Result<T, TryRecvError> {
        let next = &mut self.next;
        let (found, _memory) = self.chan.look(|ring| (ring.receive(next), ring.shrink()));
        match found {
            Found::Message(message) => Ok(own::<T, P>(message)),
            Found::Lagged(number) => Err(TryRecvError::Lagged(number)),
            Found::Nothing => Err(TryRecvError::Empty),
            Found::Closed => Err(TryRecvError::Closed),
        }
    }
}

/// The message itself, or a clone. User code.
pub(super) fn own<T: Clone, P: LockPolicy>(message: Message<T, P>) -> T {
    Message::<T, P>::unwrap_last(message).unwrap_or_else(|shared| T::clone(&shared))
}

impl<T, P: LockPolicy> Receiver<T, P> {
    /// A new receiver, for the messages that are sent from now on. (A clone stands where this one stands.)
    pub fn resubscribe(&self) -> Self {
        subscribe(&self.chan)
    }

    /// How many messages there are for this receiver.
    pub fn len(&self) -> usize {
        self.chan.look(|ring| ring.len_from(self.next))
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl<T, P: LockPolicy> Clone for Receiver<T, P> {
    fn clone(&self) -> Self {
        let chan = self.chan.clone();
        chan.look(|ring| ring.enter(self.next));
        Self {
            chan,
            next: self.next,
        }
    }
}

impl<T, P: LockPolicy> Drop for Receiver<T, P> {
    fn drop(&mut self) {
        /// After the messages that nobody needs, also if one of their drops panics.
        struct Tells<'a, T, P: LockPolicy>(&'a Chan<T, P>);

        impl<T, P: LockPolicy> Drop for Tells<'_, T, P> {
            fn drop(&mut self) {
                self.0.tell_closed();
            }
        }

        self.chan.look(|ring| ring.leave(self.next));
        let _tells = Tells::<T, P>(&self.chan);
        drop_all(|| {
            let message = self.chan.look(Ring::pop_unneeded);
            if message.is_none() {
                drop(self.chan.look(Ring::shrink));
            }
            message
        });
    }
}

pin_project! {
    /// [`Receiver::recv`].
    #[must_use = "operations do nothing until they are awaited or waited for"]
    pub struct Receiving<'a, T, P: LockPolicy> {
        #[pin]
        waiting: Waiting<'a, Ring<Message<T, P>>, P>,
        next: &'a mut u64,
    }
}

impl<'a, T, P: LockPolicy> Receiving<'a, T, P> {
    #[inline]
    pub(super) fn new(
        receiver: &'a mut Receiver<T, P>,
        location: &'static Location<'static>,
    ) -> Self {
        Self {
            waiting: Waiting::new(&receiver.chan, receiver.next, location),
            next: &mut receiver.next,
        }
    }

    /// Returns what the receiver finds, as soon as there is something. Runs no user code.
    #[inline]
    pub(super) fn poll_found(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Found<Message<T, P>>> {
        let this = self.project();
        let receive = |ring: &mut Ring<_>| (ring.receive(this.next), ring.shrink());
        let (found, _memory) = ready!(this.waiting.poll(cx, receive));
        Poll::Ready(found)
    }

    /// Receives what comes after that. It is complete.
    pub(super) fn begin_anew(self: Pin<&mut Self>) {
        let this = self.project();
        this.waiting.wait_again(**this.next);
    }

    /// The channel, and the number of the receiver's next message. It is complete.
    pub(super) fn place(self: Pin<&mut Self>) -> (&Chan<T, P>, &mut u64) {
        let this = self.project();
        (this.waiting.shared_state(), this.next)
    }
}

/// Converts what the receiver found to its output. May clone the message, which is user code.
#[inline]
pub(super) fn received<T: Clone, P: LockPolicy>(
    found: Found<Message<T, P>>,
) -> Result<T, RecvError> {
    match found {
        Found::Message(message) => Ok(own::<T, P>(message)),
        Found::Lagged(number) => Err(RecvError::Lagged(number)),
        Found::Nothing => unreachable!("a receiver is let go when there is something"),
        Found::Closed => Err(RecvError::Closed),
    }
}

impl<T: Clone, P: LockPolicy> Future for Receiving<'_, T, P> {
    type Output = Result<T, RecvError>;

    #[inline]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        self.poll_found(cx).map(received::<T, P>)
    }
}

impl<T, P: LockPolicy> fmt::Debug for Receiving<'_, T, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.waiting.fmt(f)
    }
}

operations! { LockPolicy;
    /// [`Sender::closed`](super::Sender::closed).
    WaitForClose<T>: WaitsForClose => ();
}

macro_rules! both {
    ($($name:ident)*) => {$(
        impl<T, P: LockPolicy> $name<T, P> {
            /// How many messages there may be.
            pub fn capacity(&self) -> usize {
                self.chan.look(|ring| ring.most())
            }
        }

        impl<T, P: LockPolicy> fmt::Debug for $name<T, P> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($name))
                    .field("len", &self.len())
                    .field("capacity", &self.capacity())
                    .finish_non_exhaustive()
            }
        }
    )*};
}

both! { Sender Receiver }
counted_ends! { Sender, Receiver }
