//! Receivers that have no channel: what comes is the time.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Something that has messages at certain times.
pub(crate) trait Clock<T>: Send + Sync {
    /// When there is one, the next time; `None`: never.
    fn due(&self) -> Option<Instant>;

    /// Takes it, if its time has come.
    fn take(&self) -> Option<T>;
}

/// One time, or one after the other.
pub(crate) struct Alarm {
    due: Mutex<Option<Instant>>,
    period: Option<Duration>,
}

impl Alarm {
    pub(crate) fn new(first: Option<Instant>, period: Option<Duration>) -> Self {
        let due = Mutex::new(first);
        Self { due, period }
    }
}

impl Clock<Instant> for Alarm {
    fn due(&self) -> Option<Instant> {
        *self.due.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(&self) -> Option<Instant> {
        let mut due = self.due.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        let time = due.filter(|time| *time <= now)?;
        // A tick that nobody took is not made up for.
        *due = self.period.and_then(|period| now.checked_add(period));
        Some(time)
    }
}
