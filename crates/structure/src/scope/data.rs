//! The state that a scope and its children share: a list of those that have not ended, and the waiter for the last.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::task::{Context, Poll, Waker, ready};

use gossamer_core::context::{self, SchedulingPoint};
use gossamer_core::fork::{Origin, end_child};
use gossamer_core::header::Payload;
use gossamer_core::panics::swallow;
use gossamer_core::platform::Mutex;
use gossamer_core::waiter::Deferred;
use gossamer_task::JoinHandle;

use super::host::Child;

/// One scope.
pub(crate) struct Data {
    origin: Origin,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Those that have not ended, by number; and the numbers that are free.
    children: Vec<Option<Entry>>,
    free: Vec<usize>,
    running: usize,
    /// No more children: they are being taken back, or the scope is over.
    closed: bool,
    waiter: Option<Waker>,
    /// The first panic that nobody has joined.
    panic: Option<Payload>,
    /// Panics that are still with their handles.
    panics_waiting: usize,
}

/// A child that has not ended. Before its task is there, the place is only taken.
#[derive(Default)]
pub(crate) struct Entry {
    pub(crate) child: Option<Arc<dyn Child>>,
    /// Taken out by who aborts it.
    pub(crate) task: Option<JoinHandle<()>>,
}

impl Data {
    pub(crate) fn new() -> Self {
        Self {
            origin: Origin::here(),
            state: Mutex::default(),
        }
    }

    /// A place for one more child, unless the scope is being ended.
    ///
    /// # Panics
    /// In a forked child, if the scope was open before.
    #[track_caller]
    pub(crate) fn reserve(&self) -> Option<usize> {
        self.origin.check("spawning in a scope");
        let mut state = self.state.lock();
        if state.closed {
            return None;
        }
        state.running += 1;
        match state.free.pop() {
            Some(at) => {
                state.children[at] = Some(Entry::default());
                Some(at)
            }
            None => {
                state.children.push(Some(Entry::default()));
                Some(state.children.len() - 1)
            }
        }
    }

    /// Puts the child there; `false` if the scope is being ended.
    pub(crate) fn put(&self, at: usize, child: Arc<dyn Child>) -> bool {
        let mut state = self.state.lock();
        if let Some(entry) = &mut state.children[at] {
            entry.child = Some(child);
        }
        !state.closed
    }

    /// The child's task is there; it may have ended.
    pub(crate) fn set_task(&self, at: usize, child: &Arc<dyn Child>, task: JoinHandle<()>) {
        let (task, aborts) = {
            let mut state = self.state.lock();
            let closed = state.closed;
            let entry = state.children[at].as_mut();
            // The place may be another child's by now.
            match entry.filter(|entry| is(entry, Arc::as_ptr(child).cast())) {
                Some(entry) if !closed => {
                    entry.task = Some(task);
                    return;
                }
                ours => (task, ours.is_some()),
            }
        };
        if aborts {
            task.abort();
        }
    }

    /// Strikes a child off; if it was the last, wakes who waits. It may be gone when this returns, as the scope may.
    pub(crate) fn has_ended(&self, at: usize) {
        let (entry, waiter) = {
            let mut state = self.state.lock();
            let entry = state.children[at].take();
            state.free.push(at);
            state.running -= 1;
            let is_last = state.running == 0 && !gossamer_core::mutant!("scope_last_wakes_nobody");
            (entry, state.waiter.take_if(|_| is_last))
        };
        drop(entry);
        if let Some(waiter) = waiter {
            Deferred::new(waiter).run();
        }
    }

    /// Has a child ended as soon as can be.
    pub(crate) fn abort<C>(&self, at: usize, child: *const C) {
        let task = {
            let mut state = self.state.lock();
            let entry = state.children.get_mut(at).and_then(Option::as_mut);
            entry
                .filter(|entry| is(entry, child.cast()))
                .and_then(|entry| entry.task.take())
        };
        if let Some(task) = task {
            task.abort();
        }
    }

    /// A panic waits to be joined.
    pub(crate) fn panic_waits(&self) {
        self.state.lock().panics_waiting += 1;
    }

    /// One that did has been joined, or never will be.
    pub(crate) fn panic_is_taken(&self) {
        self.state.lock().panics_waiting -= 1;
    }

