//! Barriers.

use gossamer::sync;

/// Where so many meet.
#[derive(Debug)]
pub struct Barrier(sync::Barrier);

impl Barrier {
    /// For so many; for none, as for one.
    pub fn new(n: usize) -> Self {
        Self(sync::Barrier::new(n.max(1)))
    }

    /// Comes, and waits for the others.
    pub fn wait(&self) -> impl Future<Output = sync::BarrierResult> {
        self.0.arrive()
    }
}
