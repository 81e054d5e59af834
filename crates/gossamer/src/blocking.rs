//! Calls that block, moved off the worker.

use std::any::Any;
use std::mem;
use std::panic::{AssertUnwindSafe, Location, catch_unwind, resume_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use gossamer_core::context::{self, SchedulingPoint};
use gossamer_core::panics;
use gossamer_core::platform::Mutex;
use gossamer_sched::{Environment, here, simulated_threads};
use gossamer_task::{Id, JoinHandle};

use crate::shared::Shared;

/// Runs a call that blocks (a system call, a long computation, foreign code) on a thread of its own, so that the worker
/// goes on with other tasks meanwhile; gives what it returns.
///
/// In a task or fiber of a runtime the thread is one of that runtime's, as for
/// [`spawn_blocking`](crate::Runtime::spawn_blocking): at most 512 calls run at once, and more wait in line.
/// In a simulation each call has a simulated thread.
///
/// Elsewhere the call is made in place, by the first poll: in a thread (also in one that owns a runtime, whose tasks
/// then stand, and in one that runs such a call already), and in a future that another library's runtime polls (which is
/// then blocked).
///
/// # Blocking
/// `.await` in a task, `.wait()` in a fiber or thread.
///
/// # Cancellation
/// Dropped before the call has begun, it is never made. Dropped later, the call runs to its end, and what it returns is
/// dropped there; it does not know.
///
/// # Panics
/// When polled: as the call does; if the system grants no thread, and there is none yet; in a forked child, if the
/// runtime was built before; and if the call could not begin, as no thread could be started for it, or the runtime has ended.
///
/// # Examples
/// ```
/// use gossamer::{Runtime, Wait, blocking};
///
/// let rt = Runtime::builder().build()?;
/// let task = rt.spawn(async {
///     let text = blocking(|| std::fs::read_to_string("/proc/self/stat")).await;
///     text.map(|text| text.len())
/// });
/// assert!(task.wait()?? > 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[track_caller]
pub fn blocking<F, T>(call: F) -> Blocking<F, T>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    Blocking {
        stage: Stage::New(call),
        point: SchedulingPoint::new(),
        caller: Location::caller(),
    }
}

/// [`blocking`].
#[must_use = "operations do nothing until they are awaited or waited for"]
pub struct Blocking<F, T> {
    stage: Stage<F, T>,
    /// Of a call that is made in place.
    point: SchedulingPoint,
    caller: &'static Location<'static>,
}

enum Stage<F, T> {
    New(F),
    /// In line, or begun: then the call is gone.
    Sent {
        call: Arc<Mutex<Option<F>>>,
        handle: JoinHandle<Option<Result<T, Panicked>>>,
    },
    Over,
}

impl<F, T> Unpin for Blocking<F, T> {}

/// A panic of a call. It is that of the task which waits for the call; if none does, it is told of as the call's own.
struct Panicked {
    /// None: it goes on.
    payload: Option<Box<dyn Any + Send>>,
    /// Of the call. Who drops this may be anywhere.
    environment: Option<Environment>,
    call: Id,
    caller: &'static Location<'static>,
}

impl Drop for Panicked {
    fn drop(&mut self) {
        if let Some(payload) = self.payload.take() {
            if let Some(environment) = &self.environment
                && !gossamer_core::mutant!("nobody_told_of_calls")
            {
                environment.tell_of_panic(self.call, || None, self.caller, &*payload);
            }
            panics::swallow(payload);
        }
    }
}

impl<F, T> Future for Blocking<F, T>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<T> {
        let this = &mut *self;
        if let Stage::New(_) = this.stage
            && let Stage::New(call) = mem::replace(&mut this.stage, Stage::Over)
        {
            // In a thread for such calls it is made in place: all of them could wait for one more.
            let is_task = context::with(context::Context::is_polling)
                || gossamer_core::mutant!("call_waits_for_a_thread");
            let runtime = is_task.then(Shared::current).flatten();
            let Some(runtime) = runtime else {
                if this.point.pass(cx.waker()).is_pending() {
                    this.stage = Stage::New(call);
                    return Poll::Pending;
                }
                return Poll::Ready(call());
            };
            let call = Arc::new(Mutex::new(Some(call)));
            let (taken, caller) = (call.clone(), this.caller);
            let work = move || {
                let call = taken.lock().take()?;
                if simulated_threads().is_some() {
                    // There it is the call's thread that panics, or unwinds because the simulation ends.
                    return Some(Ok(call()));
                }
                Some(
                    catch_unwind(AssertUnwindSafe(call)).map_err(|payload| Panicked {
                        payload: Some(payload),
                        environment: here(),
                        call: gossamer_task::id(),
                        caller,
                    }),
                )
            };
            let handle = runtime.spawn_blocking(work, caller);
            this.stage = Stage::Sent { call, handle };
        }
        let Stage::Sent { handle, .. } = &mut this.stage else {
            panic!("blocking() was polled after it was complete");
        };
        let returned = ready!(Pin::new(handle).poll(cx));
        this.stage = Stage::Over;
        let panic = match returned {
            Ok(Some(Ok(output))) => return Poll::Ready(output),
            Ok(Some(Err(mut panicked))) => panicked.payload.take(),
            Ok(None) => None,
            Err(error) => error.try_into_panic().ok(),
        };
        match panic {
            Some(payload) => resume_unwind(payload),
            None => panic!(
                "blocking() at {}: the call could not begin: no thread could be started for it, or the runtime has ended",
                this.caller
            ),
        }
    }
}

impl<F, T> Drop for Blocking<F, T> {
    fn drop(&mut self) {
        let Stage::Sent { call, handle } = mem::replace(&mut self.stage, Stage::Over) else {
            return;
        };
        if gossamer_core::mutant!("dropped_call_is_made") {
            return;
        }
        // Not under the lock: what the call owns is dropped; and then what has come of a call that was made.
        let never_made = call.lock().take();
        drop(never_made);
        drop(handle);
    }
}

gossamer_core::impl_debug!([F, T] Blocking[F, T], this => caller: this.caller);
