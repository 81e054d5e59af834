//! Simulated threads: real OS threads of a simulation, of which one at a time runs.
//!
//! ```text
//!   the simulation's thread            the OS thread
//!   -----------------------            -------------
//!   Simulated::poll ──── baton ──────▶ body
//!                                        operation.wait()
//!                                          OnThread::wait: step() is pending
//!   Poll::Pending ◀───── baton ─────────── stands still
//!        ⋮  (the operation wakes the task)
//!   Simulated::poll ──── baton ──────────▶ step() is ready
//!                                        body returns
//!   Poll::Ready ◀─────── baton ────────  the end
//! ```
//!
//! A simulated thread is a task, whose future is [`Simulated`]; it waits as a fiber does, only that its stack is an OS
//! thread's. So its thread-locals are its own, what it polls stays with it, and another thread's wait, its wakes, its
//! timers and its place in a report are those of a task. The baton (`relay.rs`) is the simulation's context: who has
//! it is the only one who runs.
//!
//! # The end
//!
//! A simulated thread cannot be aborted, as an OS thread cannot. If it stands still when the run ends, or when the scope
//! that it borrows from must unwind, it unwinds out of its wait and of each later one. A destructor that waits then, for
//! what does not come, cannot unwind again, and nobody will wake it: its OS thread stays as it is, which is said. A scope
//! in it may have to end a fiber first, on the thread that runs the simulation and waits for this one: then it gives the
//! baton back in the midst of its end ([`SimulatedThreads::wait_for`]).
//!
//! The OS thread is joined: its thread-locals have gone when the task ends. A new one begins with new thread-locals, so
//! none is used twice. What their destructors wait for has to be there ([`AtEnd`]): nobody else runs meanwhile.

use std::cell::{Cell, RefCell};
use std::io;
use std::mem;
use std::panic::{AssertUnwindSafe, Location, catch_unwind, resume_unwind};
use std::pin::Pin;
use std::ptr::NonNull;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

use gossamer_core::context;
use gossamer_core::header::Payload;
use gossamer_core::panics;
use gossamer_core::platform::atomic::{AtomicBool, Ordering};
use gossamer_core::platform::thread::{self, ThreadId};
use gossamer_core::platform::{start_to_join, thread_local};
use gossamer_core::wait::Stackful;
use gossamer_sched::{SimulatedThreads, SingleRuntime, ThreadBody};
use gossamer_task::locals;

use crate::chooser;
use crate::current::{Current, Entered, Part, Simulation, current};
use crate::relay::{Entry, Relay, Standing, Threads, abort, say};
use crate::world::message;

/// The payload with which a thread that is to end unwinds.
struct Ended;

/// The future of a simulated thread's task.
struct Simulated {
    relay: Arc<Relay>,
    threads: Arc<Threads>,
    has_begun: bool,
    os: ThreadId,
    is_over: bool,
}

impl Simulated {
    /// The thread's body has ended.
    fn join(&mut self) {
        self.is_over = true;
        self.threads.forget(self.os);
        self.relay.join();
    }
}

impl Future for Simulated {
    type Output = ();

    /// # Panics
    /// As the thread did, as far as the message goes: its handle has the payload.
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if !mem::replace(&mut self.has_begun, true) {
            // Of its task, for the trace.
            locals::set_name(&self.relay.name);
        }
        match self.relay.pass(cx.waker(), false) {
            Standing::Still => Poll::Pending,
            Standing::Over(panicked) => {
                self.join();
                if let Some(message) = panicked {
                    resume_unwind(Box::new(message));
                }
                chooser::unwind_if_stopped();
                Poll::Ready(())
            }
            Standing::Stuck => unreachable!("it is not to end"),
        }
    }
}

impl Drop for Simulated {
    fn drop(&mut self) {
        if self.is_over || gossamer_core::mutant!("left_thread_stays") {
            return;
        }
        let relay = &self.relay;
        match relay.pass(Waker::noop(), true) {
            Standing::Over(panicked) => {
                if let Some(message) = panicked {
                    self.threads.note_panic(self.os, message);
                }
                self.join();
            }
            Standing::Stuck => say(format_args!(
                "{relay} was to end with its simulation, and a destructor or a foreign call waits there for what has not come: its OS \
                 thread stays, with all that is on its stack"
            )),
            Standing::Still => abort(format_args!(
                "{relay} was to end with its simulation, and a fiber of a scope of it stands still that has to end before"
            )),
        }
    }
}

