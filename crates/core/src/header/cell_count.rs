//! Tells a home that one of its cells is gone.

use crate::context;
use crate::home::Home;

/// One cell of `home` was freed. Plain arithmetic on the driver, an atomic elsewhere.
#[inline]
pub(super) fn freed(home: u16) {
    if home == context::NOWHERE {
        return;
    }
    if context::drives(home) {
        Home::at(home).driver.count_cell(-1);
    } else {
        Home::at(home).cell_freed_elsewhere();
    }
}
