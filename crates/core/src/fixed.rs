//! Statically allocated tasks: no heap, no threads, no operating system.
//!
//! They serve the purpose of Protothreads (Dunkels, Schmidt, Voigt, Ali 2006), and add what those lack: a run queue,
//! so that nothing is polled in vain and no order of creation is bad, and a semaphore for each task that wakes
//! its waiter. A [`Pool`] is a `static`; beside its future a task costs [`SLOT_BYTES`] bytes: its number, its
//! link in the run queue, and its semaphore. (A protothread costs 2, its semaphore 4.)
//!
//! Wakes may come from anywhere, an interrupt handler or another thread included. What they change are a pool's
//! words, in one of two forms: [`Atomic`], which is for several cores and what a pool has if it does not say, or
//! `Section`, plain cells behind a critical section, which is for one core (with the feature `critical-section`).
//!
//! # The run queue
//!
//! One word names the task woken last, whose link names the one woken before it, and so on. Waking is
//! one exchange of that word (a Treiber stack without pop); the runner takes the whole stack by one
//! exchange and turns it round, so tasks run in the order in which they were woken, a batch at a time.
//! A task's link also says whether it is queued: whoever changes it from `PARKED` pushes it. The runner
//! sets it back before the poll, so a wake during the poll queues the task again.
//!
//! Each of these steps is one critical section where words are plain. Turning round takes one for each task, so
//! interrupts wait for a few instructions, however many tasks are woken.

use core::cell::UnsafeCell;
use core::fmt;
use core::future::Future;
use core::mem::ManuallyDrop;
use core::pin::Pin;
use core::task::{Context, RawWaker, RawWakerVTable, Waker};

use crate::platform::atomic::Ordering;

mod word;
#[cfg(feature = "critical-section")]
pub use word::Section;
pub use word::{Atomic, Word};
use word::{END, PARKED};

/// Bytes of a task beside its future.
pub const SLOT_BYTES: usize = 6;

/// In a task's number: it has finished. Written by the runner alone.
const DONE: u16 = 1 << 15;
/// Most tasks that a pool may have.
const TASKS_MAX: usize = DONE as usize - 1;

/// [`Pool::run`] was never called: no task has its number.
const NEW: u16 = word::ZERO;
/// Nobody is in [`Pool::run`].
const IDLE: u16 = 1;
/// Somebody is.
const RUNNING: u16 = 2;

/// A place for one task.
#[repr(C)]
pub struct Slot<F, W = Atomic> {
    number: W,
    link: W,
    signals: W,
    future: UnsafeCell<F>,
}

const _: () = assert!(size_of::<Slot<()>>() == SLOT_BYTES);
#[cfg(feature = "critical-section")]
const _: () = assert!(size_of::<Slot<(), Section>>() == SLOT_BYTES);

impl<F, W: Word> Slot<F, W> {
    /// A task that will be polled when its pool first runs.
    pub const fn new(future: F) -> Self {
        Self {
            number: W::ZERO,
            link: W::PARKED,
            signals: W::ZERO,
            future: UnsafeCell::new(future),
        }
    }

    fn number(&self, key: W::Key<'_>) -> u16 {
        // Relaxed: written before the first waker was made, but for `DONE`.
        self.number.load(key, Ordering::Relaxed) & !DONE
    }
}

/// Tasks of one type of future, in a `static`.
///
/// # Examples
/// ```
/// use core::{future::Future, pin::Pin, sync::atomic::{AtomicU32, Ordering}, task::{Context, Poll}};
/// use gossamer::fixed::{Pool, Ran, Slot};
///
/// static ROUNDS: AtomicU32 = AtomicU32::new(0);
/// static PAIR: Pool<Player, 2> = Pool::new([const { Slot::new(Player) }; 2]);
///
/// struct Player;
/// impl Future for Player {
///     type Output = ();
///     fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
///         let me = PAIR.number(cx);
///         while PAIR.take_signal(me) {
///             if ROUNDS.fetch_add(1, Ordering::Relaxed) == 9 {
///                 return Poll::Ready(());
///             }
///             PAIR.signal(1 - me);
///         }
///         Poll::Pending
///     }
/// }
///
/// PAIR.signal(0);
/// assert_eq!(PAIR.run(), Ran::Idle); // one of the two waits for ever
/// assert_eq!(ROUNDS.load(Ordering::Relaxed), 10);
/// ```
#[repr(C)]
pub struct Pool<F, const TASKS: usize, W = Atomic> {
    /// `NEW`, `IDLE` or `RUNNING`.
    state: W,
    /// The task woken last.
    newest: W,
    /// The next task of the batch that is run, of which only the runner knows.
    next: W,
    slots: [Slot<F, W>; TASKS],
}

