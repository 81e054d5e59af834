//! Without an operating system there are no shards: every waker is foreign.

use core::ptr::NonNull;
use core::task::{RawWakerVTable, Waker};

use crate::waiter::{Node, RawWakerParts};

pub(crate) fn is_ours(_vtable: &'static RawWakerVTable) -> bool {
    false
}

pub(crate) fn loan(_waker: RawWakerParts<'_>) -> bool {
    false
}

pub(crate) fn loan_quickly(_waker: RawWakerParts<'_>) -> bool {
    false
}

/// # Safety
/// Never called: nothing is loaned.
pub(crate) unsafe fn end_loan(_data: *const (), _node: NonNull<Node>) {}

/// # Safety
/// Never called: nothing is loaned.
pub(crate) unsafe fn wake_loaned(_data: *const (), _node: NonNull<Node>) -> Option<Waker> {
    None
}

/// # Safety
/// Never called: no waker is ours.
pub(crate) unsafe fn from_data(_data: *const ()) -> Waker {
    unreachable!("no waker is ours")
}

pub(crate) fn wake_owned(waker: Waker) -> Option<Waker> {
    Some(waker)
}

pub(crate) fn park_on(_waker: RawWakerParts<'_>, _node: NonNull<Node>) {}

pub(crate) fn unpark_from(_waker: &Waker, _node: NonNull<Node>) {}

pub(crate) fn clone_ref(waker: &Waker) -> Waker {
    waker.clone()
}

/// # Safety
/// Never called: nothing is loaned.
pub(crate) unsafe fn wake_loaned_here(_data: *const ()) -> bool {
    false
}
