//! The words of a pool in two forms: atomic ([`Atomic`]), or plain cells behind a critical section ([`Section`]).
//!
//! The pool is written once, for words that are read and changed with a [`Key`](Word::Key). An atomic word needs
//! none. A plain one needs the proof that nothing else runs in a critical section; its orderings say nothing then,
//! as entering a section sees what was done in those before.

use core::fmt;

use crate::platform::atomic::{AtomicU16, Ordering};

/// The number that every task begins with.
pub(super) const ZERO: u16 = 0;
/// The link of a task that is in no queue.
pub(super) const PARKED: u16 = u16::MAX;
/// The link of the last task in a queue, and of an empty queue.
pub(super) const END: u16 = u16::MAX - 1;

/// A word of a [`Pool`](super::Pool). Sealed: [`Atomic`] and `Section` are the two there are.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no word of a pool here",
    note = "`Atomic` needs a target with atomic exchanges; `Section` needs the feature `critical-section`"
)]
pub trait Word: sealed::Sealed + fmt::Debug + Sync + 'static {
    /// What a word is used with.
    type Key<'a>: Copy;

    /// A word with a zero.
    const ZERO: Self;
    /// A word that says: in no queue.
    const PARKED: Self;
    /// A word that says: there is no next one.
    const END: Self;

    /// Runs a step that other cores, or interrupts, see as a whole: all of it, or each operation on a word by itself.
    fn with<R>(step: impl FnOnce(Self::Key<'_>) -> R) -> R;

    /// The value.
    fn load(&self, key: Self::Key<'_>, order: Ordering) -> u16;

    /// Sets the value.
    fn store(&self, key: Self::Key<'_>, value: u16, order: Ordering);

    /// Sets the value, and gives the one before.
    fn swap(&self, key: Self::Key<'_>, value: u16, order: Ordering) -> u16;

    /// Changes the value as `change` says, which may be asked again; gives the one before.
    ///
    /// # Errors
    /// `change` gives nothing. The value is as it was, and was only looked at.
    fn update(
        &self,
        key: Self::Key<'_>,
        order: Ordering,
        change: impl FnMut(u16) -> Option<u16>,
    ) -> Result<u16, u16>;
}

/// Tasks that several cores or threads run and wake: atomic words.
///
/// A wake takes no lock, so it may come from an interrupt or a signal handler as well.
#[derive(Debug)]
pub struct Atomic(AtomicU16);

#[cfg(target_has_atomic = "16")]
impl Word for Atomic {
    type Key<'a> = ();

    const ZERO: Self = Self(AtomicU16::new(ZERO));
    const PARKED: Self = Self(AtomicU16::new(PARKED));
    const END: Self = Self(AtomicU16::new(END));

    #[inline(always)]
    fn with<R>(step: impl FnOnce(()) -> R) -> R {
        step(())
    }

    #[inline(always)]
    fn load(&self, (): (), order: Ordering) -> u16 {
        self.0.load(order)
    }

    #[inline(always)]
    fn store(&self, (): (), value: u16, order: Ordering) {
        self.0.store(value, order);
    }

    #[inline(always)]
    fn swap(&self, (): (), value: u16, order: Ordering) -> u16 {
        self.0.swap(value, order)
    }

    #[inline(always)]
    fn update(
        &self,
        (): (),
        order: Ordering,
        change: impl FnMut(u16) -> Option<u16>,
    ) -> Result<u16, u16> {
        // Relaxed: on failure nothing is read.
        self.0.fetch_update(order, Ordering::Relaxed, change)
    }
}

/// Tasks of one core: plain cells behind a critical section of the crate `critical-section`.
///
/// On a microcontroller a section keeps interrupts out, which costs less than atomic words, or is all there is. The
/// program says what a section is, mostly by a feature of its chip's crate. A wake enters one too, so it may come from
/// an interrupt. Where sections are a lock (the feature `std` of `critical-section`), wakes may come from any thread,
/// and [`Atomic`] is quicker.
///
/// # Examples
/// ```
/// use core::{future::Future, pin::Pin, task::{Context, Poll}};
/// use gossamer::fixed::{Pool, Ran, Section, Slot};
///
/// static POOL: Pool<Count, 1, Section> = Pool::new([const { Slot::new(Count(0)) }]);
///
/// struct Count(u16);
/// impl Future for Count {
///     type Output = ();
///     fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
///         while POOL.take_signal(POOL.number(cx)) {
///             self.0 += 1;
///         }
///         if self.0 == 1_000 { Poll::Ready(()) } else { Poll::Pending }
///     }
/// }
///
/// std::thread::scope(|scope| {
///     scope.spawn(|| (0..1_000).for_each(|_| POOL.signal(0)));
///     while POOL.run() != Ran::Done {
///         std::thread::yield_now();
///     }
/// });
/// ```
#[cfg(feature = "critical-section")]
#[derive(Debug)]
pub struct Section(critical_section::Mutex<core::cell::Cell<u16>>);

#[cfg(feature = "critical-section")]
impl Section {
    const fn new(value: u16) -> Self {
        Self(critical_section::Mutex::new(core::cell::Cell::new(value)))
    }
}

#[cfg(feature = "critical-section")]
impl Word for Section {
    type Key<'a> = critical_section::CriticalSection<'a>;

    const ZERO: Self = Self::new(ZERO);
    const PARKED: Self = Self::new(PARKED);
    const END: Self = Self::new(END);

    #[inline(always)]
    fn with<R>(step: impl FnOnce(Self::Key<'_>) -> R) -> R {
        critical_section::with(step)
    }

    #[inline(always)]
    fn load(&self, key: Self::Key<'_>, _order: Ordering) -> u16 {
        self.0.borrow(key).get()
    }

    #[inline(always)]
    fn store(&self, key: Self::Key<'_>, value: u16, _order: Ordering) {
        self.0.borrow(key).set(value);
    }

    #[inline(always)]
    fn swap(&self, key: Self::Key<'_>, value: u16, _order: Ordering) -> u16 {
        self.0.borrow(key).replace(value)
    }

    #[inline(always)]
    fn update(
        &self,
        key: Self::Key<'_>,
        _order: Ordering,
        mut change: impl FnMut(u16) -> Option<u16>,
    ) -> Result<u16, u16> {
        let cell = self.0.borrow(key);
        let before = cell.get();
        cell.set(change(before).ok_or(before)?);
        Ok(before)
    }
}

mod sealed {
    /// Keeps [`super::Word`] to this module.
    pub trait Sealed {}
    impl Sealed for super::Atomic {}
    #[cfg(feature = "critical-section")]
    impl Sealed for super::Section {}
}
