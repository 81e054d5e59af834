//! A computation that a helper carries out, while a fiber or a task waits for it.
//!
//! A fiber is no member of a team: it may stand still in the midst of a part, and another fiber of its thread would then
//! find its jobs. So it hands its computation over. The async form does the same, so as not to hold its worker.

use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use gossamer_core::context;
use gossamer_core::panics;
use gossamer_core::parker::Parker;
use gossamer_core::platform::{Mutex, thread};
use gossamer_core::wait::Wait;
use gossamer_core::waiter::Deferred;

use crate::job::Payload;
use crate::member::{Member, is_inside};
use crate::team::{Root, Team};

type Work<T> = Box<dyn FnOnce() -> T + Send>;

enum State<T> {
    /// Nobody has begun; with the waker of the owner.
    Waiting(Work<T>, Waker),
    Running(Waker),
    Done(Result<T, Payload>),
    Refused(Work<T>),
    /// The result is taken, or nobody wants it.
    Over,
}

struct Slot<T>(Mutex<State<T>>);

impl<T> Slot<T> {
    fn replace(&self, state: State<T>) -> State<T> {
        mem::replace(&mut *self.0.lock(), state)
    }

    /// Takes what is there, so that no helper begins any more; if one has begun, has it wake `waker` at its end.
    fn end_unless_running(&self, waker: &Waker) -> Option<State<T>> {
        let waker = waker.clone();
        let mut state = self.0.lock();
        let _replaced = match &mut *state {
            State::Running(other) => mem::replace(other, waker),
            ended => return Some(mem::replace(ended, State::Over)),
        };
        drop(state);
        None
    }
}

impl<T: Send> Root for Slot<T> {
    fn run(&self) {
        let work = {
            let mut state = self.0.lock();
            match mem::replace(&mut *state, State::Over) {
                State::Waiting(work, waker) => {
                    *state = State::Running(waker);
                    work
                }
                // It was taken back.
                other => {
                    *state = other;
                    return;
                }
            }
        };
        let result = catch_unwind(AssertUnwindSafe(work));
        let (waker, unwanted) = {
            let mut state = self.0.lock();
            match mem::replace(&mut *state, State::Over) {
                State::Running(waker) => {
                    *state = State::Done(result);
                    (Some(waker), None)
                }
                _nobody_waits => (None, Some(result)),
            }
        };
        if let Some(waker) = waker {
            Deferred::new(waker).run();
        }
        drop_quietly(unwanted);
    }

    fn refuse(&self) {
        let waker = {
            let mut state = self.0.lock();
            match mem::replace(&mut *state, State::Over) {
                State::Waiting(work, waker) => {
                    *state = State::Refused(work);
                    waker
                }
                other => {
                    *state = other;
                    return;
                }
            }
        };
        Deferred::new(waker).run();
    }
}

fn drop_quietly<T>(result: Option<Result<T, Payload>>) {
    match result {
        Some(Err(payload)) => panics::swallow(payload),
        output => panics::end(|| drop(output)),
    }
}

/// A computation, handed over to a helper by the first poll.
///
/// Dropped before a helper has begun, it is never made; dropped later, its result is dropped when it is there.
#[must_use = "operations do nothing until they are awaited or waited for"]
pub struct Handed<T> {
    team: Arc<Team>,
    stage: Stage<T>,
    /// Dropped while it is carried out, it waits for the end.
    borrows: bool,
}

enum Stage<T> {
    New(Work<T>),
    Sent(Arc<Slot<T>>),
    Over,
}

impl<T> Unpin for Handed<T> {}

impl<T: Send + 'static> Handed<T> {
    /// Nobody has begun.
    pub fn new(team: Arc<Team>, work: impl FnOnce() -> T + Send + 'static) -> Self {
        Self {
            team,
            stage: Stage::New(Box::new(work)),
            borrows: false,
        }
    }
}

impl<T: Send> Handed<T> {
    /// As [`new`](Handed::new), of a computation that borrows, and so may its result.
    ///
    /// # Safety
    /// The result is dropped before what is borrowed goes; it is not leaked.
    unsafe fn borrowing(team: &Arc<Team>, work: impl FnOnce() -> T + Send) -> Self {
        let work: Box<dyn FnOnce() -> T + Send + '_> = Box::new(work);
        Self {
            team: team.clone(),
            // SAFETY: only the lifetime changes. The closure is gone when this value is: `drop` takes it back, or waits
            // until it has returned.
            stage: Stage::New(unsafe {
                mem::transmute::<Box<dyn FnOnce() -> T + Send + '_>, Work<T>>(work)
            }),
            borrows: true,
        }
    }

