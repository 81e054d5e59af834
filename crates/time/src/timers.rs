//! Who waits for which moment.
//!
//! Every shard has its [`Timers`] as soon as it needs some, and so has every thread that waits and runs nothing; one
//! more belongs to the process, for timers that a foreign executor polls (`alarm.rs`). A [`Timer`] is a node inside the
//! operation that waits. It registers at the timers of whoever runs the thread that polls it, under a lock that any
//! thread may take, and whoever drops it takes it out again, wherever that is.
//!
//! # Who fires
//!
//! The runner ([`runner`]): between polls, once in so many, and before it parks ([`Timers::serve`]); and it parks no
//! longer than until [`Timers::next_deadline`]. Nobody else registers there, so nobody has to wake it: but for the
//! timers of a worker that retires, which go to another's shard ([`Timers::move_to`]), whose runner is called then. Any
//! other thread may fire as well ([`Timers::fire_due`]), for a runner that is stuck in a poll. A runner that stops, for
//! a while or for good, hands timers on to the process's own ([`Timers::rest`], [`Timers::end`]).
//!
//! `next` is a hint: no timer is earlier. It is lowered by registering and found anew by who fires or is about to park,
//! not by who cancels: so it may be too early, which costs a look for nothing. The runner reads it without the lock,
//! and sees at least what it has registered itself.
//!
//! # Who serves whom
//!
//! `core` knows no timers: `here.rs` says how a thread finds those that it registers with.
//!
//! # What is done without the lock
//!
//! Wakers are cloned before it is taken, and woken and dropped after it is given up. A timer that fires is taken out of
//! the wheel, its waker is taken out of it, and it is marked, in this order: then it may be freed. Not more than a few
//! dozen are taken out, or moved within the wheel, while the lock is held once.
//!
//! # Time
//!
//! Virtual in a simulation: the timers of its shard have a clock of their own, which only the simulation moves on.

mod alarm;
mod clock;
mod here;
pub mod runner;
mod timer;
mod waiting;
mod wheel;

use std::ptr::NonNull;
use std::task::Waker;

use gossamer_core::moment::Moment;
use gossamer_core::platform::atomic::Ordering;
use gossamer_core::platform::{UnmodelledU32, UnmodelledU64, UnsafeCell};
use gossamer_core::policy::{SharedWord, Word};
use gossamer_core::waiter::Deferred;
use gossamer_core::{mutant, panics, waker};

use self::here::here;
pub use self::here::now;
pub use self::timer::Timer;
use self::wheel::{AT_ONCE, Cursor, Due, Links, Wheel};

/// Whose the timers are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// A shard's. Its runner looks soon, so timers need not be dated before.
    Run,
    /// A waiting thread's.
    Waiting,
    /// The process's: the alarm thread is rung when one is registered that comes before all others.
    Alarm,
}

/// No virtual clock.
const REAL: u64 = u64::MAX;

/// Timers of one runner.
#[derive(Debug)]
pub struct Timers {
    /// The lock; its bits say nothing.
    word: SharedWord,
    /// A hint: no timer is earlier, in nanoseconds.
    next: UnmodelledU64,
    /// The virtual time in nanoseconds, or [`REAL`].
    clock: UnmodelledU64,
    /// Not zero: a waker that is no task of ours may be among theirs. Written by the runner.
    has_foreign: UnmodelledU32,
    kind: Kind,
    /// Made when the first timer is registered, and kept. Touched under the lock.
    wheel: UnsafeCell<Option<Box<Wheel>>>,
}

// SAFETY: the wheel is touched under the lock alone, and the timers in it are `Send`.
unsafe impl Sync for Timers {}
// SAFETY: as above.
unsafe impl Send for Timers {}

/// The lock, held.
#[derive(Debug)]
struct Locked<'a>(&'a Timers);

