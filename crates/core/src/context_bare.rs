//! Without an operating system no thread runs a shard, and no simulation runs.

use crate::waiter::RawWakerParts;

/// Operations are scheduling points only in a simulation, and nobody is run here who could be kept waiting.
pub fn must_yield() -> bool {
    false
}

/// Never: there is nobody to yield to.
pub fn operation_must_yield() -> bool {
    false
}

/// As above.
pub fn receiver_must_yield() -> bool {
    false
}

/// Nobody looks at parked operations.
pub fn is_told() -> bool {
    false
}

/// Nobody calls the roll.
pub(crate) fn wants_operation(
    _name: &'static str,
    _object: usize,
    _called: &'static core::panic::Location<'static>,
) {
}

/// Nobody runs a simulation.
pub fn is_watched() -> bool {
    false
}

/// Nothing is recorded.
pub fn records() -> bool {
    false
}

/// Nobody says when a poll begins.
pub fn stamp() -> u16 {
    0
}

/// Never called: there are no scheduling points.
pub fn yield_to_others(_waker: RawWakerParts<'_>) {}

/// There are no selects.
pub(crate) fn outside_selects<R>(run: impl FnOnce() -> R) -> R {
    run()
}

/// No simulation is told anything.
pub mod simulated {
    /// The task that is being polled has locked this.
    pub fn holds<T>(_lock: &T) {}

    /// One that has locked this has unlocked it.
    pub fn lets_go<T>(_lock: &T) {}

    /// No operation is held back.
    ///
    /// # Safety
    /// As elsewhere.
    pub(crate) unsafe fn hold_back(
        _node: core::ptr::NonNull<crate::waiter::Node>,
        _kind: &'static crate::waiter::Kind,
        _waker: crate::waiter::RawWakerParts<'_>,
    ) {
    }

    /// As above.
    pub(crate) fn may_begin(
        _node: core::ptr::NonNull<crate::waiter::Node>,
        _waker: crate::waiter::RawWakerParts<'_>,
    ) -> bool {
        true
    }

    /// As above.
    pub(crate) fn is_dropped(
        _node: core::ptr::NonNull<crate::waiter::Node>,
    ) -> Option<core::task::Waker> {
        None
    }

    /// As above.
    pub(crate) fn forget_object(_object: usize) {}
}

/// None are.
pub(crate) fn holds_back() -> bool {
    false
}
