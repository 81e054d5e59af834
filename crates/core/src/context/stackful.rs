//! Code on a stack of its own.

use core::task::Context;

/// A [fiber](crate::fiber) or a thread of a simulation, as an operation that it waits for sees it: code on a
/// stack of its own, which can stand still in the midst of a call.
pub trait Stackful {
    /// Calls `step`, with the waker that makes the fiber run again, until it says that all is done; in between the
    /// fiber stands still until it is woken. Unwinds instead if the fiber is to end. (A fiber waits so if it is to end, or
    /// unwinds, or its waker is foreign; else it has a shorter way.)
    fn wait(&self, step: &mut dyn FnMut(&mut Context<'_>) -> bool);

    /// A [foreign call](crate::wait::foreign) begins, perhaps inside another one. Unwinds instead if the fiber is to end
    /// or to be cancelled, and no such call goes on.
    fn foreign_call_begins(&self) {}

    /// It has returned, or unwinds.
    fn foreign_call_returned(&self) {}
}
