//! Reports of stuck polls: one report for each spawn site, and after a while one more that counts the others.

use std::fmt;
use std::panic::Location;
use std::time::{Duration, Instant};

use super::held::Hold;

/// Between two reports of polls of tasks that were spawned at one place.
pub(super) const EVERY: Duration = Duration::from_secs(10);

/// A worker was stuck in one poll while work, or the end of the runtime, waited: its thread ran, or was blocked, for
/// long.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Stuck {
    /// The worker's number.
    pub worker: usize,
    /// The name of its task, if the task has one.
    pub name: Option<String>,
    /// Where its task was spawned.
    pub spawned: &'static Location<'static>,
    /// For how long it had been in the poll by then, at least.
    pub since: Duration,
    /// How its thread was held for the most part when the monitor found it.
    pub hold: Hold,
    /// Why no spare could be started in the worker's place, if it was so: then its tasks had to wait, perhaps until one
    /// could be. Of several reasons the first.
    pub refused: Option<String>,
    /// Whether no work waited, but only the end of the runtime.
    pub at_end: bool,
    /// How many more polls of tasks that were spawned there have held a worker since the last report of one.
    pub more: u64,
}

impl fmt::Display for Stuck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (does, advice) = match self.hold {
            Hold::Blocked => ("was blocked", "use blocking() for what blocks"),
            Hold::Busy => ("was busy", "use yield_now() in long computations"),
        };
        let (worker, since) = (self.worker, self.since);
        write!(f, "worker {worker} {does} in one poll for {since:?}, of ")?;
        match &self.name {
            Some(name) => write!(f, "the task {name:?} spawned at {}", self.spawned)?,
            None => write!(f, "a task spawned at {}", self.spawned)?,
        }
        match &self.refused {
            _ if self.at_end => f.write_str(": the runtime is shutting down, and waits for it")?,
            None => f.write_str(": others took its tasks over")?,
            Some(why) => write!(
                f,
                ": its other tasks had to wait, as there was no spare worker to be had ({why})"
            )?,
        }
        write!(f, "; {advice}")?;
        match self.more {
            0 => Ok(()),
            more => write!(
                f,
                " (and {more} more polls of tasks spawned there, since the last report)"
            ),
        }
    }
}

/// The spawn sites reported not long ago, and the reports that wait.
#[derive(Debug, Default)]
pub(super) struct Reports(Vec<Site>);

/// A place where tasks were spawned of which one was told, not long ago.
#[derive(Debug)]
struct Site {
    told: Instant,
    spawned: &'static Location<'static>,
    /// The last one since then.
    kept: Option<Stuck>,
}

impl Reports {
    /// A poll has held a worker: gives the report back if it is to be told now.
    pub(super) fn add(&mut self, mut stuck: Stuck, now: Instant) -> Option<Stuck> {
        let known = self.0.iter_mut().find(|site| site.spawned == stuck.spawned);
        let Some(site) = known.filter(|_| !gossamer_core::mutant!("each_is_told")) else {
            self.0.push(Site {
                told: now,
                spawned: stuck.spawned,
                kept: None,
            });
            return Some(stuck);
        };
        stuck.more = site.kept.take().map_or(0, |before| before.more + 1);
        site.kept = Some(stuck);
        None
    }

    /// Returns the reports that are due at `now`; at the end, all that were kept.
    pub(super) fn due(&mut self, now: Instant, is_end: bool) -> Vec<Stuck> {
        let mut due = Vec::new();
        self.0.retain_mut(|site| {
            if !is_end && now.saturating_duration_since(site.told) < EVERY {
                return true;
            }
            site.told = now;
            let kept = site.kept.take();
            let is_told = kept.is_some();
            due.extend(kept);
            is_told
        });
        due
    }

    /// How long until something is to be told, if anything is kept.
    pub(super) fn left(&self, now: Instant) -> Option<Duration> {
        let keeping = self.0.iter().filter(|site| site.kept.is_some());
        let left = |site: &Site| EVERY.saturating_sub(now.saturating_duration_since(site.told));
        keeping.map(left).min()
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests;
