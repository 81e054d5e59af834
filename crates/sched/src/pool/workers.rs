//! How many workers there are, and how many there are to be.

use std::mem;
use std::task::Waker;
use std::time::Instant;

use gossamer_core::mutant;
use gossamer_core::platform::atomic::{AtomicBool, AtomicUsize, Ordering};
use gossamer_core::platform::{Condvar, Mutex, MutexGuard};
use gossamer_core::waiter::Deferred;

use crate::deadline::wait_while;

/// The most workers a pool can have. In models a few.
pub const WORKERS_MAX: usize = if cfg!(any(loom, shuttle)) { 3 } else { 1024 };

/// The workers of a pool, by number.
#[derive(Debug)]
pub(super) struct Workers {
    /// Workers with this number and above retire: those that were asked for, and spares.
    target: AtomicUsize,
    /// Whether a worker has ever retired: a hint.
    has_retired: AtomicBool,
    /// By number: whether there is no thread.
    free: Box<[AtomicBool]>,
    members: Mutex<Members>,
    one_left: Condvar,
}

/// The most spares that a pool with so many workers may have.
pub(super) fn spares_max(asked: usize) -> usize {
    (2 * asked).min(WORKERS_MAX - asked)
}

/// Wakes those that wait for a resize; a foreign waker that panics harms nobody.
fn wake_all(waiting: Vec<Waker>) {
    for waker in waiting {
        Deferred::new(waker).run();
    }
}

#[derive(Debug, Default)]
struct Members {
    /// How many workers were asked for.
    asked: usize,
    /// How many more there are to be, in place of those that are stuck in a poll.
    spares: usize,
    /// The seat of each number, up to the highest that was ever taken.
    seats: Vec<Seat>,
    /// Wait for a resize.
    waiting: Waiting,
    /// Nobody is started any more.
    closed: bool,
}

/// The state of one worker number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Seat {
    /// No thread.
    Free,
    /// A worker.
    Works,
    /// A thread that is surplus, and only runs what stays with it.
    Drains,
}

/// Counts of the workers by role, all taken at one moment, because spares come and go at any time.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Figures {
    /// How many were asked for.
    pub(super) asked: usize,
    /// How many of these there are.
    pub(super) workers: usize,
    /// Workers in place of those that are stuck.
    pub(super) spares: usize,
    /// Surplus workers, before they leave or drain.
    pub(super) leaving: usize,
    /// Threads of surplus workers that stay.
    pub(super) draining: usize,
}

/// The number that [`Workers::start`] has filled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Started {
    /// The caller has to start a thread for it.
    New(usize),
    /// Its thread is still there: it drained.
    Again(usize),
}

/// The waiters for a resize. Each has one place, however often it is polled.
#[derive(Debug, Default)]
struct Waiting {
    wakers: Vec<(u64, Waker)>,
    places: u64,
}

impl Waiting {
    /// Puts a waker into a place, a new one if there is none so far; gives the one that was there.
    fn put(&mut self, place: &mut Option<u64>, waker: Waker) -> Option<Waker> {
        let number = *place.get_or_insert_with(|| {
            self.places += 1;
            self.places
        });
        let is_its = |(own, _): &&mut (u64, Waker)| *own == number;
        let has_left = self.wakers.iter_mut().find(is_its);
        match has_left.filter(|_| !mutant!("resize_takes_new_places")) {
            Some(_) if mutant!("resize_keeps_first_waker") => Some(waker),
            Some((_, before)) => Some(mem::replace(before, waker)),
            None => {
                self.wakers.push((number, waker));
                None
            }
        }
    }

    /// Takes the waker of a place out, if there is one.
    fn remove(&mut self, place: u64) -> Option<Waker> {
        let at = self.wakers.iter().position(|(own, _)| *own == place)?;
        Some(self.wakers.swap_remove(at).1)
    }

