//! The tasks in an inbox, in order of arrival. Mostly there is one, which needs no buffer: an OS thread of the model
//! 1:1 that has just woken finds it beside the lock, and no other memory has to come into the cache.

use core::ptr::NonNull;

use alloc::collections::VecDeque;

use crate::header::Header;

/// First in, first out.
#[derive(Debug)]
pub(super) struct InboxQueue {
    first: Option<NonNull<Header>>,
    /// After the first; empty if there is none.
    rest: VecDeque<NonNull<Header>>,
}

impl InboxQueue {
    pub(super) fn new() -> Self {
        Self {
            first: None,
            rest: VecDeque::new(),
        }
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.first.is_none()
    }

    pub(super) fn len(&self) -> usize {
        usize::from(self.first.is_some()) + self.rest.len()
    }

    #[inline]
    pub(super) fn push_back(&mut self, task: NonNull<Header>) {
        if self.first.is_none() {
            self.first = Some(task);
        } else {
            self.rest.push_back(task);
        }
    }

    #[inline]
    pub(super) fn pop_front(&mut self) -> Option<NonNull<Header>> {
        let first = self.first.take()?;
        if !self.rest.is_empty() {
            self.first = self.rest.pop_front();
        }
        Some(first)
    }

    /// Takes all out. The buffer comes too, if it was needed: see [`InboxQueue::give_buffer`].
    #[inline]
    pub(super) fn take(&mut self) -> Self {
        Self {
            first: self.first.take(),
            rest: if self.rest.is_empty() {
                VecDeque::new()
            } else {
                core::mem::take(&mut self.rest)
            },
        }
    }

    /// Whether it has a buffer, which is empty by now, to be given back.
    pub(super) fn has_buffer(&self) -> bool {
        self.rest.capacity() > 0
    }

    /// Takes a buffer back, so that waking does not allocate again and again.
    pub(super) fn give_buffer(&mut self, from: Self) {
        if !self.has_buffer() {
            self.rest = from.rest;
        }
    }

    /// All but the first go.
    pub(super) fn forget_rest(&mut self) {
        self.rest.clear();
    }
}
