//! The stacks of fibers.
//!
//! On Linux they are carved out of large reservations of addresses, one list of them for each size (`stack/linux.rs`), and used
//! again; elsewhere each is asked from the system.

#[cfg(all(target_os = "linux", not(loom)))]
mod linux;
#[cfg(all(target_os = "linux", not(loom)))]
mod overflow;
#[cfg(not(all(target_os = "linux", not(loom))))]
mod portable;

use std::io;
use std::panic::Location;

#[cfg(all(target_os = "linux", not(loom)))]
pub(crate) use self::linux::Stack;
#[cfg(all(target_os = "linux", not(loom)))]
pub(crate) use self::overflow::watch_thread;
#[cfg(not(all(target_os = "linux", not(loom))))]
pub(crate) use self::portable::{Stack, watch_thread};

/// What is said of a fiber whose stack overflows.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Label {
    spawned: &'static Location<'static>,
    name: [u8; Label::NAME_MAX],
    name_len: u8,
}

impl Label {
    /// So much of a name is kept, in bytes.
    const NAME_MAX: usize = 47;

    pub(crate) fn new(name: &str, spawned: &'static Location<'static>) -> Self {
        let len = name.floor_char_boundary(Self::NAME_MAX);
        let mut kept = [0; Self::NAME_MAX];
        kept[..len].copy_from_slice(&name.as_bytes()[..len]);
        Self {
            spawned,
            name: kept,
            name_len: len as u8,
        }
    }

    #[cfg_attr(
        any(not(target_os = "linux"), loom),
        expect(dead_code, reason = "nobody looks for overflows")
    )]
    fn name(&self) -> &str {
        str::from_utf8(&self.name[..usize::from(self.name_len)]).unwrap_or_default()
    }
}

/// A stack for a fiber.
pub(crate) fn new(bytes: usize, label: Label) -> io::Result<Stack> {
    Stack::new(bytes, label).map_err(|error| {
        let text = format!("no memory for a fiber's stack: {error}");
        io::Error::new(error.kind(), text)
    })
}
