//! Finishing an operation from an OS thread.
//!
//! [`Wait::wait`] polls on the calling thread. A thread that built a `Single` runtime runs it
//! while it waits (there is nobody else to do so); any other thread sleeps until it is woken.
//! A [fiber] yields to others until it is woken, and a thread of a simulation waits as its simulation
//! has it ([`Stackful`]).

use core::cell::{Cell, RefCell};
use core::future::{Future, IntoFuture};
use core::panic::Location;
use core::pin::{Pin, pin};
use core::ptr::NonNull;
use core::task::{Context, Poll, Waker};

use alloc::sync::Weak;
use alloc::vec::Vec;

use crate::context;
use crate::fiber::{self, KeptErrno, OnStack};
use crate::moment::Moment;
use crate::parker::Parker;
use crate::platform::{single_threaded, thread_local};
use crate::poller::owned_cell;
use crate::shard::Shard;

mod alone;
mod lazy_parker;
mod waiting;

use self::alone::Alone;
pub use self::alone::joins;
use self::lazy_parker::LazyParker;
use self::waiting::Waiting;
pub use self::waiting::set_own_timers;
pub use crate::context::Stackful;

/// A runtime that waits on its owner's thread.
pub trait RunWhileWaiting {
    /// Runs what is runnable, for a bounded while.
    fn turn(&self, waker: &Waker) -> Turned;

    /// For a while there will be no more turns.
    fn rest(&self);

    /// There will be no more turns at all: the owner's thread ends.
    fn owner_ends(&self);
}

/// The work that a runtime has left after a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub enum Turned {
    /// Perhaps more.
    More,
    /// Nothing until the waker is called, or that moment comes.
    Parked(Moment),
}

/// A runtime that the current thread has built; dropped when the thread ends, if the runtime does not end before.
struct Owned(Weak<dyn RunWhileWaiting>);

impl Drop for Owned {
    fn drop(&mut self) {
        if let Some(runtime) = self.0.upgrade() {
            runtime.owner_ends();
        }
    }
}

thread_local! {
    static OWNED: RefCell<Vec<Owned>> = const { RefCell::new(Vec::new()) };
}

/// Has every [`Wait::wait`] of the current thread run this runtime, as long as it lives.
pub fn run_while_waiting(runtime: Weak<dyn RunWhileWaiting>) {
    OWNED.with(|owned| {
        let mut owned = owned.borrow_mut();
        // A place that is free again, or a new one: never move the others, somebody may be going
        // through them.
        match owned.iter_mut().find(|other| !other.is_alive()) {
            Some(free) => *free = Owned(runtime),
            None => owned.push(Owned(runtime)),
        }
    });
}

/// Finishing an operation without `.await`.
///
/// Implemented for every future. An operation is the same whether a task awaits it or a thread
/// waits for it.
///
/// # Blocking
/// In a fiber: the fiber stands still, and its thread runs others. Else: blocks the calling OS thread; if that
/// thread built `Single` runtimes, their tasks run meanwhile. What never is pending does not wait: a thread that polls
/// operations which are always ready looks at no timer and at no task in between.
///
/// # Cancellation
/// A fiber that is aborted unwinds out of the wait it is in, and out of every later one. A thread cannot be.
///
/// # Panics
/// Inside a task's poll, where it would block all other tasks; the message names the caller's line. For the join handle
/// of a task of a `Single` runtime, if the thread that built it has ended, and for ten seconds no other has run it. In a
/// deadlock of a process that has built a runtime, if this thread is chosen to say so:
/// [`try_block_on`](https://docs.rs/gossamer-rt/latest/gossamer/struct.Runtime.html#method.try_block_on) tells when that is.
///
/// # Examples
/// ```
/// use gossamer::Wait;
/// assert_eq!(async { 1 + 1 }.wait(), 2);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be waited for: it is not a future",
    label = "not a future",
    note = "`.wait()` is for what can be awaited: an operation, a join handle, an `async` block; an `async fn` is called first"
)]
pub trait Wait: IntoFuture + Sized {
    /// Polls on this thread until the operation is complete.
    #[track_caller]
    // Inline, so that no return lies behind a fiber's switch: see `fiber.rs`. (Without optimisation it would only make
    // the caller's frame larger.)
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn wait(self) -> Self::Output {
        // Goes after the future, which may leave timers behind if it is not its own.
        let (mut waiting, mut kept) = (None, None);
        let output = {
            // Pinned first: what comes before would keep it where it is, and it would be copied.
            let future = pin!(self.into_future());
            match (fiber::running(), context::with(context::Context::simulated)) {
                (Some(fiber), _) => {
                    kept = Some(KeptErrno::new());
                    stand_still(fiber, future)
                }
                (None, Some(thread)) => stand_simulated(thread, future),
                (None, None) => block_thread(future, waiting.insert(Rests::begin())),
            }
        };
        if let Some(waiting) = waiting {
            waiting.end();
        }
        drop(kept);
        output
    }
}

