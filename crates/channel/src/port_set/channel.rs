//! A channel's receiver in a set: the set looks on at the channel, through its [observer](Observation).
//!
//! The set's queue is the observer, and the port's entry the token. The entry has been announced if and only if the
//! channel is not armed.

use std::mem;
use std::sync::Arc;

use gossamer_core::platform::prefetch;
use gossamer_core::policy::LockPolicy;

use super::ready::Ready;
use crate::error::Closed;
use crate::mpmc::{NO_SENDERS, Observation, Receiver, Unsettled};

/// The result of a look at a port. The port announces itself when it has something, unless `more` says that it has.
pub(super) struct Found<T> {
    /// A message, or `Closed` if no more come.
    pub(super) result: Option<Result<T, Closed>>,
    /// Number of further looks that will find something: messages, or the end.
    pub(super) more: usize,
    /// It was the last one.
    pub(super) is_end: bool,
}

impl<T> Found<T> {
    pub(super) const NOTHING: Self = Self {
        result: None,
        more: 0,
        is_end: false,
    };

    pub(super) fn message(message: T, more: usize) -> Self {
        Self {
            result: Some(Ok(message)),
            more,
            is_end: false,
        }
    }

    pub(super) fn end(result: Result<T, Closed>) -> Self {
        Self {
            result: Some(result),
            more: 0,
            is_end: true,
        }
    }
}

impl<T, P: LockPolicy> Receiver<T, P> {
    /// Whether nobody else receives.
    pub(super) fn is_unique(&self) -> bool {
        self.receiver_count() == 1
    }

    /// Has the set look on; `announced`: it is going to look at the entry anyway. The receiver is the only one, and in no
    /// set.
    pub(super) fn enter(&self, ready: &Arc<Ready>, index: u32, announced: bool) -> Unsettled<T, P> {
        let mut locked = self.0.locked();
        locked.observation = Observation::new(ready.clone(), index, !announced);
        Unsettled::new(&self.0, locked)
    }

    /// Takes the entry back.
    ///
    /// # Returns
    /// Whether it has been announced.
    pub(super) fn leave(&self) -> bool {
        let mut locked = self.0.locked();
        let observation = mem::replace(&mut locked.observation, Observation::NONE);
        locked.unlock();
        !observation.is_armed()
    }

    /// The next message for the set that has the receiver. Its entry has been announced.
    #[inline(always)]
    pub(super) fn find(&self) -> (Found<T>, Unsettled<T, P>) {
        let mut locked = self.0.locked();
        let found = match locked.pop() {
            Some(message) => {
                let more = locked.messages_here() + usize::from(locked.has(NO_SENDERS));
                Found::message(message, more)
            }
            None if locked.is_over() => Found::end(Err(Closed)),
            None => Found::NOTHING,
        };
        let is_forgotten =
            found.result.is_none() && gossamer_core::mutant!("port_forgets_to_announce");
        let arms = found.more == 0 && !found.is_end && !is_forgotten;
        locked.observation.arm(arms);
        // Nobody goes on because of a look that found nothing. What the select offers itself that looks is nothing to
        // it, and the set would be told of that without end.
        if found.result.is_none() {
            locked.unlock();
            return (found, Unsettled::NOTHING);
        }
        (found, Unsettled::new(&self.0, locked))
    }

    /// The next message, and how many more there are, if that is simple; `None` says nothing. Its entry has been
    /// announced.
    #[inline(always)]
    pub(super) fn find_quickly(&self) -> Option<(T, usize)> {
        let mut locked = self.0.locked();
        if !locked.is_quiet() || locked.buffer.simple() == 0 {
            locked.unlock();
            return None;
        }
        let message = locked.buffer.pop();
        let more = locked.buffer.len();
        locked.arm_and_unlock(more == 0);
        message.map(|message| (message, more))
    }

    /// Puts messages at the end of `into`, each as an `event`, if that is simple and as many as fit, and at most so
    /// many; whether that was all, so that the entry is announced again. It has been announced.
    #[inline(always)]
    pub(super) fn drain_quickly<E>(
        &self,
        into: &mut Vec<E>,
        most: usize,
        event: impl Fn(T) -> E,
    ) -> bool {
        let mut locked = self.0.locked();
        if !locked.is_quiet() || locked.buffer.is_empty() {
            locked.unlock();
            return false;
        }
        let most = most.min(into.capacity() - into.len());
        // The last one may have memory given back.
        let number = most.min(locked.buffer.simple());
        into.extend(locked.buffer.pop_many(number).map(event));
        let is_all = locked.buffer.is_empty();
        locked.arm_and_unlock(is_all);
        is_all
    }

    /// Hints that it is the channel's turn soon.
    #[inline(always)]
    pub(super) fn prefetch(&self) {
        prefetch(&*self.0);
    }
}
