//! How a task gets from one home to another, within one pool.
//!
//! The workers of a pool drive one home each, so a wake by the worker that has the task is plain memory. Tasks
//! move in three ways:
//!
//! * *stolen*: of what is runnable, a worker keeps one task to itself and the rest in the home's *open queue*,
//!   under a lock; a worker that has nothing to do takes half of it ([`Claim::steal`]), whatever the owner is
//!   doing;
//! * *taken*: a worker takes new tasks out of the pool's injector, a home that nobody drives
//!   ([`Claim::take_from`]);
//! * *pulled*: a worker that wakes a task of an idle worker claims that one's home for a moment and takes the
//!   task along ([`pull`]). So a wake stays local, and nobody is woken for it.
//!
//! # Who may touch a task in an open queue
//!
//! It is scheduled, and whoever holds the queue's lock may take it. So its owner, like everybody else, writes
//! neither its `place` nor its `next` as long as it is scheduled and not its own again; a wake has nothing to
//! do, and a cancel sets a bit in `life`, which is looked at when the turn begins. The list of all tasks of a
//! home has a lock of its own, in a pool. A task that is new at a home is put on that list only if it is pending
//! after its first poll there; until then it is in a queue, or being polled, so it is never lost: who ends a home
//! drops what is on the list and what is in the queues.
//!
//! # The race to fear
//!
//! A thread that wakes a task reads its home, then acts: as the driver, if the home is its own; else by
//! pushing into that home's inbox. The home may have changed in between.
//!
//! * It read the old home: the push ends in the inbox of a home where the task no longer lives. Who drains it
//!   sees so and forwards it. (`QUEUED` keeps the task alive on the way, and others from pushing it too.)
//! * It read its own home, in the same look as the rest of the word: the task is either not scheduled, and then
//!   nobody else moves it; or scheduled, and then there is nothing to do, unless it is being stolen and polled
//!   at this moment. So there is a fence between what the waker did and a second look at the home, and one
//!   between the theft and the poll: the waker finds the task gone and goes the other way, or the poll sees
//!   what the waker did.

use core::ptr::NonNull;
use core::task::Waker;

use super::{Claim, Closed, FREE, Home, adopt};
use crate::context;
use crate::door::atomic::{Ordering, fence};
use crate::door::light_fence;
use crate::header::life::QUEUED;
use crate::header::{Fresh, Header, TaskQueue, release};
use crate::waiter::Deferred;

/// Runnable tasks of a worker that others may take.
#[derive(Debug, Default)]
pub(super) struct Open {
    /// Tasks that were woken or gave way, in order.
    queue: TaskQueue,
    /// New tasks: the newest is polled first, so that a tree of tasks is walked in depth and few of them exist at
    /// once (Blumofe and Leiserson's work stealing, 1999), and the oldest is stolen first.
    fresh: Fresh,
    /// Polls in a row of fresh ones.
    fresh_turns: u32,
    /// In both.
    len: usize,
    /// Tasks that have finished in the queue: only the driver may let go of them.
    over: TaskQueue,
}

/// So many fresh tasks are polled in a row while others wait.
const FRESH_TURNS: u32 = if cfg!(shuttle) { 2 } else { 64 };

impl Open {
    /// How many tasks.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// # Safety
    /// As [`Home::push_open`], under the lock.
    pub(super) unsafe fn push(&mut self, task: NonNull<Header>) {
        self.len += 1;
        // SAFETY: a new one is in no list, and none is in a queue.
        unsafe {
            if task.as_ref().place().is_new() {
                self.fresh.push(task);
            } else {
                self.queue.push_back(task);
            }
        }
    }

    fn pop(&mut self) -> Option<NonNull<Header>> {
        let mut task = None;
        if self.fresh_turns < FRESH_TURNS {
            task = self.fresh.pop_newest();
            self.fresh_turns += u32::from(task.is_some());
        }
        if task.is_none() {
            self.fresh_turns = 0;
            task = self.queue.pop_front().or_else(|| self.fresh.pop_newest());
        }
        self.len -= usize::from(task.is_some());
        task
    }

    /// The one that another worker takes first.
    fn pop_for_thief(&mut self) -> Option<NonNull<Header>> {
        let task = self.fresh.pop_oldest().or_else(|| self.queue.pop_front());
        self.len -= usize::from(task.is_some());
        task
    }
}

impl Home {
    /// Makes this home one of a pool's; before it has any task. Zero is no pool.
    pub fn join_pool(&self, pool: u32) {
        // Relaxed: published with the pool itself.
        self.pool.store(pool, Ordering::Relaxed);
    }

    /// The pool it belongs to, or zero.
    #[inline]
    pub fn pool(&self) -> u32 {
        // Relaxed: never changes while the home has tasks.
        self.pool.load(Ordering::Relaxed)
    }

    /// Has `waker`, if any, called by each push that finds no parked driver. Whoever has parked as the driver is
    /// forgotten.
    pub fn set_keeper(&self, waker: Option<Waker>) {
        let before = {
            let mut inbox = self.inbox.lock();
            let keeper = core::mem::replace(&mut inbox.keeper, waker);
            (keeper, inbox.parked.take())
        };
        drop(before);
    }

