//! A set of tasks that are joined as they end.
//!
//! Each handle in the set has a waker of its own, which notes the handle's number in the set's line of those that have
//! ended, and wakes who waits for the next. So joining costs the same however many there are: nobody looks through
//! the set.

use std::collections::VecDeque;
use std::mem;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker, ready};

use gossamer_core::context::SchedulingPoint;
use gossamer_core::fork::Origin;
use gossamer_core::panics;
use gossamer_core::platform::Mutex;
use gossamer_core::waiter::Deferred;
use gossamer_task::{JoinError, JoinHandle};

/// Tasks (fibers, threads, blocking calls: whatever has a [`JoinHandle`]) that are joined in the order in which they
/// end.
///
/// Dropping the set aborts what is left in it.
///
/// # Examples
/// ```
/// use gossamer::Wait;
/// use gossamer::{JoinSet, Model, Runtime};
///
/// let rt = Runtime::builder().model(Model::Single).build()?;
/// let mut set = JoinSet::new();
/// for number in 0..3 {
///     set.push(rt.spawn(async move { number }));
/// }
/// let mut sum = 0;
/// while let Some(number) = set.join_next().wait() {
///     sum += number.expect("no panic");
/// }
/// assert_eq!(sum, 3);
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct JoinSet<T> {
    slots: Vec<Slot<T>>,
    free: Vec<usize>,
    pushed: u64,
    origin: Origin,
    ended: Arc<Ended>,
}

/// Which task of a [`JoinSet`]: unique in its set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Id {
    number: u64,
    /// Its place in the set.
    at: usize,
}

struct Slot<T> {
    id: Id,
    handle: Option<JoinHandle<T>>,
}

/// Those that have ended, in that order, and who waits for the next.
#[derive(Default)]
struct Ended {
    line: Mutex<EndedLine>,
}

#[derive(Default)]
struct EndedLine {
    ready: VecDeque<Id>,
    waiter: Option<Waker>,
}

/// The waker of one handle.
struct Notes {
    id: Id,
    ended: Arc<Ended>,
}

impl Wake for Notes {
    fn wake(self: Arc<Self>) {
        self.ended.note(self.id);
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.ended.note(self.id);
    }
}

impl Ended {
    fn note(&self, id: Id) {
        let waiter = {
            let mut line = self.line.lock();
            line.ready.push_back(id);
            if gossamer_core::mutant!("join_set_wakes_nobody") {
                return;
            }
            line.waiter.take()
        };
        if let Some(waiter) = waiter {
            Deferred::new(waiter).run();
        }
    }

    /// The next that has ended; or from now on `waker` is called when there is one.
    fn next_or_wake(&self, waker: &Waker) -> Option<Id> {
        if let Some(next) = self.line.lock().ready.pop_front() {
            return Some(next);
        }
        // No user code under the lock: it is cloned before, and what it replaces is dropped after.
        let mut waker = Some(waker.clone());
        let (next, _before) = {
            let mut line = self.line.lock();
            match line.ready.pop_front() {
                Some(next) if !gossamer_core::mutant!("join_set_loses_id") => (Some(next), None),
                _ => (None, mem::replace(&mut line.waiter, waker.take())),
            }
        };
        next
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
    pub fn push(&mut self, handle: JoinHandle<T>) -> Id {
        assert!(
            !handle.is_taken(),
            "a join handle was put into a set after it had given its output"
        );
        let at = self.free.last().copied().unwrap_or(self.slots.len());
        let id = Id {
            number: self.pushed,
            at,
        };
        let waits = handle.notify(&self.waker(id));
        self.pushed += 1;
        self.free.pop();
        let handle = Some(handle);
        if at == self.slots.len() {
            self.slots.push(Slot { id, handle });
        } else {
            self.slots[at] = Slot { id, handle };
        }
        if !waits && !gossamer_core::mutant!("join_set_misses_the_ended") {
            self.ended.note(id);
        }
        id
    }

    fn waker(&self, id: Id) -> Waker {
        let ended = self.ended.clone();
        Waker::from(Arc::new(Notes { id, ended }))
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

    /// As [`join_next`](JoinSet::join_next), with what [`push`](JoinSet::push) gave for it.
    pub fn join_next_with_id(&mut self) -> JoinNextWithId<'_, T> {
        JoinNextWithId {
            set: self,
            point: SchedulingPoint::new(),
        }
    }

    /// The next that has ended, if there is one at this moment.
    pub fn try_next(&mut self) -> Option<(Id, Result<T, JoinError>)> {
        loop {
            let id = self.ended.line.lock().ready.pop_front()?;
            if let Some(output) = self.take(id) {
                return Some((id, output));
            }
        }
    }

    /// The output of one that is noted as ended; `None` if it has been taken, or has not ended.
    fn take(&mut self, id: Id) -> Option<Result<T, JoinError>> {
        let slot = self.slots.get_mut(id.at).filter(|slot| slot.id == id)?;
        let output = slot.handle.as_mut()?.try_take()?;
        slot.handle = None;
        self.free.push(id.at);
        Some(output)
    }

    /// Aborts one; `false` if it is not in the set any more. It stays in the set, and is joined as the others are.
    pub fn abort(&self, id: Id) -> bool {
        let slot = self.slots.get(id.at).filter(|slot| slot.id == id);
        let handle = slot.and_then(|slot| slot.handle.as_ref());
        handle.inspect(|handle| handle.abort()).is_some()
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

    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<(Id, Result<T, JoinError>)>> {
        while !self.is_empty() {
            let Some(id) = self.ended.next_or_wake(cx.waker()) else {
                self.origin.check("waiting for a join set");
                return Poll::Pending;
            };
            if let Some(output) = self.take(id) {
                return Poll::Ready(Some((id, output)));
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
    type Output = Option<(Id, Result<T, JoinError>)>;

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
        next.map(|next| next.map(|(_, output)| output))
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
                Poll::Ready(Some((_, output))) => panics::end(|| drop(output)),
                Poll::Ready(None) => return Poll::Ready(()),
                Poll::Pending => return Poll::Pending,
            }
        }
    }
}
