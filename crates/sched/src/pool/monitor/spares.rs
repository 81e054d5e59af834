//! The spares that work in place of stuck workers, and the time until the monitor's next look.

use std::sync::Arc;
use std::time::Duration;

use gossamer_core::moment::Moment;
use gossamer_time::timers::runner;

use super::super::shared::Shared;
use super::super::worker_shard::WorkerShard;
use super::super::workers::spares_max;

/// Between two looks, at least.
pub(super) const LEAST: Duration = Duration::from_micros(100);

impl Shared {
    /// So long, or until the next timer of a worker that is stuck.
    pub(super) fn until_next_timer(&self, most: Duration) -> Duration {
        let stuck = self.shards().filter(|shard| shard.is_open());
        let next = stuck.map(|shard| runner::earliest(shard)).min();
        let left = next.and_then(Moment::left);
        // Perhaps now, as what `earliest` says may be too early.
        left.map_or(most, |left| left.clamp(LEAST, most.max(LEAST)))
    }

    /// Whether a worker is not idle.
    pub(super) fn is_busy(&self) -> bool {
        let drains = |(number, shard): (usize, &WorkerShard)| {
            shard.is_running() && self.workers.drains(number)
        };
        let figures = self.workers.figures();
        self.idle.len() < figures.count()
            || figures.draining > 0 && self.numbered_shards().any(drains)
    }

    /// Starts a spare for each of so many stuck workers, up to the most there may be.
    ///
    /// # Errors
    /// Why there are fewer spares than stuck workers.
    pub(super) fn start_spares(self: &Arc<Self>, stuck: usize) -> Result<(), String> {
        let most = spares_max(self.workers.figures().asked);
        let wanted = stuck.min(most);
        let before = self.workers.spares();
        // Goes on if the two are equal: other threads dismiss spares at the same time, so a spare that was asked for
        // need not be there.
        if wanted < before || self.is_closing() {
            return Ok(());
        }
        self.workers.set_spares(wanted);
        while let Some(started) = self.workers.start() {
            if let Err((number, error)) = self.take_on(started) {
                // It was the lowest number without a worker: those below it stay.
                let got = number
                    .saturating_sub(self.workers.figures().asked)
                    .min(wanted);
                let kept = if gossamer_core::mutant!("refusal_dismisses_all") {
                    before
                } else {
                    before.max(got)
                };
                self.workers.set_spares(kept);
                self.call_surplus();
                // A resize may have left to us one whom it has asked for.
                let figures = self.workers.figures();
                if figures.workers < figures.asked {
                    // It says itself how many there are then.
                    let _short = self.start();
                }
                return Err(format!("worker {number} could not be started: {error}"));
            }
        }
        if stuck > most {
            return Err(format!("{most} is the most, and all are stuck too"));
        }
        Ok(())
    }

    /// As many spares are surplus as there are fewer stuck workers.
    pub(in super::super) fn dismiss_spares(&self) {
        let stuck = self
            .numbered_shards()
            .filter(|(number, shard)| shard.is_open() && self.workers.works(*number))
            .count();
        if stuck < self.workers.spares() && !gossamer_core::mutant!("spares_stay") {
            self.workers.set_spares(stuck);
            self.call_surplus();
        }
    }
}