    /// Nobody joins this one.
    pub(crate) fn keep_panic(&self, payload: Payload) {
        let surplus = {
            let mut state = self.state.lock();
            if state.panic.is_none() {
                state.panic = Some(payload);
                None
            } else {
                Some(payload)
            }
        };
        if let Some(surplus) = surplus {
            swallow(surplus);
        }
    }

    /// Raises the first panic that nobody has joined; all children have ended.
    pub(crate) fn raise(&self) {
        let (payload, any) = {
            let mut state = self.state.lock();
            state.closed = true;
            (state.panic.take(), state.panics_waiting > 0)
        };
        match payload {
            Some(_) if gossamer_core::mutant!("scope_swallows_panics") => {}
            Some(payload) => resume_unwind(payload),
            None if any => panic!("a child of a scope panicked, and its handle was forgotten"),
            None => {}
        }
    }

    /// Nobody is told of the panics of children: the scope panics itself, or is dropped.
    pub(crate) fn swallow(&self) {
        let payload = {
            let mut state = self.state.lock();
            state.closed = true;
            state.panic.take()
        };
        if let Some(payload) = payload {
            swallow(payload);
        }
    }

    /// No more children from now on; aborts those that there are, and does not wait.
    pub(crate) fn abort_all(&self) {
        let entries = self.close();
        for task in entries.into_iter().filter_map(|entry| entry.task) {
            task.abort();
        }
    }

    /// No more children from now on: those that there are, with their tasks, which are to be aborted.
    pub(crate) fn close(&self) -> Vec<Entry> {
        let mut state = self.state.lock();
        state.closed = true;
        let entries = state.children.iter_mut().flatten();
        let taken = entries.map(|entry| Entry {
            child: entry.child.clone(),
            task: entry.task.take(),
        });
        taken.collect()
    }

    pub(crate) fn origin(&self) -> Origin {
        self.origin
    }

    /// Whether no child is left.
    pub(crate) fn is_empty(&self) -> bool {
        self.state.lock().running == 0
    }

    /// Whether no child is left; if one is, `waker` is called when there is none.
    pub(crate) fn is_empty_or_wake(&self, waker: &Waker) -> bool {
        self.is_over_or_wake(waker, |state| state.running == 0)
    }

    /// Whether no child is left, as `is_over` says; if one is, `waker` is called when there is none.
    fn is_over_or_wake(&self, waker: &Waker, is_over: fn(&mut State) -> bool) -> bool {
        if is_over(&mut self.state.lock()) {
            return true;
        }
        // No user code under the lock: it is cloned before, and what it replaces is dropped after.
        let waker = waker.clone();
        let (over, _before) = {
            let mut state = self.state.lock();
            if is_over(&mut state) {
                (true, Some(waker))
            } else {
                (false, state.waiter.replace(waker))
            }
        };
        over
    }

    /// Ends a forked child, if the scope was open before: it has children that nobody runs, and may have loaned them
    /// what would unwind.
    pub(crate) fn refuse_to_end(&self) {
        if self.origin.is_elsewhere() {
            end_child("the end of a scope");
        }
    }

    /// Waits until no child is left. `point` is where this yields.
    pub(crate) fn poll_all_ended(
        &self,
        cx: &mut Context<'_>,
        point: &mut SchedulingPoint,
    ) -> Poll<()> {
        ready!(point.pass(cx.waker()));
        // Under one lock: from then on none is added.
        let end = |state: &mut State| {
            state.closed |= state.running == 0;
            state.running == 0
        };
        if self.is_over_or_wake(cx.waker(), end) {
            return Poll::Ready(());
        }
        self.refuse_to_end();
        context::waits_still(self, "scope::ends", false);
        Poll::Pending
    }
}

fn is(entry: &Entry, child: *const ()) -> bool {
    let there = entry.child.as_ref();
    there.is_some_and(|there| std::ptr::addr_eq(Arc::as_ptr(there), child))
}

/// Calls `body`; gives its panic instead of raising it.
pub(crate) fn caught<R>(body: impl FnOnce() -> R) -> Result<R, Payload> {
    catch_unwind(AssertUnwindSafe(body))
}
