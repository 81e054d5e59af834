//! Locks for readers and writers. Ours has no limit of readers: here that is a semaphore, which readers acquire first.

use std::error::Error;
use std::ops::{Deref, DerefMut};

use gossamer::sync;

use crate::missing;

/// A value that many may read, or one may change.
#[derive(Debug)]
pub struct RwLock<T> {
    value: sync::RwLock<T>,
    readers: Option<sync::Semaphore>,
}

/// The value, to be read.
#[derive(Debug)]
pub struct RwLockReadGuard<'a, T> {
    value: sync::RwLockReadGuard<'a, T>,
    _reader: Option<sync::SemaphorePermit<'a>>,
}

/// The value, to be changed.
#[derive(Debug)]
pub struct RwLockWriteGuard<'a, T>(sync::RwLockWriteGuard<'a, T>);

impl<T> RwLock<T> {
    /// A value that nobody has locked.
    pub fn new(value: T) -> Self {
        Self {
            value: sync::RwLock::new(value),
            readers: None,
        }
    }

    /// For so many readers at a time.
    pub fn with_max_readers(value: T, max_reads: u32) -> Self {
        assert!(max_reads > 0, "a RwLock may not be created with 0 readers");
        Self {
            value: sync::RwLock::new(value),
            readers: Some(sync::Semaphore::new(max_reads as usize)),
        }
    }

    /// For so many readers at a time.
    pub fn const_with_max_readers(value: T, max_reads: u32) -> Self {
        Self::with_max_readers(value, max_reads)
    }

    /// Waits to read.
    pub async fn read(&self) -> RwLockReadGuard<'_, T> {
        let reader = match &self.readers {
            Some(readers) => readers.acquire().await.ok(),
            None => None,
        };
        RwLockReadGuard {
            value: self.value.read().await,
            _reader: reader,
        }
    }

    /// Waits to write.
    pub async fn write(&self) -> RwLockWriteGuard<'_, T> {
        RwLockWriteGuard(self.value.write().await)
    }

    /// Reads, if that can be at once.
    pub fn try_read(&self) -> Result<RwLockReadGuard<'_, T>, Box<dyn Error>> {
        let reader = self.readers.as_ref().map(|readers| readers.try_acquire());
        Ok(RwLockReadGuard {
            value: self.value.try_read()?,
            _reader: reader.transpose()?,
        })
    }

    /// Writes, if that can be at once.
    pub fn try_write(&self) -> Result<RwLockWriteGuard<'_, T>, sync::TryLockError> {
        self.value.try_write().map(RwLockWriteGuard)
    }

    /// The value itself.
    pub fn into_inner(self) -> T {
        self.value.into_inner()
    }
}

impl<'a, T> RwLockWriteGuard<'a, T> {
    /// Reads what `f` shows.
    pub fn downgrade_map<U, F>(_guard: Self, _f: F) -> RwLockReadGuard<'a, U>
    where
        F: FnOnce(&T) -> &U,
    {
        missing("guard of a part of a value")
    }

    /// Reads what `f` shows, if anything.
    pub fn try_downgrade_map<U, F>(_guard: Self, _f: F) -> Result<RwLockReadGuard<'a, U>, Self>
    where
        F: FnOnce(&T) -> Option<&U>,
    {
        missing("guard of a part of a value")
    }
}

impl<T> Deref for RwLockReadGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T> Deref for RwLockWriteGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T> DerefMut for RwLockWriteGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.0
    }
}