impl<F: IntoFuture> Wait for F {}

/// Panics if the current thread is inside a task's poll.
#[track_caller]
pub fn refuse_inside_poll(what: &str) {
    refuse(what, "use .await");
}

#[inline(always)]
#[track_caller]
fn refuse(what: &str, instead: &str) {
    if context::with(|context| context.is_in_fiber() || context.is_polling()) {
        refused(what, instead);
    }
}

#[cold]
#[inline(never)]
#[track_caller]
fn refused(what: &str, instead: &str) -> ! {
    if context::with(context::Context::is_in_fiber) {
        panic!(
            "{what} was called inside a fiber, or a thread of a simulation, where it would block every other task: spawn \
             the future onto a runtime that has threads, and .wait() for its handle"
        );
    }
    panic!("{what} was called inside a task, where it would block every other task: {instead}");
}

/// Panics if the current thread is inside the poll of a task that is no fiber, and so must not wait; the message says
/// what it can do `instead`.
#[track_caller]
pub fn refuse_inside_task(what: &str, instead: &str) {
    if !context::with(context::Context::is_in_fiber) {
        refuse(what, instead);
    }
}

/// Whether the current thread has nothing else to do while what it polls is pending: it polls for a [`Wait::wait`] and
/// runs no runtime, or for the one task that is its own; and there are other threads. So it may look a few times before
/// it goes to sleep. A hint: the poll may have other operations in it, which then are looked at later.
pub fn may_spin() -> bool {
    let runs = || {
        let run = |owned: &RefCell<Vec<Owned>>| owned.borrow().iter().any(Owned::is_alive);
        OWNED.try_with(run).unwrap_or(true)
    };
    let is_idle = || {
        if context::with(context::Context::waits) {
            return !runs();
        }
        let shard = context::with(context::Context::shard);
        shard != context::NOWHERE && Shard::at(shard).is_one_thread()
    };
    !single_threaded() && is_idle()
}

impl Owned {
    fn is_alive(&self) -> bool {
        self.0.strong_count() > 0
    }
}

/// Waits on a fiber's stack, outside of the select in which the fiber may be.
#[inline(always)]
#[cfg_attr(debug_assertions, track_caller)]
fn stand_still<F: Future>(fiber: NonNull<OnStack<'static>>, mut future: Pin<&mut F>) -> F::Output {
    /// The step ends, whatever the poll does.
    struct Step<'a>(&'a OnStack<'static>);
    impl Drop for Step<'_> {
        #[inline(always)]
        fn drop(&mut self) {
            self.0.end_step();
        }
    }
    // SAFETY: it is the one that runs here, and so are we, on its stack: it stays as long as this call.
    let fiber = unsafe { fiber.as_ref() };
    #[cfg(all(debug_assertions, not(any(loom, shuttle))))]
    let _noted = crate::waits::Blocks::begin(&*future);
    let _back = context::leave_selects();
    let is_unwinding = fiber.is_unwinding();
    while !is_unwinding && let Some(waker) = fiber.begin_step() {
        let step = Step(fiber);
        let polled = future.as_mut().poll(&mut Context::from_waker(&waker));
        drop(step);
        match polled {
            Poll::Ready(output) => return output,
            Poll::Pending => fiber.stand_still(),
        }
    }
    poll_by(future, |poll| fiber.wait(poll))
}

/// Waits in a thread of a simulation.
#[cold]
#[inline(never)]
#[cfg_attr(debug_assertions, track_caller)]
fn stand_simulated<F: Future>(thread: NonNull<dyn Stackful>, future: Pin<&mut F>) -> F::Output {
    // SAFETY: it is this thread.
    let thread = unsafe { thread.as_ref() };
    let _back = context::leave_selects();
    poll_by(future, |poll| thread.wait(poll))
}

