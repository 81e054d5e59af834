//! A set of tasks that are joined as they end.
//!
//! Each handle in the set has a waker of its own, which notes the handle's number in the set's line of those that have
//! ended, and wakes who waits for the next. So joining costs the same however many there are: nobody looks through
//! the set.

use std::collections::VecDeque;
use std::mem;
use std::panic::resume_unwind;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker, ready};

use gossamer_core::context::{self, SchedulingPoint};
use gossamer_core::fork::Origin;
use gossamer_core::panics;
use gossamer_core::platform::Mutex;
use gossamer_core::waiter::Deferred;
use gossamer_task::{AbortHandle, Id, JoinError, JoinHandle};

/// The handles of a set. The facade's `JoinSet` has the documentation, and spawns into it.
pub struct JoinSet<T> {
    slots: Vec<Slot<T>>,
    free: Vec<usize>,
    pushed: u64,
    origin: Origin,
    ended: Arc<Ended>,
}

/// A handle of the set: none that came before or comes after has the same.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Key {
    number: u64,
    /// Its place in the set.
    at: usize,
}

struct Slot<T> {
    key: Key,
    handle: Option<JoinHandle<T>>,
}

/// Those that have ended, in that order, and who waits for the next.
#[derive(Default)]
struct Ended {
    line: Mutex<EndedLine>,
}

#[derive(Default)]
struct EndedLine {
    ready: VecDeque<Key>,
    waiter: Option<Waker>,
}

/// The waker of one handle.
struct Notes {
    key: Key,
    ended: Arc<Ended>,
}

impl Wake for Notes {
    fn wake(self: Arc<Self>) {
        self.ended.note(self.key);
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.ended.note(self.key);
    }
}

impl Ended {
    fn note(&self, key: Key) {
        let waiter = {
            let mut line = self.line.lock();
            line.ready.push_back(key);
            if gossamer_core::mutant!("join_set_wakes_nobody") {
                return;
            }
            line.waiter.take()
        };
        if let Some(waiter) = waiter {
            Deferred::new(waiter).run();
        }
    }

    /// The next that has ended.
    ///
    /// # Errors
    /// None has. From now on `waker` is called when there is one; whether it was to be called before.
    fn next_or_wake(&self, waker: &Waker) -> Result<Key, bool> {
        if let Some(next) = self.line.lock().ready.pop_front() {
            return Ok(next);
        }
        // No user code under the lock: it is cloned before, and what it replaces is dropped after.
        let mut own = Some(waker.clone());
        let (next, before) = {
            let mut line = self.line.lock();
            match line.ready.pop_front() {
                Some(next) if !gossamer_core::mutant!("join_set_loses_id") => (Some(next), None),
                _ => (None, mem::replace(&mut line.waiter, own.take())),
            }
        };
        next.ok_or_else(|| before.is_some_and(|before| before.will_wake(waker)))
    }
}

impl<T> JoinSet<T> {
    /// An empty set.
    #[must_use]
    pub fn new() -> Self {
        Self {
            slots: Vec::new(),
            free: Vec::new(),
            pushed: 0,
            origin: Origin::here(),
            ended: Arc::default(),
        }
    }

    /// Puts a task into the set: `set.push(rt.spawn(…))`.
    ///
    /// # Panics
    /// The handle has been joined: there is no output left in it. In a forked child, if the task was spawned before and
    /// has not ended.
    #[track_caller]
    pub fn push(&mut self, handle: JoinHandle<T>) -> AbortHandle {
        assert!(
            !handle.is_taken(),
            "a join handle was put into a set after it had given its output"
        );
        let at = self.free.last().copied().unwrap_or(self.slots.len());
        let key = Key {
            number: self.pushed,
            at,
        };
        let abort = handle.abort_handle();
        let waits = handle.notify(&self.waker(key));
        self.pushed += 1;
        self.free.pop();
        let handle = Some(handle);
        if at == self.slots.len() {
            self.slots.push(Slot { key, handle });
        } else {
            self.slots[at] = Slot { key, handle };
        }
        if !waits && !gossamer_core::mutant!("join_set_misses_the_ended") {
            self.ended.note(key);
        }
        abort
    }