    /// All of them, to be woken.
    fn take(&mut self) -> Vec<Waker> {
        let wakers = mem::take(&mut self.wakers);
        wakers.into_iter().map(|(_, waker)| waker).collect()
    }
}

impl Figures {
    /// How many workers there are.
    pub(super) fn count(&self) -> usize {
        self.workers + self.spares + self.leaving
    }

    /// How many threads there are.
    pub(super) fn threads(&self) -> usize {
        self.count() + self.draining
    }
}

impl Members {
    fn seat(&self, number: usize) -> Seat {
        self.seats.get(number).copied().unwrap_or(Seat::Free)
    }

    fn figures(&self) -> Figures {
        let mut figures = Figures {
            asked: self.asked,
            ..Figures::default()
        };
        for (number, seat) in self.seats.iter().enumerate() {
            let count = match seat {
                Seat::Free => continue,
                Seat::Drains => &mut figures.draining,
                Seat::Works if number < self.asked => &mut figures.workers,
                Seat::Works if number < self.asked + self.spares => &mut figures.spares,
                Seat::Works => &mut figures.leaving,
            };
            *count += 1;
        }
        figures
    }
}

impl Workers {
    /// Nobody so far, to become so many.
    pub(super) fn new(target: usize) -> Self {
        Self {
            target: AtomicUsize::new(target),
            has_retired: AtomicBool::new(false),
            free: (0..WORKERS_MAX).map(|_| AtomicBool::new(true)).collect(),
            members: Mutex::new(Members {
                asked: target,
                ..Members::default()
            }),
            one_left: Condvar::new(),
        }
    }

    /// Counts the workers.
    pub(super) fn figures(&self) -> Figures {
        self.members.lock().figures()
    }

    /// How many there are to be in place of those that are stuck.
    pub(super) fn spares(&self) -> usize {
        self.members.lock().spares
    }

    /// Changes that.
    pub(super) fn set_spares(&self, spares: usize) {
        self.change(|members| members.spares = spares);
    }

    /// Changes how many were asked for.
    pub(super) fn ask_for(&self, asked: usize) {
        self.change(|members| members.asked = asked);
    }

    /// Changes how many there are to be. Who waits for a resize is woken, to find out.
    fn change(&self, change: impl FnOnce(&mut Members)) {
        let waiting = {
            let mut members = self.members.lock();
            change(&mut members);
            members.spares = members.spares.min(spares_max(members.asked));
            // Release pairs with the acquire in `target`; under the lock, so that `retire` sees the last word.
            self.target
                .store(members.asked + members.spares, Ordering::Release);
            members.waiting.take()
        };
        wake_all(waiting);
    }

    /// Whether this number has a worker, be it a spare.
    pub(super) fn works(&self, number: usize) -> bool {
        self.members.lock().seat(number) == Seat::Works
    }

    /// Whether the worker with this number is surplus, and stays.
    pub(super) fn drains(&self, number: usize) -> bool {
        self.members.lock().seat(number) == Seat::Drains
    }

    /// How many there are to be, spares included.
    pub(super) fn target(&self) -> usize {
        // Acquire pairs with the release in `change`.
        self.target.load(Ordering::Acquire)
    }

    /// Whether the worker with this number is to retire, or has.
    pub(super) fn is_surplus(&self, number: usize) -> bool {
        number >= self.target()
    }

    pub(super) fn has_retired(&self) -> bool {
        // Relaxed: a hint; whoever retires calls an idle worker afterwards.
        self.has_retired.load(Ordering::Relaxed)
    }

    /// No more are to be started than the highest number that works now.
    pub(super) fn give_up_starting(&self) {
        let there_are = {
            let members = self.members.lock();
            let works = |seat: &Seat| *seat == Seat::Works;
            let highest = members.seats.iter().rposition(works);
            // The highest may be a spare.
            highest.map_or(1, |highest| (highest + 1).min(members.asked))
        };
        self.set_spares(0);
        self.ask_for(there_are);
    }

