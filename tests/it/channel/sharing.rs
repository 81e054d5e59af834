//! Shared senders: whose turn it is, and that it ends. And what order many senders' messages come in.

mod causality;
mod rules;
mod selecting;

use gossamer::raw;
use gossamer::raw::channel::{Sender, SharedSender, spsc};

use super::Channels;
use crate::flavour::{Local, Shared};

/// The shared senders of a flavour.
pub(crate) trait Shares: Channels {
    fn shared<T>(tx: Sender<T, Self::P>) -> SharedOf<Self, T>;
    fn shared_ring<T>(tx: spsc::Sender<T, Self::P>) -> SharedRing<Self, T>;
}

pub(crate) type SharedOf<F, T> = SharedSender<
    T,
    <F as crate::flavour::Flavour>::P,
    Sender<T, <F as crate::flavour::Flavour>::P>,
>;

pub(crate) type SharedRing<F, T> = SharedSender<
    T,
    <F as crate::flavour::Flavour>::P,
    spsc::Sender<T, <F as crate::flavour::Flavour>::P>,
>;

impl Shares for Shared {
    fn shared<T>(tx: Sender<T, raw::Shared>) -> SharedOf<Self, T> {
        gossamer::channel::SharedSender::new(tx)
    }

    fn shared_ring<T>(tx: spsc::Sender<T, raw::Shared>) -> SharedRing<Self, T> {
        gossamer::channel::SharedSender::new(tx)
    }
}

impl Shares for Local {
    fn shared<T>(tx: Sender<T, raw::Local>) -> SharedOf<Self, T> {
        gossamer::local::channel::SharedSender::new(tx)
    }

    fn shared_ring<T>(tx: spsc::Sender<T, raw::Local>) -> SharedRing<Self, T> {
        gossamer::local::channel::SharedSender::new(tx)
    }
}
