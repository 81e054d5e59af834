//! One sending end that several senders share: they contend with each other, and not with the receiver.
//!
//! # Protocol
//!
//! The end is its holder's alone; the others wait in line, and who leaves hands it to the first of them. So messages go
//! in the order in which their senders came.
//!
//! An operation that waits for room keeps its turn meanwhile. Dropped, it leaves: the next one has its turn.

use std::fmt;
use std::marker::PhantomData;
use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use gossamer_core::context::{poll_part, range_of};
use gossamer_core::platform::UnsafeCell;
use gossamer_core::policy::{Counted, Local, LocalWord, LockPolicy, Shared, SharedWord};
use gossamer_core::wait_queue::Leave;
use pin_project_lite::pin_project;

use crate::error::{SendError, TrySendError};
use crate::raw::spsc;
use crate::shared_state::{Content, SharedState, Waiting};

/// An end that one at a time may send by.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be shared to send `{T}`",
    label = "this sends no `{T}`",
    note = "a `SharedSender` takes the sending end of a channel or of a ring whose messages are `{T}`"
)]
pub trait UniqueSender<T> {
    /// [`UniqueSender::send`].
    type Sending<'a>: Future<Output = Result<(), SendError<T>>>
    where
        Self: 'a;

    /// Sends a message: waits until there is room for it.
    #[track_caller]
    fn send(&mut self, message: T) -> Self::Sending<'_>;

    /// Sends a message, if there is room for it.
    ///
    /// # Errors
    /// Gives the message back, and says why.
    fn try_send(&mut self, message: T) -> Result<(), TrySendError<T>>;
}

impl<T, P: LockPolicy> UniqueSender<T> for crate::raw::Sender<T, P> {
    type Sending<'a>
        = crate::raw::Sending<'a, T, P>
    where
        Self: 'a;

    #[track_caller]
    fn send(&mut self, message: T) -> Self::Sending<'_> {
        crate::raw::Sender::send(self, message)
    }

    fn try_send(&mut self, message: T) -> Result<(), TrySendError<T>> {
        crate::raw::Sender::try_send(self, message)
    }
}

impl<T, P: spsc::RingPolicy> UniqueSender<T> for spsc::Sender<T, P> {
    type Sending<'a>
        = spsc::Sending<'a, T, P>
    where
        Self: 'a;

    #[track_caller]
    fn send(&mut self, message: T) -> Self::Sending<'_> {
        spsc::Sender::send(self, message)
    }

    fn try_send(&mut self, message: T) -> Result<(), TrySendError<T>> {
        spsc::Sender::try_send(self, message)
    }
}

/// True if a sender has the end.
struct Turn(bool);

impl Content for Turn {
    const NAMES: &'static [&'static str] = &["SharedSender::send"];

    fn goes(&self, _: u64) -> bool {
        !self.0
    }

    fn go(&mut self) {
        self.0 = true;
    }

    fn give_back(&mut self) {
        if !gossamer_core::mutant!("shared_sender_keeps_turn") {
            self.0 = false;
        }
    }
}

/// The state that the senders share.
struct Inner<P: LockPolicy, E> {
    turn: SharedState<Turn, P>,
    end: UnsafeCell<E>,
}

// SAFETY: one sender at a time uses the end, the one that has the turn.
unsafe impl<P: LockPolicy, E: Send> Sync for Inner<P, E> where P::Word: Sync {}

impl<P: LockPolicy, E> Inner<P, E> {
    /// Returns the end.
    ///
    /// # Safety
    /// The caller has the turn for as long as it uses the result, and there is no other result.
    #[allow(clippy::mut_from_ref)]
    unsafe fn end(&self) -> &mut E {
        // SAFETY: the caller has the turn, and no other reference to the end.
        self.end.with_mut(|end| unsafe { &mut *end })
    }
}

/// Ends a turn.
struct Leaves<'a, P: LockPolicy>(&'a SharedState<Turn, P>);

impl<P: LockPolicy> Drop for Leaves<'_, P> {
    fn drop(&mut self) {
        self.0.change(|turn| turn.0 = false);
    }
}

/// A sending end that several share: one after the other, in the order in which they come.
///
/// The receiver is not concerned: what it does costs what it costs with one sender. So it is for many senders that
/// seldom send, where the other end has much to do; see the [table](crate#many-senders-one-receiver-which-of-them).
/// When the last clone goes, so does the end.
///
/// # Examples
/// ```
/// use gossamer::Wait;
/// use gossamer::channel::{SharedSender, bounded};
///
/// let (tx, rx) = bounded(4);
/// let one = SharedSender::new(tx);
/// let two = one.clone();
/// let other = std::thread::spawn(move || two.send(1).wait());
/// other.join().unwrap().unwrap();
/// one.send(2).wait().unwrap();
/// drop(one);
/// assert_eq!(rx.iter().collect::<Vec<_>>(), [1, 2]);
/// ```
pub struct SharedSender<T, P: LockPolicy, E> {
    inner: P::Counted<Inner<P, E>>,
    _message: PhantomData<fn(T)>,
}

