//! How many workers there are, and how many there are to be.

use std::ops::Range;
use std::task::Waker;
use std::time::Instant;

use gossamer_core::mutant;
use gossamer_core::platform::atomic::{AtomicBool, AtomicUsize, Ordering};
use gossamer_core::platform::{Condvar, Mutex};
use gossamer_core::waiter::Deferred;

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

/// So many spares there may be at most.
pub(super) fn spares_max(asked: usize) -> usize {
    (2 * asked).min(WORKERS_MAX - asked)
}

/// Wakes who waits; a foreign waker that panics harms nobody.
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
    /// Which numbers have a worker.
    works: Vec<bool>,
    /// Which have a thread that is surplus, and only runs what stays with it.
    drains: Vec<bool>,
    /// Wait for a resize.
    waiting: Waiting,
    /// Nobody is started any more.
    closed: bool,
}

/// Who is there, by what they are there for: all at one moment, as spares come and go at any time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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

/// Whom the workers has got.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Started {
    /// Somebody for whom a thread is to be started.
    New(usize),
    /// Somebody whose thread is still there.
    Again(usize),
}

/// Who waits for a resize: a place each, however often it is polled.
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
            Some((_, before)) => Some(std::mem::replace(before, waker)),
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
        let wakers = std::mem::take(&mut self.wakers);
        wakers.into_iter().map(|(_, waker)| waker).collect()
    }
}

impl Members {
    /// Whether there are those that were asked for, and nobody who is surplus.
    fn is_settled(&self) -> bool {
        let has = |number: usize| self.works.get(number).is_some_and(|works| *works);
        let surplus = self.asked + self.spares..self.works.len();
        (0..self.asked).all(has) && !surplus.into_iter().any(has)
    }

    fn count(&self) -> usize {
        self.works.iter().filter(|works| **works).count()
    }

    fn draining(&self) -> usize {
        self.drains.iter().filter(|drains| **drains).count()
    }