/// A simulated thread, seen from its own stack.
struct OnThread {
    relay: Arc<Relay>,
    /// Of the poll that runs it.
    waker: RefCell<Waker>,
    ends: Cell<bool>,
    /// How many foreign calls go on, each inside the one before: their frames are not unwound.
    foreign: Cell<u32>,
}

impl OnThread {
    fn stand_still(&self) {
        let (waker, ends) = self.relay.stand_still();
        self.waker.replace(waker);
        self.ends.set(ends);
    }

    /// Waits while the thread is to end: unwinds, unless it does so already, or is in a foreign call.
    fn end(&self, step: &mut dyn FnMut(&mut Context<'_>) -> bool) {
        let is_foreign =
            self.foreign.get() > 0 && !gossamer_core::mutant!("simulated_call_is_unwound");
        if !thread::panicking() && !is_foreign {
            resume_unwind(Box::new(Ended));
        }
        if completes_by_itself(step) {
            return;
        }
        self.relay.give_back(Standing::Stuck);
        loop {
            thread::park();
        }
    }
}

/// Polls an operation as often as it wakes itself; whether it is complete then.
fn completes_by_itself(step: &mut dyn FnMut(&mut Context<'_>) -> bool) -> bool {
    let woken = Arc::new(Woken(AtomicBool::new(true)));
    let waker = Waker::from(woken.clone());
    // Relaxed: tells that there may be something, and reads nothing; what there is, is read under its lock.
    while woken.0.swap(false, Ordering::Relaxed) {
        if step(&mut Context::from_waker(&waker)) {
            return true;
        }
    }
    false
}

/// Whether an operation that is polled at the end was woken: by its scheduling point, say.
struct Woken(AtomicBool);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        // Relaxed: see `completes_by_itself`.
        self.0.store(true, Ordering::Relaxed);
    }
}

