//! Yielding to other tasks.

use std::pin::Pin;
use std::task::{Context, Poll};

use gossamer_core::waker::wake_to_yield;

/// Lets the other runnable tasks of this runtime run before this one goes on: all that were woken, or have yielded, before.
///
/// Of tasks that tasks of the runtime have spawned and that have never run, some run, or none: await those that have to
/// be done. (They come newest first, and the others have one turn of 64 among them.)
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