// SAFETY: a future is touched only by `run`, of which there is one at a time; it may be another thread
// each time, so the future must be `Send`. Everything else is words, which are `Sync`.
unsafe impl<F: Send, const TASKS: usize, W: Word> Sync for Pool<F, TASKS, W> {}

/// Why [`Pool::run`] came back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ran {
    /// Nothing is runnable; run again after a wake.
    Idle,
    /// Every task has finished.
    Done,
}

impl<F: Future<Output = ()>, const TASKS: usize, W: Word> Pool<F, TASKS, W> {
    const VTABLE: RawWakerVTable =
        RawWakerVTable::new(Self::clone_waker, Self::wake, Self::wake, |_| {});

    /// A pool of these tasks, at most 32,767.
    pub const fn new(slots: [Slot<F, W>; TASKS]) -> Self {
        const { assert!(TASKS <= TASKS_MAX, "a pool has at most 32,767 tasks") };
        Self {
            state: W::ZERO,
            newest: W::END,
            next: W::END,
            slots,
        }
    }

    /// The number of the task that is being polled.
    ///
    /// # Panics
    /// The context is not that of a task of this pool.
    pub fn number(&'static self, cx: &Context<'_>) -> usize {
        // Computed, not read from the slot: what the task does next would wait for that.
        let bytes = cx
            .waker()
            .data()
            .addr()
            .wrapping_sub(self.slots.as_ptr().addr());
        let number = bytes / size_of::<Slot<F, W>>();
        assert!(number < TASKS, "the task is not of this pool");
        number
    }

    /// Adds one to a task's semaphore, and wakes the task.
    ///
    /// # Panics
    /// There is no task of this number, or its semaphore stands at 65,535.
    pub fn signal(&'static self, task: usize) {
        let slot = &self.slots[task];
        let added = W::with(|key| {
            // Release pairs with the acquire in `take_signal`.
            let more = |count: u16| count.checked_add(1);
            let added = slot.signals.update(key, Ordering::Release, more);
            if added.is_ok() {
                // A pool has fewer tasks than fit.
                self.push(key, slot, task as u16);
            }
            added
        });
        if added.is_err() {
            too_many_signals(task);
        }
    }

    /// Takes one from a task's semaphore; `false` if it stands at zero.
    pub fn take_signal(&'static self, task: usize) -> bool {
        let signals = &self.slots[task].signals;
        // Acquire pairs with the release in `signal`.
        W::with(|key| signals.update(key, Ordering::Acquire, |count| count.checked_sub(1))).is_ok()
    }

    /// Polls tasks until none is runnable. The first call polls every task once.
    ///
    /// # Panics
    /// The pool is running already.
    pub fn run(&'static self) -> Ran {
        // Acquire pairs with the release of the last run: its writes to the futures are seen.
        let before = W::with(|key| self.state.swap(key, RUNNING, Ordering::Acquire));
        assert!(before != RUNNING, "the pool is running already");
        let stop = Stop(&self.state);
        if before == NEW {
            self.begin();
        }
        if crate::mutant!("fixed_panic_loses_its_batch") {
            // Relaxed: a mutant.
            W::with(|key| self.next.store(key, END, Ordering::Relaxed));
        }
        while let Some(task) = self.pop() {
            self.poll(task);
        }
        let ran = if self.slots.iter().all(Slot::is_done) {
            Ran::Done
        } else {
            Ran::Idle
        };
        drop(stop);
        ran
    }

    /// Polls a task that was just unqueued, unless it has finished.
    fn poll(&'static self, task: u16) {
        let at = usize::from(task);
        if self.slots[at].is_done() {
            return;
        }
        // Made from the pool's address, because `wake` goes back to it.
        let slot = core::ptr::from_ref(self)
            .wrapping_byte_add(core::mem::offset_of!(Self, slots))
            .cast::<Slot<F, W>>()
            .wrapping_add(at);
        // SAFETY: the vtable takes a slot of this type of pool; the pool, and so the slot, is static.
        let waker = ManuallyDrop::new(unsafe {
            Waker::from_raw(RawWaker::new(slot.cast(), &const { Self::VTABLE }))
        });
        // SAFETY: `RUNNING` keeps others away from the future.
        let future: &'static mut F = unsafe { &mut *self.slots[at].future.get() };
        if Pin::static_mut(future)
            .poll(&mut Context::from_waker(&waker))
            .is_ready()
        {
            let number = &self.slots[at].number;
            // Relaxed: only the runner writes it, and others read only the rest of the number.
            W::with(|key| number.store(key, task | DONE, Ordering::Relaxed));
        }
    }

    /// # Safety
    /// `data` is a slot of a static pool of this type.
    unsafe fn clone_waker(data: *const ()) -> RawWaker {
        RawWaker::new(data, &const { Self::VTABLE })
    }