    /// How many tasks wait in the inbox.
    pub fn waiting(&self) -> usize {
        self.inbox.lock().tasks.len()
    }

    /// How many tasks are in the open queue: a hint.
    #[inline]
    pub fn open_len(&self) -> usize {
        // Relaxed: who acts on it takes the lock; who parks has a fence before (see `push_open`).
        self.open_len.load(Ordering::Relaxed)
    }

    /// Puts a runnable task into the open queue. Who then looks whether another worker is idle will see it, or
    /// be seen by it: a worker that becomes idle says so, has a (heavy) fence, and looks at the queues.
    ///
    /// # Safety
    /// The current thread drives this home; the task lives here, is scheduled, and is in no queue.
    pub unsafe fn push_open(&self, task: NonNull<Header>) {
        {
            let mut open = self.open.lock();
            // SAFETY: scheduled, in no queue; the lock stands for the driver here.
            unsafe { open.push(task) };
            // Relaxed: see `open_len`.
            self.open_len.store(open.len, Ordering::Relaxed);
        }
        if !crate::mutant!("open_without_fence") {
            light_fence(); // pairs with the heavy one of a worker that becomes idle
        }
    }

    /// Takes a task out of the open queue: the newest of those that are new, mostly, else the oldest.
    pub fn pop_open(&self) -> Option<NonNull<Header>> {
        let mut open = self.open.lock();
        let Some(task) = open.pop() else {
            return open.over.pop_front();
        };
        // Relaxed: see `open_len`.
        self.open_len.store(open.len, Ordering::Relaxed);
        Some(task)
    }

    /// Puts a task into the open queue, which has others, and takes the next one out.
    ///
    /// # Safety
    /// As [`Home::push_open`].
    pub unsafe fn exchange_open(&self, task: NonNull<Header>) -> NonNull<Header> {
        let mut open = self.open.lock();
        // SAFETY: scheduled, in no queue; the lock stands for the driver here.
        unsafe { open.push(task) };
        let next = open.pop().unwrap_or(task);
        // Relaxed: see `open_len`. Who becomes idle has seen the others.
        self.open_len.store(open.len, Ordering::Relaxed);
        next
    }

    /// Calls `with` while nobody else touches the list of the home's tasks.
    #[inline]
    pub fn with_list<R>(&self, with: impl FnOnce() -> R) -> R {
        let _locked = (self.pool() != 0).then(|| self.list.lock());
        with()
    }

    /// Puts a task that is new here on the list.
    ///
    /// # Safety
    /// The current thread drives this home, where the task lives, and the task is alive.
    #[cold]
    pub unsafe fn list(&self, task: NonNull<Header>) {
        // SAFETY: passed on to the caller.
        unsafe { adopt(task) };
    }

    /// Moves the count of one cell here, where we drive, from another home.
    fn count_moved(&self, from: &Home) {
        self.driver.count_cell(1);
        from.cell_left_elsewhere();
    }
}

impl Claim {
    /// The first part of receiving a task in a pool; `true` if there is more to do, and then nobody else moves it.
    ///
    /// # Safety
    /// The caller owns the task's `QUEUED` hold.
    pub(super) unsafe fn receive_in_pool(&self, task: NonNull<Header>) -> bool {
        let open = self.home().open.lock();
        // SAFETY: `QUEUED` keeps the task alive.
        let header = unsafe { task.as_ref() };
        let place = header.look();
        if place.home() != self.home().index() {
            drop(open);
            if crate::mutant!("inbox_drops_moved") {
                // SAFETY: the hold is ours.
                unsafe { release(task, QUEUED) };
                return false;
            }
            // SAFETY: the hold is ours.
            unsafe { forward(task) };
            return false;
        }
        if !place.is_scheduled() || place.is_done() {
            return true;
        }
        // It may be taken as soon as the lock is given up, polled, and freed. Whoever takes it sees what the waker
        // did, and `CANCEL`.
        let _cancelled_or_not = header.life.drain();
        false
    }

    /// Takes up to `most` tasks that wait at a home nobody drives, and schedules them here.
    ///
    /// # Returns
    /// How many were looked at.
    pub fn take_from(&self, injector: &Home, most: usize) -> usize {
        let mut taken = 0;
        while taken < most {
            let task = {
                let mut inbox = injector.inbox.lock();
                let task = inbox.tasks.pop_front();
                if inbox.tasks.is_empty() {
                    // Relaxed: a hint, kept under the lock.
                    injector.pending.store(false, Ordering::Relaxed);
                }
                task
            };
            let Some(task) = task else {
                break;
            };
            taken += 1;
            // SAFETY: `QUEUED` keeps the task alive.
            let header = unsafe { task.as_ref() };
            if header.place().home() == injector.index() {
                // Nobody drives the injector, and the task is new, so it is ours now.
                self.home().count_moved(injector);
                header.move_to(self.home().index());
            }
            // SAFETY: the inbox's hold is ours.
            context::with(|context| unsafe { self.receive(context, task) });
        }
        taken
    }

