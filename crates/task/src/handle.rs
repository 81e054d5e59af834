//! Waiting for a task's output.

use std::any::Any;
use std::fmt;
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::pin::Pin;
use std::ptr::NonNull;
use std::task::{Context, Poll, ready};

use gossamer_core::context::SchedulingPoint;
use gossamer_core::fork::Origin;
use gossamer_core::header::join::ref_dec_handle;
use gossamer_core::header::{Failure, Header, QueueLink, TaskRef};
use gossamer_core::wait::joins;
use gossamer_core::{context, panics, waker};

use crate::abort::AbortHandle;
use crate::id::Id;

/// A task's output, once it has one: a future.
///
/// # Blocking
/// `.await` in a task, `.wait()` in a thread.
///
/// # Cancellation
/// Dropping the handle detaches the task, as in std: it runs on, and its output is dropped by the
/// thread that runs it; if that had finished, by the one that drops the handle. A panic in the output's drop ends
/// there: dropping a handle never panics. [`JoinHandle::abort`] cancels the task.
///
/// # Errors
/// [`JoinError`]: the task panicked (the payload is inside), was aborted, or its runtime ended.
///
/// # Panics
/// In a forked child, if the task was spawned before and had not ended.
///
/// # Examples
/// ```
/// use gossamer::{Runtime, Wait};
///
/// let rt = Runtime::builder().build()?;
/// let task = rt.spawn(async { 6 * 7 });
/// assert_eq!(task.wait()?, 42);
/// let task = rt.spawn(std::future::pending::<()>());
/// task.abort();
/// assert!(task.wait().unwrap_err().is_cancelled());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct JoinHandle<T> {
    task: NonNull<Header>,
    taken: bool,
    point: SchedulingPoint,
    /// Where the task was spawned: in a forked child nobody will run it.
    origin: Origin,
    _output: PhantomData<T>,
}

// SAFETY: the handle moves only the output between threads; header fields that it touches are
// immutable or atomic.
unsafe impl<T: Send> Send for JoinHandle<T> {}
// SAFETY: through `&JoinHandle` one can only abort and look, both atomic.
unsafe impl<T: Send> Sync for JoinHandle<T> {}

impl<T> Unpin for JoinHandle<T> {}

impl<T> JoinHandle<T> {
    /// # Safety
    /// The caller owns one `HANDLE` reference to the task, whose output type is `T`, and no other join
    /// handle exists.
    pub(crate) unsafe fn new(task: NonNull<Header>) -> Self {
        Self {
            task,
            taken: false,
            point: SchedulingPoint::new(),
            origin: Origin::here(),
            _output: PhantomData,
        }
    }

    fn header(&self) -> TaskRef<'_> {
        // SAFETY: the handle holds the task.
        unsafe { TaskRef::new(self.task) }
    }

    /// Cancels the task: its future is dropped by the thread that runs it, at its next turn.
    ///
    /// Returns at once. The handle then says [`JoinError::is_cancelled`], unless the task finished
    /// first. In a forked child nothing happens to a task that was spawned before.
    pub fn abort(&self) {
        if self.origin.is_elsewhere() {
            return;
        }
        waker::abort(self.header());
    }

    /// Aborts the task as [`abort`](JoinHandle::abort) does, wherever it is taken, and however often it is cloned.
    #[must_use]
    pub fn abort_handle(&self) -> AbortHandle {
        // SAFETY: the handle holds the task.
        let waker = unsafe { waker::borrowed(self.task) };
        AbortHandle::new((*waker).clone(), self.origin)
    }

    /// Which task it is.
    #[must_use]
    pub fn id(&self) -> Id {
        Id::of(self.task)
    }

    /// Whether the output is there, so that waiting will not wait.
    pub fn is_finished(&self) -> bool {
        self.taken || self.header().is_finished()
    }

    /// Has `waker` called when the output is there, once; `false` if it is there already. No scheduling point: for
    /// those who wait for many.
    #[doc(hidden)]
    pub fn notify(&self, waker: &std::task::Waker) -> bool {
        if self.is_finished() && !gossamer_core::mutant!("set_refuses_what_is_over") {
            return false;
        }
        self.origin.check("waiting for a join handle");
        self.header().notify_finished(waker)
    }

    /// Whether the output has been taken, so that there is nothing to wait for.
    #[doc(hidden)]
    #[must_use]
    pub fn is_taken(&self) -> bool {
        self.taken
    }

    /// The task, for those who build runtimes.
    #[doc(hidden)]
    pub fn task(&self) -> NonNull<Header> {
        self.task
    }

    /// Takes the output if it is there; never waits.
    ///
    /// # Panics
    /// The output has been taken before.
    pub fn try_take(&mut self) -> Option<Result<T, JoinError>> {
        assert!(
            !self.taken,
            "a join handle was polled after it had given its output"
        );
        if !self.header().is_finished() {
            return None;
        }
        self.taken = true;
        let mut output = MaybeUninit::<Result<T, Failure>>::uninit();
        // SAFETY: published, and the only handle has not taken it yet; `T` is the output's type.
        unsafe { (self.header().vtable.take_output)(self.task, output.as_mut_ptr().cast()) };
        // SAFETY: written just now.
        let output = unsafe { output.assume_init() };
        Some(output.map_err(|failure| JoinError::new(failure, self.id())))
    }
}

