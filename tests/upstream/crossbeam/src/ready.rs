//! Whether an operation could go. Our channels do not say who waits at a rendezvous: there nothing is ever ready.

use std::future::pending;
use std::time::{Duration, Instant};

use gossamer_core::wait::Wait;

use crate::channel::{Receiver, Sender, Source};

/// How long a look is good for.
const LOOK: Duration = Duration::from_millis(1);

impl<T> Sender<T> {
    pub(crate) fn is_ready(&self) -> bool {
        self.to.is_closed() || !self.to.is_full()
    }
}

impl<T> Receiver<T> {
    pub(crate) fn is_ready(&self) -> bool {
        match &self.from {
            Source::Clock(_) | Source::Never => !self.is_empty(),
            Source::Channel(from) => from.is_closed() || !from.is_empty(),
        }
    }
}

/// Looks until there is something, or that moment has come.
pub(crate) fn look<R>(deadline: Option<Instant>, look: impl Fn() -> Option<R>) -> Option<R> {
    loop {
        if let Some(found) = look() {
            return Some(found);
        }
        let now = Instant::now();
        if deadline.is_some_and(|deadline| deadline <= now) {
            return None;
        }
        rest(deadline);
    }
}

/// Lets some time go by, but not more than until then.
pub(crate) fn rest(deadline: Option<Instant>) {
    let _ = gossamer_time::timeout_at(round(deadline), pending::<()>()).wait();
}

/// The end of a round that begins now.
pub(crate) fn round(deadline: Option<Instant>) -> Instant {
    let next = Instant::now() + LOOK;
    deadline.map_or(next, |deadline| deadline.min(next))
}