    /// Takes what came for the tasks of another home, which nobody drives, and makes them runnable there: in its
    /// open queue. `false` if somebody drives it after all.
    pub fn drain_for(&self, other: &'static Home) -> bool {
        debug_assert!(self.home().pool() != 0 && self.home().pool() == other.pool());
        // One with tasks that stay with their thread has a worker again.
        let visit = other.visit();
        let Some(visit) = visit.filter(|visit| visit.home().driver.pinned() == 0) else {
            return false;
        };
        visit.drain();
        context::with(|context| {
            while let Some(task) = context.take_woken() {
                // SAFETY: scheduled just now, in no queue; we drive its home.
                unsafe { other.push_open(task) };
            }
        });
        true
    }

    /// Takes half of another worker's open queue, at most `most` tasks, and hands each to `take`.
    ///
    /// # Returns
    /// How many were taken.
    pub fn steal(&self, from: &Home, most: usize, mut take: impl FnMut(NonNull<Header>)) -> usize {
        debug_assert!(self.home().pool() != 0 && self.home().pool() == from.pool());
        let stolen = TaskQueue::new();
        let mut count = 0;
        {
            let mut open = from.open.lock();
            for _ in 0..open.len.div_ceil(2).min(most) {
                let Some(task) = open.pop_for_thief() else {
                    break;
                };
                // SAFETY: queued tasks are alive.
                let header = unsafe { task.as_ref() };
                if header.place().is_done() {
                    // SAFETY: scheduled, in no queue; under the lock.
                    unsafe { open.over.push_back(task) };
                    continue;
                }
                if !header.place().is_new() {
                    // SAFETY: not finished, so on the list.
                    from.with_list(|| unsafe { from.driver.owned.remove(task) });
                }
                self.home().count_moved(from);
                // SAFETY: scheduled, in no queue; under the lock.
                unsafe { stolen.push_back(task) };
                header.move_to(self.home().index());
                count += 1;
            }
            // Relaxed: see `open_len`.
            from.open_len.store(open.len, Ordering::Relaxed);
        }
        fence(Ordering::SeqCst); // pairs with the fence of a wake that finds its task scheduled
        while let Some(task) = stolen.pop_front() {
            take(task);
        }
        count
    }
}

/// Pushes a task that has moved into the inbox of where it lives now; lets go of one that is over. No locks are held.
///
/// # Safety
/// The caller owns the task's `QUEUED` hold.
#[cold]
pub(super) unsafe fn forward(task: NonNull<Header>) {
    // SAFETY: `QUEUED` keeps the task alive.
    let home = unsafe { task.as_ref() }.look().home();
    if home == context::NOWHERE {
        // SAFETY: the hold is ours.
        return unsafe { release(task, QUEUED) };
    }
    match Home::at(home).push(task) {
        Ok(Some(driver)) => Deferred::new(driver).run(),
        Ok(None) => {}
        // SAFETY: the hold stayed ours.
        Err(Closed) => unsafe { release(task, QUEUED) },
    }
}

/// Wakes a parked task of an idle worker here, if the current thread is another worker of its pool; `false` if
/// not, and then nothing was done.
///
/// # Safety
/// The task is alive, and its home is not the one that is driven here, but was `there` a moment ago.
pub(crate) unsafe fn pull(task: NonNull<Header>, there: &'static Home) -> bool {
    context::with(|context| {
        // One whose home is open is stuck, and the task had better go elsewhere.
        if context.home() == context::NOWHERE || context.is_open() {
            return false;
        }
        let here = Home::at(context.home());
        if here.pool() == 0 || here.driver.closing.get() {
            return false;
        }
        if context.offers() {
            // The idle worker had better run it itself.
            here.has_offered();
            return false;
        }
        // SAFETY: alive.
        let header = unsafe { task.as_ref() };
        // Relaxed: a hint, to leave the claim of a busy worker alone.
        let busy = there.claimed.load(Ordering::Relaxed) != FREE || header.place().is_new();
        if there.pool() != here.pool() || busy {
            return false;
        }
        let Some(visit) = there.try_visit() else {
            return false;
        };
        let place = header.look();
        let moves = there.pool() == here.pool()
            && place.home() == there.index()
            && !place.is_new()
            && (!place.is_pinned() || crate::mutant!("pinned_is_pulled"))
            && !place.ignores_wake()
            && !there.driver.closing.get();
        if moves {
            // SAFETY: we drive its home; not finished, so on the list.
            there.with_list(|| unsafe { there.driver.owned.remove(task) });
            header.move_to(here.index());
        }
        drop(visit);
        if moves {
            here.count_moved(there);
            // SAFETY: it lives here now, in no list, and the driver is inside.
            let wake = |context: &_| unsafe {
                adopt(task);
                context::wake_inside(context, task)
            };
            // SAFETY: alive.
            unsafe { context.inside(task, wake) };
        }
        moves
    })
}
