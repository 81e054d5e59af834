//! Each stack is asked from the system.

use std::io;

use corosensei::stack::DefaultStack;

use super::Label;

pub(crate) type Stack = Asked;

/// A stack of its own, with one guard page.
pub(crate) struct Asked(DefaultStack);

impl Asked {
    pub(super) fn new(bytes: usize, _label: Label) -> io::Result<Self> {
        DefaultStack::new(bytes).map(Self)
    }
}
