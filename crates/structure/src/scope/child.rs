//! One child of a scope: a future, and what came of it, in memory that the scope's owner can reach.
//!
//! The task that the runtime has is a [`ScopeTask`], which only points here. So the future can be ended by whoever is
//! first: the task that polls it, the task's end (an abort, a shutdown), or the scope that takes it back.
//!
//! | phase | meaning | who has the future |
//! | --- | --- | --- |
//! | new, waiting | not being polled | the child |
//! | polled, by a thread | being polled, or ended | that thread |
//! | ending, by a thread | the same; it is to be ended after the poll | that thread |
//! | over | the future is gone | nobody |
//!
//! A fiber that has begun is ended by its own thread ([`Host`]): what is on its stack may loan what the child borrows
//! (to a scope of its own, to std's), so as long as it stands the child is not over, whatever becomes of its task. That
//! thread ends it at its own end, if nobody has it do so before.
//!
//! Once a child is over, and what came of it is with its handle or dropped, nothing of it borrows: then it is struck
//! off the scope's list, and the scope may return.

use std::io::{self, Write};
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::ptr::NonNull;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use gossamer_core::context;
use gossamer_core::header::Failure;
use gossamer_core::panics::{self, swallow};
use gossamer_core::platform::Mutex;
use gossamer_core::platform::thread::{self, ThreadId};
use gossamer_core::waiter::Deferred;
use gossamer_task::{Id, JoinError};

use super::data::Data;
use super::host::{Child, End, Host};

/// The part of a child that its handle uses.
pub(crate) trait Gives<T>: Send + Sync {
    /// Takes the child's result if it is there; otherwise keeps `waker`, which is called when the result is there.
    fn take_or_wake(&self, waker: &Waker) -> Option<Result<T, JoinError>>;

    /// Whether it is there, or was.
    fn is_finished(&self) -> bool;

    /// Has the child ended, as soon as can be.
    fn abort(&self);

    /// The handle goes.
    fn forget(&self);
}

/// The child itself.
pub(crate) struct Cell<F: Future> {
    data: Arc<Data>,
    /// Its place in the scope's list.
    at: usize,
    is_fiber: bool,
    standing: Mutex<Standing<F>>,
    outcome: Mutex<Outcome<F::Output>>,
}

struct Standing<F> {
    phase: Phase<F>,
    /// Where the fiber has begun.
    host: Option<Arc<Host>>,
}

enum Phase<F> {
    /// Not polled so far.
    New(Box<F>),
    Waiting(Pin<Box<F>>),
    Polled(ThreadId),
    Ending(ThreadId),
    Over,
}

struct Outcome<T> {
    output: Option<Result<T, Failure>>,
    finished: bool,
    /// The handle is there.
    wanted: bool,
    waiter: Option<Waker>,
}

impl<F: Future> Cell<F> {
    pub(crate) fn new(data: Arc<Data>, at: usize, is_fiber: bool, future: F) -> Self {
        Self {
            data,
            at,
            is_fiber,
            standing: Mutex::new(Standing {
                phase: Phase::New(Box::new(future)),
                host: None,
            }),
            outcome: Mutex::new(Outcome {
                output: None,
                finished: false,
                wanted: true,
                waiter: None,
            }),
        }
    }

    /// The future back, if it has not been polled and nobody has ended it.
    pub(crate) fn take_back_future(&self) -> Option<F> {
        let mut standing = self.standing.lock();
        match mem::replace(&mut standing.phase, Phase::Over) {
            Phase::New(future) => Some(*future),
            other => {
                standing.phase = other;
                None
            }
        }
    }

    /// Drops the future, keeps what came of it, and strikes the child off the scope's list. The phase names this thread.
    fn conclude(&self, future: Pin<Box<F>>, output: Result<F::Output, Failure>) {
        let dropped = catch_unwind(AssertUnwindSafe(|| drop(future)));
        let output = match (dropped, output) {
            (Ok(()), output) => output,
            (Err(second), output @ Err(Failure::Panicked(_))) => {
                swallow(second);
                output
            }
            (Err(payload), output) => {
                panics::end(|| drop(output));
                Err(Failure::panicked(payload))
            }
        };
        self.over_with(output);
    }