    /// Whether this number has no thread: it never had, or its worker has retired.
    pub(super) fn is_free(&self, number: usize) -> bool {
        // Acquire pairs with the releases in `start` and `leave`.
        self.free[number].load(Ordering::Acquire)
    }

    /// The lowest number below the target that has no worker; it has one from now on.
    pub(super) fn start(&self) -> Option<Started> {
        let mut members = self.members.lock();
        // A worker that started late would end at once, and be started again, without end.
        if members.closed && !mutant!("started_after_the_end") {
            return None;
        }
        let number = (0..self.target()).find(|number| members.seat(*number) != Seat::Works)?;
        if members.seats.len() <= number {
            members.seats.resize(number + 1, Seat::Free);
        }
        if mem::replace(&mut members.seats[number], Seat::Works) == Seat::Drains {
            return Some(Started::Again(number));
        }
        // Release pairs with the acquire in `is_free`.
        self.free[number].store(false, Ordering::Release);
        Some(Started::New(number))
    }

    /// The worker with this number, if it is one and surplus, is no worker any more, but its thread stays.
    pub(super) fn begin_drain(&self, number: usize) {
        let waiting = {
            let mut members = self.members.lock();
            if !self.is_surplus(number) || members.seat(number) != Seat::Works {
                return;
            }
            members.seats[number] = Seat::Drains;
            members.waiting.take()
        };
        wake_all(waiting);
    }

    /// Nobody is started any more: the pool is shutting down.
    pub(super) fn close(&self) {
        self.members.lock().closed = true;
    }

    /// The worker with this number leaves, if it is still surplus; but not when the pool is shutting down: then it has
    /// to end the tasks at its shard.
    ///
    /// # Returns
    /// Whether it has left.
    #[must_use]
    pub(super) fn retire(&self, number: usize) -> bool {
        let members = self.members.lock();
        let ends = members.closed && !mutant!("retires_at_the_end");
        if ends || !self.is_surplus(number) {
            return false;
        }
        // Relaxed: a hint; before the number is free, so that who sees that looks after it.
        self.has_retired.store(true, Ordering::Relaxed);
        self.leave(members, number);
        true
    }

    /// The worker with this number, if there is one, has ended.
    ///
    /// # Returns
    /// Whether none is left: the pool is shutting down, or could not be built.
    pub(super) fn end(&self, number: usize) -> bool {
        let members = self.members.lock();
        if number >= members.seats.len() {
            return false;
        }
        let is_last = members.figures().threads() == 1;
        self.leave(members, number);
        is_last
    }

    fn leave(&self, mut members: MutexGuard<'_, Members>, number: usize) {
        members.seats[number] = Seat::Free;
        // Release pairs with the acquire in `is_free`.
        self.free[number].store(true, Ordering::Release);
        self.one_left.notify_all();
        let waiting = members.waiting.take();
        drop(members);
        wake_all(waiting);
    }

    /// Whether there are so many, and no other was asked for; if not, `waker` is called when one has left, in place of
    /// the one that this resize has left before.
    pub(super) fn is_or_wake(&self, asked: usize, place: &mut Option<u64>, waker: &Waker) -> bool {
        let waker = waker.clone();
        let mut members = self.members.lock();
        let figures = members.figures();
        if members.asked == asked && figures.workers == asked && figures.leaving == 0 {
            drop(members);
            return true;
        }
        let before = members.waiting.put(place, waker);
        // It may be user code that drops it.
        drop(members);
        drop(before);
        false
    }

    /// A resize that has left a waker waits no more.
    pub(super) fn forget(&self, place: u64) {
        let waker = self.members.lock().waiting.remove(place);
        drop(waker);
    }

    /// Sleeps until at most `most` threads are left; `false` if that is not so at the deadline.
    pub(super) fn wait_until_left(&self, most: usize, deadline: Option<Instant>) -> bool {
        wait_while(&self.one_left, self.members.lock(), deadline, |members| {
            members.figures().threads() > most
        })
    }
}
