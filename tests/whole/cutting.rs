//! Operations that are dropped at any time.

use std::future::poll_fn;
use std::task::Poll;

use fastrand::Rng;

/// Polls an operation until it is complete, or dropped: before or after one of its first four polls.
pub(crate) async fn cut_off<O: Future>(rng: &mut Rng, operation: O) -> Option<O::Output> {
    let (last, before) = (rng.u32(1..=4), rng.bool());
    let (is_cut, is_eager) = (rng.u32(..4) != 0, rng.bool());
    let mut operation = Some(Box::pin(operation));
    let mut polls = 0;
    poll_fn(|cx| {
        polls += 1;
        let is_last = is_cut && polls == last;
        operation.take_if(|_| is_last && before);
        let Some(some) = &mut operation else {
            return Poll::Ready(None);
        };
        let polled = some.as_mut().poll(cx);
        if polled.is_pending() && is_last {
            operation = None;
            return Poll::Ready(None);
        }
        // Not for ever: it would spin on a thread of its own.
        if polled.is_pending() && is_eager && polls < last {
            cx.waker().wake_by_ref();
        }
        polled.map(Some)
    })
    .await
}
