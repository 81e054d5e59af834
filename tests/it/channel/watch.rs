//! Watch channels: each rule, closures and values that come back or panic, cancellation, threads.

mod closures;
mod rules;
mod running;

use gossamer::raw::{self, channel::watch::Receiver, channel::watch::Sender};

use super::Channels;
use crate::flavour::{Local, Shared};

/// The watch channels of a flavour.
pub(crate) trait Watches: Channels {
    fn watch<T>(initial: T) -> (Sender<T, Self::P>, Receiver<T, Self::P>);
}

impl Watches for Shared {
    fn watch<T>(initial: T) -> (Sender<T, raw::Shared>, Receiver<T, raw::Shared>) {
        gossamer::channel::watch(initial)
    }
}

impl Watches for Local {
    fn watch<T>(initial: T) -> (Sender<T, raw::Local>, Receiver<T, raw::Local>) {
        gossamer::local::channel::watch(initial)
    }
}
