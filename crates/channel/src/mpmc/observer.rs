//! The hook by which something outside a channel looks on: a port set, to which the channel's receiver belongs.
//!
//! # Protocol
//!
//! A channel knows at most one [`Observer`], and a token that tells the observer which channel speaks (as `epoll_data`
//! does in `epoll(7)`). All of it is under the channel's lock.
//!
//! | armed | meaning | becomes the other one when |
//! | --- | --- | --- |
//! | yes | the channel had nothing for its receiver when the observer last looked | the channel has a message, or its last sender goes: then it notifies the observer, once |
//! | no | the observer has been notified, and is going to look | the observer has looked and found nothing more: it arms the channel again |
//!
//! So an observer is notified once for each look, and sending into a channel at which it is going to look costs nothing
//! more. A receiver that waits in the channel's own queue comes before the observer; a sender that waits in a rendezvous
//! channel counts as a message.
//!
//! The race to fear: a message comes between the observer's look and its arming. There is no such moment, as the
//! observer looks and arms under one hold of the channel's lock.

use std::sync::Arc;

use gossamer_core::waiter::Deferred;

/// Looks on at channels.
pub(crate) trait Observer: Send + Sync {
    /// The channel with this token has a message, or no sender is left.
    ///
    /// Under the channel's lock: it runs no user code and does not touch the channel. It may take locks that nobody
    /// holds while he takes a channel's.
    ///
    /// # Returns
    /// The work to do without any lock.
    fn notify(&self, token: u32) -> Deferred;
}

/// A channel's observer with its token, and whether the channel is armed.
pub(crate) struct Observation {
    observer: Option<(Arc<dyn Observer>, u32)>,
    is_armed: bool,
}

impl Observation {
    pub(crate) const NONE: Self = Self {
        observer: None,
        is_armed: false,
    };

    /// By this observer; `is_armed`: it is to be notified.
    pub(crate) fn new(observer: Arc<dyn Observer>, token: u32, is_armed: bool) -> Self {
        Self {
            observer: Some((observer, token)),
            is_armed,
        }
    }

    /// Whether the observer is to be notified.
    #[inline(always)]
    pub(crate) fn is_armed(&self) -> bool {
        self.is_armed
    }

    /// Whether the observer is to be notified, from now on.
    #[inline(always)]
    pub(crate) fn arm(&mut self, is_armed: bool) {
        self.is_armed = is_armed;
    }

    /// Notifies the observer, which is no longer armed.
    #[inline(always)]
    pub(super) fn notify(&mut self) -> Deferred {
        self.is_armed = false;
        match &self.observer {
            Some((observer, token)) => observer.notify(*token),
            None => Deferred::NOTHING,
        }
    }
}
