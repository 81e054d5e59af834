//! A thread that computes: its deque, and where it looks for jobs.

use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::ptr;
use std::sync::{Arc, Weak};

use crossbeam_deque::{Steal, Worker};
use gossamer_core::context::{self, Context};
use gossamer_core::panics;
use gossamer_core::parker::Parker;
#[cfg(loom)]
use gossamer_core::platform::atomic::{AtomicUsize, Ordering};
use gossamer_core::platform::{spin_loop, thread, thread_local};

use crate::job::{Header, Job, JobRef, Payload};
use crate::team::{Seat, Team};

/// Looks for a job before a thread gives the processor up between two of them.
const LOOKS: u32 = 64;
/// How often it looks again before it sleeps or leaves: for some fifty microseconds, as giving up takes half of one.
const LOOKS_MAX: u32 = if cfg!(loom) { 0 } else { LOOKS + 100 };

thread_local! {
    /// The member that this thread is, or null.
    static CURRENT: Cell<*const Member<'static>> = const { Cell::new(ptr::null()) };

    /// The deque of this thread's last computation.
    static DEQUE: Cell<Option<Deque>> = const { Cell::new(None) };
}

/// A thread's deque, and the part of it that others have. The thread keeps them for its next computation.
struct Deque {
    jobs: Worker<JobRef>,
    seat: Arc<Seat>,
    /// All seats of the team, as of that version. (Some may be of threads that have ended: they go at the next look.)
    seats: RefCell<(Vec<Arc<Seat>>, usize)>,
    /// The team. A late thief of it may still be at the deque, and would run another team's job as one of its own; and
    /// another team's seats and versions are others.
    team: Weak<Team>,
}

/// A thread that computes.
pub(crate) struct Member<'a> {
    team: &'a Arc<Team>,
    deque: Deque,
    parker: &'a Parker,
    /// Where the next search begins.
    next: Cell<usize>,
}

/// Another's job, stolen from that seat.
pub(crate) struct Stolen(JobRef, Arc<Seat>);

fn current() -> *const Member<'static> {
    CURRENT.with(Cell::get)
}

/// Whether the current thread computes, and is in no fiber: then what it calls here is part of its computation.
#[inline]
pub fn is_inside() -> bool {
    !current().is_null() && !context::with(Context::is_in_fiber)
}

/// Calls `use_it` with the member that this thread is.
#[inline(always)]
pub(crate) fn with_current<R>(use_it: impl FnOnce(Option<&Member<'_>>) -> R) -> R {
    if !is_inside() {
        return use_it(None);
    }
    // SAFETY: it stands on this stack, below this call, until `Member::enter` sets the pointer back. No fiber does so in
    // between: none is a member.
    use_it(unsafe { current().as_ref() })
}

/// Calls both closures, perhaps at the same time, and returns when both have ended; see the facade.
#[inline]
pub fn join<A, B, RA, RB>(a: A, b: B) -> (RA, RB)
where
    A: FnOnce() -> RA + Send,
    B: FnOnce() -> RB + Send,
    RA: Send,
    RB: Send,
{
    with_current(|member| match member {
        Some(member) => member.join(a, b),
        None => in_order(catch(a), b),
    })
}

#[inline]
fn catch<R>(body: impl FnOnce() -> R) -> Result<R, Payload> {
    catch_unwind(AssertUnwindSafe(body))
}

/// Calls `b`, unless the first has panicked.
#[inline]
pub(crate) fn in_order<RA, RB>(first: Result<RA, Payload>, b: impl FnOnce() -> RB) -> (RA, RB) {
    match first {
        Ok(first) => both(Ok(first), catch(b)),
        Err(payload) => {
            panics::end(|| drop(b));
            resume_unwind(payload)
        }
    }
}

/// Both results. If one has panicked, that goes on, whatever dropping the other does.
#[inline]
fn both<RA, RB>(first: Result<RA, Payload>, second: Result<RB, Payload>) -> (RA, RB) {
    match (first, second) {
        (Ok(first), Ok(second)) => (first, second),
        (Err(payload), second) => {
            match second {
                Ok(second) => panics::end(|| drop(second)),
                Err(payload) => panics::swallow(payload),
            }
            resume_unwind(payload)
        }
        (Ok(first), Err(payload)) => {
            panics::end(|| drop(first));
            resume_unwind(payload)
        }
    }
}

impl Deque {
    /// That of the current thread, which `parker` puts to sleep, in this team.
    fn of(team: &Arc<Team>, parker: &Parker) -> Self {
        // While the thread's thread-locals go, there is none.
        let kept = DEQUE.try_with(Cell::take).ok().flatten();
        // The weak pointer keeps the team's memory, so that no other one comes to lie there.
        let is_its = |deque: &Self| {
            ptr::eq(deque.team.as_ptr(), Arc::as_ptr(team))
                || gossamer_core::mutant!("deque_is_for_any_team")
        };
        let fits = |deque: &Self| is_its(deque) && deque.seat.waker.will_wake(parker.waker());
        kept.filter(fits).unwrap_or_else(|| {
            let jobs = Worker::new_lifo();
            let seat = Arc::new(Seat {
                stealer: jobs.stealer(),
                waker: parker.waker().clone(),
                #[cfg(loom)]
                pushes: AtomicUsize::new(0),
            });
            Self {
                jobs,
                seat,
                seats: RefCell::default(),
                team: Arc::downgrade(team),
            }
        })
    }

    /// The current thread keeps it for the next time.
    fn put_back(self) {
        let _kept = DEQUE.try_with(|deque| deque.set(Some(self)));
    }
}

/// Sets back which member this thread is.
struct Outer<'a>(*const Member<'static>, &'a Member<'a>);

