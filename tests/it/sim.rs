//! Tests of the simulator itself: what it chooses, how time moves, what it finds.

mod attributes;
mod cells;
mod choosing;
mod clock;
mod draws;
mod failing;
mod fibers_end;
mod held_back;
#[allow(unsafe_code)]
mod mutants;
mod outcomes;
mod reduction;
mod runs;
mod samples;
mod selecting;
mod threads;
mod threads_end;

use std::pin::Pin;
use std::task::{Context, Poll};

/// One scheduling point, and nothing else.
struct Step(bool);

fn step() -> Step {
    Step(false)
}

impl Future for Step {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if std::mem::replace(&mut self.0, true) {
            return Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}
