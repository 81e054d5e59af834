//! A value that is assigned once: what [`OnceCell`](crate::raw::OnceCell) and [`IVar`](crate::raw::IVar) are made of.
//!
//! | FULL | BUSY | meaning | who goes |
//! | --- | --- | --- | --- |
//! | 0 | 0 | no value | who wants to make it (one), or has one |
//! | 0 | 1 | somebody makes the value, or was chosen to and has not noticed so far | nobody |
//! | 1 | 0 | there is a value, which stays as long as this does | everybody |

pub(crate) mod cell;
pub(crate) mod ivar;
pub(crate) mod lazy;

use core::fmt;
use core::mem::MaybeUninit;

use gossamer_core::platform::UnsafeCell;
use gossamer_core::policy::LockPolicy;

use crate::constructors::constructors;
use crate::line::{Admission, Line};

/// There is a value.
const FULL: u32 = 1;
/// Somebody makes it.
const BUSY: u32 = 2;

/// Waits for a value.
const READS: usize = 0;
/// Makes it, if there is none.
const MAKES: usize = 1;

/// The rules of a value that is assigned once: an operation reads it, or makes it if need be.
pub(crate) struct Assigned;

impl Admission for Assigned {
    const NAMES: &'static [&'static str] = &["IVar::read", "OnceCell::get_or_init"];
    const MAY_KEEP: bool = true;

    #[inline(always)]
    fn grant(bits: u32, wants: usize) -> Option<u32> {
        if bits & FULL != 0 {
            Some(bits)
        } else {
            (wants == MAKES && bits & BUSY == 0).then_some(bits | BUSY)
        }
    }

    /// Of those who wait, one goes as soon as it may; so nobody is passed.
    #[inline(always)]
    fn arrive(bits: u32, wants: usize) -> Option<u32> {
        Self::grant(bits, wants)
    }

    fn give_back(bits: u32, _: usize) -> u32 {
        // One that was granted a value leaves it; one that was chosen to make it had not begun.
        bits & !BUSY
    }
}

/// There is a value already, or somebody is making one; this is the one that was brought.
pub struct AlreadyAssigned<T>(pub T);

impl<T> fmt::Display for AlreadyAssigned<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "a value that is assigned once was assigned before, or is being made: use that one",
        )
    }
}

gossamer_core::impl_debug_as_display!([T] AlreadyAssigned[T]);

impl<T> core::error::Error for AlreadyAssigned<T> {}

/// The place of such a value.
pub(crate) struct Once<T, P: LockPolicy> {
    line: Line<P, Assigned>,
    value: UnsafeCell<MaybeUninit<T>>,
}

// SAFETY: `&Once` moves a value in, from any thread, and shows it to many; the line is for any thread.
unsafe impl<T: Send + Sync, P: LockPolicy> Sync for Once<T, P> where P::Word: Sync {}

constructors! {
    impl[T] Once<T, P> {
        fn new() -> Self {
            Self {
                line: Line::<P, Assigned>::new(0),
                value: UnsafeCell::new(MaybeUninit::uninit()),
            }
        }

        fn with(value: T) -> Self {
            Self {
                line: Line::<P, Assigned>::new(FULL),
                value: UnsafeCell::new(MaybeUninit::new(value)),
            }
        }
    }
}

impl<T, P: LockPolicy> Once<T, P> {
    /// The value, if there is one.
    #[inline(always)]
    fn get(&self) -> Option<&T> {
        if self.line.look() & FULL == 0 {
            return None;
        }
        // SAFETY: there is a value, as was just seen, and it stays as long as `self`.
        Some(self.value.with(|place| unsafe { &*place.cast::<T>() }))
    }

    /// The value, to be changed.
    fn get_mut(&mut self) -> Option<&mut T> {
        if self.line.look() & FULL == 0 {
            return None;
        }
        // SAFETY: there is a value, as was just seen; `&mut self`: nobody else looks at it.
        let value = |place: *mut MaybeUninit<T>| unsafe { &mut *place.cast::<T>() };
        Some(self.value.with_mut(value))
    }

    /// Assigns the value, if there is none and nobody makes one.
    fn assign(&self, value: T) -> Result<(), AlreadyAssigned<T>> {
        let mut value = Some(value);
        self.line
            .change_if(|bits| (bits & (FULL | BUSY) == 0).then(|| self.fill(bits, value.take())));
        value.map_or(Ok(()), |value| Err(AlreadyAssigned(value)))
    }

    /// Assigns the value that was made by the one that was chosen to.
    fn make(&self, value: T) {
        self.line.change(|bits| {
            debug_assert_eq!(bits & (FULL | BUSY), BUSY, "somebody else has assigned");
            self.fill(bits & !BUSY, Some(value))
        });
    }

    /// Under the lock: the bits afterwards.
    ///
    /// # Panics
    /// There is a value, or none is given.
    fn fill(&self, bits: u32, value: Option<T>) -> u32 {
        assert!(bits & FULL == 0, "a value is assigned once");
        let value = value.expect("a value to assign");
        self.value.with_mut(|place| {
            // SAFETY: under the lock; nobody looks at the place before it is full.
            unsafe { (*place).write(value) };
        });
        bits | FULL
    }

    /// Nobody makes the value any more: the next may.
    fn give_up_making(&self) {
        self.line.change(|bits| bits & !BUSY);
    }

    /// Takes the value out.
    fn take(&mut self) -> Option<T> {
        let is_full = self.line.look() & FULL != 0;
        self.line.change(|bits| bits & !FULL);
        is_full.then(|| {
            // SAFETY: `&mut self`: nobody looks at it, and it is not full any more.
            let take = |place: *mut MaybeUninit<T>| unsafe { place.cast::<T>().read() };
            self.value.with_mut(take)
        })
    }
}

impl<T, P: LockPolicy> Drop for Once<T, P> {
    fn drop(&mut self) {
        drop(self.take());
    }
}