impl Drop for Outer<'_> {
    fn drop(&mut self) {
        CURRENT.with(|current| current.set(self.0));
        let member = self.1;
        debug_assert!(member.deque.jobs.is_empty(), "a job is left behind");
        member.team.give_seat_back(&member.deque.seat);
    }
}

impl Member<'_> {
    /// Has the current thread be a member of that team while `body` runs.
    pub(crate) fn enter<R>(team: &Arc<Team>, body: impl FnOnce(&Member<'_>) -> R) -> R {
        Parker::with(|parker| {
            let deque = Deque::of(team, parker);
            team.take_seat(&deque.seat);
            let member = Member {
                team,
                deque,
                parker,
                next: Cell::new(0),
            };
            let outer = CURRENT.with(|current| current.replace(ptr::from_ref(&member).cast()));
            let outer = Outer(outer, &member);
            let result = body(&member);
            drop(outer);
            member.deque.put_back();
            result
        })
    }

    #[inline]
    fn join<A, B, RA, RB>(&self, a: A, b: B) -> (RA, RB)
    where
        A: FnOnce() -> RA + Send,
        B: FnOnce() -> RB + Send,
        RA: Send,
        RB: Send,
    {
        let job = Job::new(b);
        // Pairs with the acquire in `find`.
        #[cfg(loom)]
        self.deque.seat.pushes.fetch_add(1, Ordering::Release);
        // SAFETY: this call returns when it has popped the reference, or the job is done; it is on this stack.
        self.deque.jobs.push(unsafe { job.to_ref() });
        self.team.job_is_there();
        let first = catch(a);
        // What was pushed later has been popped, and what was pushed before is stolen before: it is our job, or none.
        if self.deque.jobs.pop().is_some() {
            return in_order(first, job.into_work());
        }
        self.wait_for(job.header());
        both(first, job.into_result())
    }

    /// Runs others' jobs until this one, which a thief has, is done.
    #[cold]
    fn wait_for(&self, job: &Header) {
        while !job.is_done() {
            match self.look(|| job.is_done()) {
                Some(stolen) => stolen.run(),
                None if job.is_done() => return,
                None => self.sleep_until(job),
            }
        }
    }

    fn sleep_until(&self, job: &Header) {
        self.team.fall_asleep(&self.deque.seat);
        if !self.sees_something() && job.owner_sleeps() {
            self.parker.park(&mut || job.is_done());
        }
        // It was called for another's job, and has its own result first: it calls the next.
        if self.team.wake_up(&self.deque.seat) && job.is_done() && self.sees_something() {
            self.team.call_one();
        }
    }

    /// A job to do, found within some fifty microseconds, unless `is_over` before.
    pub(crate) fn look(&self, is_over: impl Fn() -> bool) -> Option<Stolen> {
        let mut looks = 0;
        loop {
            if let Some(stolen) = self.find() {
                return Some(stolen);
            }
            if looks == LOOKS_MAX || is_over() {
                return None;
            }
            looks += 1;
            if looks < LOOKS {
                spin_loop();
            } else {
                thread::yield_now();
            }
        }
    }

    fn find(&self) -> Option<Stolen> {
        let mut seats = self.deque.seats.borrow_mut();
        let (seats, version) = &mut *seats;
        self.team.seats(seats, version);
        let first = self.next.get();
        for at in first..first + seats.len() {
            let seat = &seats[at % seats.len()];
            loop {
                match seat.stealer.steal() {
                    Steal::Success(job) => {
                        // Acquire pairs with the release in `join`.
                        #[cfg(loom)]
                        seat.pushes.fetch_add(0, Ordering::Acquire);
                        self.next.set(at);
                        return Some(Stolen(job, seat.clone()));
                    }
                    Steal::Empty => break,
                    Steal::Retry => spin_loop(),
                }
            }
        }
        self.next.set(first.wrapping_add(1) % seats.len().max(1));
        None
    }

    /// Whether there is something to do: its last look, after it has counted itself out.
    pub(crate) fn sees_something(&self) -> bool {
        let mut seats = self.deque.seats.borrow_mut();
        let (seats, version) = &mut *seats;
        self.team.seats(seats, version);
        // Loom knows of a push by this alone.
        #[cfg(loom)]
        seats.iter().for_each(|seat| {
            seat.pushes.load(Ordering::Relaxed); // Relaxed: it orders nothing
        });
        seats.iter().any(|seat| !seat.stealer.is_empty())
    }

    /// Whether others may look for jobs here in vain.
    pub(crate) fn has_nothing_to_give(&self) -> bool {
        let is_alone = self.team.limit() == 1 || gossamer_core::mutant!("part_is_kept");
        !is_alone && self.deque.jobs.is_empty()
    }

    pub(crate) fn team(&self) -> &Team {
        self.team
    }
}

impl Stolen {
    pub(crate) fn run(self) {
        let Self(job, seat) = self;
        // SAFETY: it was stolen from that seat.
        unsafe { job.run(&seat.waker) };
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests;
