//! `OnceCell`: a value that is made when it is first needed.

use core::convert::Infallible;
use core::fmt;
use core::panic::Location;
use core::pin::Pin;
use core::task::{Context, Poll, ready};

use gossamer_core::policy::LockPolicy;
use gossamer_core::wait_queue::Leave;
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
/// use gossamer::Wait;
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
            making: Making::new(self, make, Location::caller()),
        }
    }

    /// As [`get_or_init`](OnceCell::get_or_init), with a `make` that may fail: then the cell stays empty, and the next in
    /// line makes the value, with its own closure.
    ///
    /// # Errors
    /// That of `make`.
    ///
    /// # Examples
    /// ```
    /// use gossamer::Wait;
    /// use gossamer::sync::OnceCell;
    ///
    /// let limit = OnceCell::new();
    /// assert!(limit.get_or_try_init(async || "many".parse::<u32>()).wait().is_err());
    /// assert_eq!(limit.get_or_try_init(async || "7".parse::<u32>()).wait(), Ok(&7));
    /// ```
    #[track_caller]
    pub fn get_or_try_init<E, F, M>(&self, make: F) -> GetOrTryInit<'_, T, P, F, M>
    where
        F: FnOnce() -> M,
        M: Future<Output = Result<T, E>>,
    {
        GetOrTryInit {
            making: Making::new(self, make, Location::caller()),
        }
    }

    /// The value, to be changed, if there is one.
    pub fn get_mut(&mut self) -> Option<&mut T> {
        self.0.get_mut()
    }

    /// Takes the value out, if there is one: the cell is empty again.
    pub fn take(&mut self) -> Option<T> {
        self.0.take()
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
    /// Waits for the value, or makes it.
    struct Making<'a, T, P: LockPolicy, F, M> {
        #[pin]
        waiting: Waiting<'a, P, Assigned, MAKES>,
        cell: &'a OnceCell<T, P>,
        make: Option<F>,
        #[pin]
        making: Option<M>,
        // Whether the value is its to make, and not made so far.
        makes: bool,
    }

    impl<T, P: LockPolicy, F, M> PinnedDrop for Making<'_, T, P, F, M> {
        fn drop(this: Pin<&mut Self>) {
            if this.makes {
                this.give_up();
            }
        }
    }
}

impl<'a, T, P: LockPolicy, F, M> Making<'a, T, P, F, M> {
    fn new(cell: &'a OnceCell<T, P>, make: F, location: &'static Location<'static>) -> Self {
        Self {
            waiting: Waiting::new(&cell.0.line, Enter::new(MAKES), location),
            cell,
            make: Some(make),
            making: None,
            makes: false,
        }
    }

    /// Lets the next one make the value: after the future that was to make it has gone, also if that panics.
    fn give_up(self: Pin<&mut Self>) {
        let mut this = self.project();
        *this.makes = false;
        let _let_next = LetNext(&this.cell.0);
        this.making.set(None);
    }
}

impl<'a, T, P, F, M> Making<'a, T, P, F, M>
where
    P: LockPolicy,
    F: FnOnce() -> M,
    M: Future,
{
    /// The value, made by `made` of what the future gives.
    fn poll<E>(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        made: impl FnOnce(M::Output) -> Result<T, E>,
    ) -> Poll<Result<&'a T, E>> {
        let mut this = self.as_mut().project();
        let cell = *this.cell;
        if this.making.is_none() {
            let _how = ready!(this.waiting.poll(cx));
            if let Some(value) = cell.get() {
                return Poll::Ready(Ok(value));
            }
            *this.makes = true;
            let make = this.make.take().expect("it is complete only once");
            this.making.set(Some(make()));
        }
        let making = this.making.as_mut().as_pin_mut().expect("it was just made");
        match made(ready!(making.poll(cx))) {
            Ok(value) => {
                *this.makes = false;
                cell.0.make(value);
                this.making.set(None);
                Poll::Ready(Ok(cell.get().expect("it was just assigned")))
            }
            Err(error) => {
                self.give_up();
                Poll::Ready(Err(error))
            }
        }
    }
}

pin_project! {
    /// [`OnceCell::get_or_init`]. Dropped unfinished, it lets the next one make the value.
    #[must_use = "operations do nothing until they are awaited or waited for"]
    pub struct GetOrInit<'a, T, P: LockPolicy, F, M> {
        #[pin]
        making: Making<'a, T, P, F, M>,
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
        let made = self.project().making.poll(cx, Ok::<T, Infallible>);
        made.map(|made| match made {
            Ok(value) => value,
            Err(never) => match never {},
        })
    }
}

pin_project! {
    /// [`OnceCell::get_or_try_init`]. Dropped unfinished, it lets the next one make the value.
    #[must_use = "operations do nothing until they are awaited or waited for"]
    pub struct GetOrTryInit<'a, T, P: LockPolicy, F, M> {
        #[pin]
        making: Making<'a, T, P, F, M>,
    }
}

impl<'a, T, P, E, F, M> Future for GetOrTryInit<'a, T, P, F, M>
where
    P: LockPolicy,
    F: FnOnce() -> M,
    M: Future<Output = Result<T, E>>,
{
    type Output = Result<&'a T, E>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        self.project().making.poll(cx, |made| made)
    }
}

/// The two are the same where they wait.
macro_rules! waiting {
    ($($name:ident),*) => {$(
        impl<T, P: LockPolicy, F, M> Leave for $name<'_, T, P, F, M> {
            /// One that has begun to make the value stays the one that does.
            fn leave(self: Pin<&mut Self>) {
                if !gossamer_core::mutant!("once_waiter_stays") {
                    self.project().making.project().waiting.leave();
                }
            }
        }

        impl<T, P: LockPolicy, F, M> fmt::Debug for $name<'_, T, P, F, M> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.making.waiting.fmt(f)
            }
        }
    )*};
}
waiting!(GetOrInit, GetOrTryInit);

impl<T: fmt::Debug, P: LockPolicy> fmt::Debug for OnceCell<T, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("OnceCell").field(&self.get()).finish()
    }
}