    /// # Safety
    /// `data` is a slot of a static pool of this type.
    unsafe fn wake(data: *const ()) {
        let at = data.cast::<Slot<F, W>>();
        // SAFETY: static.
        let slot = unsafe { &*at };
        W::with(|key| {
            let number = slot.number(key);
            let pool = at
                .wrapping_sub(usize::from(number))
                .wrapping_byte_sub(core::mem::offset_of!(Self, slots))
                .cast::<Self>();
            // SAFETY: the slot with this number is this far from the beginning of its pool, which is static.
            unsafe { &*pool }.push(key, slot, number);
        });
    }
}

impl<F, const TASKS: usize, W: Word> Pool<F, TASKS, W> {
    /// Gives each task its number, and queues it.
    fn begin(&self) {
        for (number, slot) in (0..).zip(&self.slots) {
            W::with(|key| {
                // Relaxed: no waker exists yet.
                slot.number.store(key, number, Ordering::Relaxed);
                self.push(key, slot, number);
            });
        }
    }

    fn link(&self, task: u16) -> &W {
        &self.slots[usize::from(task)].link
    }

    /// Queues the task with this slot and number, unless it is queued.
    fn push(&self, key: W::Key<'_>, slot: &Slot<F, W>, task: u16) {
        let link = &slot.link;
        // Relaxed: only a guess for the exchange below.
        let mut older = self.newest.load(key, Ordering::Relaxed);
        // Also if it is queued already, an exchange and no load, which would release nothing: AcqRel pairs with the
        // swap in `pop`, so that the poll to come sees what was done before this.
        let before = link.update(key, Ordering::AcqRel, |now| {
            Some(if now == PARKED { older } else { now })
        });
        if before != Ok(PARKED) {
            return;
        }
        // Release pairs with the acquire swap in `pop`.
        let pushed = self.newest.update(key, Ordering::Release, |newest| {
            if newest != older {
                older = newest;
                // AcqRel pairs with the exchange above of those that found the task queued: a store would end their
                // release sequence.
                link.swap(key, older, Ordering::AcqRel);
            }
            Some(task)
        });
        debug_assert!(pushed.is_ok());
    }

    /// Takes the next task out of the queue. Of the runner alone, as the batch is.
    fn pop(&self) -> Option<u16> {
        loop {
            let popped = W::with(|key| {
                // Relaxed: only the runner has a batch; the next run sees it by `state`.
                let mut task = self.next.load(key, Ordering::Relaxed);
                if task == END {
                    // Acquire pairs with the release in `push`.
                    task = self.newest.swap(key, END, Ordering::Acquire);
                    // Relaxed: the swap has acquired the links of the stack; nobody else changes them.
                    if task == END || self.link(task).load(key, Ordering::Relaxed) != END {
                        return Err(task);
                    }
                }
                // AcqRel pairs with the exchange in `push`: a wake that found the task queued is seen by the poll.
                let next = self.link(task).swap(key, PARKED, Ordering::AcqRel);
                // Relaxed: as above.
                self.next.store(key, next, Ordering::Relaxed);
                Ok(task)
            });
            match popped {
                Ok(task) => return Some(task),
                Err(END) => return None,
                Err(newest) => self.turn_round(newest),
            }
        }
    }

    /// Makes a batch, oldest first, of a stack, newest first.
    #[cold]
    fn turn_round(&self, newest: u16) {
        let (mut task, mut newer) = (newest, END);
        while task != END {
            let link = self.link(task);
            // AcqRel pairs with `push`: a store would end the release sequence of a wake that found the task queued.
            let older = W::with(|key| link.swap(key, newer, Ordering::AcqRel));
            (newer, task) = (task, older);
        }
        // Relaxed: only the runner has a batch.
        W::with(|key| self.next.store(key, newer, Ordering::Relaxed));
    }
}

impl<F, W: Word> Slot<F, W> {
    /// Whether the task has finished: for the runner.
    fn is_done(&self) -> bool {
        // Relaxed: only the runner says `DONE`.
        W::with(|key| self.number.load(key, Ordering::Relaxed)) & DONE != 0
    }
}

#[cold]
#[track_caller]
fn too_many_signals(task: usize) -> ! {
    panic!("task {task} has 65,535 signals it has not taken");
}

/// Ends a run, also when a task panics: what it has not run the next run begins with.
struct Stop<'a, W: Word>(&'a W);

impl<W: Word> Drop for Stop<'_, W> {
    fn drop(&mut self) {
        // Release pairs with the acquire at the beginning of the next run.
        W::with(|key| self.0.store(key, IDLE, Ordering::Release));
    }
}

impl<F, const TASKS: usize, W> fmt::Debug for Pool<F, TASKS, W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pool")
            .field("tasks", &TASKS)
            .finish_non_exhaustive()
    }
}

impl<F, W: Word> fmt::Debug for Slot<F, W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Slot")
            .field("number", &W::with(|key| self.number(key)))
            .finish_non_exhaustive()
    }
}
