//! Sets of ports: each rule that their documentation states, in both flavours.

mod cancelling;
mod panics;
mod pipes;
mod rings;
mod rules;
mod serving;
mod tagged;
mod threads;

use gossamer::raw;
use gossamer::raw::channel::PortSet;

use crate::channel::spsc::Rings;
use crate::flavour::{Local, Shared};

/// The sets of a flavour.
pub(crate) trait Sets: Rings {
    fn set<T>() -> PortSet<T, Self::P>;
}

impl Sets for Shared {
    fn set<T>() -> PortSet<T, raw::Shared> {
        gossamer::channel::PortSet::new()
    }
}

impl Sets for Local {
    fn set<T>() -> PortSet<T, raw::Local> {
        gossamer::local::channel::PortSet::new()
    }
}
