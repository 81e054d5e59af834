//! Changing the number of workers while they work.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use gossamer_core::mutant;
use gossamer_core::shard::Shard;
use gossamer_time::timers::runner;

use super::Pool;
use super::shared::Shared;
use super::workers::WORKERS_MAX;

/// [`Pool::resize`]. Lazy: nothing happens before the first poll; dropped after it, the pool becomes what was
/// asked for all the same.
#[derive(Debug)]
#[must_use = "operations do nothing until they are awaited or waited for"]
pub struct Resize {
    shared: Arc<Shared>,
    workers: usize,
    begun: bool,
    /// Where its waker is, if it has left one.
    place: Option<u64>,
}

impl Pool {
    /// Changes the number of workers; complete when there are so many.
    ///
    /// A worker that is surplus retires when its current poll has ended. No task is lost or moved without being
    /// woken.
    ///
    /// # Errors
    /// No workers, or more than [`WORKERS_MAX`]; the pool is shutting down; the system grants no more threads (the
    /// pool keeps those it has); or another resize has come in between.
    pub fn resize(&self, workers: usize) -> Resize {
        Resize {
            shared: self.shared.clone(),
            workers,
            begun: false,
            place: None,
        }
    }
}

impl Shared {
    /// The timers of a worker that retires go to the first one: nobody looks at its own any more. (And to one alone, so
    /// that a deadline wakes no more than one.)
    pub(super) fn take_over_timers(&self, shard: &'static Shard) {
        if mutant!("retire_keeps_timers") {
            return;
        }
        if let Some(first) = self.shards[0].get()
            && shard.index() != first.index()
            && runner::move_to(shard, first)
        {
            // It may have parked until a later deadline.
            first.call();
            // Or it has ended, and its timers before these came. (Its inbox's lock, in the call and when it seals
            // itself, says who was first: it sees these, or we see that the pool is closing.)
            if self.is_closing() && !mutant!("late_timers_are_lost") {
                runner::end(first);
            }
        }
    }
}

impl Resize {
    fn begin(&self) -> io::Result<()> {
        let workers = self.workers;
        if !(1..=WORKERS_MAX).contains(&workers) {
            let text = format!("resize to {workers} workers: a pool has 1 to {WORKERS_MAX}");
            return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
        }
        self.check_open()?;
        self.shared.workers.ask_for(workers);
        self.shared.start()?;
        // Workers that are surplus find out, the idle ones and those that drain.
        if !mutant!("resize_calls_nobody") {
            self.shared.call_surplus();
        }
        Ok(())
    }

    fn check_open(&self) -> io::Result<()> {
        if self.shared.is_closing() {
            let text = format!(
                "resize to {} workers: the runtime is shutting down",
                self.workers
            );
            return Err(io::Error::other(text));
        }
        Ok(())
    }
}

impl Future for Resize {
    type Output = io::Result<()>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if !self.begun {
            self.begun = true;
            self.begin()?;
        }
        let this = &mut *self;
        let workers = &this.shared.workers;
        if workers.is_or_wake(this.workers, &mut this.place, cx.waker()) {
            return Poll::Ready(Ok(()));
        }
        self.check_open()?;
        let target = self.shared.workers.figures().asked;
        if target != self.workers {
            let text = format!(
                "resize to {} workers: another resize, to {target}, has come in between",
                self.workers
            );
            return Poll::Ready(Err(io::Error::other(text)));
        }
        Poll::Pending
    }
}

impl Drop for Resize {
    fn drop(&mut self) {
        if let Some(place) = self.place
            && !mutant!("dropped_resize_waits")
        {
            self.shared.workers.forget(place);
        }
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    //! Where timers go.

    use std::task::Waker;
    use std::time::Duration;

    use gossamer_core::platform::atomic::Ordering;
    use gossamer_time::timers::{Timer, runner};

    use super::Shared;
    use crate::pool::Watching;
    use crate::single::acquire_again;
    use crate::thread_options::ThreadOptions;

    /// A foreign executor waits for one: it must not be left to a worker who has gone.
    #[test]
    fn of_one_who_retires_late_they_do_not_go_to_the_first() {
        let shared = Shared::new(2, Watching::new(), ThreadOptions::default())
            .expect("few shards are in use");
        let shard = |number| shared.shard_for(number).expect("few shards are in use");
        let (first, second) = (shard(0), shard(1));
        let mut timer = Box::pin(Timer::after(Duration::from_secs(3600)));
        let guard = acquire_again(second);
        assert!(timer.as_mut().poll(Waker::noop()).is_pending());
        assert!(runner::may_have_any(second));
        // As `shutdown` and the first worker do. (Relaxed: this is the one thread.)
        shared.closing.store(true, Ordering::Relaxed);
        runner::end(first);
        shared.take_over_timers(second);
        assert!(!runner::may_have_any(second));
        assert!(!runner::may_have_any(first), "nobody serves it there");
        drop(guard);
    }
}
