//! What becomes of the tasks of a worker that is stuck in a poll: others adopt them.
//!
//! A worker that has been in the same poll for long is found by a *monitor*, which [opens](Home::open_to_adopters) its
//! home ([`marks`](super::marks) tells the protocol). While a home is open, whatever is runnable there is *adopted*:
//! the task in the run-next slot, those that the poll has woken so far, and those that are woken from elsewhere and
//! come to the inbox; all go to the home's open queue, from which other workers steal. What the poll wakes from then on
//! goes there at once. The task that is being polled stays, and so do fibers that have begun, which stay with their
//! thread. When the poll has ended, the driver takes the lock, closes the home, and all is as before.
//!
//! The driver's context belongs to another thread than the one that adopts. It is that thread's memory, and is there
//! as long as it is in the poll; and out of the poll it comes only by the lock.

use alloc::string::String;
use core::panic::Location;
use core::ptr::NonNull;
use core::task::Waker;

use super::line::Line;
use super::moving::{Open, forward};
use super::{Home, adopt};
use crate::aside;
use crate::context::{Context, wake_inside};
use crate::door::atomic::Ordering;
use crate::door::light_fence;
use crate::header::life::{Drained, QUEUED};
use crate::header::{Header, release};
use crate::waiter::Deferred;

/// A poll that somebody is stuck in.
#[derive(Debug, Clone)]
pub struct StuckPoll {
    /// Where its task was spawned.
    pub spawned: &'static Location<'static>,
    /// What its task is called, if it was given a name.
    pub name: Option<String>,
}

impl Home {
    /// Has the driver's polls be watched: [`Home::open_to_adopters`] may be called from now on. Before it has any task.
    pub fn set_monitored(&self) {
        // Relaxed: published with the pool itself.
        self.monitored.store(1, Ordering::Relaxed);
    }

    /// Leaves a mark that the driver takes back between any two polls; `false` if the one before is still there, so
    /// that it has been in one poll since then (or nobody drives).
    pub fn poke_again(&self) -> bool {
        // Relaxed: a hint.
        let answered = self.poked.swap(1, Ordering::Relaxed) == 0;
        self.poke();
        answered
    }

    /// Nobody drives, and so nobody will answer.
    pub fn forget_poke(&self) {
        self.answer();
    }

    /// The driver looks around: it is between two polls.
    #[inline]
    pub(super) fn answer(&self) {
        // Relaxed: a hint.
        self.poked.store(0, Ordering::Relaxed);
    }

    fn has_not_answered(&self) -> bool {
        // Relaxed: a hint.
        self.poked.load(Ordering::Relaxed) != 0
    }

    /// Opens the home, whose driver is in a poll and has not answered, so that others can [adopt](Home::adopt) its
    /// tasks: `keeper` is called for those that are woken from elsewhere. `None` if that is not so (any more).
    pub fn open_to_adopters(&self, keeper: Waker) -> Option<StuckPoll> {
        let (stuck, before) = {
            let _open = self.open.lock();
            if self.marks.is_open() || !self.marks.open() {
                return None;
            }
            // SAFETY: open, and under the lock, so the driver is in a poll, and stays there.
            let polled = unsafe { self.driver_context() }.and_then(Context::polling);
            // Whoever ends a home takes its tasks off their list without a lock.
            let polled = polled.filter(|_| self.has_not_answered() && !self.driver.closing.get());
            let Some(polled) = polled else {
                self.marks.close();
                return None;
            };
            let stuck = StuckPoll {
                // SAFETY: being polled, so alive; the field never changes.
                spawned: unsafe { polled.as_ref() }.spawned,
                name: aside::name_of(polled),
            };
            // While the driver is kept from closing the home, which takes the keeper away.
            (stuck, self.inbox.lock().keeper.replace(keeper))
        };
        drop(before);
        Some(stuck)
    }

    /// Whether the home is open to adopters: a hint.
    pub fn is_open(&self) -> bool {
        self.marks.is_open()
    }

    /// The context of the thread that drives.
    ///
    /// # Safety
    /// The home is open, and its lock held; both as long as the result is used.
    unsafe fn driver_context(&self) -> Option<&Context> {
        // Relaxed: written by the driver before it went out, which the opener has acquired.
        let context = self.driven_by.load(Ordering::Relaxed);
        // SAFETY: it is that of a thread in a poll, which outlasts the lock; plain memory, which is the lock holder's
        // while the home is open.
        NonNull::new(context).map(|context| unsafe { context.as_ref() })
    }

