//! Leaving a queue without ending: what a `select!` that ends does to its branches by reference.

use core::ops::DerefMut;
use core::pin::Pin;

use super::{Action, Operation, Waitable};

/// An operation of ours that a `select!` may have had by reference.
///
/// Such a one lives on after the select. But nobody may ever poll it again, and what it was promised would be kept from
/// everybody else. So it leaves its queue, and passes on what it was promised. Polled again, it begins anew, behind those
/// that wait by then.
pub trait Leave {
    /// Whether it is, or has, a reference. (What a select has by value it drops.)
    const BY_REFERENCE: bool = false;

    /// Leaves the queue, if it waits in one. A panic of a waker that is dropped with that ends here.
    fn leave(self: Pin<&mut Self>);
}

impl<O: Waitable, A: Action<O>> Leave for Operation<'_, O, A> {
    fn leave(self: Pin<&mut Self>) {
        if !crate::mutant!("reference_stays_queued") {
            self.leave_unless_done();
        }
    }
}

impl<R: DerefMut<Target: Leave>> Leave for Pin<R> {
    const BY_REFERENCE: bool = true;

    fn leave(self: Pin<&mut Self>) {
        self.as_deref_mut().leave();
    }
}

impl<F: Leave + Unpin> Leave for &mut F {
    const BY_REFERENCE: bool = true;

    fn leave(self: Pin<&mut Self>) {
        Pin::new(&mut **self.get_mut()).leave();
    }
}