/// Makes a call that must not be unwound, of C code that calls back, say: an abort waits until it has returned.
///
/// If the [fiber](https://docs.rs/gossamer-rt/latest/gossamer/fn.spawn_fiber.html) that makes it is aborted meanwhile,
/// waits in the call, in a callback, go on as if nothing had happened; the abort takes effect where the fiber stands
/// still after the call, or begins the next one. A callback must not let a panic pass into C code either: an
/// `extern "C"` function of Rust ends the process then.
///
/// In a task or thread this is the call alone: nothing unwinds there but a panic. (A thread of a simulation, which is
/// unwound at the simulation's end, is not while it is in the call.)
///
/// # Blocking
/// As the call does. A fiber that waits in it stands still, and its thread runs others.
///
/// # Cancellation
/// Waits, as said. If the runtime ends meanwhile (it is dropped, or shuts down), or the fiber's thread does, the thread
/// says so and blocks until the call has returned: it runs nothing else then, so what the call waits for must come from
/// another thread. A shutdown with a limit gives up after that, and leaves the thread and the fiber's stack behind; not
/// so under `Model::Single`, where the thread that blocks is the one that shuts down. A simulation that ends so ends the
/// process, with a message.
///
/// # Panics
/// As the call does.
///
/// # Examples
/// ```
/// use gossamer::{Fibers, Model, Runtime, Wait, foreign, sync::MVar, yield_now};
/// use std::sync::Arc;
///
/// // SAFETY: nothing here uses thread-locals like a stack.
/// let fibers = unsafe { Fibers::contract() };
/// let rt = Runtime::builder().model(Model::Single).fibers(fibers).build()?;
/// let (asked, answer) = (Arc::new(MVar::empty()), Arc::new(MVar::empty()));
/// let (to, from) = (asked.clone(), answer.clone());
/// let fiber = rt.spawn_fiber(move || {
///     let answer: u32 = foreign(|| {
///         to.put(()).wait();
///         from.take().wait()
///     });
///     yield_now().wait();
///     answer
/// });
/// asked.take().wait();
/// fiber.abort();
/// answer.put(42).wait();
/// assert!(fiber.wait().is_err_and(|error| error.is_cancelled()));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn foreign<T>(call: impl FnOnce() -> T) -> T {
    /// The call that goes on, of a fiber.
    struct Call<'a>(&'a dyn Stackful);
    impl Drop for Call<'_> {
        fn drop(&mut self) {
            self.0.foreign_call_returned();
        }
    }
    let fiber = fiber::stackful();
    // SAFETY: it is what runs here, and so are we, on its stack: it stays as long as this call.
    let _goes_on = fiber.map(|fiber| unsafe { fiber.as_ref() }).map(|fiber| {
        context::outside_selects(|| fiber.foreign_call_begins());
        Call(fiber)
    });
    call()
}

