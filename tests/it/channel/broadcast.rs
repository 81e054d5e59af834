//! Broadcast channels: each rule, a plain model, cancellation, panics, threads.

mod ending;
mod messages;
mod panics;
mod rules;
mod running;

use gossamer::raw::{self, channel::broadcast::Receiver, channel::broadcast::Sender};

use super::Channels;
use crate::flavour::{Local, Shared};

/// The broadcast channels of a flavour.
pub(crate) trait Broadcasts: Channels {
    fn broadcast<T>(capacity: usize) -> (Sender<T, Self::P>, Receiver<T, Self::P>);
}

impl Broadcasts for Shared {
    fn broadcast<T>(capacity: usize) -> (Sender<T, raw::Shared>, Receiver<T, raw::Shared>) {
        gossamer::channel::broadcast(capacity)
    }
}

impl Broadcasts for Local {
    fn broadcast<T>(capacity: usize) -> (Sender<T, raw::Local>, Receiver<T, raw::Local>) {
        gossamer::local::channel::broadcast(capacity)
    }
}
