//! Yielding to other tasks.

use std::pin::Pin;
use std::task::{Context, Poll};

use gossamer_core::waker::wake_to_yield;

/// Lets every other runnable task of this runtime run before this one goes on.
///
/// Of tasks that have never run so far, only some: they have 63 turns of 64, so among many this one goes on before the
/// last of them.
///
/// Allocates nothing.
///
/// # Cancellation
/// Has no effect to be undone.
///
/// # Examples
/// ```
/// use gossamer::{Runtime, yield_now};
/// Runtime::builder().build()?.block_on(async { yield_now().await });
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn yield_now() -> YieldNow {
    YieldNow { yielded: false }
}

/// [`yield_now`].
#[derive(Debug)]
#[must_use = "operations do nothing until they are awaited or waited for"]
pub struct YieldNow {
    yielded: bool,
}

impl Future for YieldNow {
    type Output = ();

    #[inline]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if self.yielded {
            return Poll::Ready(());
        }
        self.yielded = true;
        wake_to_yield(cx.waker());
        Poll::Pending
    }
}
