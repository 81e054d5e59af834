//! Channels of one sender and one receiver: each rule that their documentation states, in both flavours.

mod rules;
mod small;
mod threads;

use gossamer::raw::channel::spsc::{self, Receiver, Sender};

use super::Channels;
use crate::flavour::{Local, Shared};

/// The rings of a flavour.
pub(crate) trait Rings: Channels<P: spsc::RingPolicy> {
    fn ring<T>(capacity: usize) -> (Sender<T, Self::P>, Receiver<T, Self::P>);
}

impl Rings for Shared {
    fn ring<T>(capacity: usize) -> (Sender<T, Self::P>, Receiver<T, Self::P>) {
        gossamer::channel::spsc(capacity)
    }
}

impl Rings for Local {
    fn ring<T>(capacity: usize) -> (Sender<T, Self::P>, Receiver<T, Self::P>) {
        gossamer::local::channel::spsc(capacity)
    }
}
