//! The timers of the operations that wait for a moment.
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
pub(crate) mod here;
mod node;
pub mod runner;
mod timer;
mod waiting;
mod wheel;

use std::ptr::{self, NonNull};
use std::task::Waker;

use gossamer_core::context::{self, Context};
use gossamer_core::moment::Moment;
use gossamer_core::platform::atomic::Ordering;
use gossamer_core::platform::{
    Mutex, MutexGuard, UnmodelledU32, UnmodelledU64, UnsafeCell, has_counter, per_process,
};
use gossamer_core::policy::{HeldWord, SharedWord, Word};
use gossamer_core::shard::Shard;
use gossamer_core::waiter::Deferred;
use gossamer_core::{mutant, panics, waker};

pub use self::node::Timer;
use self::node::{Entry, FIRED, Idle, Links};
use self::wheel::{AT_ONCE, Cursor, Due, Wheel};

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
    /// A shard's: its runner looks soon, so timers need not be dated before.
    stamps: bool,
    /// Called when a timer is registered that comes before all others; the process's have it.
    ring: Option<fn()>,
    /// Made when the first timer is registered, and kept. Touched under the lock.
    wheel: UnsafeCell<Option<Box<Wheel>>>,
}

per_process! {
    /// Held while timers move, or are made for a shard.
    fn moving() -> Mutex<()> = Mutex::default()
}

/// Keeps others from moving timers, and from making them.
fn moves() -> MutexGuard<'static, ()> {
    moving().lock()
}

// SAFETY: the wheel is touched under the lock alone, and the timers in it are `Send`.
unsafe impl Sync for Timers {}
// SAFETY: the timers in the wheel are `Send`, and everything else is atomic.
unsafe impl Send for Timers {}

/// The lock, held.
#[derive(Debug)]
struct Locked<'a> {
    timers: &'a Timers,
    /// Taken out by the drop.
    word: Option<HeldWord<'a, SharedWord>>,
}

impl Locked<'_> {
    /// The wheel, if there ever was a timer.
    #[inline(always)]
    fn with<R>(&mut self, use_it: impl FnOnce(&mut Wheel) -> R) -> Option<R> {
        self.wheel(|wheel| wheel.as_deref_mut().map(use_it))
    }

    #[inline(always)]
    fn wheel<R>(&mut self, use_it: impl FnOnce(&mut Option<Box<Wheel>>) -> R) -> R {
        // SAFETY: the lock is held, and this borrow of it is exclusive.
        let with = |wheel: *mut Option<Box<Wheel>>| use_it(unsafe { &mut *wheel });
        self.timers.wheel.with_mut(with)
    }

    /// Puts a timer into the wheel, and says that it is there.
    ///
    /// # Returns
    /// Whether it comes before all others.
    ///
    /// # Safety
    /// As [`Wheel::insert`].
    #[inline(always)]
    unsafe fn insert(&mut self, timer: Entry) -> bool {
        let deadline = self.wheel(|wheel| {
            let wheel = wheel.get_or_insert_with(Wheel::new);
            // SAFETY: the timer is in no wheel, as this function requires too.
            unsafe { wheel.insert(timer) }
        });
        timer.set_owner(ptr::from_ref(self.timers).cast());
        self.lower_next(deadline)
    }

    /// Finds the hint anew.
    fn note_next(&mut self) -> u64 {
        let next = self.with(|wheel| wheel.next()).unwrap_or(u64::MAX);
        // Relaxed: a hint.
        self.timers.next.store(next, Ordering::Relaxed);
        next
    }

    /// Lowers the hint; `true` if the timer comes before all others.
    #[inline(always)]
    fn lower_next(&mut self, deadline: u64) -> bool {
        // Relaxed: a hint, written under the lock.
        let is_first = deadline < self.timers.next.load(Ordering::Relaxed);
        if is_first && !mutant!("timer_unnoted") {
            self.timers.next.store(deadline, Ordering::Relaxed); // Relaxed: as above
        }
        is_first
    }
}

impl Drop for Locked<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        if let Some(word) = self.word.take() {
            word.unlock();
        }
    }
}

impl Timers {
    /// None so far.
    fn new(stamps: bool, ring: Option<fn()>) -> Self {
        Self {
            word: SharedWord::new(0),
            next: UnmodelledU64::new(u64::MAX),
            clock: UnmodelledU64::new(REAL),
            has_foreign: UnmodelledU32::new(0),
            stamps,
            ring,
            wheel: UnsafeCell::new(None),
        }
    }

