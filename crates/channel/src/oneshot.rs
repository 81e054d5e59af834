//! A channel for one message: one allocation, and no lock. Either end may go first, and the other one is told.

// # Protocol
//
// One allocation: the message, and the word by which a task's output is waited for ([`Join`]: which waker waits, or
// that the other side is gone, or that all is done). Each side has a pointer to it, and there is no count of them: the
// first side to go changes the word, in one exchange, and the second one finds that, and frees.
//
// | the word | left by | then | who frees |
// | --- | --- | --- | --- |
// | nobody waits | – | | |
// | a waker | the receiver, in its poll | the sender takes it along when it leaves | |
// | done | the sender: with the message there, or none, which the second word says | the receiver takes it | the receiver |
// | detached | the receiver, which went first | the sender has its message back | the sender |
//
// A second word of the same kind tells the other way: the receiver publishes there that it goes, before it changes the
// first one, and the sender may leave a waker there ([`Sender::closed`]). As long as the receiver has not changed the
// first word, the sender does not free. A sender that goes without a message leaves the second word detached, before it
// changes the first one; so the message needs no word that says whether it is there.
//
// The race to fear: the sender leaves as the receiver does, or as it registers its waker. Both use one
// read-modify-write on the one word, so the second of them sees what the first has done. The sender takes
// the waker out of the allocation by the same exchange, so the receiver may free it before the waker is called.

use std::marker::PhantomData;
use std::mem::{ManuallyDrop, MaybeUninit};
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::pin::Pin;
use std::ptr::NonNull;
use std::task::{Context, Poll, Waker, ready};

use gossamer_core::context::{self, SchedulingPoint};
use gossamer_core::header::join::{Finish, Join};
use gossamer_core::platform::UnsafeCell;
use gossamer_core::waiter::{Deferred, RawWakerParts};

pub use crate::error::{Closed, SendError, TryRecvError};

/// The allocation that both sides point at.
struct Shared<T> {
    join: Join,
    /// Done: the receiver takes no message any more. Its waker is the sender's. Detached: the sender has sent none.
    closing: Join,
    /// The sender's, until the word is done or says that the receiver is gone; then that of the side that finds this.
    message: UnsafeCell<MaybeUninit<T>>,
}

impl<T> Shared<T> {
    /// Whether a sender that is done has sent.
    fn has_message(&self) -> bool {
        !self.closing.is_detached()
    }

    /// Frees the allocation and returns the message.
    ///
    /// # Safety
    /// Made by [`oneshot`]. One side has gone, the other one calls this and uses it no more. `has_message` says
    /// whether there is one.
    unsafe fn free(shared: NonNull<Self>, has_message: bool) -> Option<T> {
        // SAFETY: made by `Box`, and this is the last pointer.
        let shared = unsafe { Box::from_raw(shared.as_ptr()) };
        // A sender that has forgotten its operation.
        shared.closing.unregister();
        // SAFETY: it is there, as the caller says.
        has_message.then(|| unsafe { shared.message.into_inner().assume_init() })
    }
}

#[cfg(all(not(any(loom, shuttle)), target_pointer_width = "64"))]
const _: () = {
    // An allocation of at most 24 bytes takes 32 with glibc.
    assert!(size_of::<Shared<u64>>() <= 24);
    assert!(size_of::<Sender<u32>>() == 8);
    assert!(size_of::<Receiver<u32>>() == 8);
};

/// A channel for one message.
///
/// (The receiver has no node, so a simulation's report does not say where it is waited for.)
///
/// # Examples
/// ```
/// use gossamer::Wait;
/// use gossamer::channel::oneshot;
///
/// let (tx, rx) = oneshot();
/// let asked = std::thread::spawn(move || rx.wait());
/// tx.send(42).unwrap();
/// assert_eq!(asked.join().unwrap(), Ok(42));
/// ```
pub fn oneshot<T>() -> (Sender<T>, Receiver<T>) {
    let shared = Box::new(Shared {
        join: Join::new(),
        closing: Join::new(),
        message: UnsafeCell::new(MaybeUninit::uninit()),
    });
    let shared = NonNull::from(Box::leak(shared));
    let sender = Sender {
        shared,
        _message: PhantomData,
    };
    let receiver = Receiver {
        shared: shared.as_ptr(),
        _message: PhantomData,
    };
    (sender, receiver)
}

/// The end that sends; dropped, it closes the channel.
pub struct Sender<T> {
    shared: NonNull<Shared<T>>,
    _message: PhantomData<T>,
}

// SAFETY: only the message moves between threads; the word is atomic, and says whose the rest is.
unsafe impl<T: Send> Send for Sender<T> {}
// SAFETY: `&Sender` only looks at the word.
unsafe impl<T: Send> Sync for Sender<T> {}

impl<T> UnwindSafe for Sender<T> {}
impl<T> RefUnwindSafe for Sender<T> {}