    /// The future is gone: keeps what came of it, and strikes the child off the scope's list.
    fn over_with(&self, output: Result<F::Output, Failure>) {
        let host = {
            let mut standing = self.standing.lock();
            standing.phase = Phase::Over;
            standing.host.clone()
        };
        if let Some(host) = host {
            host.forget(std::ptr::from_ref(self).addr());
        }
        self.publish(output);
        self.data.has_ended(self.at);
    }

    fn publish(&self, output: Result<F::Output, Failure>) {
        let is_panic = matches!(output, Err(Failure::Panicked(_)));
        let (unwanted, waiter) = {
            let mut outcome = self.outcome.lock();
            outcome.finished = true;
            if outcome.wanted {
                outcome.output = Some(output);
                if is_panic {
                    self.data.panic_waits();
                }
                (None, outcome.waiter.take())
            } else {
                (Some(output), outcome.waiter.take())
            }
        };
        match unwanted {
            Some(Err(Failure::Panicked(payload))) => self.data.keep_panic(*payload),
            unwanted => panics::end(|| drop(unwanted)),
        }
        if let Some(waiter) = waiter {
            Deferred::new(waiter).run();
        }
    }

    /// Takes the future out, to end it.
    fn claim(&self) -> Result<Pin<Box<F>>, End> {
        let here = thread::current().id();
        let mut standing = self.standing.lock();
        if let Phase::Polled(on) | Phase::Ending(on) = standing.phase {
            standing.phase = Phase::Ending(on);
            return Err(if on == here {
                End::PolledHere
            } else {
                End::PolledElsewhere(on)
            });
        }
        if let Some(host) = &standing.host
            && !host.is_here()
            && !matches!(standing.phase, Phase::Over)
            && !gossamer_core::mutant!("scope_strikes_off_what_stands")
        {
            return Err(End::On(host.clone()));
        }
        standing.take(here).ok_or(End::Over)
    }
}

impl<F> Standing<F> {
    /// Takes the future out, to be polled or ended by this thread; `None` if the child is over, or has it out.
    fn take(&mut self, here: ThreadId) -> Option<Pin<Box<F>>> {
        match mem::replace(&mut self.phase, Phase::Polled(here)) {
            Phase::New(future) => Some(Box::into_pin(future)),
            Phase::Waiting(future) => Some(future),
            other => {
                self.phase = other;
                None
            }
        }
    }
}

impl<F: Future + Send> Child for Cell<F>
where
    F::Output: Send,
{
    fn poll(&self, cx: &mut Context<'_>) -> Poll<()> {
        let mut future = {
            let mut standing = self.standing.lock();
            let is_there = matches!(standing.phase, Phase::New(_) | Phase::Waiting(_));
            if is_there && self.is_fiber {
                let is_here = standing.host.get_or_insert_with(Host::here).is_here();
                if !is_here {
                    drop(standing);
                    panic!("a fiber was polled on another thread than the one it began on");
                }
            }
            match standing.take(thread::current().id()) {
                Some(future) => future,
                // It has been taken back.
                None => return Poll::Ready(()),
            }
        };
        let output = match catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(cx))) {
            Ok(Poll::Ready(output)) => Ok(output),
            Err(payload) => {
                panics::note();
                Err(Failure::panicked(payload))
            }
            Ok(Poll::Pending) => {
                let mut standing = self.standing.lock();
                if let Phase::Polled(_) = standing.phase {
                    standing.phase = Phase::Waiting(future);
                    return Poll::Pending;
                }
                Err(Failure::Cancelled)
            }
        };
        self.conclude(future, output);
        Poll::Ready(())
    }

    fn end(&self) -> End {
        match self.claim() {
            Ok(future) => {
                self.conclude(future, Err(Failure::Cancelled));
                End::Over
            }
            Err(end) => end,
        }
    }

    fn is_fiber(&self) -> bool {
        self.is_fiber
    }

    fn is_over(&self) -> bool {
        matches!(self.standing.lock().phase, Phase::Over)
    }

    fn task_goes(&self) {
        let (has_begun, stands) = {
            let standing = self.standing.lock();
            let is_over = matches!(standing.phase, Phase::Over);
            (standing.host.is_some(), !is_over)
        };
        if has_begun && stands && !gossamer_core::mutant!("standing_fiber_loses_values") {
            context::with(context::Context::leak_locals_of_polled);
        }
        if has_begun {
            // It may have been ended from within another task's poll.
            context::with(context::Context::unpin_polled);
        }
    }
}

