//! Statically allocated tasks: no heap, no threads, no operating system.
//!
//! They serve the purpose of Protothreads (Dunkels, Schmidt, Voigt, Ali 2006), and add what those lack: a run queue,
//! so that nothing is polled in vain and no order of creation is bad, and a semaphore for each task that wakes
//! its waiter. A [`Pool`] is a `static`; beside its future a task costs [`SLOT_BYTES`] bytes: its number, its
//! link in the run queue, and its semaphore. (A protothread costs 2, its semaphore 4.)
//!
//! Wakes may come from anywhere, an interrupt handler or another thread included.
//!
//! # The run queue
//!
//! One word names the task woken last, whose link names the one woken before it, and so on. Waking is
//! one exchange of that word (a Treiber stack without pop); the runner takes the whole stack by one
//! exchange and turns it round, so tasks run in the order in which they were woken, a batch at a time.
//! A task's link also says whether it is queued: whoever changes it from `PARKED` pushes it. The runner
//! sets it back before the poll, so a wake during the poll queues the task again.

use core::cell::UnsafeCell;
use core::fmt;
use core::future::Future;
use core::mem::ManuallyDrop;
use core::pin::Pin;
use core::task::{Context, RawWaker, RawWakerVTable, Waker};

use crate::platform::atomic::{AtomicBool, AtomicU16, Ordering};

/// Bytes of a task beside its future.
pub const SLOT_BYTES: usize = 6;

/// The link of a task that is in no queue.
const PARKED: u16 = u16::MAX;
/// The link of the last task in a queue, and of an empty queue.
const END: u16 = u16::MAX - 1;
/// In a task's number: it has finished. Written by the runner alone.
const DONE: u16 = 1 << 15;
/// Most tasks that a pool may have.
const TASKS_MAX: usize = DONE as usize - 1;

/// A place for one task.
#[repr(C)]
pub struct Slot<F> {
    number: AtomicU16,
    link: AtomicU16,
    signals: AtomicU16,
    future: UnsafeCell<F>,
}

const _: () = assert!(size_of::<Slot<()>>() == SLOT_BYTES);

impl<F> Slot<F> {
    /// A task that will be polled when its pool first runs.
    pub const fn new(future: F) -> Self {
        Self {
            number: AtomicU16::new(0),
            link: AtomicU16::new(PARKED),
            signals: AtomicU16::new(0),
            future: UnsafeCell::new(future),
        }
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
pub struct Pool<F, const TASKS: usize> {
    newest: AtomicU16,
    running: AtomicBool,
    begun: AtomicBool,
    slots: [Slot<F>; TASKS],
}

// SAFETY: a future is touched only by `run`, of which there is one at a time; it may be another thread
// each time, so the future must be `Send`. Everything else is atomic.
unsafe impl<F: Send, const TASKS: usize> Sync for Pool<F, TASKS> {}

/// Why [`Pool::run`] came back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ran {
    /// Nothing is runnable; run again after a wake.
    Idle,
    /// Every task has finished.
    Done,
}

impl<F: Future<Output = ()>, const TASKS: usize> Pool<F, TASKS> {
    const VTABLE: RawWakerVTable =
        RawWakerVTable::new(Self::clone_waker, Self::wake, Self::wake, |_| {});

    /// A pool of these tasks, at most 32,767.
    pub const fn new(slots: [Slot<F>; TASKS]) -> Self {
        const { assert!(TASKS <= TASKS_MAX, "a pool has at most 32,767 tasks") };
        Self {
            newest: AtomicU16::new(END),
            running: AtomicBool::new(false),
            begun: AtomicBool::new(false),
            slots,
        }
    }

    /// The number of the task that is being polled.
    ///
    /// # Panics
    /// The context is not that of a task of this pool.
    pub fn number(&'static self, cx: &Context<'_>) -> usize {
        let data = cx.waker().data().cast::<Slot<F>>();
        assert!(
            self.slots.as_ptr_range().contains(&data),
            "the task is not of this pool"
        );
        // SAFETY: within this pool's slots, and our wakers point at the beginning of one.
        number_of(unsafe { &*data })
    }

