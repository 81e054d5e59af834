//! Without an operating system there are no homes: every waker is foreign, so owned.

use core::ptr::NonNull;
use core::task::{RawWakerVTable, Waker};

use crate::waiter::{Node, Parts};

pub(crate) fn is_ours(_vtable: &'static RawWakerVTable) -> bool {
    false
}

/// # Safety
/// None needed; the shape is that of the other file.
pub(crate) unsafe fn lend(_waker: &Waker) -> bool {
    false
}

/// # Safety
/// None needed; the shape is that of the other file.
pub(crate) unsafe fn lend_quickly(_waker: Parts<'_>) -> bool {
    false
}

/// # Safety
/// Never called: nothing is lent.
pub(crate) unsafe fn take_back(_data: *const (), _node: NonNull<Node>) {}

/// # Safety
/// Never called: nothing is lent.
pub(crate) unsafe fn wake_lent(_data: *const (), _node: NonNull<Node>) -> Option<Waker> {
    None
}

pub(crate) fn wake_held(waker: Waker) -> Option<Waker> {
    Some(waker)
}

/// # Safety
/// None needed; the shape is that of the other file.
pub(crate) unsafe fn park_on(_waker: &Waker, _node: NonNull<Node>) {}

/// # Safety
/// None needed; the shape is that of the other file.
pub(crate) unsafe fn unpark_from(_waker: &Waker, _node: NonNull<Node>) {}

pub(crate) fn hold(waker: &Waker) -> Waker {
    waker.clone()
}

/// # Safety
/// Never called: nothing is lent.
pub(crate) unsafe fn wake_lent_here(_data: *const ()) -> bool {
    false
}
