//! Where the driver of a home that may be found stuck stands: `home/marks.rs` tells the protocol.

use core::ptr::NonNull;

use super::{Context, MANY, wake_inside};
use crate::header::Header;
use crate::home::{Home, Marks};

impl Context {
    /// A poll begins, and its task has not woken itself.
    #[inline(always)]
    pub fn begin_out(&self) {
        self.again.set(false);
        self.go_out();
    }

    /// The driver leaves the home's plain memory alone, but for wakes.
    #[inline(always)]
    pub fn go_out(&self) {
        if let Some(marks) = self.marks.get() {
            marks.go_out();
        }
    }

    /// A poll has ended: the home's plain memory is the driver's again.
    #[inline(always)]
    pub fn come_in(&self) {
        if let Some(marks) = self.marks.get()
            && !marks.come_in()
        {
            Home::at(self.home()).close_to_adopters();
        }
    }

    /// The same in the midst of a poll, which may come from the midst of the driver's own code; `true` if it has to go
    /// out again.
    pub(super) fn come_in_if_out(&self) -> bool {
        let was_out = self.is_out();
        if was_out {
            self.come_in();
        }
        was_out
    }

    /// The task wakes itself in its own poll (it yields), and the driver is out: that is noted, and it is queued when
    /// the driver is inside again. `false` if that is not so, and then nothing was done.
    #[inline(always)]
    pub(crate) fn wakes_itself(&self, task: NonNull<Header>) -> bool {
        let itself = self.is_out() && self.polling() == Some(task);
        if itself {
            self.again.set(true);
        }
        itself
    }

    /// Whether the task that is being polled will be polled again; not, if it is at its end.
    pub(super) fn polled_is_woken(&self) -> bool {
        let is_woken = |task: NonNull<Header>| {
            // SAFETY: it is being polled, or ends, by this thread, which keeps it until that is over.
            let place = unsafe { task.as_ref() }.look();
            let is_done = place.is_done() && !crate::mutant!("polled_after_its_end");
            !is_done && (self.again.get() || place.is_scheduled())
        };
        self.polling().is_some_and(is_woken)
    }

    /// A poll has ended, the task is pending, and the driver is inside: queues it if it has woken itself.
    ///
    /// # Safety
    /// The task is the one that was polled, and its home the one that is driven.
    #[inline(always)]
    pub unsafe fn queue_again(&self, task: NonNull<Header>) {
        if self.again.get() && !crate::mutant!("yield_forgotten") {
            // SAFETY: pending, so alive.
            let _here = unsafe { wake_inside(self, task) };
        }
    }

    /// Runs foreign code that is part of no poll, but may be stuck as one is: out of the home, if the driver is inside.
    pub(crate) fn outside(run: impl FnOnce()) {
        /// Comes in again, also if the code panics.
        struct ComesIn;
        impl Drop for ComesIn {
            fn drop(&mut self) {
                super::with(Context::come_in);
            }
        }
        let goes_out = super::with(|context| {
            let inside = context.marks.get().is_some_and(Marks::is_inside);
            if inside {
                context.go_out();
            }
            inside
        });
        let _comes_in = goes_out.then_some(ComesIn);
        run();
    }

    /// Whether the home that is driven has been opened to adopters: a hint.
    pub(crate) fn is_open(&self) -> bool {
        self.marks.get().is_some() && Home::at(self.home()).is_open()
    }

    /// The marks of the home that is driven, if its driver may be found stuck, and is out.
    #[inline(always)]
    pub(crate) fn marks_if_out(&self) -> Option<&'static Marks> {
        self.marks.get().filter(|marks| !marks.is_inside())
    }

    /// Whether the driver may be found stuck, and is out.
    #[inline(always)]
    pub(crate) fn is_out(&self) -> bool {
        self.marks_if_out().is_some()
    }

    /// Whether the driver may touch the plain memory of this task of its home, in the midst of a poll.
    #[inline(always)]
    pub(crate) fn owns(&self, task: NonNull<Header>) -> bool {
        self.marks.get().is_none() || self.polling() == Some(task)
    }

    /// Has `wake` wake the task while the driver is inside its home; if the home is open, the task is woken as it must
    /// be then. Says whether it was one of the home's.
    ///
    /// # Safety
    /// The task is alive; `wake` does what [`wake_inside`](super::wake_inside) does.
    #[inline(always)]
    pub(crate) unsafe fn inside(
        &self,
        task: NonNull<Header>,
        wake: impl FnOnce(&Self) -> bool,
    ) -> bool {
        let Some(marks) = self.marks_if_out() else {
            return wake(self);
        };
        if !marks.come_in() {
            // SAFETY: passed on to the caller.
            return unsafe { Home::at(self.home()).wake_while_open(self, task) };
        }
        let woken = wake(self);
        marks.go_out();
        woken
    }

    /// Notes a new task of the home that is driven, in the midst of a poll or not.
    ///
    /// # Safety
    /// As [`Context::push_woken`].
    #[inline(always)]
    pub unsafe fn push_new(&self, task: NonNull<Header>) {
        let Some(marks) = self.marks_if_out() else {
            // SAFETY: passed on to the caller.
            return unsafe { self.push_woken(task) };
        };
        if !marks.come_in() {
            // SAFETY: passed on to the caller; the marks are those of the home that is driven.
            return unsafe { Home::at(self.home()).push_while_open(self, task) };
        }
        // SAFETY: passed on to the caller.
        unsafe { self.push_woken(task) };
        marks.go_out();
    }

    /// Notes a woken task behind the others, and offers it to nobody.
    ///
    /// # Safety
    /// As [`Context::push_woken`].
    pub(crate) unsafe fn push_back_woken(&self, task: NonNull<Header>) {
        let one = self.woken_one.get();
        if one.is_null() {
            self.woken_one.set(task.as_ptr());
            return;
        }
        self.woken_one.set(MANY);
        let first = NonNull::new(one.cast_mut()).filter(|_| one != MANY);
        // SAFETY: scheduled, and in no queue so far.
        unsafe {
            if let Some(first) = first {
                self.woken_many.push_back(first);
            }
            self.woken_many.push_back(task);
        }
    }
}
