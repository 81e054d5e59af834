//! Why there are no permits.

use core::error::Error;
use core::fmt;

/// The semaphore is closed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct AcquireError(());

impl AcquireError {
    pub(super) const fn new() -> Self {
        Self(())
    }
}

impl fmt::Display for AcquireError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the semaphore is closed: nobody acquires its permits any more")
    }
}

impl Error for AcquireError {}

gossamer_core::impl_debug_as_display!([] AcquireError[]);

/// There are no permits at once.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum TryAcquireError {
    /// The semaphore is closed.
    Closed,
    /// Too few are free, or others wait for them.
    NoPermits,
}

impl fmt::Display for TryAcquireError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Closed => AcquireError::new().fmt(f),
            Self::NoPermits => f.write_str(
                "too few permits are free, or others wait for them: wait for them too, or try again later",
            ),
        }
    }
}

impl Error for TryAcquireError {}

gossamer_core::impl_debug_as_display!([] TryAcquireError[]);

impl From<AcquireError> for TryAcquireError {
    fn from(_: AcquireError) -> Self {
        Self::Closed
    }
}