    /// Makes what is runnable at an open home stealable. By any thread.
    ///
    /// # Returns
    /// How many tasks; none if the home is not open.
    pub fn adopt(&self) -> usize {
        if !self.is_open() {
            return 0;
        }
        let mut came = self.take_inbox();
        let mut left = Left::default();
        let adopted = {
            let mut open = self.open.lock();
            let before = open.len();
            if self.marks.is_open() {
                // SAFETY: open, and under the lock.
                if let Some(context) = unsafe { self.driver_context() } {
                    // SAFETY: as above.
                    unsafe { self.adopt_woken(context, &mut open) };
                    while let Some(task) = came.pop_front() {
                        // SAFETY: the inbox's hold on the task is ours; the lock stands for the driver.
                        unsafe { self.adopt_queued(context, task, &mut open, &mut left) };
                    }
                }
            }
            // Relaxed: see `open_len`.
            self.open_len.store(open.len(), Ordering::Relaxed);
            open.len() - before
        };
        light_fence(); // pairs with the heavy one of a worker that becomes idle
        while let Some(task) = came.pop_front() {
            // The driver is back.
            left.stay.push_back(task);
        }
        self.put_back(left.stay);
        while let Some(task) = left.moved.pop_front() {
            // SAFETY: the hold is ours.
            unsafe { forward(task) };
        }
        while let Some(task) = left.gone.pop_front() {
            // SAFETY: the hold is ours.
            unsafe { release(task, QUEUED) };
        }
        adopted
    }

    fn take_inbox(&self) -> Line {
        let mut inbox = self.inbox.lock();
        if inbox.tasks.is_empty() {
            return Line::new();
        }
        inbox.tasks.take()
    }

    /// Puts back what only the driver can receive, or what it will: it looks after this poll.
    fn put_back(&self, mut tasks: Line) {
        while let Some(task) = tasks.pop_front() {
            let pushed = self.push_quietly(task);
            if !pushed {
                // SAFETY: the hold is ours, and the home has ended.
                unsafe { release(task, QUEUED) };
            }
        }
    }

    fn push_quietly(&self, task: NonNull<Header>) -> bool {
        let parked = {
            let mut inbox = self.inbox.lock();
            if inbox.closed {
                return false;
            }
            inbox.tasks.push_back(task);
            // Release pairs with the acquire in `has_pending`, though the lock alone would do.
            self.pending.store(true, Ordering::Release);
            // The driver may have retired meanwhile, and somebody else keeps its home. As long as it is open, who closes it
            // looks here afterwards.
            let parked = inbox.parked.take();
            let is_kept = !self.marks.is_open() && !crate::mutant!("put_back_calls_nobody");
            parked.or_else(|| inbox.keeper.clone().filter(|_| is_kept))
        };
        if let Some(driver) = parked {
            Deferred::new(driver).run();
        }
        true
    }

    /// The tasks that the driver keeps to itself.
    ///
    /// # Safety
    /// The home is open and its lock held; the context is its driver's.
    unsafe fn adopt_woken(&self, context: &Context, open: &mut Open) {
        self.marks.touch();
        if crate::mutant!("woken_stay") {
            return;
        }
        let polled = context.polling();
        if let Some(task) = self.driver.slot.take() {
            // SAFETY: scheduled, so alive.
            if unsafe { task.as_ref() }.place().is_pinned() {
                self.driver.slot.set(Some(task));
            } else {
                // SAFETY: scheduled, and in no queue.
                unsafe { open.push(task) };
            }
        }
        let stay = crate::header::TaskQueue::new();
        while let Some(task) = context.take_woken() {
            // SAFETY: scheduled, so alive, and in no queue.
            unsafe {
                if polled == Some(task) || task.as_ref().place().is_pinned() {
                    stay.push_back(task);
                } else {
                    open.push(task);
                }
            }
        }
        while let Some(task) = stay.pop_front() {
            // SAFETY: as before it was taken.
            unsafe { context.push_back_woken(task) };
        }
    }