impl Locked<'_> {
    /// The wheel, if there ever was a timer.
    #[inline(always)]
    fn with<R>(&mut self, use_it: impl FnOnce(&mut Wheel) -> R) -> Option<R> {
        // SAFETY: the lock is held, and this borrow of it is exclusive.
        self.0
            .wheel
            .with_mut(|wheel| unsafe { (*wheel).as_deref_mut().map(use_it) })
    }

    /// # Safety
    /// As [`Wheel::insert`].
    #[inline(always)]
    unsafe fn insert(&mut self, timer: NonNull<Timer>) -> u64 {
        // SAFETY: the lock is held; the rest is passed on to the caller.
        self.0.wheel.with_mut(|wheel| unsafe {
            let wheel = (*wheel).get_or_insert_with(Wheel::new);
            wheel.insert(timer)
        })
    }

    /// # Safety
    /// As [`Wheel::remove`].
    #[inline(always)]
    unsafe fn remove(&mut self, timer: NonNull<Timer>) {
        // SAFETY: passed on to the caller.
        self.with(|wheel| unsafe { wheel.remove(timer) });
    }

    /// Takes a timer out that is to go on elsewhere: it is dated by the wheel that has stamped it.
    ///
    /// # Safety
    /// As [`Wheel::remove`].
    unsafe fn take_away(&mut self, timer: NonNull<Timer>) {
        // SAFETY: passed on to the caller.
        self.with(|wheel| unsafe { wheel.take_away(timer) });
    }

    /// Finds the hint anew.
    fn note_next(&mut self) -> u64 {
        let next = self.with(|wheel| wheel.next()).unwrap_or(u64::MAX);
        // Relaxed: a hint.
        self.0.next.store(next, Ordering::Relaxed);
        next
    }

    /// Lowers the hint; `true` if the timer comes before all others.
    #[inline(always)]
    fn lower_next(&mut self, deadline: u64) -> bool {
        // Relaxed: a hint, written under the lock.
        let is_first = deadline < self.0.next.load(Ordering::Relaxed);
        if is_first && !mutant!("timer_unnoted") {
            self.0.next.store(deadline, Ordering::Relaxed); // Relaxed: as above
        }
        is_first
    }
}

impl Drop for Locked<'_> {
    #[inline]
    fn drop(&mut self) {
        self.0.word.unlock(0);
    }
}

impl Timers {
    /// None, for a shard.
    fn new() -> Self {
        Self::of_kind(Kind::Run)
    }

    fn of_kind(kind: Kind) -> Self {
        Self {
            word: SharedWord::new(0),
            next: UnmodelledU64::new(u64::MAX),
            clock: UnmodelledU64::new(REAL),
            has_foreign: UnmodelledU32::new(0),
            kind,
            wheel: UnsafeCell::new(None),
        }
    }

