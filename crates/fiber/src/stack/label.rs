//! Who has a stack.

use std::panic::Location;

/// What is said of a fiber whose stack overflows.
#[derive(Debug, Clone, Copy)]
#[cfg_attr(
    any(not(target_os = "linux"), loom, gossamer_portable),
    expect(dead_code, reason = "nobody looks for overflows")
)]
pub(crate) struct Label {
    pub(super) spawned: Option<&'static Location<'static>>,
    name: [u8; Label::NAME_MAX],
    name_len: u8,
}

impl Label {
    /// So many bytes of a stack it has, the highest ones.
    #[cfg(all(target_os = "linux", not(any(loom, gossamer_portable))))]
    pub(super) const PLACE: usize = size_of::<Self>().next_multiple_of(16);
    /// So much of a name is kept, in bytes.
    const NAME_MAX: usize = 47;

    pub(crate) fn new(name: &str, spawned: &'static Location<'static>) -> Self {
        let len = name.floor_char_boundary(Self::NAME_MAX);
        let mut kept = [0; Self::NAME_MAX];
        kept[..len].copy_from_slice(&name.as_bytes()[..len]);
        Self {
            spawned: Some(spawned),
            name: kept,
            name_len: len as u8,
        }
    }

    #[cfg(all(target_os = "linux", not(any(loom, gossamer_portable))))]
    pub(super) fn name(&self) -> &str {
        str::from_utf8(&self.name[..usize::from(self.name_len)]).unwrap_or_default()
    }
}