    /// Hands over what nobody has begun; the helper wakes `waker`.
    #[cold]
    fn send(&mut self, work: Work<T>, waker: Waker) {
        let slot = Arc::new(Slot(Mutex::new(State::Waiting(work, waker))));
        self.stage = Stage::Sent(slot.clone());
        let root: Arc<dyn Root + '_> = slot;
        // SAFETY: only the lifetime changes. If it borrows, then `drop` leaves nothing in the slot that does.
        let root = unsafe { mem::transmute::<Arc<dyn Root + '_>, Arc<dyn Root>>(root) };
        self.team.hand_over(root);
    }
}

impl<T: Send> Future for Handed<T> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<T> {
        // User code, which may panic: before anything is moved.
        let waker = cx.waker().clone();
        let slot = match mem::replace(&mut self.stage, Stage::Over) {
            Stage::New(work) => {
                self.send(work, waker);
                return Poll::Pending;
            }
            Stage::Sent(slot) => slot,
            Stage::Over => panic!("a computation was polled after it was complete"),
        };
        let ended = {
            let mut state = slot.0.lock();
            match &mut *state {
                State::Waiting(_, other) | State::Running(other) => Err(mem::replace(other, waker)),
                _ended => Ok(mem::replace(&mut *state, State::Over)),
            }
        };
        match ended {
            Ok(State::Done(result)) => {
                Poll::Ready(result.unwrap_or_else(|payload| resume_unwind(payload)))
            }
            Ok(State::Refused(work)) => Poll::Ready(work()),
            Ok(_) => unreachable!("its owner takes the result once"),
            Err(_replaced) => {
                self.stage = Stage::Sent(slot);
                Poll::Pending
            }
        }
    }
}

impl<T> Drop for Handed<T> {
    fn drop(&mut self) {
        let slot = match mem::replace(&mut self.stage, Stage::Over) {
            Stage::Sent(slot) => slot,
            Stage::New(work) => return panics::end(|| drop(work)),
            Stage::Over => return,
        };
        let ended = match self.borrows && !gossamer_core::mutant!("fiber_leaves_its_computation") {
            false => slot.replace(State::Over),
            // A helper may be at it, on another thread.
            true => Parker::with(|parker| {
                loop {
                    if let Some(ended) = slot.end_unless_running(parker.waker()) {
                        return ended;
                    }
                    parker.park(&mut || !matches!(*slot.0.lock(), State::Running(_)));
                }
            }),
        };
        match ended {
            State::Done(result) => drop_quietly(Some(result)),
            other => panics::end(|| drop(other)),
        }
    }
}

/// Runs `body` as a computation of that team's: on this thread and on those that help, or, for a fiber, on those alone.
///
/// # Panics
/// As `body` does.
pub fn compute<R: Send>(team: &Arc<Team>, body: impl FnOnce() -> R + Send) -> R {
    if context::with(context::Context::is_in_fiber) {
        if thread::panicking() {
            // It unwinds, so it cannot stand still.
            return body();
        }
        // SAFETY: it is dropped here, before what the body borrows.
        return unsafe { Handed::borrowing(team, body) }.wait();
    }
    team.follow_resize();
    team.count_in();
    let _leaves = Leaves(team);
    Member::enter(team, |_| body())
}

/// Runs `body` as part of the computation that this is in, or as one of its own: of the team that `find` gives, or of this
/// thread alone.
///
/// # Panics
/// As `body` does.
#[inline]
pub fn inside<R: Send>(
    find: impl FnOnce() -> Option<Arc<Team>>,
    body: impl FnOnce() -> R + Send,
) -> R {
    if is_inside() {
        return body();
    }
    begin(find(), body)
}

#[cold]
fn begin<R: Send>(team: Option<Arc<Team>>, body: impl FnOnce() -> R + Send) -> R {
    match team {
        Some(team) => compute(&team, body),
        None => body(),
    }
}

/// A thread that has come of itself leaves.
struct Leaves<'a>(&'a Arc<Team>);

impl Drop for Leaves<'_> {
    fn drop(&mut self) {
        self.0.leave();
    }
}

gossamer_core::impl_debug!([T] Handed[T]);

#[cfg(all(test, loom))]
mod tests;
