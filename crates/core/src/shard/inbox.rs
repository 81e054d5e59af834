//! The inbox of a shard, as it is under its lock. `sending.rs` tells who puts what there.

use core::ptr::NonNull;
use core::task::Waker;

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use crate::header::{Header, Queued};
use crate::waiter::Node;

/// Loans that other threads have ended, each with the node that the task was loaned to ([`guard`](super::guard)).
pub(super) type EndedLoans = Vec<(NonNull<Header>, NonNull<Node>)>;

#[derive(Debug)]
pub(super) struct Inbox {
    pub(super) tasks: InboxQueue,
    pub(super) closed: bool,
    /// Whether somebody has [called](Shard::call).
    pub(super) called: bool,
    /// Wakes the runner, if it has parked or is about to.
    pub(super) parked: Option<Waker>,
    /// Wakes somebody who looks after a shard without a runner.
    pub(super) fallback_waker: Option<Waker>,
    /// Wakes a thread that would run, but found another one running.
    pub(super) waiting: Option<Waker>,
    /// Loans of tasks that other threads have ended while one ran.
    pub(super) loans: EndedLoans,
}

impl Inbox {
    /// Of a shard that is not open.
    pub(super) fn new() -> Self {
        Self {
            tasks: InboxQueue::default(),
            closed: true,
            called: false,
            parked: None,
            fallback_waker: None,
            waiting: None,
            loans: Vec::new(),
        }
    }
}

/// The shard's runtime has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Closed;

/// The tasks in an inbox, first in, first out. Mostly there is one, which needs no buffer: an OS thread of the model
/// 1:1 that has just woken finds it beside the lock, and no other memory has to come into the cache.
#[derive(Debug, Default)]
pub(super) struct InboxQueue {
    first: Option<Queued>,
    /// After the first; empty if there is none.
    rest: VecDeque<Queued>,
}

impl InboxQueue {
    /// Whether there is none.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.first.is_none()
    }

    pub(super) fn len(&self) -> usize {
        usize::from(self.first.is_some()) + self.rest.len()
    }

    /// Appends a task.
    #[inline]
    pub(super) fn push_back(&mut self, task: Queued) {
        if self.first.is_none() {
            self.first = Some(task);
        } else {
            self.rest.push_back(task);
        }
    }

    /// Takes the first one out.
    #[inline]
    pub(super) fn pop_front(&mut self) -> Option<Queued> {
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
