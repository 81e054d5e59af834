//! Channels of many senders and receivers: each rule that their documentation states, in both flavours.

pub(crate) mod broadcast;
mod cancelling;
mod closing;
mod errors;
mod inline;
mod join_pattern;
mod oneshot;
mod permits;
mod rules;
pub(crate) mod sharing;
mod small;
pub(crate) mod spsc;
mod threads;
mod timed;
pub(crate) mod watch;

use gossamer::raw::{self, channel::Receiver, channel::Sender};

use crate::flavour::{Flavour, Local, Shared};

/// The channels of a flavour.
pub(crate) trait Channels: Flavour {
    /// Zero: rendezvous; `usize::MAX`: unbounded.
    fn channel<T>(capacity: usize) -> (Sender<T, Self::P>, Receiver<T, Self::P>);
}

impl Channels for Shared {
    fn channel<T>(capacity: usize) -> (Sender<T, raw::Shared>, Receiver<T, raw::Shared>) {
        match capacity {
            0 => gossamer::channel::rendezvous(),
            usize::MAX => gossamer::channel::unbounded(),
            capacity => gossamer::channel::bounded(capacity),
        }
    }
}

impl Channels for Local {
    fn channel<T>(capacity: usize) -> (Sender<T, raw::Local>, Receiver<T, raw::Local>) {
        match capacity {
            0 => gossamer::local::channel::rendezvous(),
            usize::MAX => gossamer::local::channel::unbounded(),
            capacity => gossamer::local::channel::bounded(capacity),
        }
    }
}