    fn waker(&self, key: Key) -> Waker {
        let ended = self.ended.clone();
        Waker::from(Arc::new(Notes { key, ended }))
    }

    /// How many are in the set: have not been joined.
    #[must_use]
    pub fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    /// Whether all have been joined.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Waits for the next that ends, and gives its output; `None` if the set is empty.
    ///
    /// # Blocking
    /// `.await` in a task, `.wait()` in a fiber or thread.
    ///
    /// # Cancellation
    /// Dropped unfinished, it has taken nothing out of the set.
    ///
    /// # Errors
    /// [`JoinError`]: the task panicked, was aborted, or its runtime ended.
    pub fn join_next(&mut self) -> JoinNext<'_, T> {
        JoinNext(self.join_next_with_id())
    }

    /// As [`join_next`](JoinSet::join_next), and says which task it was; an error has its [`id`](JoinError::id) anyway.
    pub fn join_next_with_id(&mut self) -> JoinNextWithId<'_, T> {
        JoinNextWithId {
            set: self,
            point: SchedulingPoint::new(),
        }
    }

    /// As [`join_next`](JoinSet::join_next), of one that has ended at this moment; `None` if there is none.
    ///
    /// # Errors
    /// As [`join_next`](JoinSet::join_next).
    pub fn try_join_next(&mut self) -> Option<Result<T, JoinError>> {
        let next = self.try_join_next_with_id()?;
        Some(next.map(|(_, output)| output))
    }

    /// As [`try_join_next`](JoinSet::try_join_next), and says which task it was.
    ///
    /// # Errors
    /// As [`join_next`](JoinSet::join_next).
    pub fn try_join_next_with_id(&mut self) -> Option<Result<(Id, T), JoinError>> {
        loop {
            let key = self.ended.line.lock().ready.pop_front()?;
            if let Some(output) = self.take(key) {
                return Some(output);
            }
        }
    }

    /// Waits for all, and gives their outputs.
    pub fn join_all(self) -> JoinAll<T> {
        JoinAll {
            outputs: Vec::with_capacity(self.len()),
            set: self,
            point: SchedulingPoint::new(),
        }
    }

    /// The output of one that is noted as ended; `None` if it has been taken, or has not ended.
    fn take(&mut self, key: Key) -> Option<Result<(Id, T), JoinError>> {
        let slot = self.slots.get_mut(key.at).filter(|slot| slot.key == key)?;
        let handle = slot.handle.as_mut()?;
        let id = handle.id();
        let output = handle.try_take()?;
        slot.handle = None;
        self.free.push(key.at);
        Some(output.map(|output| (id, output)))
    }

    /// Aborts all. They stay in the set, and are joined as the others are. (Threads and blocking calls run on.)
    pub fn abort_all(&self) {
        if gossamer_core::mutant!("join_set_aborts_nobody") {
            return;
        }
        for handle in self.slots.iter().filter_map(|slot| slot.handle.as_ref()) {
            handle.abort();
        }
    }

    /// Aborts all, and waits until they have ended. Their outputs, panics included, are dropped.
    ///
    /// # Blocking
    /// `.await` in a task, `.wait()` in a fiber or thread.
    ///
    /// # Cancellation
    /// Dropped unfinished, those that are left are in the set, and aborted, if it was polled.
    pub fn shutdown(&mut self) -> Shutdown<'_, T> {
        Shutdown {
            set: self,
            begun: false,
            point: SchedulingPoint::new(),
        }
    }

    /// Lets all go: they run on, and nobody joins them.
    pub fn detach_all(&mut self) {
        self.free.clear();
        for slot in mem::take(&mut self.slots) {
            // Outputs that are there are dropped.
            panics::end(|| drop(slot));
        }
        // Those that had ended are in line for nobody. (One that ends at this moment may still come, and goes with the
        // next call.)
        if !gossamer_core::mutant!("detached_stay_in_line") {
            self.ended.line.lock().ready.clear();
        }
    }

    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<(Id, T), JoinError>>> {
        while !self.is_empty() {
            let key = match self.ended.next_or_wake(cx.waker()) {
                Ok(key) => key,
                Err(again) => {
                    self.origin.check("waiting for a join set");
                    context::waits_still(&raw const *self.ended, "JoinSet::join_next", again);
                    return Poll::Pending;
                }
            };
            if let Some(output) = self.take(key) {
                return Poll::Ready(Some(output));
            }
        }
        Poll::Ready(None)
    }
}