macro_rules! constructors {
    ($policy:ty, $word:ty) => {
        impl<T, E: UniqueSender<T>> SharedSender<T, $policy, E> {
            /// Shares this end.
            pub fn new(end: E) -> Self {
                let inner = Inner {
                    turn: SharedState::new(<$word>::new(0), Turn(false)),
                    end: UnsafeCell::new(end),
                };
                Self {
                    inner: Counted::new(inner),
                    _message: PhantomData,
                }
            }
        }
    };
}
constructors!(Shared, SharedWord);
constructors!(Local, LocalWord);

impl<T, P: LockPolicy, E: UniqueSender<T>> SharedSender<T, P, E> {
    /// Sends a message: waits for its turn, and then until there is room for it.
    ///
    /// # Blocking
    /// `.await` it in a task, `.wait()` for it in a fiber or a thread.
    ///
    /// # Cancellation
    /// Dropped before its turn, it has sent nothing, and the message is dropped with it. Dropped later, it is as if the
    /// end's own operation had been dropped. The next one has its turn. One that has its turn and is neither polled nor
    /// dropped keeps the others waiting: a [futurelock](crate#room-that-is-reserved), if its own task waits for one of them.
    ///
    /// # Errors
    /// The receiver is gone: gives the message back.
    #[track_caller]
    pub fn send(&self, message: T) -> SendingShared<'_, T, P, E> {
        SendingShared {
            turn: Waiting::new(&self.inner.turn, 0, Location::caller()),
            inner: &self.inner,
            stage: Stage::Waits {
                message: Some(message),
            },
        }
    }

    /// Sends a message, if no other sender is sending, and there is room for it.
    ///
    /// # Errors
    /// Gives the message back, and says why: [`TrySendError::Full`] also if another sender is sending.
    pub fn try_send(&self, message: T) -> Result<(), TrySendError<T>> {
        let take = |turn: &mut Turn| !std::mem::replace(&mut turn.0, true);
        if !self.inner.turn.look(take) {
            return Err(TrySendError::Full(message));
        }
        let _leaves = Leaves(&self.inner.turn);
        // SAFETY: our turn, until that is dropped.
        unsafe { self.inner.end() }.try_send(message)
    }
}

impl<T, P: LockPolicy, E> Clone for SharedSender<T, P, E> {
    fn clone(&self) -> Self {
        Self {
            inner: self.inner.clone(),
            _message: PhantomData,
        }
    }
}

gossamer_core::impl_debug!([T, P: LockPolicy, E] SharedSender[T, P, E]);

pin_project! {
    /// How far it is.
    #[project = StagePinned]
    enum Stage<'a, T, P: LockPolicy, E: UniqueSender<T>> where E: 'a {
        // It waits for its turn. Empty: its turn is over.
        Waits { message: Option<T> },
        // It is its turn, which ends after what sends has been dropped.
        Sends { #[pin] sending: E::Sending<'a>, leaves: Leaves<'a, P> },
    }
}

pin_project! {
    /// [`SharedSender::send`].
    #[must_use = "operations do nothing until they are awaited or waited for"]
    pub struct SendingShared<'a, T, P: LockPolicy, E: UniqueSender<T>> {
        #[pin]
        turn: Waiting<'a, Turn, P>,
        inner: &'a Inner<P, E>,
        #[pin]
        stage: Stage<'a, T, P, E>,
    }
}

impl<'a, T, P: LockPolicy, E: UniqueSender<T>> Future for SendingShared<'a, T, P, E> {
    type Output = Result<(), SendError<T>>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let whole = range_of(&*self);
        let mut this = self.project();
        loop {
            match this.stage.as_mut().project() {
                StagePinned::Waits { message } => {
                    ready!(this.turn.as_mut().poll(cx, |_| ()));
                    let leaves = Leaves(&this.inner.turn);
                    let message = message.take().expect("it has been sent once");
                    // SAFETY: our turn, until `leaves` is dropped, which is after what sends.
                    let end: &'a mut E = unsafe { this.inner.end() };
                    let sending = end.send(message);
                    this.stage.set(Stage::Sends { sending, leaves });
                }
                StagePinned::Sends { sending, .. } => {
                    let sent = match gossamer_core::mutant!("shared_sender_is_foreign") {
                        true => ready!(sending.poll(cx)),
                        false => ready!(poll_part(whole, sending, cx)),
                    };
                    this.stage.set(Stage::Waits { message: None });
                    return Poll::Ready(sent);
                }
            }
        }
    }
}

/// One that waits for its turn; one that has it keeps it.
impl<T, P: LockPolicy, E: UniqueSender<T>> Leave for SendingShared<'_, T, P, E> {
    fn leave(self: Pin<&mut Self>) {
        self.project().turn.leave();
    }
}

impl<T, P: LockPolicy, E: UniqueSender<T>> fmt::Debug for SendingShared<'_, T, P, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.turn.fmt(f)
    }
}