    #[inline(always)]
    fn lock(&self) -> Locked<'_> {
        self.word.lock();
        Locked(self)
    }

    /// The virtual time, if there is one.
    #[inline(always)]
    fn virtual_now(&self) -> Option<u64> {
        // Relaxed: written by the runner, who alone asks in earnest.
        let now = self.clock.load(Ordering::Relaxed);
        (now != REAL).then_some(now)
    }

    /// Notes from when on a timer's time counts, which is not dated yet.
    #[inline(always)]
    fn stamp(&self, links: &mut Links) {
        links.count_from_now(self.kind == Kind::Run && self.virtual_now().is_none());
    }

    /// Notes that a foreign waker is about to be among theirs.
    #[cold]
    fn note_foreign(&self) {
        // Relaxed: by the runner, who alone asks.
        self.has_foreign.store(1, Ordering::Relaxed);
    }

    /// Registers a timer, whose waker is in place.
    ///
    /// # Safety
    /// It is in no wheel, and stays where it is until it has been taken out of these.
    #[inline(always)]
    unsafe fn register(&'static self, timer: NonNull<Timer>) {
        let mut locked = self.lock();
        // SAFETY: passed on to the caller; under the lock.
        let is_first = unsafe {
            let deadline = locked.insert(timer);
            Timer::set_owner(timer, self);
            locked.lower_next(deadline)
        };
        drop(locked);
        if is_first && self.kind == Kind::Alarm {
            alarm::ring();
        }
    }

    /// Fires what is due, by the clock of the machine; cheap if there are no timers. `true` if something was.
    ///
    /// For the runner, between polls. In a simulation nothing is ever due here: it moves its time on itself.
    #[inline]
    pub fn serve(&self) -> bool {
        // Relaxed: a hint; see the module.
        let next = self.next.load(Ordering::Relaxed);
        next != u64::MAX && self.serve_if(next)
    }

    #[cold]
    fn serve_if(&self, next: u64) -> bool {
        if self.virtual_now().is_some() {
            return false;
        }
        let now = Moment::real_now();
        now.nanos() >= next && self.fire_due(now)
    }

    /// Fires what is due at `now`: wakes those who wait, in the order of their deadlines, about. Any thread may.
    ///
    /// # Returns
    /// Whether anything was due.
    pub fn fire_due(&self, now: Moment) -> bool {
        let mut now = now.nanos();
        // Time goes on meanwhile, but not without end.
        let last = now | ((1 << wheel::TICK_BITS) - 1);
        let mut look = None;
        let mut due = Due::new();
        let mut any = false;
        loop {
            let mut locked = self.lock();
            let all = locked
                .with(|wheel| wheel.fire(now, &mut look, &mut due))
                .unwrap_or(true);
            if all {
                locked.note_next();
            }
            drop(locked);
            for waker in due.take() {
                any = true;
                wake(waker);
            }
            if all {
                return any;
            }
            if self.virtual_now().is_none() && cfg!(not(any(loom, shuttle))) {
                now = now.max(Moment::real_now().nanos().min(last));
            }
        }
    }

    /// No timer's deadline is earlier. Cheap, and dates nothing: for a thread other than the runner's, which may be
    /// setting and cancelling timers as fast as it can.
    pub fn earliest(&self) -> Moment {
        let earliest = self.lock().with(|wheel| wheel.earliest());
        Moment::from_nanos(earliest.unwrap_or(u64::MAX))
    }

    /// When to look again: no timer's deadline is earlier. (Perhaps now, though none is due.) Any thread may ask.
    pub fn next_deadline(&self) -> Moment {
        // Relaxed: a hint; who puts timers where somebody else runs calls that runner afterwards.
        if self.next.load(Ordering::Relaxed) == u64::MAX || self.virtual_now().is_some() {
            return Moment::NEVER;
        }
        Moment::from_nanos(self.lock().note_next())
    }

    /// Whether there may be a timer. For the runner.
    #[inline]
    pub fn may_have_any(&self) -> bool {
        // Relaxed: the runner has registered it, or it has been told.
        self.next.load(Ordering::Relaxed) != u64::MAX
    }

    /// Moves all timers there, a few at a time. Nobody registers here meanwhile.
    ///
    /// # Returns
    /// Whether there were any: then call who runs there.
    pub fn move_to(&'static self, other: &'static Self) -> bool {
        self.may_have_any() && self.move_such(other, |_| true)
    }

    /// The same with those that are such.
    fn move_such(&'static self, other: &'static Self, is_such: impl Fn(&Links) -> bool) -> bool {
        let (mut any, mut moved) = (false, false);
        let mut cursor = Cursor::new();
        loop {
            // Two locks at once: so one at a time does this.
            let _moves = waiting::moves();
            let (mut from, mut to) = (self.lock(), other.lock());
            for _ in 0..AT_ONCE {
                let find = |wheel: &mut Wheel| wheel.find(&mut cursor, &is_such);
                let Some(timer) = from.with(find).flatten() else {
                    if std::mem::take(&mut moved) {
                        // Somebody else may have moved some to where this had looked already.
                        cursor = Cursor::new();
                        break;
                    }
                    from.note_next();
                    return any;
                };
                (any, moved) = (true, true);
                // SAFETY: under both locks; a timer in a wheel is alive.
                unsafe {
                    from.take_away(timer);
                    let deadline = to.insert(timer);
                    Timer::set_owner(timer, other);
                    to.lower_next(deadline);
                }
            }
            cursor.begin_slot_anew();
        }
    }

    /// Nobody serves these for a while, perhaps never again. An operation whose waker is no task's, because another
    /// one wraps it, is polled elsewhere only when that waker is called: so such timers go to the process's own; but
    /// for those that wake who has served these, whose operations are polled again wherever they are. If the system
    /// grants no thread, they stay.
    ///
    /// For the runner, when it stops.
    pub fn rest(&'static self, wakes_runner: impl Fn(&Waker) -> bool) {
        // Relaxed: written by the runner.
        let has_foreign = self.has_foreign.load(Ordering::Relaxed) != 0;
        if !has_foreign || self.virtual_now().is_some() || mutant!("rest_keeps_timers") {
            return;
        }
        let is_such = |links: &Links| {
            !links
                .waker
                .as_ref()
                .is_some_and(|waker| waker::task_of(waker).is_some() || wakes_runner(waker))
        };
        let find = |wheel: &mut Wheel| wheel.find(&mut Cursor::new(), is_such);
        let any = self.lock().with(find).flatten().is_some();
        if any {
            if !alarm::starts() {
                return;
            }
            self.move_such(alarm::timers(), is_such);
            alarm::ring();
        }
        self.has_foreign.store(0, Ordering::Relaxed); // Relaxed: as above
    }

    /// The runner has ended. Timers that are left, of operations that have outlived it, go to the process's own; if
    /// the system grants no thread for those, they wait for the next one who needs it.
    pub fn end(&'static self) {
        if self.virtual_now().is_some() {
            self.end_simulation();
        } else if self.move_to(alarm::timers()) {
            let _starts = alarm::starts();
            alarm::ring();
        }
    }

    /// Time is virtual here from now on, and stands still.
    ///
    /// # Returns
    /// What time it is.
    pub fn begin_simulation(&self) -> Moment {
        let now = Moment::real_now();
        // Relaxed: by the runner, before it has any timer.
        self.clock.store(now.nanos(), Ordering::Relaxed);
        now
    }

    /// In a simulation: moves time on to the next deadline, if there is one. Then [fire](Timers::fire_due).
    pub fn advance(&self) -> Option<Moment> {
        let next = self.lock().with(Wheel::advance).flatten()?;
        let now = next.max(self.virtual_now()?);
        // Relaxed: by the runner.
        self.clock.store(now, Ordering::Relaxed);
        Some(Moment::from_nanos(now))
    }

    /// Time is real again. Timers of operations that have outlived the simulation are in no wheel any more.
    fn end_simulation(&self) {
        loop {
            let waker = {
                let mut locked = self.lock();
                let any = |wheel: &mut Wheel| wheel.find(&mut Cursor::new(), |_| true);
                let Some(timer) = locked.with(any).flatten() else {
                    locked.note_next();
                    break;
                };
                // SAFETY: under the lock; a timer in a wheel is alive.
                unsafe {
                    locked.remove(timer);
                    Timer::detach(timer)
                }
            };
            if let Some(waker) = waker {
                panics::end(|| drop(waker));
            }
        }
        self.lock().with(Wheel::begin_anew);
        // Relaxed: by the runner; there are no timers.
        self.clock.store(REAL, Ordering::Relaxed);
    }
}

fn wake(waker: Waker) {
    if waker::task_of(&waker).is_some() {
        if let Some(runner) = waker::wake_owned(waker) {
            Deferred::new(runner).run();
        }
    } else {
        Deferred::new(waker).run();
    }
}

#[cfg(all(test, loom))]
mod model_tests;
#[cfg(all(test, not(any(loom, shuttle))))]
mod tests;
