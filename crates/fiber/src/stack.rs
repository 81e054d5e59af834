//! The stacks of fibers.
//!
//! On Linux they are carved out of large reservations of addresses, one list of them for each size (`stack/linux.rs`), and used
//! again; elsewhere each is asked from the system.

mod label;
#[cfg(all(target_os = "linux", not(any(loom, gossamer_portable))))]
mod linux;
#[cfg(all(target_os = "linux", not(any(loom, gossamer_portable))))]
mod overflow;
#[cfg(not(all(target_os = "linux", not(any(loom, gossamer_portable)))))]
mod portable;

use std::io;

pub(crate) use self::label::Label;
#[cfg(all(target_os = "linux", not(any(loom, gossamer_portable))))]
use self::linux as system;
#[cfg(not(all(target_os = "linux", not(any(loom, gossamer_portable)))))]
use self::portable as system;
pub(crate) use self::system::{Stack, watch_thread};

/// A stack for a fiber.
pub(crate) fn new(bytes: usize, label: Label) -> io::Result<Stack> {
    system::take(bytes, label).map_err(|error| {
        let text = format!("no memory for a fiber's stack: {error}");
        io::Error::new(error.kind(), text)
    })
}