impl<T> Sender<T> {
    /// Sends the message. Never waits.
    ///
    /// # Errors
    /// The receiver is gone: gives the message back. (One that goes later drops it.)
    pub fn send(self, message: T) -> Result<(), SendError<T>> {
        if self.is_closed() && !gossamer_core::mutant!("oneshot_sends_when_closed") {
            // Also while the receiver is about to close it: whoever was told of that is not contradicted.
            return Err(SendError(message));
        }
        let mut sender = ManuallyDrop::new(self);
        match sender.leave(Some(message)) {
            Some(message) => Err(SendError(message)),
            None => Ok(()),
        }
    }

    /// Whether the receiver is gone, or was [closed](Receiver::close), so that nobody would have the message.
    pub fn is_closed(&self) -> bool {
        self.shared().closing.is_done()
    }

    /// Waits until the receiver is gone, or was [closed](Receiver::close): for a task that makes the message in vain then.
    ///
    /// # Blocking
    /// `.await` it in a task, `.wait()` for it in a fiber or a thread.
    ///
    /// # Cancellation
    /// Dropped unfinished, it has no effect.
    ///
    /// # Examples
    /// ```
    /// use gossamer::channel::oneshot;
    /// use gossamer::{Runtime, Wait, select, time};
    ///
    /// let rt = Runtime::builder().build()?;
    /// let (mut tx, rx) = oneshot::<u32>();
    /// let task = rt.spawn(async move {
    ///     select! {
    ///         () = tx.closed() => "nobody asks any more",
    ///         () = time::sleep(std::time::Duration::from_secs(60)) => "it is there",
    ///     }
    /// });
    /// drop(rx);
    /// assert_eq!(task.wait()?, "nobody asks any more");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn closed(&mut self) -> WaitForClose<'_, T> {
        WaitForClose {
            sender: self,
            point: SchedulingPoint::new(),
        }
    }

    /// Whether the receiver is gone, or was closed; else this waker is called as soon as it is, and none of before.
    ///
    /// # Panics
    /// As the waker's clone does, or the drop of the one before.
    pub fn poll_closed(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        match self.shared().closing.register(cx.waker()) {
            true => Poll::Pending,
            false => Poll::Ready(()),
        }
    }

    fn shared(&self) -> &Shared<T> {
        // SAFETY: there as long as the sender has not left, which is the last that it does.
        unsafe { self.shared.as_ref() }
    }

    /// The sender leaves, and is not used again; the message, if the receiver is gone.
    fn leave(&mut self, message: Option<T>) -> Option<T> {
        let shared = self.shared();
        let has_message = message.is_some();
        // A waker that nobody calls any more is dropped last.
        let _waker = match message {
            Some(message) => {
                shared.message.with_mut(|place| {
                    // SAFETY: nobody else looks at it before the word is done.
                    unsafe { (*place).write(message) };
                });
                None
            }
            None => Some(shared.closing.abandon()),
        };
        match shared.join.finish() {
            Finish::Nobody => None,
            Finish::Wake(waker) => {
                // The allocation may be gone.
                Deferred::new(waker).run();
                None
            }
            // SAFETY: the receiver went first, and the sender goes now.
            Finish::Detached => unsafe { Shared::free(self.shared, has_message) },
        }
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        if gossamer_core::mutant!("oneshot_closes_silently") {
            return;
        }
        let _none = self.leave(None);
    }
}

gossamer_core::impl_debug!([T] Sender[T], this => is_closed: this.is_closed());

/// [`Sender::closed`].
#[must_use = "operations do nothing until they are awaited or waited for"]
pub struct WaitForClose<'a, T> {
    sender: &'a mut Sender<T>,
    point: SchedulingPoint,
}

impl<T> Future for WaitForClose<'_, T> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        ready!(self.point.pass(cx.waker()));
        let polled = self.sender.poll_closed(cx);
        if polled.is_pending() {
            context::waits_still(self.sender.shared.as_ptr(), "oneshot::closed", false);
        }
        polled
    }
}

impl<T> Drop for WaitForClose<'_, T> {
    fn drop(&mut self) {
        self.sender.shared().closing.unregister();
    }
}

