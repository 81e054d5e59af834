//! Who may take how long: a limit on all measuring that no contender breaks, however wrong its estimate is.
//!
//! All that a command measures has ended by one moment. A *job* is a contender in one workload. For its
//! first run a job has a share: a few times an equal part of what is left, as most need far less than
//! that, and never so much that nothing is left for the others. A run that takes more than half of it is
//! stopped, and made again with a thirtieth of the operations. The later runs get what the workload's equal part leaves
//! after the first ones, and there the quick ones leave their rest to the slow ones.

use std::time::{Duration, Instant};

/// So many equal parts are a job's share.
const GENEROUS: u32 = 12;

/// The time that is left to measure, and how many jobs it is for.
#[derive(Debug)]
pub struct Clock {
    end: Option<Instant>,
    /// Jobs whose first run is to come.
    waiting: u32,
}

impl Clock {
    /// For so many jobs, of whom all have ended after `limit_s` seconds; without a limit nobody is cut.
    #[must_use]
    pub fn new(limit_s: Option<f64>, jobs: usize) -> Clock {
        Clock {
            end: limit_s.map(|seconds| Instant::now() + Duration::from_secs_f64(seconds)),
            waiting: u32::try_from(jobs).unwrap_or(u32::MAX),
        }
    }

    /// What is left of all the time; of no limit more than any run takes.
    #[must_use]
    pub fn left(&self) -> Duration {
        self.end.map_or(Duration::MAX, |end| {
            end.saturating_duration_since(Instant::now())
        })
    }

    /// The equal part of so many jobs that are still waiting.
    #[must_use]
    pub fn part(&self, jobs: usize) -> Duration {
        let jobs = u32::try_from(jobs).unwrap_or(u32::MAX).min(self.waiting);
        (self.left() / self.waiting.max(1)).saturating_mul(jobs)
    }

    /// The share of the next job that was waiting: half of what is left at most, unless it is the last.
    pub fn next_share(&mut self) -> Duration {
        let (left, waiting) = (self.left(), self.waiting.max(1));
        self.waiting = self.waiting.saturating_sub(1);
        let part = left / waiting;
        part.saturating_mul(GENEROUS).min(part.max(left / 2))
    }
}

#[cfg(test)]
mod tests;
