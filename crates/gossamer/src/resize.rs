//! Changing the number of workers while they work.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use gossamer_core::context::SchedulingPoint;
use gossamer_core::fork::refusal;

use crate::shared::Shared;

/// [`Runtime::resize`](crate::Runtime::resize). Lazy: nothing happens before the first poll; dropped after it,
/// the pool becomes what was asked for all the same.
#[must_use = "operations do nothing until they are awaited or waited for"]
pub struct Resize {
    /// `None`: it is no pool.
    of_pool: Option<gossamer_sched::Resize>,
    runtime: Arc<Shared>,
    point: SchedulingPoint,
}

impl Resize {
    pub(crate) fn new(of_pool: Option<gossamer_sched::Resize>, runtime: &Arc<Shared>) -> Self {
        Self {
            of_pool,
            runtime: runtime.clone(),
            point: SchedulingPoint::new(),
        }
    }
}

impl Future for Resize {
    type Output = io::Result<()>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.point.pass(cx.waker()));
        if self.runtime.origin.is_elsewhere() {
            return Poll::Ready(Err(io::Error::other(refusal("resize()"))));
        }
        let Some(resize) = &mut self.of_pool else {
            return Poll::Ready(Err(io::Error::new(
                io::ErrorKind::Unsupported,
                "only a pool can be resized: build the runtime with Model::Pool",
            )));
        };
        let polled = Pin::new(resize).poll(cx);
        if let Some(team) = self.runtime.team.get() {
            team.is_resized();
        }
        polled
    }
}

gossamer_core::impl_debug!([] Resize[]);
