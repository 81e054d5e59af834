//! Names of tasks.

use std::borrow::Cow;
use std::pin::Pin;
use std::task::{Context, Poll};

use gossamer_core::aside;

/// A future that names the task that polls it, at its first poll.
#[derive(Debug)]
#[must_use = "futures do nothing unless polled"]
pub struct Named<F> {
    name: Option<Cow<'static, str>>,
    future: F,
}

impl<F> Named<F> {
    /// With this name.
    pub fn new(name: Cow<'static, str>, future: F) -> Self {
        Self {
            name: Some(name),
            future,
        }
    }

    /// The future, not begun.
    pub fn into_inner(self) -> F {
        self.future
    }
}

impl<F: Future> Future for Named<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        // SAFETY: the future is pinned as its owner is, and the name is not.
        let (name, future) = unsafe {
            let this = self.get_unchecked_mut();
            (&mut this.name, Pin::new_unchecked(&mut this.future))
        };
        if let Some(name) = name.take() {
            aside::set_name(&name);
        }
        future.poll(cx)
    }
}