impl<F: Future> Cell<F> {
    fn id(&self) -> Id {
        Id::at(NonNull::from_ref(self).addr())
    }
}

impl<F: Future + Send> Gives<F::Output> for Cell<F>
where
    F::Output: Send,
{
    fn take_or_wake(&self, waker: &Waker) -> Option<Result<F::Output, JoinError>> {
        let take = |outcome: &mut Outcome<F::Output>| {
            let output = outcome.output.take()?;
            if let Err(Failure::Panicked(_)) = output {
                self.data.panic_is_taken();
            }
            Some(output.map_err(|failure| JoinError::new(failure, self.id())))
        };
        if let Some(output) = take(&mut self.outcome.lock()) {
            return Some(output);
        }
        self.data.origin().check("waiting for a child of a scope");
        // No user code under the lock: it is cloned before, and what it replaces is dropped after.
        let waker = waker.clone();
        let (output, _before) = {
            let mut outcome = self.outcome.lock();
            assert!(
                !outcome.finished || outcome.output.is_some(),
                "a handle was polled after it had given its output"
            );
            match take(&mut outcome) {
                Some(output) => (Some(output), Some(waker)),
                None => (None, outcome.waiter.replace(waker)),
            }
        };
        output
    }

    fn is_finished(&self) -> bool {
        self.outcome.lock().finished
    }

    fn abort(&self) {
        self.data.abort(self.at, self);
    }

    fn forget(&self) {
        let (output, waiter) = {
            let mut outcome = self.outcome.lock();
            outcome.wanted = false;
            (outcome.output.take(), outcome.waiter.take())
        };
        if let Some(Err(Failure::Panicked(payload))) = output {
            self.data.panic_is_taken();
            self.data.keep_panic(*payload);
        } else {
            panics::end(|| drop(output));
        }
        drop(waiter);
    }
}

/// The task that a runtime runs for a child of a scope.
#[must_use = "a child that is not run is cancelled"]
pub struct ScopeTask {
    child: Arc<dyn Child>,
    /// It is a fiber, and its thread knows of it.
    stands: bool,
}

impl ScopeTask {
    pub(super) fn new(child: Arc<dyn Child>) -> Self {
        Self {
            child,
            stands: false,
        }
    }

    /// Runs it here: a closure that waits as threads do, and so is ready at its first poll.
    pub fn run(self) {
        let polled = self.child.poll(&mut Context::from_waker(Waker::noop()));
        debug_assert!(polled.is_ready(), "a closure is over when it has returned");
    }
}

impl Future for ScopeTask {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if self.child.is_fiber() && !self.stands {
            // Before it begins: it may be over, and gone from there again, when this returns.
            self.stands = true;
            Host::stands_here(&self.child);
        }
        let polled = self.child.poll(cx);
        if self.stands && polled.is_ready() {
            // Perhaps it had been taken back before, and has not begun.
            Host::here().forget(Arc::as_ptr(&self.child).addr());
        }
        polled
    }
}

impl Drop for ScopeTask {
    fn drop(&mut self) {
        if let End::On(host) = self.child.end() {
            let on = host.thread();
            // If the write fails, there is nowhere left to report it.
            let _said = writeln!(
                io::stderr(),
                "gossamer: a scope's fiber that began on {on:?} was dropped on another thread: the scope waits until that \
                 thread waits for a scope, or ends, and so ends the fiber"
            );
            host.ask(self.child.clone());
        }
        self.child.task_goes();
    }
}

gossamer_core::impl_debug!([] ScopeTask[]);