    fn figures(&self) -> Figures {
        let working = |numbers: Range<usize>| {
            let known = numbers.start.min(self.works.len())..numbers.end.min(self.works.len());
            self.works[known].iter().filter(|works| **works).count()
        };
        let target = self.asked + self.spares;
        Figures {
            asked: self.asked,
            workers: working(0..self.asked),
            spares: working(self.asked..target),
            leaving: working(target..usize::MAX),
            draining: self.draining(),
        }
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

    /// How many were asked for.
    pub(super) fn asked(&self) -> usize {
        self.members.lock().asked
    }

    /// How many there are to be in place of those that are stuck.
    pub(super) fn spares(&self) -> usize {
        self.members.lock().spares
    }

    /// Changes that.
    pub(super) fn set_spares(&self, spares: usize) {
        let waiting = {
            let mut members = self.members.lock();
            members.spares = spares.min(spares_max(members.asked));
            // Release pairs with the acquire in `target`.
            self.target
                .store(members.asked + members.spares, Ordering::Release);
            members.waiting.take()
        };
        wake_all(waiting);
    }

    /// Whether one that was asked for is not there.
    pub(super) fn is_short(&self) -> bool {
        let members = self.members.lock();
        (0..members.asked).any(|number| members.works.get(number) != Some(&true))
    }

    /// Whether this number has a worker, be it a spare.
    pub(super) fn works(&self, number: usize) -> bool {
        self.members.lock().works.get(number) == Some(&true)
    }

    /// How many there are to be, spares included.
    pub(super) fn target(&self) -> usize {
        // Acquire pairs with the release in `set_target`.
        self.target.load(Ordering::Acquire)
    }

    /// How many there are.
    pub(super) fn count(&self) -> usize {
        self.members.lock().count()
    }

    /// Whether the worker with this number is to retire, or has.
    pub(super) fn is_surplus(&self, number: usize) -> bool {
        number >= self.target()
    }

    pub(super) fn has_retired(&self) -> bool {
        // Relaxed: a hint; whoever retires calls an idle worker afterwards.
        self.has_retired.load(Ordering::Relaxed)
    }

    /// Changes how many were asked for. Who waits for another resize is woken, to find out.
    pub(super) fn ask_for(&self, asked: usize) {
        let waiting = {
            let mut members = self.members.lock();
            members.asked = asked;
            members.spares = members.spares.min(spares_max(asked));
            // Release pairs with the acquire in `target`; under the lock, so that `retire` sees the last word.
            self.target.store(asked + members.spares, Ordering::Release);
            members.waiting.take()
        };
        wake_all(waiting);
    }

    /// No more are to be started than the highest number that works now.
    pub(super) fn give_up_starting(&self) {
        let there_are = {
            let members = self.members.lock();
            let highest = members.works.iter().rposition(|works| *works);
            // The highest may be a spare.
            highest.map_or(1, |highest| (highest + 1).min(members.asked))
        };
        self.set_spares(0);
        self.ask_for(there_are);
    }

    /// Whether this number has no thread: it never had, or its worker has retired.
    pub(super) fn is_free(&self, number: usize) -> bool {
        // Acquire pairs with the releases in `start`, `retire` and `end`.
        self.free[number].load(Ordering::Acquire)
    }

    /// Whether no thread is left.
    pub(super) fn is_empty(&self) -> bool {
        let members = self.members.lock();
        members.count() + members.draining() == 0
    }

    /// How many threads are surplus, and only run what stays with them.
    pub(super) fn draining(&self) -> usize {
        self.members.lock().draining()
    }

    /// Who is there.
    pub(super) fn figures(&self) -> Figures {
        self.members.lock().figures()
    }

    /// The lowest number below the target that has no worker; it has one from now on.
    pub(super) fn start(&self) -> Option<Started> {
        let mut members = self.members.lock();
        // Who comes late would end at once, and be started again, without end.
        if members.closed && !mutant!("started_after_the_end") {
            return None;
        }
        let target = self.target();
        let number =
            (0..target).find(|number| !members.works.get(*number).is_some_and(|works| *works))?;
        if members.works.len() <= number {
            members.works.resize(number + 1, false);
            members.drains.resize(number + 1, false);
        }
        members.works[number] = true;
        if std::mem::take(&mut members.drains[number]) {
            return Some(Started::Again(number));
        }
        // Release pairs with the acquire in `is_free`.
        self.free[number].store(false, Ordering::Release);
        Some(Started::New(number))
    }

    /// The worker with this number, if it is one and surplus, is no worker any more, but its thread stays.
    ///
    /// # Returns
    /// Who waits for a resize, to be woken, if that has happened now.
    pub(super) fn begin_drain(&self, number: usize) -> Option<Vec<Waker>> {
        let mut members = self.members.lock();
        if !self.is_surplus(number) || !members.works[number] {
            return None;
        }
        members.works[number] = false;
        members.drains[number] = true;
        Some(members.waiting.take())
    }

    /// Whether the worker with this number is surplus, and stays.
    pub(super) fn drains(&self, number: usize) -> bool {
        self.members.lock().drains[number]
    }

    /// Nobody is started any more: the pool is shutting down.
    pub(super) fn close(&self) {
        self.members.lock().closed = true;
    }

    /// The worker with this number leaves, if it is still surplus; but not when the pool is shutting down: then it has
    /// to end the tasks at its shard.
    ///
    /// # Returns
    /// Who waits for a resize, to be woken.
    pub(super) fn retire(&self, number: usize) -> Option<Vec<Waker>> {
        let mut members = self.members.lock();
        let ends = members.closed && !mutant!("retires_at_the_end");
        if ends || !self.is_surplus(number) {
            return None;
        }
        members.works[number] = false;
        members.drains[number] = false;
        // Relaxed: a hint; before the next line, so that who sees the free number looks after it.
        self.has_retired.store(true, Ordering::Relaxed);
        // Release pairs with the acquire in `is_free`.
        self.free[number].store(true, Ordering::Release);
        self.one_left.notify_all();
        Some(members.waiting.take())
    }

    /// The worker with this number, if there is one, has ended.
    pub(super) fn end(&self, number: usize) {
        let waiting = {
            let mut members = self.members.lock();
            let Some(works) = members.works.get_mut(number) else {
                return;
            };
            *works = false;
            members.drains[number] = false;
            // Release pairs with the acquire in `is_free`.
            self.free[number].store(true, Ordering::Release);
            self.one_left.notify_all();
            members.waiting.take()
        };
        wake_all(waiting);
    }

    /// Whether there are so many, and no other was asked for; if not, `waker` is called when one has left, in place of
    /// the one that this resize has left before.
    pub(super) fn is_or_wake(&self, asked: usize, place: &mut Option<u64>, waker: &Waker) -> bool {
        let waker = waker.clone();
        let mut members = self.members.lock();
        if members.asked == asked && members.is_settled() {
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
        let mut members = self.members.lock();
        while members.count() + members.draining() > most {
            members = match deadline {
                None => self.one_left.wait(members),
                Some(deadline) => {
                    let left = deadline.saturating_duration_since(Instant::now());
                    if left.is_zero() {
                        return false;
                    }
                    self.one_left.wait_for(members, left)
                }
            };
        }
        true
    }
}
