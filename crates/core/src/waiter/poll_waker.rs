//! The waker of a poll, in a form that can be kept in a node under a lock.

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

/// The waker of a poll. Cloning a foreign one runs user code, so it is cloned before the lock is taken; one of ours is
/// only counted.
///
/// (It is passed by value: what nobody points at need not be in memory.)
#[derive(Debug)]
pub struct PollWaker<'a> {
    parts: RawWakerParts<'a>,
    clone: Option<Waker>,
}

impl<'a> PollWaker<'a> {
    /// Clones a foreign waker. Not under a lock.
    pub fn new(waker: &'a Waker) -> Self {
        let parts = RawWakerParts::new(waker);
        Self::of_ours(parts).unwrap_or_else(|| Self::of_foreign(parts))
    }

    #[cold]
    pub(crate) fn of_foreign(parts: RawWakerParts<'a>) -> Self {
        let clone = Some(parts.with(Waker::clone));
        Self { parts, clone }
    }

    /// `None`: it is not one of ours.
    #[inline(always)]
    pub(crate) fn of_ours(parts: RawWakerParts<'a>) -> Option<Self> {
        waker::is_ours(parts.vtable()).then_some(Self { parts, clone: None })
    }

    /// The waker itself.
    #[inline(always)]
    pub(super) fn parts(&self) -> RawWakerParts<'a> {
        self.parts
    }

    /// The clone, if there is one, which is not needed.
    #[inline(always)]
    pub(super) fn into_clone(mut self) -> Option<Waker> {
        self.clone.take()
    }

    /// One that owns a reference.
    #[inline(always)]
    pub(super) fn into_owned(self) -> Waker {
        let parts = self.parts;
        match self.into_clone() {
            Some(clone) => clone,
            None => parts.with(waker::clone_ref),
        }
    }
}