impl<T> Future for JoinHandle<T> {
    type Output = Result<T, JoinError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        ready!(self.point.pass(cx.waker()));
        if let Some(output) = self.try_take() {
            return Poll::Ready(output);
        }
        self.origin.check("waiting for a join handle");
        if self.header().notify_finished(cx.waker()) {
            match waker::task_of(cx.waker()) {
                // Dumps tell what it waits for.
                Some(polled) => polled.park_on(QueueLink::on_task(self.task)),
                None if context::with(context::Context::shard) == context::NOWHERE => {
                    joins(&*self, self.header().state().shard());
                }
                None => {}
            }
            return Poll::Pending;
        }
        self.try_take().map_or(Poll::Pending, Poll::Ready)
    }
}

impl<T> Drop for JoinHandle<T> {
    fn drop(&mut self) {
        // SAFETY: the only handle, which ends.
        if !self.taken && unsafe { self.header().detach() } {
            // SAFETY: published, and the only handle has not taken it.
            let drop_output = || unsafe { (self.header().vtable.drop_output)(self.task) };
            if gossamer_core::mutant!("handle_drop_panics") {
                drop_output();
            } else {
                panics::end(drop_output);
            }
        }
        // SAFETY: the handle's reference, given up once.
        unsafe { ref_dec_handle(self.task) };
    }
}

gossamer_core::impl_debug!(
    [T] JoinHandle[T],
    this => spawned: this.header().spawned, is_finished: this.is_finished()
);

/// Why a task has no output.
///
/// # Examples
/// ```
/// use gossamer::{Runtime, Wait};
///
/// let rt = Runtime::builder().build()?;
/// let error = rt.spawn(async { panic!("oh") }).wait().unwrap_err();
/// let payload = error.try_into_panic().expect("it panicked");
/// assert_eq!(payload.downcast_ref(), Some(&"oh"));
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct JoinError {
    failure: Failure,
    id: Id,
}

// SAFETY: behind a reference the payload is only read if it is a text, which is `Sync`; any other may be had by value alone.
unsafe impl Sync for JoinError {}

impl JoinError {
    /// Returns the error of a task that ended with `failure`, for those who build runtimes.
    #[doc(hidden)]
    pub fn new(failure: Failure, id: Id) -> Self {
        Self { failure, id }
    }

    /// Which task it was. (That of a child of a scope says only that it is no other.)
    #[must_use]
    pub fn id(&self) -> Id {
        self.id
    }

    /// The task was aborted, or its runtime or scope ended first.
    pub fn is_cancelled(&self) -> bool {
        matches!(self.failure, Failure::Cancelled)
    }

    /// The task panicked.
    pub fn is_panic(&self) -> bool {
        matches!(self.failure, Failure::Panicked(_))
    }

    /// The panic's payload, to be passed to [`std::panic::resume_unwind`].
    ///
    /// # Errors
    /// The task did not panic: the error comes back.
    pub fn try_into_panic(self) -> Result<Box<dyn Any + Send + 'static>, Self> {
        match self.failure {
            Failure::Panicked(payload) => Ok(*payload),
            Failure::Cancelled => Err(self),
        }
    }

    /// The panic's payload, to be passed to [`std::panic::resume_unwind`].
    ///
    /// # Panics
    /// The task did not panic: see [`try_into_panic`](JoinError::try_into_panic).
    #[track_caller]
    pub fn into_panic(self) -> Box<dyn Any + Send + 'static> {
        match self.try_into_panic() {
            Ok(payload) => payload,
            Err(error) => panic!("JoinError::into_panic(): {error}, and has no payload"),
        }
    }

    fn message(&self) -> Option<&str> {
        let Failure::Panicked(payload) = &self.failure else {
            return None;
        };
        payload
            .downcast_ref::<&'static str>()
            .copied()
            .or_else(|| payload.downcast_ref::<String>().map(String::as_str))
    }
}

gossamer_core::impl_debug_as_display!([] JoinError[]);

impl fmt::Display for JoinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.failure, self.message()) {
            (Failure::Cancelled, _) => f.write_str("the task was cancelled"),
            (Failure::Panicked(_), Some(message)) => write!(f, "the task panicked: {message}"),
            (Failure::Panicked(_), None) => f.write_str("the task panicked"),
        }
    }
}

impl std::error::Error for JoinError {}
