//! The oracle that chooses among the enabled tasks.

use crate::choice::Choice;
use crate::pct::Pct;
use crate::reduction::Reduction;

/// Chooses the next actor, and what is drawn.
#[derive(Debug)]
pub(crate) enum Oracle {
    /// At random, from a seed.
    Seeded(fastrand::Rng),
    /// By priorities.
    Pct(Box<Pct>),
    /// As it was recorded.
    Recorded(Vec<Choice>),
    /// As it was recorded; then the run stops, or goes on by what the actors have behind them and this number.
    Prefix(Vec<Choice>, Option<u64>),
    /// As the next run of a search that leaves out what leads to the same.
    Reduced(Box<Reduction>),
    /// The path to the next leaf of the tree of all choices; new branches take their first child.
    DepthFirst(Vec<Choice>),
}

impl Oracle {
    pub(crate) fn seeded(seed: u64) -> Self {
        Self::Seeded(fastrand::Rng::with_seed(seed))
    }

    /// Each index as probable as the others.
    pub(crate) fn by_chance(random: &mut fastrand::Rng, enabled: usize) -> usize {
        random.usize(..enabled)
    }

    /// The index of the alternative to take at `step`, of `enabled`; at random by `by_chance`.
    ///
    /// # Errors
    /// The choice recorded for this step was among another number (`None`: there is no such step).
    pub(crate) fn choose(
        &mut self,
        step: usize,
        enabled: usize,
        by_chance: impl FnOnce(&mut fastrand::Rng, usize) -> usize,
    ) -> Result<usize, Option<usize>> {
        let recorded = match self {
            Self::Seeded(random) => return Ok(by_chance(random, enabled)),
            Self::Pct(pct) => return Ok(by_chance(&mut pct.random, enabled)),
            Self::Reduced(search) => return search.draw(enabled).map_err(Some),
            Self::Recorded(path) | Self::Prefix(path, _) => path.get(step),
            Self::DepthFirst(path) => {
                if path.len() == step {
                    path.push(Choice { enabled, chosen: 0 });
                }
                path.get(step)
            }
        };
        match recorded {
            Some(choice) if choice.enabled == enabled => Ok(choice.chosen),
            other => Err(other.map(|choice| choice.enabled)),
        }
    }

    /// Whether it chooses by what the actors are, and not among so many alone.
    pub(crate) fn looks_at_actors(&self) -> bool {
        matches!(self, Self::Prefix(..) | Self::Pct(_) | Self::Reduced(_))
    }

    /// Whether it tells states apart, and so is to be told what happens.
    pub(crate) fn tells_states(&self) -> bool {
        matches!(self, Self::Prefix(..))
    }

    /// Whether it says what is to come next, and so notices that a run differs from the one before.
    pub(crate) fn follows(&self) -> bool {
        matches!(
            self,
            Self::DepthFirst(_) | Self::Prefix(..) | Self::Reduced(_)
        )
    }

    /// Whether the run is beyond the recorded prefix; with the number by which it goes on, if it does.
    pub(crate) fn is_beyond(&self, step: usize) -> Option<Option<u64>> {
        match self {
            Self::Prefix(path, then) if step >= path.len() => Some(*then),
            _ => None,
        }
    }

    /// The choice recorded for a step that the run did not reach.
    pub(crate) fn left_over(&self, steps: usize) -> Option<Choice> {
        match self {
            Self::Seeded(_) | Self::Pct(_) => None,
            Self::Reduced(search) => search.left_over(),
            Self::Recorded(path) | Self::DepthFirst(path) | Self::Prefix(path, _) => {
                path.get(steps).copied()
            }
        }
    }

    /// Goes to the next leaf of the tree; `false` when all have been visited.
    pub(crate) fn next_path(&mut self) -> bool {
        let path = match self {
            Self::DepthFirst(path) => path,
            Self::Reduced(search) => return search.next_run(),
            _ => return false,
        };
        while let Some(last) = path.last_mut() {
            if last.chosen + 1 < last.enabled {
                last.chosen += 1;
                return true;
            }
            path.pop();
        }
        false
    }
}