    /// Adds one to a task's semaphore, and wakes the task.
    ///
    /// # Panics
    /// There is no task of this number, or its semaphore stands at 65,535.
    pub fn signal(&'static self, task: usize) {
        let signals = &self.slots[task].signals;
        // Release pairs with the acquire in `take_signal`. Relaxed: on failure nothing is read.
        let added = signals.fetch_update(Ordering::Release, Ordering::Relaxed, |count| {
            count.checked_add(1)
        });
        assert!(
            added.is_ok(),
            "task {task} has 65,535 signals it has not taken"
        );
        self.push(task);
    }

    /// Takes one from a task's semaphore; `false` if it stands at zero. Only the task itself may ask.
    pub fn take_signal(&'static self, task: usize) -> bool {
        let signals = &self.slots[task].signals;
        // Relaxed: only the task itself takes, so what is seen can only have grown.
        if signals.load(Ordering::Relaxed) == 0 {
            return false;
        }
        // Acquire pairs with the release in `signal`.
        signals.fetch_sub(1, Ordering::Acquire);
        true
    }

    /// Polls tasks until none is runnable. The first call polls every task once.
    ///
    /// # Panics
    /// The pool is running already.
    pub fn run(&'static self) -> Ran {
        // Acquire pairs with the release of the last run: its writes to the futures are seen.
        assert!(
            !self.running.swap(true, Ordering::Acquire),
            "the pool is running already"
        );
        let stop = Stop(&self.running);
        // Relaxed: under `running`.
        if !self.begun.swap(true, Ordering::Relaxed) {
            self.begin();
        }
        loop {
            // Acquire pairs with the release in `push`.
            let batch = self.newest.swap(END, Ordering::Acquire);
            if batch == END {
                break;
            }
            let mut batch = Batch {
                pool: self,
                next: self.turn_round(batch),
            };
            while let Some(task) = batch.pop() {
                self.poll(task);
            }
        }
        // Relaxed: only the runner says `DONE`.
        let done = |slot: &Slot<F>| slot.number.load(Ordering::Relaxed) & DONE != 0;
        let ran = if self.slots.iter().all(done) {
            Ran::Done
        } else {
            Ran::Idle
        };
        drop(stop);
        ran
    }

    fn begin(&'static self) {
        for (number, slot) in (0..).zip(&self.slots) {
            // Relaxed: no waker exists yet.
            slot.number.store(number, Ordering::Relaxed);
        }
        (0..TASKS).for_each(|task| self.push(task));
    }

    /// Turns a stack, newest first, into a queue, oldest first.
    fn turn_round(&self, mut newest: u16) -> u16 {
        let mut oldest = END;
        while newest != END {
            // Relaxed: the swap that took the stack acquired its links; nobody else changes them.
            let older = self.link(newest).load(Ordering::Relaxed);
            // AcqRel pairs with `push`: a store would end the release sequence of a wake that found the
            // task queued.
            self.link(newest).swap(oldest, Ordering::AcqRel);
            (oldest, newest) = (newest, older);
        }
        oldest
    }

