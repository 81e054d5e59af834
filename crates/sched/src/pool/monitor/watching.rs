//! When a worker is stuck, and who is told: what the builder says.

use std::io;
use std::time::Duration;

use super::report::Stuck;

/// A worker whose thread has run or been blocked for so long in one poll is stuck, unless the builder says otherwise.
const STUCK_AFTER: Duration = Duration::from_millis(10);

/// The shortest and the longest time that the builder may set.
const STUCK_AFTER_MIN: Duration = Duration::from_micros(100);
const STUCK_AFTER_MAX: Duration = Duration::from_secs(3600);

/// The function that receives the reports of stuck polls.
pub(super) type Report = Box<dyn Fn(&Stuck) + Send + Sync>;

/// When a worker is stuck, and who is told.
pub struct Watching {
    pub(super) stuck_after: Duration,
    pub(super) report: Option<Report>,
}

impl Watching {
    /// After 10 ms; a line to the standard error.
    #[must_use]
    pub fn new() -> Self {
        Self {
            stuck_after: STUCK_AFTER,
            report: None,
        }
    }

    /// A worker whose thread has run or been blocked for so long in one poll is stuck.
    pub fn set_stuck_after(&mut self, stuck_after: Duration) {
        self.stuck_after = stuck_after;
    }

    /// Has `report` be told of polls that a worker was stuck in while work waited, by the monitor's thread.
    pub fn set_report(&mut self, report: impl Fn(&Stuck) + Send + Sync + 'static) {
        self.report = Some(Box::new(report));
    }

    /// # Errors
    /// The time is too short, or too long for a clock.
    pub(in super::super) fn check(&self) -> io::Result<()> {
        if (STUCK_AFTER_MIN..=STUCK_AFTER_MAX).contains(&self.stuck_after) {
            return Ok(());
        }
        let text = format!(
            "a worker is to be stuck after {:?}: expected {STUCK_AFTER_MIN:?} to {STUCK_AFTER_MAX:?}",
            self.stuck_after
        );
        Err(io::Error::new(io::ErrorKind::InvalidInput, text))
    }
}

impl Default for Watching {
    fn default() -> Self {
        Self::new()
    }
}

gossamer_core::impl_debug!([] Watching[], this => stuck_after: this.stuck_after);