impl<T> Default for JoinSet<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> Drop for JoinSet<T> {
    fn drop(&mut self) {
        self.abort_all();
        self.detach_all();
    }
}

gossamer_core::impl_debug!([T] JoinSet[T], this => len: this.len());

impl<T> Extend<JoinHandle<T>> for JoinSet<T> {
    fn extend<I: IntoIterator<Item = JoinHandle<T>>>(&mut self, handles: I) {
        for handle in handles {
            self.push(handle);
        }
    }
}

impl<T> FromIterator<JoinHandle<T>> for JoinSet<T> {
    fn from_iter<I: IntoIterator<Item = JoinHandle<T>>>(handles: I) -> Self {
        let mut set = Self::new();
        set.extend(handles);
        set
    }
}

/// [`JoinSet::join_next_with_id`].
#[derive(Debug)]
#[must_use = "operations do nothing until they are awaited or waited for"]
pub struct JoinNextWithId<'a, T> {
    set: &'a mut JoinSet<T>,
    point: SchedulingPoint,
}

impl<T> Future for JoinNextWithId<'_, T> {
    type Output = Option<Result<(Id, T), JoinError>>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        ready!(self.point.pass(cx.waker()));
        self.set.poll_next(cx)
    }
}

/// [`JoinSet::join_next`].
#[derive(Debug)]
#[must_use = "operations do nothing until they are awaited or waited for"]
pub struct JoinNext<'a, T>(JoinNextWithId<'a, T>);

impl<T> Future for JoinNext<'_, T> {
    type Output = Option<Result<T, JoinError>>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let next = Pin::new(&mut self.0).poll(cx);
        next.map(|next| next.map(|joined| joined.map(|(_, output)| output)))
    }
}

/// [`JoinSet::shutdown`].
#[derive(Debug)]
#[must_use = "operations do nothing until they are awaited or waited for"]
pub struct Shutdown<'a, T> {
    set: &'a mut JoinSet<T>,
    begun: bool,
    point: SchedulingPoint,
}

impl<T> Future for Shutdown<'_, T> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if !self.begun {
            self.begun = true;
            self.set.abort_all();
        }
        ready!(self.point.pass(cx.waker()));
        loop {
            match self.set.poll_next(cx) {
                Poll::Ready(Some(output)) => panics::end(|| drop(output)),
                Poll::Ready(None) => return Poll::Ready(()),
                Poll::Pending => return Poll::Pending,
            }
        }
    }
}

/// [`JoinSet::join_all`].
#[derive(Debug)]
#[must_use = "operations do nothing until they are awaited or waited for"]
pub struct JoinAll<T> {
    set: JoinSet<T>,
    outputs: Vec<T>,
    point: SchedulingPoint,
}

// Not pinned structurally: outputs are moved.
impl<T> Unpin for JoinAll<T> {}

impl<T> Future for JoinAll<T> {
    type Output = Vec<T>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Vec<T>> {
        ready!(self.point.pass(cx.waker()));
        loop {
            match ready!(self.set.poll_next(cx)) {
                Some(Ok((_, output))) => self.outputs.push(output),
                None => return Poll::Ready(mem::take(&mut self.outputs)),
                Some(Err(error)) => match error.try_into_panic() {
                    Ok(payload) => resume_unwind(payload),
                    Err(error) => panic!("JoinSet::join_all(): {error}"),
                },
            }
        }
    }
}
