//! Names of tasks.

use std::borrow::Cow;
use std::pin::Pin;
use std::task::{Context, Poll};

use gossamer_task::locals;
use pin_project_lite::pin_project;

pin_project! {
    /// A future that names the task that polls it, at its first poll.
    #[derive(Debug)]
    #[must_use = "futures do nothing unless polled"]
    pub struct Named<F> {
        name: Option<Cow<'static, str>>,
        #[pin]
        future: F,
    }
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
        let this = self.project();
        if let Some(name) = this.name.take() {
            locals::set_name(&name);
        }
        this.future.poll(cx)
    }
}
