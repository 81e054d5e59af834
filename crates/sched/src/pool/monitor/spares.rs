//! Who works in place of those that are stuck, and when the monitor looks next.

use std::sync::Arc;
use std::time::Duration;

use gossamer_core::home::Home;
use gossamer_core::moment::Moment;
use gossamer_time::timers::driver;

use super::super::Shared;
use super::super::crew::spares_max;
use super::LEAST;

impl Shared {
    /// So long, or until the next timer of a worker that is stuck.
    pub(super) fn until_next_timer(&self, most: Duration) -> Duration {
        let stuck = self.homes().filter(|home| home.is_open());
        let next = stuck.map(driver::earliest).min();
        let left = next.and_then(Moment::left);
        // Perhaps now, as what `earliest` says may be too early.
        left.map_or(most, |left| left.clamp(LEAST, most.max(LEAST)))
    }

    /// Whether a worker is not idle.
    pub(super) fn is_busy(&self) -> bool {
        let lingers =
            |(number, home): (usize, &Home)| home.is_driven() && self.crew.lingers(number);
        self.idle.len() < self.crew.count()
            || self.crew.lingering() > 0 && self.numbered_homes().any(lingers)
    }

    /// Hires a spare for each of so many stuck workers, up to the most there may be.
    ///
    /// # Errors
    /// Why there are fewer spares than stuck workers.
    pub(super) fn hire_spares(self: &Arc<Self>, stuck: usize) -> Result<(), String> {
        let most = spares_max(self.crew.asked());
        let wanted = stuck.min(most);
        let before = self.crew.spares();
        // So many may have been asked for, and not be there: others dismiss spares at the same time.
        if wanted < before || self.is_closing() {
            return Ok(());
        }
        self.crew.set_spares(wanted);
        while let Some(hired) = self.crew.hire() {
            if let Err((number, error)) = self.take_on(hired) {
                // It was the lowest number without a worker: those below it stay.
                let got = number.saturating_sub(self.crew.asked()).min(wanted);
                let kept = if gossamer_core::mutant!("refusal_dismisses_all") {
                    before
                } else {
                    before.max(got)
                };
                self.crew.set_spares(kept);
                self.call_surplus();
                // A resize may have left to us one whom it has asked for.
                if self.crew.is_short() {
                    // It says itself how many there are then.
                    let _short = self.hire();
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
            .numbered_homes()
            .filter(|(number, home)| home.is_open() && self.crew.works(*number))
            .count();
        if stuck < self.crew.spares() && !gossamer_core::mutant!("spares_stay") {
            self.crew.set_spares(stuck);
            self.call_surplus();
        }
    }
}
