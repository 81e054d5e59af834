//! `OnceCell`: a value that is made when it is first needed.

use core::fmt;
use core::panic::Location;
use core::pin::Pin;
use core::task::{Context, Poll, ready};

use gossamer_core::policy::LockPolicy;
use pin_project_lite::pin_project;

use super::{AlreadyAssigned, Assigned, MAKES, Once};
use crate::constructors::constructors;
use crate::line::{Enter, Waiting};

/// A value that is assigned once, mostly by the first who needs it.
///
/// Use it as [`sync::OnceCell`](crate::sync::OnceCell) or [`local::OnceCell`](crate::local::OnceCell).
///
/// # Blocking
/// [`get_or_init`](OnceCell::get_or_init) is a future: `.await` it in a task, `.wait()` for it in a fiber or a thread.
/// The rest never waits.
///
/// # Cancellation
/// Should the one that makes the value be dropped, or panic, the next in line makes it, with its own closure.
///
/// # Examples
/// ```
/// # use gossamer::Wait;
/// use gossamer::sync::OnceCell;
///
/// static LIMIT: OnceCell<u32> = OnceCell::new();
/// assert_eq!(LIMIT.get(), None);
/// assert_eq!(*LIMIT.get_or_init(async || 7).wait(), 7);
/// assert_eq!(*LIMIT.get_or_init(async || 8).wait(), 7);
/// ```
pub struct OnceCell<T, P: LockPolicy>(Once<T, P>);

#[cfg(all(not(any(loom, shuttle)), target_pointer_width = "64"))]
const _: () = assert!(size_of::<OnceCell<u32, gossamer_core::policy::Local>>() == 24);

constructors! {
    impl[T] OnceCell<T, P> {
        /// Without a value.
        pub fn new() -> Self {
            Self(Once::<T, P>::new())
        }

        /// With a value from the beginning.
        pub fn with(value: T) -> Self {
            Self(Once::<T, P>::with(value))
        }
    }
    /// Without a value.
    default[T] = Self::new();
    from[T] = with;
}

impl<T, P: LockPolicy> OnceCell<T, P> {
    /// The value, if there is one.
    #[inline]
    pub fn get(&self) -> Option<&T> {
        self.0.get()
    }

    /// Assigns the value.
    ///
    /// # Errors
    /// There is one already, or somebody is making one at this moment: gives the value back.
    pub fn set(&self, value: T) -> Result<(), AlreadyAssigned<T>> {
        self.0.assign(value)
    }

    /// The value; if there is none, it is what `make` makes. While somebody else makes it, waits for that.
    ///
    /// A `make` that asks for the value of this very cell waits for itself.
    #[track_caller]
    pub fn get_or_init<F, M>(&self, make: F) -> GetOrInit<'_, T, P, F, M>
    where
        F: FnOnce() -> M,
        M: Future<Output = T>,
    {
        GetOrInit {
            waiting: Waiting::new(&self.0.line, Enter::new(MAKES), Location::caller()),
            cell: self,
            make: Some(make),
            making: None,
            makes: false,
        }
    }

    /// The value itself, if there is one.
    pub fn into_inner(mut self) -> Option<T> {
        self.0.take()
    }
}

/// Lets the next one make the value when dropped.
struct LetNext<'a, T, P: LockPolicy>(&'a Once<T, P>);

impl<T, P: LockPolicy> Drop for LetNext<'_, T, P> {
    fn drop(&mut self) {
        if !gossamer_core::mutant!("once_maker_stays") {
            self.0.give_up_making();
        }
    }
}

pin_project! {
    /// [`OnceCell::get_or_init`]. Dropped unfinished, it lets the next one make the value.
    #[must_use = "operations do nothing until they are awaited or waited for"]
    pub struct GetOrInit<'a, T, P: LockPolicy, F, M> {
        #[pin]
        waiting: Waiting<'a, P, Assigned, MAKES>,
        cell: &'a OnceCell<T, P>,
        make: Option<F>,
        #[pin]
        making: Option<M>,
        // Whether the value is its to make, and not made so far.
        makes: bool,
    }

    impl<T, P: LockPolicy, F, M> PinnedDrop for GetOrInit<'_, T, P, F, M> {
        fn drop(this: Pin<&mut Self>) {
            let mut this = this.project();
            if *this.makes {
                // After the future that was to make it has gone, also if that panics.
                let _let_next = LetNext(&this.cell.0);
                this.making.set(None);
            }
        }
    }
}

impl<'a, T, P, F, M> Future for GetOrInit<'a, T, P, F, M>
where
    P: LockPolicy,
    F: FnOnce() -> M,
    M: Future<Output = T>,
{
    type Output = &'a T;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<&'a T> {
        let mut this = self.project();
        let cell = *this.cell;
        if this.making.is_none() {
            let _how = ready!(this.waiting.poll(cx));
            if let Some(value) = cell.get() {
                return Poll::Ready(value);
            }
            *this.makes = true;
            let make = this.make.take().expect("it is complete only once");
            this.making.set(Some(make()));
        }
        let making = this.making.as_mut().as_pin_mut().expect("it was just made");
        let value = ready!(making.poll(cx));
        *this.makes = false;
        cell.0.make(value);
        this.making.set(None);
        Poll::Ready(cell.get().expect("it was just assigned"))
    }
}

impl<T, P: LockPolicy, F, M> fmt::Debug for GetOrInit<'_, T, P, F, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.waiting.fmt(f)
    }
}

impl<T: fmt::Debug, P: LockPolicy> fmt::Debug for OnceCell<T, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("OnceCell").field(&self.get()).finish()
    }
}
