//! Tells a home that one of its tasks has left.

use crate::context;
use crate::home::Home;

/// A task of `home` is over. Plain arithmetic on the driver, an atomic elsewhere.
#[inline]
pub(super) fn left(home: u16) {
    if home == context::NOWHERE {
        return;
    }
    if context::drives(home) {
        Home::at(home).driver.count_cell(-1);
    } else {
        Home::at(home).cell_left_elsewhere();
    }
}