/// Whether the future is ready now. Its output is kept then.
type Polls<'a> = &'a mut dyn FnMut(&mut Context<'_>) -> bool;

/// Has `wait` poll the future until it is ready. What waits does not depend on the future's type, so that it is
/// compiled once.
#[inline(never)]
#[cfg_attr(debug_assertions, track_caller)]
fn poll_by<F: Future>(mut future: Pin<&mut F>, wait: impl FnOnce(Polls<'_>)) -> F::Output {
    #[cfg(all(debug_assertions, not(any(loom, shuttle))))]
    let _noted = crate::waits::Blocks::begin(&*future);
    let mut output = None;
    wait(&mut |cx| match future.as_mut().poll(cx) {
        Poll::Ready(ready) => {
            output = Some(ready);
            true
        }
        Poll::Pending => false,
    });
    output.expect("it was ready in the last poll")
}

/// Waits on the thread's own stack.
#[inline(always)]
#[track_caller]
fn block_thread<F: Future>(mut future: Pin<&mut F>, waiting: &Rests) -> F::Output {
    let late = LazyParker::new();
    // Where a permit is a thread's own, it has to be this one's, whoever wants it first.
    #[cfg(any(not(target_os = "linux"), loom, shuttle, gossamer_portable))]
    if !crate::mutant!("permit_of_whoever_asks") {
        late.parker();
    }
    let polled = late.with_waker(|waker| future.as_mut().poll(&mut Context::from_waker(waker)));
    if let Poll::Ready(output) = polled {
        match late.taken() {
            Some(parker) => waiting.0.woken_by(parker.waker()),
            // There is nothing to put back, and this is the way of most waits.
            None => core::mem::forget(late),
        }
        return output;
    }
    let alone = Alone::new(Location::caller(), context::range_of(&*future));
    poll_by(future, |poll| {
        block_longer(poll, waiting, late.parker(), alone);
    })
}

/// The future has been polled, and waits.
fn block_longer(
    poll: Polls<'_>,
    Rests(waiting, has_turned): &Rests,
    parker: &Parker,
    mut alone: Alone,
) {
    waiting.woken_by(parker.waker());
    let mut polled = Context::from_waker(parker.waker());
    loop {
        if !waiting.serve() {
            has_turned.set(true);
            if let Turned::Parked(until) = turn_all(parker.waker()) {
                let mut late = false;
                parker.look();
                let until = until.min(waiting.next_deadline());
                let mut is_ready = || {
                    late = poll(&mut polled);
                    late
                };
                let cell = owned_cell();
                let seat = cell
                    .as_ref()
                    .and_then(|cell| cell.sit_or_be_woken(parker.waker()));
                // It may be a wait for a task that nobody runs: in the end it panics.
                let left_alone = alone.shard().filter(|_| until == Moment::NEVER);
                let slept = match (seat, left_alone) {
                    // A turn delivers what is kept, unless another thread runs the runtime.
                    (Some(seat), _) if seat.deliver() => Ok(()),
                    (Some(seat), left_alone) => {
                        let looks = left_alone.is_some();
                        let mut has_come = || match looks {
                            true => alone.look(&mut is_ready),
                            false => is_ready(),
                        };
                        parker.wait_at(&seat, until, looks, &mut has_come);
                        Ok(())
                    }
                    (None, Some(shard)) => {
                        let counts = || !shard.is_left_alone();
                        parker.park_and_look(&counts, &mut || alone.look(&mut is_ready))
                    }
                    (None, None) => parker.park_or_fail(until, true, &mut is_ready),
                };
                slept.unwrap_or_else(|deadlock| panic!("{deadlock}"));
                if late {
                    return;
                }
            }
        }
        if poll(&mut polled) {
            return;
        }
    }
}

/// A wait, and whether it has given this thread's runtimes a turn: when it ends, they rest.
struct Rests(Waiting, Cell<bool>);

impl Rests {
    /// # Panics
    /// In a task.
    #[inline(always)]
    #[track_caller]
    fn begin() -> Self {
        refuse_inside_poll("wait()");
        Self(Waiting::begin(), Cell::new(false))
    }

    /// Ends the wait, as dropping it does. As a rule this takes only a few stores.
    #[inline(always)]
    fn end(self) {
        if !self.1.get() && self.0.ends_quickly() {
            core::mem::forget(self);
        }
    }
}

impl Drop for Rests {
    #[inline(never)]
    fn drop(&mut self) {
        if self.1.get() && self.0.is_outermost() {
            each_owned(|runtime| runtime.rest());
        }
    }
}

/// Gives every runtime of this thread a turn. Allocates nothing.
fn turn_all(waker: &Waker) -> Turned {
    let mut more = false;
    let mut until = Moment::NEVER;
    each_owned(|runtime| match runtime.turn(waker) {
        Turned::More => more = true,
        Turned::Parked(next) => until = until.min(next),
    });
    if more {
        Turned::More
    } else {
        Turned::Parked(until)
    }
}

/// Every runtime of this thread.
fn each_owned(mut each: impl FnMut(&dyn RunWhileWaiting)) {
    for at in 0.. {
        // Asked for anew each time: a task may build a runtime. There are none while the thread-locals of the thread
        // go.
        let runtime = OWNED.try_with(|owned| owned.borrow().get(at).map(|own| own.0.upgrade()));
        let Ok(Some(runtime)) = runtime else {
            break;
        };
        if let Some(runtime) = runtime {
            each(&*runtime);
        }
    }
}