    /// One task that came to the inbox.
    ///
    /// # Safety
    /// As [`Home::adopt_woken`]; the caller owns the task's `QUEUED` hold.
    unsafe fn adopt_queued(
        &self,
        context: &Context,
        task: NonNull<Header>,
        open: &mut Open,
        left: &mut Left,
    ) {
        // SAFETY: `QUEUED` keeps the task alive.
        let header = unsafe { task.as_ref() };
        let place = header.look();
        if place.home() != self.index() {
            return left.moved.push_back(task);
        }
        if context.polling() == Some(task) || place.is_pinned() {
            return left.stay.push_back(task);
        }
        if header.life.drain() == Drained::Gone {
            return left.gone.push_back(task);
        }
        // Whoever takes it sees what the waker did, and `CANCEL`.
        if !place.ignores_wake() {
            // SAFETY: the lock stands for the driver; parked, so in no queue.
            unsafe {
                adopt(task);
                header.set_place(header.place().with_scheduled());
                open.push(task);
            }
        }
    }

    /// A wake by the driver, in a poll, while the home is open; `false` if the task lives elsewhere, and then nothing
    /// was done. The driver has said that it is inside, and goes out here.
    ///
    /// # Safety
    /// The task is alive; the context is this thread's, and drives this home.
    #[cold]
    #[inline(never)]
    pub(crate) unsafe fn wake_while_open(&self, context: &Context, task: NonNull<Header>) -> bool {
        let (woken, shared) = {
            let mut open = self.open.lock();
            if !self.marks.is_open() {
                drop(open);
                // SAFETY: passed on to the caller.
                let woken = unsafe { wake_inside(context, task) };
                self.marks.go_out();
                return woken;
            }
            // SAFETY: the caller vouches for it.
            let header = unsafe { task.as_ref() };
            let place = header.look();
            let here = place.home() == self.index();
            let mut shared = false;
            self.marks.touch();
            if here && !place.ignores_wake() {
                header.set_place(place.with_scheduled());
                shared = context.polling() != Some(task) && !place.is_pinned();
                // SAFETY: scheduled just now, in no queue; under the lock.
                unsafe {
                    if shared {
                        open.push(task);
                    } else {
                        context.push_back_woken(task);
                    }
                }
                // Relaxed: see `open_len`.
                self.open_len.store(open.len(), Ordering::Relaxed);
            }
            (here, shared)
        };
        self.marks.go_out();
        if shared {
            self.call_helper();
        }
        woken
    }

    /// The same for a task that the poll has spawned.
    ///
    /// # Safety
    /// As [`Context::push_woken`]; the context is this thread's, and drives this home.
    #[cold]
    #[inline(never)]
    pub(crate) unsafe fn push_while_open(&self, context: &Context, task: NonNull<Header>) {
        let shared = {
            let mut open = self.open.lock();
            let shared = self.marks.is_open();
            if shared {
                // SAFETY: scheduled, and in no queue; under the lock.
                unsafe { open.push(task) };
                // Relaxed: see `open_len`.
                self.open_len.store(open.len(), Ordering::Relaxed);
            }
            shared
        };
        if !shared {
            // SAFETY: passed on to the caller.
            unsafe { context.push_woken(task) };
        }
        self.marks.go_out();
        if shared {
            self.call_helper();
        }
    }

    /// The driver is back from a poll, and found its home open: closes it.
    #[cold]
    #[inline(never)]
    pub(crate) fn close_to_adopters(&self) {
        let keeper = {
            let _open = self.open.lock();
            if !self.marks.is_open() {
                return;
            }
            if !crate::mutant!("stays_open") {
                self.marks.close();
            }
            self.inbox.lock().keeper.take()
        };
        drop(keeper);
        self.driver.returned.set(true);
        // The run is to end, so that the pool learns of it.
        self.driver.called.set(true);
        self.poke();
    }
}

/// What an adopter leaves.
struct Left {
    /// For the driver.
    stay: Line,
    /// For those who have them now.
    moved: Line,
    /// For nobody: to be released.
    gone: Line,
}

impl Default for Left {
    fn default() -> Self {
        Self {
            stay: Line::new(),
            moved: Line::new(),
            gone: Line::new(),
        }
    }
}
