//! What hyper needs beside connections: a timer, and an executor, which is a [`Handle`].
//!
//! Connections of [`net`](crate::net) have hyper's traits themselves. hyper's own limits of time work with a [`Timer`] only:
//! without, it panics, or waits for ever.
//!
//! # Examples
//! A server of HTTP/1.1 gives each connection to
//! `hyper::server::conn::http1::Builder::new().timer(Timer).serve_connection(connection, service)`, and awaits that in a task
//! of its own; of HTTP/2, to `http2::Builder::new(Handle::current()).timer(Timer)`.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use ::hyper::rt;
use gossamer_time::{Sleep, now, sleep, sleep_until};

use crate::handle::Handle;

/// hyper's timer, over [`time`](crate::time): wherever that works, and virtual in a simulation.
///
/// # Examples
/// ```
/// use std::time::{Duration, Instant};
/// use gossamer::{Wait, hyper::Timer};
/// use hyper::rt::Timer as _;
///
/// let begin = Instant::now();
/// Timer.sleep(Duration::from_millis(2)).wait();
/// assert!(begin.elapsed() >= Duration::from_millis(2));
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct Timer;

pin_project_lite::pin_project! {
    struct Sleeping {
        #[pin]
        sleep: Sleep,
    }
}

impl Future for Sleeping {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        self.project().sleep.poll(cx)
    }
}

impl rt::Sleep for Sleeping {}

impl rt::Timer for Timer {
    fn sleep(&self, duration: Duration) -> Pin<Box<dyn rt::Sleep>> {
        let sleep = sleep(duration);
        Box::pin(Sleeping { sleep })
    }

    fn sleep_until(&self, deadline: Instant) -> Pin<Box<dyn rt::Sleep>> {
        let sleep = sleep_until(deadline);
        Box::pin(Sleeping { sleep })
    }

    fn now(&self) -> Instant {
        now()
    }

    fn reset(&self, before: &mut Pin<Box<dyn rt::Sleep>>, deadline: Instant) {
        match before.as_mut().downcast_mut_pin::<Sleeping>() {
            Some(ours) => ours.project().sleep.set(sleep_until(deadline)),
            // Of another timer.
            None => *before = self.sleep_until(deadline),
        }
    }
}

/// Spawns, as [`Handle::spawn`], and nobody joins.
impl<F> rt::Executor<F> for Handle
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    #[track_caller]
    fn execute(&self, future: F) {
        drop(self.spawn(future));
    }
}