impl Stackful for OnThread {
    fn wait(&self, step: &mut dyn FnMut(&mut Context<'_>) -> bool) {
        while !self.ends.get() {
            // Of this wait's own: the step may wait itself, and then the poll that runs the thread be over.
            let waker = self.waker.borrow().clone();
            if step(&mut Context::from_waker(&waker)) {
                return;
            }
            self.stand_still();
        }
        self.end(step);
    }

    fn foreign_call_begins(&self) {
        self.foreign.set(self.foreign.get() + 1);
    }

    fn foreign_call_returned(&self) {
        self.foreign.set(self.foreign.get() - 1);
    }
}

/// A simulated thread whose body has ended, seen by the destructors of its thread-locals.
struct AtEnd(Cell<Option<&'static Location<'static>>>);

thread_local! {
    static AT_END: AtEnd = const { AtEnd(Cell::new(None)) };
}

impl Stackful for AtEnd {
    /// The simulation stands until the OS thread is gone: what is not there by now does not come.
    fn wait(&self, step: &mut dyn FnMut(&mut Context<'_>) -> bool) {
        if completes_by_itself(step) {
            return;
        }
        let spawned = self.0.get().expect("set before it is used");
        abort(format_args!(
            "a simulated thread, spawned at {spawned}, has ended, and the destructor of a thread-local of it waits for what \
             has not come: its simulation goes on only when that is over. Wait before the thread's closure returns"
        ));
    }
}

/// The whole of a simulated thread, on its OS thread.
fn run(relay: Arc<Relay>, simulation: Arc<Simulation>, body: ThreadBody) {
    let (waker, ends) = relay.receive();
    let entered = Entered::new(simulation, Part::Simulated(relay.clone()), &Here);
    let on_thread = OnThread {
        relay,
        waker: RefCell::new(waker),
        ends: Cell::new(ends),
        foreign: Cell::new(0),
    };
    let mut panicked = None;
    let ran = catch_unwind(AssertUnwindSafe(|| {
        on_thread.is_running(|| {
            if ends {
                // What it owns goes while it unwinds, so that a destructor that waits there is stuck, and not blocked.
                let _never_called = body;
                resume_unwind(Box::new(Ended));
            }
            body(&mut |payload: &Payload| {
                let is_panic = !payload.is::<Ended>() && !chooser::is_stop(&**payload);
                if is_panic {
                    panicked = Some(message(&**payload));
                }
                is_panic
            });
        });
    }));
    if let Err(payload) = ran {
        panics::swallow(payload);
    }
    drop(entered);
    on_thread.relay.give_back(Standing::Over(panicked));
}

impl OnThread {
    /// Runs what waits as this thread does.
    fn is_running(&self, run: impl FnOnce()) {
        /// None but destructors of thread-locals run there any more.
        struct IsOver(NonNull<dyn Stackful>);
        impl Drop for IsOver {
            fn drop(&mut self) {
                let at_end = (!gossamer_core::mutant!("thread_waits_at_its_end")).then_some(self.0);
                // SAFETY: it has no destructor itself, and so stays as long as the thread does.
                context::with(|context| unsafe { context.set_simulated(at_end) });
            }
        }
        let spawned = self.relay.spawned;
        let at_end = AT_END.with(|at_end| {
            at_end.0.set(Some(spawned));
            NonNull::from(at_end)
        });
        let this: NonNull<dyn Stackful + '_> = NonNull::from(self);
        // SAFETY: only the lifetime changes, of a pointer.
        let this =
            unsafe { mem::transmute::<NonNull<dyn Stackful + '_>, NonNull<dyn Stackful>>(this) };
        // SAFETY: it stays in its place below this call, and on this thread, until `IsOver` takes the word back. No poll
        // goes on here, and so no select.
        context::with(|context| unsafe { context.set_simulated(Some(this)) });
        let _is_over = IsOver(at_end);
        run();
    }
}

/// The threads of the simulation that the current thread is part of.
pub(crate) struct Here;

impl SimulatedThreads for Here {
    fn start(
        &self,
        name: &str,
        handle: usize,
        body: ThreadBody,
        caller: &'static Location<'static>,
    ) -> io::Result<()> {
        let simulation = current("spawn_thread()").simulation;
        let relay = Relay::new(name, caller);
        let (theirs, there) = (relay.clone(), simulation.clone());
        let os = start_to_join(name, None, move || run(theirs, there, body))?;
        let id = os.thread().id();
        *relay.os.lock() = Some(os);
        let simulated = Simulated {
            relay: relay.clone(),
            threads: simulation.threads.clone(),
            has_begun: false,
            os: id,
            is_over: false,
        };
        // Nobody has its handle: it is aborted by `end` alone, when the thread is no more.
        let task = gossamer_task::spawn(simulation.single.shard(), simulated, caller);
        if !task.is_finished() {
            simulation.threads.add(Entry {
                os: id,
                relay,
                handle,
                task: task.abort_handle(),
            });
        }
        Ok(())
    }

    fn end(&self, thread: ThreadId) {
        let Current {
            simulation, part, ..
        } = current("the end of a scope");
        let Some(relay) = simulation.threads.relay_of(thread) else {
            return;
        };
        loop {
            match relay.pass(Waker::noop(), true) {
                Standing::Over(_) => break,
                Standing::Stuck => abort(format_args!(
                    "{relay} borrows from a scope that unwinds, and cannot end: a destructor waits there for what has not \
                     come"
                )),
                Standing::Still => match &part {
                    // Its scope looks what it was asked for, and calls again.
                    Part::Runs(_) => return,
                    Part::Simulated(own) => {
                        own.stand_still();
                    }
                },
            }
        }
        relay.join();
        if let Some(entry) = simulation.threads.take(thread) {
            // It is no actor any more: its turn drops it.
            entry.task.abort();
        }
    }

    fn wait_for(&self, host: ThreadId) {
        let Current {
            simulation, part, ..
        } = current("the end of a scope");
        if let Part::Simulated(own) = part
            && host == simulation.os
        {
            own.stand_still();
        }
    }
}
