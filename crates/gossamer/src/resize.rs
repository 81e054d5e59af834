//! Changing the number of workers while they work.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use gossamer_core::context::SchedulingPoint;
use gossamer_core::fork::{Origin, refusal};

/// [`Runtime::resize`](crate::Runtime::resize). Lazy: nothing happens before the first poll; dropped after it,
/// the pool becomes what was asked for all the same.
#[derive(Debug)]
#[must_use = "operations do nothing until they are awaited or waited for"]
pub struct Resize {
    /// `None`: it is no pool.
    of_pool: Option<gossamer_sched::Resize>,
    /// The runtime's.
    origin: Origin,
    point: SchedulingPoint,
}

impl Resize {
    pub(crate) fn new(of_pool: Option<gossamer_sched::Resize>, origin: Origin) -> Self {
        Self {
            of_pool,
            origin,
            point: SchedulingPoint::new(),
        }
    }
}

impl Future for Resize {
    type Output = io::Result<()>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.point.pass(cx.waker()));
        if self.origin.is_elsewhere() {
            return Poll::Ready(Err(io::Error::other(refusal("resize()"))));
        }
        match &mut self.of_pool {
            Some(resize) => Pin::new(resize).poll(cx),
            None => Poll::Ready(Err(io::Error::new(
                io::ErrorKind::Unsupported,
                "only a pool can be resized: build the runtime with Model::Pool",
            ))),
        }
    }
}
