//! The right to drive a home: receiving what others have sent, and giving the claim up.

use core::ptr::NonNull;

use super::line::Line;
use super::{Claim, DRIVEN, FREE, Home};
use crate::context::{self, Context};
use crate::door::atomic::Ordering;
use crate::header::life::{Drained, QUEUED};
use crate::header::{Header, release};
use crate::waiter::Deferred;

impl Claim {
    /// The home being driven.
    #[inline(always)]
    pub fn home(&self) -> &'static Home {
        self.home
    }

    /// Whoever parked as this home's driver before us is woken when we stop, not by a push.
    pub fn displace(&self) {
        let mut inbox = self.home.inbox.lock();
        let before = match inbox.parked.take() {
            Some(parked) if crate::mutant!("displaced_and_forgotten") => Some(parked),
            Some(parked) => inbox.waiting.replace(parked),
            None => None,
        };
        drop(inbox);
        drop(before);
    }

    /// Moves what is in the inbox to the context's woken tasks; `true` if there was anything.
    #[cold]
    pub fn drain(&self) -> bool {
        self.home.answer();
        self.offer_if_wanted();
        self.empty_inbox(false)
    }

    /// Closes the inbox for good: wakes of this home's tasks end in nothing from now on, and tasks
    /// spawned from elsewhere are turned away there. What is in it now is drained.
    pub fn seal(&self) {
        self.home.driver.closing.set(true);
        self.empty_inbox(true);
    }

    pub(super) fn empty_inbox(&self, close: bool) -> bool {
        let (mut tasks, loans, parked, keeper) = {
            let mut inbox = self.home.inbox.lock();
            inbox.closed |= close;
            // Relaxed: a hint, kept under the lock.
            self.home.pending.store(false, Ordering::Relaxed);
            let keeper = if close { inbox.keeper.take() } else { None };
            if core::mem::take(&mut inbox.called) {
                self.home.driver.called.set(true);
            }
            let loans = core::mem::take(&mut inbox.loans);
            (inbox.tasks.take(), loans, inbox.parked.take(), keeper)
        };
        drop((parked, keeper));
        self.end_loans(loans);
        if crate::mutant!("drain_drops_second") {
            tasks.forget_rest();
        }
        if close && crate::mutant!("seal_forgets_inbox") {
            tasks = Line::new();
        }
        let any = !tasks.is_empty();
        context::with(|context| {
            while let Some(task) = tasks.pop_front() {
                // SAFETY: the inbox's hold on the task is ours, and we drive its home.
                unsafe { self.receive(context, task) };
            }
        });
        if tasks.has_buffer() {
            self.home.inbox.lock().tasks.give_buffer(tasks);
        }
        any
    }

    /// # Safety
    /// The caller owns the task's `QUEUED` hold.
    pub(super) unsafe fn receive(&self, context: &Context, task: NonNull<Header>) {
        // SAFETY: passed on to the caller.
        if self.home.pool() != 0 && !unsafe { self.receive_in_pool(task) } {
            return;
        }
        // SAFETY: `QUEUED` keeps the task alive.
        let what = unsafe { task.as_ref() }.life.drain();
        if what == Drained::Gone {
            // SAFETY: the hold is ours.
            unsafe { release(task, QUEUED) };
            return;
        }
        // SAFETY: we drive its home, and `ALIVE` keeps it now that `QUEUED` is cleared.
        unsafe {
            adopt(task);
            if what == Drained::Cancel && self.home.pool() == 0 {
                cancel_here(context, task);
            } else {
                context::wake_here(context, task);
            }
        }
    }
}

/// Has a task of the home this thread drives dropped at its next turn, instead of polled.
///
/// # Safety
/// The current thread drives the task's home, and the task is alive.
pub unsafe fn cancel_here(context: &Context, task: NonNull<Header>) {
    // SAFETY: the caller vouches for it.
    unsafe {
        // It may still be on its way through the inbox.
        adopt(task);
        task.as_ref()
            .set_place(task.as_ref().place().with_cancelled());
        context::wake_here(context, task);
    }
}

/// Puts a task that came, or comes, through the inbox on its home's list.
///
/// # Safety
/// The current thread drives the task's home, and the task is alive.
pub(super) unsafe fn adopt(task: NonNull<Header>) {
    // SAFETY: the caller vouches for it.
    let header = unsafe { task.as_ref() };
    let place = header.place();
    // One that was turned away is still new, but over: it has no future, and perhaps no home.
    if place.is_new() && !place.is_done() {
        header.set_place(place.without_new());
        let home = Home::at(place.home());
        // SAFETY: on the driver; new, so in no list.
        home.with_list(|| unsafe { home.driver.list_of(place).push(task) });
    }
}

impl Claim {
    /// Goes on to drive the home after a visit.
    pub fn drive(mut self) -> Self {
        // Relaxed: a thread that waits for the visit's end reads nothing but this.
        self.home.claimed.store(DRIVEN, Ordering::Relaxed);
        self.visits = false;
        self
    }
}

impl Claim {
    /// Gives the claim up.
    ///
    /// # Returns
    /// Of a closed home, how many tasks have come and left: nobody else will look at the driver's count.
    fn give_up(&mut self) -> i64 {
        self.entered = None;
        let late = if self.home.driver.closing.get() {
            self.home.driver.take_cells()
        } else {
            0
        };
        // Relaxed: see `is_driven_by_this_thread`.
        self.home
            .driven_by
            .store(core::ptr::null_mut(), Ordering::Relaxed);
        // Release pairs with the acquire in `Home::try_hold`.
        self.home.claimed.store(FREE, Ordering::Release);
        late
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        let (late, waiting) = if self.visits {
            (self.give_up(), None)
        } else {
            loop {
                let mut inbox = self.home.inbox.lock();
                let loans = core::mem::take(&mut inbox.loans);
                if loans.is_empty() {
                    // Under the lock: who announces later finds the claim free when it tries once more, and who
                    // announced before is found here.
                    break (self.give_up(), inbox.waiting.take());
                }
                drop(inbox);
                self.end_loans(loans);
            }
        };
        if late != 0 {
            self.home.count_late(late);
        }
        if let Some(waker) = waiting.filter(|_| !crate::mutant!("claim_ends_silently")) {
            Deferred::new(waker).run();
        }
    }
}
