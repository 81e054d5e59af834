//! `Condvar`: waiting for a change of what a mutex guards (Hoare 1974; with the rule of Mesa, Lampson and Redell 1980,
//! that who is notified looks again).
//!
//! An operation is in the condition's line before it unlocks the mutex, so no notification comes in between. The
//! bits are the number of the last notification of all: whoever waits under another number goes. A notification of one
//! lets the first in line go and leaves [`ONE`] as its number; should it be dropped before it has the mutex again, the
//! next in line has the notification.

use core::panic::Location;
use core::pin::Pin;
use core::task::{Context, Poll, ready};

use gossamer_core::policy::LockPolicy;
use gossamer_core::wait_queue::Leave;
use gossamer_core::waiter::State;
use pin_project_lite::pin_project;

use crate::constructors::constructors;
use crate::line::{Admission, Enter, HAS_WAITERS, Line, Waiting};
use crate::mutex::{Lock, Mutex, MutexGuard, Order};

/// The number of one that was notified alone.
const ONE: usize = usize::MAX;

/// The rules of a condition: an operation has the number of the last notification of all before it.
pub(crate) struct CondvarAdmission;

impl CondvarAdmission {
    /// All are notified: the next number. It wraps below the mark, and leaves the lock's bit alone.
    fn all(bits: u32) -> u32 {
        let number = bits.wrapping_add(1);
        let number = if gossamer_core::mutant!("condvar_number_overflows") {
            number & !HAS_WAITERS
        } else {
            number & (HAS_WAITERS - 1)
        };
        bits & HAS_WAITERS | number
    }
}

impl Admission for CondvarAdmission {
    const NAMES: &'static [&'static str] = &["Condvar::notified"];
    const QUICK: bool = false;

    const WAITING_COUNTS: bool = true;

    fn grant(bits: u32, wants: usize) -> Option<u32> {
        ((bits & !HAS_WAITERS) as usize != wants).then_some(bits)
    }

    /// Nobody goes without waiting.
    fn arrive(_: u32, _: usize) -> Option<u32> {
        None
    }

    fn park(bits: u32, _: usize) -> (u32, usize) {
        (bits, (bits & !HAS_WAITERS) as usize)
    }

    fn give_back(bits: u32, _: usize) -> u32 {
        bits
    }
}

/// A condition on what a [`Mutex`] guards: those who wait for it are told when it may have come true.
///
/// Use it as [`sync::Condvar`](crate::sync::Condvar) or [`local::Condvar`](crate::local::Condvar). There are no
/// wake-ups without a notification. But between that and the lock others may have changed the value, and one that was
/// passed on may come from before the wait: so look again.
///
/// # Blocking
/// [`notified`](Condvar::notified) is a future: `.await` it in a task, `.wait()` for it in a fiber or a thread.
///
/// # Cancellation
/// One that was notified alone and is dropped before it has the mutex again passes its notification on, to the one that
/// has waited longest then.
///
/// # Examples
/// ```
/// use gossamer::Wait;
/// use gossamer::sync::{Condvar, Mutex};
///
/// let (count, changed) = (Mutex::new(0), Condvar::new());
/// std::thread::scope(|scope| {
///     scope.spawn(|| {
///         *count.lock().wait() += 1;
///         changed.notify_one();
///     });
///     let mut seen = count.lock().wait();
///     while *seen == 0 {
///         seen = changed.notified(seen).wait();
///     }
/// });
/// ```
pub struct Condvar<P: LockPolicy> {
    line: Line<P, CondvarAdmission>,
}

#[cfg(all(not(any(loom, shuttle)), target_pointer_width = "64"))]
const _: () = assert!(size_of::<Condvar<gossamer_core::policy::Local>>() == 16);

constructors! {
    impl[] Condvar<P> {
        /// Nobody waits.
        pub fn new() -> Self {
            Self {
                line: Line::<P, CondvarAdmission>::new(0),
            }
        }
    }
    default[] = Self::new();
}

impl<P: LockPolicy> Condvar<P> {
    /// Unlocks, waits for a notification, and locks again: gives the guard back.
    ///
    /// Dropped before its first poll, it only unlocks.
    #[track_caller]
    pub fn notified<'c, 'a, T: ?Sized, O: Order>(
        &'c self,
        guard: MutexGuard<'a, T, P, O>,
    ) -> Notified<'c, 'a, T, P, O> {
        Notified {
            waiting: Waiting::new(&self.line, Enter::new(0), Location::caller()),
            condvar: self,
            mutex: MutexGuard::mutex(&guard),
            guard: Some(guard),
            lock: None,
        }
    }

    /// Notifies the one that has waited longest; nothing, if nobody waits.
    pub fn notify_one(&self) {
        self.line.release_one(ONE);
    }

    /// Notifies all that wait at this moment.
    pub fn notify_all(&self) {
        self.line.change(CondvarAdmission::all);
    }
}

pin_project! {
    /// [`Condvar::notified`]. Dropped unfinished, it leaves the mutex unlocked, and passes on what it was notified of.
    #[must_use = "operations do nothing until they are awaited or waited for"]
    #[derive(Debug)]
    pub struct Notified<'c, 'a, T: ?Sized, P: LockPolicy, O: Order> {
        #[pin]
        waiting: Waiting<'c, P, CondvarAdmission>,
        condvar: &'c Condvar<P>,
        mutex: &'a Mutex<T, P, O>,
        // Until it is in line.
        guard: Option<MutexGuard<'a, T, P, O>>,
        // Once it was notified.
        #[pin]
        lock: Option<Lock<'a, T, P, O>>,
    }

    impl<T: ?Sized, P: LockPolicy, O: Order> PinnedDrop for Notified<'_, '_, T, P, O> {
        fn drop(this: Pin<&mut Self>) {
            let this = this.project();
            let mut waiting = this.waiting;
            let was_notified = |_: &mut Enter, state| state == State::Released;
            let has_noticed = this.lock.is_some();
            let was_notified = waiting.as_mut().withdraw(was_notified).unwrap_or(has_noticed);
            let was_alone = was_notified && waiting.action().wants() == ONE;
            if was_alone && !gossamer_core::mutant!("condvar_keeps_notification") {
                this.condvar.notify_one();
            }
        }
    }
}

impl<'a, T: ?Sized, P: LockPolicy, O: Order> Future for Notified<'_, 'a, T, P, O> {
    type Output = MutexGuard<'a, T, P, O>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut this = self.project();
        if this.lock.is_none() {
            if gossamer_core::mutant!("condvar_unlocks_first") {
                drop(this.guard.take());
            }
            let polled = this.waiting.as_mut().poll(cx);
            if polled.is_pending() {
                if this.waiting.is_queued() {
                    drop(this.guard.take());
                }
                return Poll::Pending;
            }
            let lock = this.mutex.lock_at(this.waiting.location());
            this.lock.set(Some(lock));
        }
        let lock = this.lock.as_mut().as_pin_mut().expect("it was just made");
        let guard = ready!(lock.poll(cx));
        this.lock.set(None);
        Poll::Ready(guard)
    }
}

/// It stays in the condition's line, as it would miss a notification otherwise; only the mutex goes to others.
impl<T: ?Sized, P: LockPolicy, O: Order> Leave for Notified<'_, '_, T, P, O> {
    fn leave(self: Pin<&mut Self>) {
        if let Some(lock) = self.project().lock.as_pin_mut() {
            lock.leave();
        }
    }
}

gossamer_core::impl_debug!([P: LockPolicy] Condvar[P]);

#[cfg(test)]
mod tests;
