//! The lock around a primitive's few words: nothing ([`Local`]) or atomic ([`Shared`]).
//!
//! A primitive keeps one 32-bit word: one bit is the lock's, the others the primitive's own. Locking
//! returns the primitive's bits, unlocking writes them back, so an uncontended operation is one
//! exchange and one store, and no exchange while the process has one thread. No user code runs
//! between the two.
//!
//! ```text
//!  31     30                                   0
//! +------+--------------------------------------+
//! |LOCKED|      the primitive's own bits        |
//! +------+--------------------------------------+
//! ```

use alloc::rc::Rc;
#[cfg(feature = "std")]
use alloc::sync::Arc;
use core::cell::Cell;
use core::fmt;
use core::ops::Deref;

#[cfg(feature = "std")]
mod shared;
#[cfg(feature = "std")]
pub use shared::{Shared, SharedWord};

/// Bits a primitive may use.
pub const BITS: u32 = (1 << 31) - 1;

/// How a primitive is locked. Sealed: [`Local`] and [`Shared`] are the two there are.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no lock policy",
    note = "`gossamer::raw::Shared` and `gossamer::raw::Local` are the two there are"
)]
pub trait LockPolicy: sealed::Sealed + fmt::Debug + 'static {
    /// The word a primitive keeps.
    type Word: Word;
    /// The counted pointer by which several ends own a value. As many threads may have it as may use the word.
    type Counted<T: ?Sized>: Counted<T>;
    /// Whether an operation on the primitive never leaves its thread.
    const THREAD_BOUND: bool = Self::Word::THREAD_BOUND;
}

/// A pointer that is counted: `Rc` or `Arc`. No user code runs when it is cloned.
pub trait Counted<T: ?Sized>: Clone + Deref<Target = T> {
    /// The first one.
    fn new(value: T) -> Self
    where
        T: Sized;

    /// The value, if there is no other.
    fn unwrap_last(this: Self) -> Result<T, Self>
    where
        T: Sized;

    /// Whether both point at the same value.
    fn is_same(this: &Self, other: &Self) -> bool;
}

macro_rules! counted {
    ($pointer:ident) => {
        impl<T: ?Sized> Counted<T> for $pointer<T> {
            #[inline(always)]
            fn new(value: T) -> Self
            where
                T: Sized,
            {
                Self::new(value)
            }

            #[inline(always)]
            fn unwrap_last(this: Self) -> Result<T, Self>
            where
                T: Sized,
            {
                Self::try_unwrap(this)
            }

            fn is_same(this: &Self, other: &Self) -> bool {
                Self::ptr_eq(this, other)
            }
        }
    };
}
counted!(Rc);
#[cfg(feature = "std")]
counted!(Arc);

/// One lockable word.
pub trait Word: fmt::Debug + Sized {
    /// Whether the word never leaves its thread.
    const THREAD_BOUND: bool;

    /// Takes the lock. No user code may run until [`HeldWord::unlock`].
    fn lock(&self) -> HeldWord<'_, Self>;

    /// See [`HeldWord::unlock`].
    fn unlock(held: HeldWord<'_, Self>);

    /// Takes the lock for something that leaves the bits as they are.
    ///
    /// # Errors
    /// `act` gives nothing. Then the lock is held.
    fn lock_to<R>(&self, act: impl FnOnce(u32) -> Option<R>) -> Result<R, HeldWord<'_, Self>>;

    /// Changes the bits as `change` says, in one exchange: as if locked and unlocked again. `false` if it says that
    /// this cannot be, or if somebody else has the lock or was quicker: then nothing was done, and that says nothing.
    fn try_change(&self, change: impl FnOnce(u32) -> Option<u32>) -> bool;

    /// Like [`try_change`](Word::try_change), and quicker if the bits are `guess`: it does not look before it exchanges
    /// them.
    #[inline(always)]
    fn try_change_from(&self, _guess: u32, change: impl Fn(u32) -> Option<u32>) -> bool {
        self.try_change(change)
    }

    /// The bits at this moment; what was done before they were left so is seen.
    fn look(&self) -> u32;
}

/// The lock of a word, held: the right to give it up, once. It stays held if this is dropped.
#[derive(Debug)]
#[must_use = "the lock stays held"]
pub struct HeldWord<'a, W: Word> {
    /// To have its lock given up is the right of whoever has taken it.
    pub(crate) word: &'a W,
    /// The primitive's bits, as unlocking leaves them.
    pub bits: u32,
}

impl<W: Word> HeldWord<'_, W> {
    /// With other bits.
    #[inline(always)]
    pub fn with(mut self, bits: u32) -> Self {
        self.bits = bits;
        self
    }

    /// Gives the lock up, leaving the bits.
    #[inline(always)]
    pub fn unlock(self) {
        W::unlock(self);
    }
}

/// For one thread: no atomics, and `!Send`.
#[derive(Debug)]
pub struct Local;

impl LockPolicy for Local {
    type Word = LocalWord;
    type Counted<T: ?Sized> = Rc<T>;
}

/// The word of [`Local`]: a cell.
#[derive(Debug)]
pub struct LocalWord(Cell<u32>);

impl LocalWord {
    /// A word with the primitive's bits.
    pub const fn new(bits: u32) -> Self {
        Self(Cell::new(bits))
    }
}

impl Word for LocalWord {
    const THREAD_BOUND: bool = true;

    #[inline(always)]
    fn lock(&self) -> HeldWord<'_, Self> {
        let bits = self.0.get();
        HeldWord { word: self, bits }
    }

    #[inline(always)]
    fn unlock(held: HeldWord<'_, Self>) {
        held.word.0.set(held.bits);
    }

    #[inline(always)]
    fn lock_to<R>(&self, act: impl FnOnce(u32) -> Option<R>) -> Result<R, HeldWord<'_, Self>> {
        let held = self.lock();
        act(held.bits).ok_or(held)
    }

    #[inline(always)]
    fn try_change(&self, change: impl FnOnce(u32) -> Option<u32>) -> bool {
        let after = change(self.0.get());
        if let Some(after) = after {
            self.0.set(after);
        }
        after.is_some()
    }

    #[inline(always)]
    fn look(&self) -> u32 {
        self.0.get()
    }
}

mod sealed {
    /// Keeps [`super::LockPolicy`] to this module and its child.
    pub trait Sealed {}
    impl Sealed for super::Local {}
}