gossamer_core::impl_debug!([T] WaitForClose['_, T]);

/// The end that receives: a future of the message.
///
/// # Blocking
/// `.await` it in a task, `.wait()` for it in a fiber or a thread.
///
/// # Cancellation
/// Dropped, it closes the channel, and the message, if it has been sent, is dropped with it. To give up only the wait,
/// await a `&mut` of it.
///
/// # Errors
/// [`Closed`]: the sender was dropped without sending.
///
/// # Panics
/// Polled after it has given its output.
#[must_use = "dropping the receiver closes the channel"]
pub struct Receiver<T> {
    /// Null once it has given its output; with [`YIELDED`] and [`CLOSED`] in its lowest bits.
    shared: *mut Shared<T>,
    _message: PhantomData<T>,
}

/// The operation has yielded, at its scheduling point.
const YIELDED: usize = 1;
/// The receiver was closed, and there is no message: without a pointer.
const CLOSED: usize = 2;

// SAFETY: only the message moves between threads; the word is atomic, and says whose the rest is.
unsafe impl<T: Send> Send for Receiver<T> {}
// SAFETY: `&Receiver` gives access to nothing.
unsafe impl<T: Send> Sync for Receiver<T> {}

impl<T> Unpin for Receiver<T> {}
impl<T> UnwindSafe for Receiver<T> {}
impl<T> RefUnwindSafe for Receiver<T> {}

impl<T> Receiver<T> {
    fn pointer(&self) -> *mut Shared<T> {
        self.shared.map_addr(|at| at & !(YIELDED | CLOSED))
    }

    fn shared(&self) -> Option<&Shared<T>> {
        // SAFETY: there as long as the receiver has not left, and null from then on.
        unsafe { self.pointer().as_ref() }
    }

    /// The word, if it has not given its output.
    fn join(&self) -> Option<&Join> {
        self.shared().map(|shared| &shared.join)
    }

    /// Closes the channel: from now on sending fails. A message that was sent before can still be received.
    ///
    /// # Examples
    /// ```
    /// use gossamer::channel::oneshot;
    ///
    /// let (tx, mut rx) = oneshot();
    /// rx.close();
    /// assert_eq!(tx.send(1).unwrap_err().into_inner(), 1);
    /// ```
    pub fn close(&mut self) {
        let Some(shared) = self.shared().filter(|shared| !shared.join.is_done()) else {
            return;
        };
        let told = shared.closing.finish();
        let is_done = shared.join.detach();
        if !is_done {
            // The sender may have freed it by now.
            self.shared = std::ptr::without_provenance_mut(CLOSED);
        } else if matches!(told, Finish::Detached)
            && !gossamer_core::mutant!("oneshot_close_overwrites")
        {
            // The sender said there that it has sent none, and this side alone is left.
            let _done = shared.closing.abandon();
        }
        if let Finish::Wake(waker) = told
            && !gossamer_core::mutant!("oneshot_close_tells_nobody")
        {
            Deferred::new(waker).run();
        }
    }

    /// Whether it has given its output, so that it must not be awaited any more.
    pub fn is_terminated(&self) -> bool {
        self.shared.is_null()
    }

    /// Whether there is no message at this moment.
    pub fn is_empty(&self) -> bool {
        let is_sent = |shared: &Shared<T>| shared.join.is_done() && shared.has_message();
        !self.shared().is_some_and(is_sent)
    }

    /// The message, if it is there; never waits.
    ///
    /// # Errors
    /// [`TryRecvError::Empty`]: not yet. [`TryRecvError::Closed`]: it was received before, or will never come; then it must
    /// not be awaited any more.
    pub fn try_recv(&mut self) -> Result<T, TryRecvError> {
        if self.join().is_some_and(|join| !join.is_done()) {
            return Err(TryRecvError::Empty);
        }
        self.take().ok_or(TryRecvError::Closed)
    }

    /// From now on this waker is called, and none of before.
    pub(crate) fn listen(&mut self, waker: &Waker) {
        if let Some(join) = self.join() {
            join.register(waker);
        }
    }

    /// The message, or that none comes; else this waker is called as soon as that is known.
    pub(crate) fn find(&mut self, waker: &Waker) -> Option<Result<T, Closed>> {
        if let Some(join) = self.join()
            && !join.is_done()
            && join.register(waker)
        {
            return None;
        }
        Some(self.take().ok_or(Closed))
    }

    /// The message, if it is done or closed, which is the end of it.
    fn take(&mut self) -> Option<T> {
        if self.join().is_some_and(|join| !join.is_done()) {
            return None;
        }
        let has_message = self.shared().is_some_and(Shared::has_message);
        let shared = NonNull::new(self.pointer());
        self.shared = std::ptr::null_mut();
        // SAFETY: done, so the sender went first; the receiver has forgotten it.
        unsafe { Shared::free(shared?, has_message) }
    }
}

impl<T> Future for Receiver<T> {
    type Output = Result<T, Closed>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        assert!(
            !self.is_terminated(),
            "a one-shot receiver was polled after it had given its output"
        );
        if self.shared.addr() & YIELDED == 0 {
            self.shared = self.shared.map_addr(|at| at | YIELDED);
            if context::must_yield() {
                context::yield_to_others(RawWakerParts::new(cx.waker()));
                return Poll::Pending;
            }
        }
        let Some(found) = self.find(cx.waker()) else {
            context::waits_still(self.pointer(), "oneshot::recv", false);
            return Poll::Pending;
        };
        self.shared = std::ptr::null_mut();
        Poll::Ready(found)
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        self.close();
        drop(self.take());
    }
}

gossamer_core::impl_debug!([T] Receiver[T]);
