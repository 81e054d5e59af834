//! The waker of a poll, in a form that can be kept in a node under a lock.

use core::mem::ManuallyDrop;
use core::task::Waker;

use super::deferred::drop_quietly;
use super::node::RawWakerParts;
use crate::waker;

impl Drop for PollWaker<'_> {
    /// A clone that was not used: the operation may have gone instead of waiting.
    #[inline(always)]
    fn drop(&mut self) {
        if let Some(clone) = self.clone.take() {
            drop_quietly(clone);
        }
    }
}

/// The waker of a poll. Cloning a foreign one runs user code, so it is cloned before the lock is taken
/// (see [`PollWaker::prepare`]); one of ours is only counted.
#[derive(Debug)]
pub struct PollWaker<'a> {
    parts: RawWakerParts<'a>,
    clone: Option<Waker>,
}

impl<'a> PollWaker<'a> {
    /// Not yet cloned.
    #[inline(always)]
    pub fn new(waker: &'a Waker) -> Self {
        Self::of(RawWakerParts::new(waker))
    }

    /// Not yet cloned.
    #[inline(always)]
    pub(crate) fn of(parts: RawWakerParts<'a>) -> Self {
        Self { parts, clone: None }
    }

    /// One of ours, which is never cloned here, so that there is nothing to drop; or `None`.
    #[inline(always)]
    pub(crate) fn of_ours(parts: RawWakerParts<'a>) -> Option<ManuallyDrop<Self>> {
        waker::is_ours(parts.vtable()).then(|| ManuallyDrop::new(Self::of(parts)))
    }

    /// Whether it can be kept in a node now.
    #[inline(always)]
    pub fn is_ready(&self) -> bool {
        waker::is_ours(self.parts.vtable()) || self.clone.is_some()
    }

    /// Clones a foreign waker. Not under a lock.
    #[cold]
    pub fn prepare(&mut self) {
        self.clone = Some(self.parts.with(Waker::clone));
    }

    /// The waker itself.
    #[inline(always)]
    pub(super) fn parts(&self) -> RawWakerParts<'a> {
        self.parts
    }

    /// One that owns a reference. It was [ready](PollWaker::is_ready).
    #[inline(always)]
    pub(super) fn take(&mut self) -> Waker {
        match self.clone.take() {
            Some(clone) => clone,
            None => self.parts.with(waker::clone_ref),
        }
    }
}
