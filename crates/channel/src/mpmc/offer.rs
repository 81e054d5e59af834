//! The message of an operation that sends.

use std::cell::Cell;
use std::mem::MaybeUninit;

use gossamer_core::platform::UnsafeCell;
use gossamer_core::waiter::State;

/// A message until it is sent. In a rendezvous channel the receiver takes it from here, under the channel's lock.
///
/// It is the action of a [sending operation](super::action). It says nothing of whether the message is still there, so
/// that sending at once writes nothing but the message; the operation knows.
pub(crate) struct Offer<T> {
    message: UnsafeCell<MaybeUninit<T>>,
    /// Whether a receiver has taken the message. Written by parking.
    is_taken: Cell<MaybeUninit<bool>>,
}

impl<T> Offer<T> {
    #[inline(always)]
    pub(crate) fn new(message: T) -> Self {
        Self {
            message: UnsafeCell::new(MaybeUninit::new(message)),
            is_taken: Cell::new(MaybeUninit::uninit()),
        }
    }

    /// Takes the message out.
    ///
    /// # Safety
    /// Once. By the owner while the operation is not in its queue; or under the lock.
    #[inline(always)]
    pub(super) unsafe fn take(&self) -> T {
        // SAFETY: nobody else looks at the message, and it has not been taken: the caller vouches for both.
        self.message
            .with(|message| unsafe { message.cast::<T>().read() })
    }

    /// The operation parks.
    pub(super) fn note_parked(&self) {
        self.is_taken.set(MaybeUninit::new(false));
    }

    /// Whether a receiver has taken the message.
    ///
    /// # Safety
    /// The operation has parked.
    #[inline(always)]
    pub(super) unsafe fn is_taken(&self) -> bool {
        // SAFETY: parking has written it, as the caller vouches.
        unsafe { self.is_taken.get().assume_init() }
    }

    /// The message of an operation that has ended without its output, and left its queue in this state; `None`: a
    /// receiver has taken it.
    ///
    /// # Safety
    /// Once; the operation is not in its queue.
    pub(super) unsafe fn take_unsent(&self, state: State) -> Option<T> {
        // SAFETY: one that left its queue has been parked.
        let is_taken = state != State::Idle && unsafe { self.is_taken() };
        // SAFETY: nobody has taken it, and the caller does so once.
        (!is_taken).then(|| unsafe { self.take() })
    }

    /// Takes the message of a parked operation, for a receiver.
    ///
    /// # Safety
    /// Once. Under the lock of the operation's queue.
    pub(super) unsafe fn take_offered(&self) -> T {
        self.is_taken.set(MaybeUninit::new(true));
        // SAFETY: the caller holds the lock and comes once. The flag tells the owner that the message is gone.
        unsafe { self.take() }
    }
}
