//! Semaphores.

use std::sync::Arc;

use gossamer::sync;
use gossamer::sync::{AcquireError, TryAcquireError};

use super::waiting::block;

/// A number of permits.
#[derive(Debug)]
pub struct Semaphore(Arc<sync::Semaphore>);

impl Semaphore {
    /// As many as there can be.
    pub const MAX_PERMITS: usize = sync::Semaphore::MAX_PERMITS;

    /// With so many.
    pub fn new(permits: usize) -> Self {
        Self(Arc::new(sync::Semaphore::new(permits)))
    }

    /// How many are free.
    pub fn available_permits(&self) -> usize {
        self.0.available_permits()
    }

    /// So many more.
    pub fn add_permits(&self, n: usize) {
        self.0.add_permits(n);
    }

    /// So many fewer of those that are free; how many that were.
    pub fn forget_permits(&self, n: usize) -> usize {
        self.0.forget_permits(n)
    }

    /// No more are acquired.
    pub fn close(&self) {
        self.0.close();
    }

    /// Whether it was closed.
    pub fn is_closed(&self) -> bool {
        self.0.is_closed()
    }
}

macro_rules! permits {
    (
        $permit:ident[$($a:lifetime)?] by $pointer:ty, $self:ty, |$semaphore:ident| $ours:expr;
        $acquire:ident, $many:ident, $try_acquire:ident, $try_many:ident, $block:ident, $block_many:ident
    ) => {
        /// Permits that somebody has.
        #[must_use]
        #[derive(Debug)]
        pub struct $permit$(<$a>)? {
            permits: sync::$permit$(<$a>)?,
            semaphore: $pointer,
        }

        impl Semaphore {
            /// Waits for one.
            pub async fn $acquire$(<$a>)?(self: $self) -> Result<$permit$(<$a>)?, AcquireError> {
                self.$many(1).await
            }

            /// Waits for so many.
            pub async fn $many$(<$a>)?(self: $self, n: u32) -> Result<$permit$(<$a>)?, AcquireError> {
                let $semaphore = &self;
                let permits = $ours.$many(n as usize).await?;
                Ok($permit { permits, semaphore: self })
            }

            /// One, if it is free.
            pub fn $try_acquire$(<$a>)?(self: $self) -> Result<$permit$(<$a>)?, TryAcquireError> {
                self.$try_many(1)
            }

            /// So many, if they are free.
            pub fn $try_many$(<$a>)?(self: $self, n: u32) -> Result<$permit$(<$a>)?, TryAcquireError> {
                let $semaphore = &self;
                let permits = $ours.$try_many(n as usize)?;
                Ok($permit { permits, semaphore: self })
            }

            /// Blocks until there is one.
            pub fn $block$(<$a>)?(self: $self) -> Result<$permit$(<$a>)?, AcquireError> {
                block(self.$acquire())
            }

            /// Blocks until there are so many.
            pub fn $block_many$(<$a>)?(self: $self, n: u32) -> Result<$permit$(<$a>)?, AcquireError> {
                block(self.$many(n))
            }
        }

        impl$(<$a>)? $permit$(<$a>)? {
            /// Never gives them back.
            pub fn forget(self) {
                self.permits.forget();
            }

            /// One with both.
            pub fn merge(&mut self, other: Self) {
                self.permits.merge(other.permits);
            }

            /// Another one, with so many of these.
            pub fn split(&mut self, n: usize) -> Option<Self> {
                let permits = self.permits.split(n)?;
                let semaphore = self.semaphore.clone();
                Some(Self { permits, semaphore })
            }

            /// How many they are.
            pub fn num_permits(&self) -> usize {
                self.permits.num_permits()
            }

            /// The semaphore they are of.
            pub fn semaphore(&self) -> &Semaphore {
                &self.semaphore
            }
        }
    };
}

permits! {
    SemaphorePermit['a] by &'a Semaphore, &'a Self, |semaphore| semaphore.0;
    acquire, acquire_many, try_acquire, try_acquire_many, blocking_acquire, blocking_acquire_many
}

permits! {
    OwnedSemaphorePermit[] by Arc<Semaphore>, Arc<Self>, |semaphore| semaphore.0.clone();
    acquire_owned, acquire_many_owned, try_acquire_owned, try_acquire_many_owned,
    blocking_acquire_owned, blocking_acquire_many_owned
}