    #[inline(always)]
    fn lock(&self) -> Locked<'_> {
        Locked {
            timers: self,
            word: Some(self.word.lock()),
        }
    }

    /// Those of a shard, if it has needed any so far.
    #[inline(always)]
    fn of(shard: &Shard) -> Option<&'static Self> {
        // SAFETY: a shard's timers, or null.
        unsafe { Self::known(shard.timers()) }
    }

    /// Those of the shard that this thread runs, if it has any.
    #[inline(always)]
    fn run_here() -> Option<&'static Self> {
        // SAFETY: a shard's timers, or null.
        unsafe { Self::known(context::with(Context::timers)) }
    }

    /// # Safety
    /// A shard's timers, or null.
    #[inline(always)]
    unsafe fn known(timers: *const ()) -> Option<&'static Self> {
        // SAFETY: `make` alone gives a shard timers; they are of this type, and never freed.
        unsafe { timers.cast::<Self>().as_ref() }
    }

    /// Gives a shard its timers, unless another thread just has.
    #[cold]
    #[inline(never)]
    fn make(shard: &'static Shard) -> &'static Self {
        let _one_at_a_time = moves();
        let made = Self::of(shard).filter(|_| !mutant!("timers_made_twice"));
        made.unwrap_or_else(|| {
            let new: &'static Self = Box::leak(Box::new(Self::new(true, None)));
            // SAFETY: never freed, and `known` alone takes them for what they are.
            unsafe { shard.set_timers(NonNull::from_ref(new).cast()) };
            new
        })
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
        let virtual_now = self.virtual_now();
        // With a stamp it is dated later, by whoever looks at the wheel.
        if !self.stamps || virtual_now.is_some() || !has_counter() {
            date_from(links, virtual_now);
        }
    }

    /// Notes that a foreign waker is about to be among theirs.
    #[cold]
    fn note_foreign(&self) {
        // Relaxed: by the runner, who alone asks.
        self.has_foreign.store(1, Ordering::Relaxed);
    }

    /// Registers a timer, whose waker is in place.
    #[inline(always)]
    fn register(&'static self, timer: Idle<'_>) {
        let mut locked = self.lock();
        // SAFETY: this thread holds the lock, and the entry is used for the wheel alone.
        let timer = unsafe { timer.into_entry() };
        // SAFETY: the timer is in no wheel.
        let is_first = unsafe { locked.insert(timer) };
        drop(locked);
        if let Some(ring) = self.ring.filter(|_| is_first) {
            ring();
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

    /// Moves the timers that `is_such` chooses, a few at a time.
    fn move_such(&'static self, other: &'static Self, is_such: impl Fn(&Links) -> bool) -> bool {
        let (mut any, mut moved) = (false, false);
        let mut cursor = Cursor::new();
        loop {
            // Two locks at once: so one at a time does this.
            let _moves = moves();
            let (mut from, mut to) = (self.lock(), other.lock());
            for _ in 0..AT_ONCE {
                let take = |wheel: &mut Wheel| wheel.take_such(&mut cursor, &is_such);
                let Some(timer) = from.with(take).flatten() else {
                    if std::mem::take(&mut moved) {
                        // Somebody else may have moved some to where this had looked already.
                        cursor = Cursor::new();
                        break;
                    }
                    from.note_next();
                    return any;
                };
                (any, moved) = (true, true);
                // SAFETY: just taken out, under both locks.
                unsafe { to.insert(timer) };
            }
            cursor.begin_slot_anew();
        }
    }

    /// Time is virtual here from now on, and stands still at this moment.
    pub fn begin_simulation(&self, at: Moment) {
        // Relaxed: by the runner, before it has any timer.
        self.clock.store(at.nanos(), Ordering::Relaxed);
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
                let take = |wheel: &mut Wheel| wheel.take_such(&mut Cursor::new(), |_| true);
                let Some(timer) = locked.with(take).flatten() else {
                    locked.note_next();
                    break;
                };
                // SAFETY: taken out, and this was the last look at it.
                unsafe { timer.give_back(ptr::null_mut()) }
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

/// A timer in its wheel, whose lock is held.
struct LockedTimer {
    locked: Locked<'static>,
    timer: Entry,
}

impl LockedTimer {
    /// Takes the lock of the timer's owner, if it has one that is such.
    #[inline(always)]
    fn of(timer: &Timer, is_such: impl Fn(*const Timers) -> bool) -> Option<Self> {
        loop {
            // Acquire pairs with the release in `set_owner`.
            let owner = timer.owner.load(Ordering::Acquire);
            if owner.is_null() || owner == FIRED || !is_such(owner.cast()) {
                return None;
            }
            // SAFETY: an owner but null and `FIRED` is timers, which are never freed.
            let timers = unsafe { &*owner.cast::<Timers>() };
            let locked = timers.lock();
            // It may have fired meanwhile, or moved. Relaxed: it changes under this lock alone.
            if timer.owner.load(Ordering::Relaxed) == owner || mutant!("timer_cancelled_twice") {
                // SAFETY: in the wheel whose lock we have, until this is dropped or has taken it out.
                let timer = unsafe { Entry::new(NonNull::from_ref(timer)) };
                return Some(Self { locked, timer });
            }
        }
    }

    /// Takes it out of its wheel; perhaps it goes on elsewhere.
    ///
    /// # Returns
    /// Its waker.
    #[inline(always)]
    fn take_out(mut self, goes_on: bool) -> Option<Waker> {
        let timer = self.timer;
        // SAFETY: it is in this wheel.
        self.locked.with(|wheel| unsafe { wheel.remove(timer) });
        if goes_on {
            self.locked.with(|wheel| wheel.date_taken(timer));
        }
        // SAFETY: taken out, and this was the last look at it.
        unsafe { timer.give_back(ptr::null_mut()) }
    }
}

/// Dates a timer that is to fire some time after now.
#[cold]
#[inline(never)]
fn date_from(links: &mut Links, virtual_now: Option<u64>) {
    let now = virtual_now.unwrap_or_else(|| Moment::real_now().nanos());
    links.date(now.saturating_add(links.deadline));
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