    /// Polls a task that was just unqueued, unless it has finished.
    fn poll(&'static self, task: u16) {
        let at = usize::from(task);
        let number = &self.slots[at].number;
        // Relaxed: only the runner says `DONE`.
        if number.load(Ordering::Relaxed) & DONE != 0 {
            return;
        }
        // Made from the pool's address, because `wake` goes back to it.
        let slot = core::ptr::from_ref(self)
            .wrapping_byte_add(core::mem::offset_of!(Self, slots))
            .cast::<Slot<F>>()
            .wrapping_add(at);
        // SAFETY: the vtable takes a slot of this type of pool; the pool, and so the slot, is static.
        let waker = ManuallyDrop::new(unsafe {
            Waker::from_raw(RawWaker::new(slot.cast(), &const { Self::VTABLE }))
        });
        // SAFETY: `running` keeps others away from the future.
        let future: &'static mut F = unsafe { &mut *self.slots[at].future.get() };
        if Pin::static_mut(future)
            .poll(&mut Context::from_waker(&waker))
            .is_ready()
        {
            // Relaxed: others read only the rest of the number.
            number.fetch_or(DONE, Ordering::Relaxed);
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
        let slot = data.cast::<Slot<F>>();
        // SAFETY: static.
        let number = number_of(unsafe { &*slot });
        let pool = slot
            .wrapping_sub(number)
            .wrapping_byte_sub(core::mem::offset_of!(Self, slots))
            .cast::<Self>();
        // SAFETY: the slot with this number is this far from the beginning of its pool, which is static.
        unsafe { &*pool }.push(number);
    }
}

impl<F, const TASKS: usize> Pool<F, TASKS> {
    fn link(&self, task: u16) -> &AtomicU16 {
        &self.slots[usize::from(task)].link
    }

    /// Queues a task, unless it is queued or has finished.
    fn push(&self, task: usize) {
        let Ok(task) = u16::try_from(task) else {
            return;
        };
        let link = self.link(task);
        loop {
            // AcqRel pairs with the swap in `Batch::pop`. Relaxed on failure: the next line does the work.
            let claim = link.compare_exchange(PARKED, END, Ordering::AcqRel, Ordering::Relaxed);
            if claim.is_ok() {
                return self.push_linked(task);
            }
            // Queued already. A load would release nothing: AcqRel pairs with the swap in `Batch::pop`, so
            // that the poll to come sees what was done before this.
            if link.fetch_or(0, Ordering::AcqRel) != PARKED {
                return;
            }
        }
    }

    /// Puts a task, whose link is the caller's, on the stack.
    fn push_linked(&self, task: u16) {
        // Relaxed: only a guess for the exchange.
        let mut newest = self.newest.load(Ordering::Relaxed);
        loop {
            // AcqRel pairs with `push`, which may have found the task queued already; published by the
            // exchange below.
            self.link(task).swap(newest, Ordering::AcqRel);
            // Release pairs with the acquire swaps of the runner. Relaxed: on failure nothing is read.
            let pushed = self.newest.compare_exchange_weak(
                newest,
                task,
                Ordering::Release,
                Ordering::Relaxed,
            );
            match pushed {
                Ok(_) => return,
                Err(now) => newest = now,
            }
        }
    }
}

fn number_of<F>(slot: &Slot<F>) -> usize {
    // Relaxed: written before the first waker was made, but for `DONE`.
    usize::from(slot.number.load(Ordering::Relaxed) & !DONE)
}

/// Tasks to be polled, oldest first. Those that a panic leaves behind are queued again.
struct Batch<F: 'static, const TASKS: usize> {
    pool: &'static Pool<F, TASKS>,
    next: u16,
}

impl<F, const TASKS: usize> Batch<F, TASKS> {
    fn pop(&mut self) -> Option<u16> {
        if self.next == END {
            return None;
        }
        let task = self.next;
        // AcqRel pairs with the exchange in `push`: a wake that found the task queued is seen by
        // the poll.
        self.next = self.pool.link(task).swap(PARKED, Ordering::AcqRel);
        Some(task)
    }
}

impl<F, const TASKS: usize> Drop for Batch<F, TASKS> {
    fn drop(&mut self) {
        while let Some(task) = self.pop() {
            self.pool.push(usize::from(task));
        }
    }
}

/// Ends a run, also when a task panics.
struct Stop<'a>(&'a AtomicBool);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        // Release pairs with the acquire at the beginning of the next run.
        self.0.store(false, Ordering::Release);
    }
}

impl<F, const TASKS: usize> fmt::Debug for Pool<F, TASKS> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pool")
            .field("tasks", &TASKS)
            .finish_non_exhaustive()
    }
}

impl<F> fmt::Debug for Slot<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Slot")
            .field("number", &number_of(self))
            .finish_non_exhaustive()
    }
}
