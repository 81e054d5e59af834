//! A closure on its owner's stack that another thread may run.
//!
//! The owner pushes a pointer to it onto its deque, and returns only when it has popped the pointer, or the job is done.
//! The latch says which:
//!
//! | latch | meaning |
//! | --- | --- |
//! | open | the job is in the deque, or a thief runs it; its owner does not sleep |
//! | asleep | the same, but its owner may be asleep: whoever ends the job wakes it |
//! | done | its result is there, and the thief does not touch the job again |

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::NonNull;
use std::task::Waker;

use gossamer_core::platform::UnsafeCell;
use gossamer_core::platform::atomic::{AtomicU32, Ordering};

const OPEN: u32 = 0;
const ASLEEP: u32 = 1;
const DONE: u32 = 2;

/// The payload of a panic.
pub(crate) type Payload = Box<dyn Any + Send>;

/// The part of a job that does not depend on its types.
#[derive(Debug)]
pub(crate) struct Header {
    run: unsafe fn(NonNull<Header>, &Waker),
    latch: AtomicU32,
}

/// A closure, and what comes of it.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct Job<F, R> {
    header: Header,
    work: UnsafeCell<Option<F>>,
    result: UnsafeCell<Option<Result<R, Payload>>>,
}

/// A job in a deque: whoever takes it out runs it, or is its owner.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct JobRef(NonNull<Header>);

// SAFETY: it points to a job whose closure and result are `Send` (`Job::new`), and which stays until it is done.
unsafe impl Send for JobRef {}

impl<F, R> Job<F, R>
where
    F: FnOnce() -> R + Send,
    R: Send,
{
    pub(crate) fn new(work: F) -> Self {
        Self {
            header: Header {
                run: run::<F, R>,
                latch: AtomicU32::new(OPEN),
            },
            work: UnsafeCell::new(Some(work)),
            result: UnsafeCell::new(None),
        }
    }

    /// A reference for a deque.
    ///
    /// # Safety
    /// The job stays where it is until the reference has been popped by its owner, or the job [is
    /// done](Header::is_done).
    pub(crate) unsafe fn to_ref(&self) -> JobRef {
        JobRef(NonNull::from_ref(self).cast())
    }

    pub(crate) fn header(&self) -> &Header {
        &self.header
    }

    /// The closure of a job that no thief has had.
    pub(crate) fn into_work(self) -> F {
        self.work.into_inner().expect("nobody has run it")
    }

    /// What has come of a job that is done.
    pub(crate) fn into_result(self) -> Result<R, Payload> {
        self.result.into_inner().expect("it is done")
    }
}

impl Header {
    /// Whether a thief has run it.
    #[inline]
    pub(crate) fn is_done(&self) -> bool {
        // Acquire pairs with the release in `run`: the result is there.
        self.latch.load(Ordering::Acquire) == DONE
    }

    /// From now on whoever ends it wakes its owner; `false` if it is done.
    pub(crate) fn owner_sleeps(&self) -> bool {
        // Acquire pairs with the release in `run`. Relaxed: the thief reads nothing of the owner's.
        let before =
            self.latch
                .compare_exchange(OPEN, ASLEEP, Ordering::Relaxed, Ordering::Acquire);
        before != Err(DONE)
    }
}

impl JobRef {
    /// Runs it, on another thread than its owner's.
    ///
    /// # Safety
    /// It was stolen from the deque of the thread that `owner` wakes.
    pub(crate) unsafe fn run(self, owner: &Waker) {
        // SAFETY: the job stays until it is done, and only who has stolen it runs it.
        let run = unsafe { self.0.as_ref() }.run;
        // SAFETY: it is the function of this very type.
        unsafe { run(self.0, owner) };
    }
}

/// # Safety
/// `header` is that of a `Job<F, R>` in the deque of which nobody else has the reference.
unsafe fn run<F, R>(header: NonNull<Header>, owner: &Waker)
where
    F: FnOnce() -> R,
{
    // SAFETY: the header is the first field of that job, which stays until it is done.
    let job = unsafe { header.cast::<Job<F, R>>().as_ref() };
    // SAFETY: only the thief touches these cells before the job is done.
    let work = job.work.with_mut(|work| unsafe { (*work).take() });
    let work = work.expect("a job runs once");
    let result = catch_unwind(AssertUnwindSafe(work));
    // SAFETY: as above.
    job.result
        .with_mut(|place| unsafe { *place = Some(result) });
    if gossamer_core::mutant!("job_done_in_silence") {
        // Pairs with the acquire in `is_done`.
        job.header.latch.store(DONE, Ordering::Release);
        return;
    }
    // Release pairs with the acquire in `is_done` and `owner_sleeps`. From here on the job may be gone; the waker is not
    // part of it.
    if job.header.latch.swap(DONE, Ordering::Release) == ASLEEP {
        owner.wake_by_ref();
    }
}
