//! Every path of a description, one run after the other, on as many threads as the runtime has workers.
//!
//! The paths are run in parts. First all are one; a part that is not at its end after some thousand paths is split, and
//! its halves are run beside each other. How they are split depends on the description alone: so does what is found,
//! also where a limit is reached (but for the one of time).

use dashu_ratio::RBig;
use gossamer_par::{current_team, inside, map};

use crate::limits::Deadline;
use crate::path::Path;
use crate::weight::Weight;
use crate::{Choices, Error, Limit, Limits, Probability, attempt};

/// The first round has so many draws, or as many as the first path, if that is not long; and each later one twice as many.
const FIRST_DRAWS: usize = 4;

/// A first path of more draws may have no end.
const FIRST_PATH: usize = 64;

/// A part runs so many paths before it is split, which takes some hundred microseconds: many times what it costs to hand
/// a part to another thread.
const PATHS_AT_ONCE: u64 = 4_096;

/// There are so many parts at most: some for each of many cores, as they take unequally long.
const PARTS: usize = 64;

/// What an enumeration collects: the outcomes that it has, each with the probability of its path.
pub(crate) trait Collect<T>: Default + Send {
    /// Adds one.
    fn add(&mut self, outcome: T, weight: &Weight);

    /// Adds those of another part; those that pass a limit are left out, and the limit is told.
    fn merge(&mut self, other: Self, limits: &Limits) -> Result<(), Limit>;

    /// How probable all of them are.
    fn covered(&self) -> RBig;
}

/// What was found, by which limit it was stopped, and how many paths were run for it.
pub(crate) struct Found<C> {
    pub(crate) all: C,
    pub(crate) stopped_by: Option<Limit>,
    pub(crate) paths: u64,
}

/// Runs all paths, in rounds: of few draws first, and if some paths have more, again with twice as many. So an experiment
/// that may go on for ever is covered evenly, and not along its first path alone. Of two rounds the one counts that covers
/// more.
pub(crate) fn enumerate<T, C: Collect<T>>(
    limits: &Limits,
    experiment: impl Fn(&mut Choices<'_>) -> T + Sync,
) -> Result<Found<C>, Error> {
    let deadline = limits.deadline();
    let (mut first, mut draws) = first_path(limits, &experiment)?;
    let mut left = limits.most_paths();
    let mut best: Option<Found<C>> = None;
    loop {
        let round = Round {
            limits,
            deadline,
            experiment: &experiment,
        };
        let round: Found<C> = round.run(first, left)?;
        left -= round.paths;
        let goes_on = round.stopped_by == Some(Limit::Draws) && draws < limits.most_draws();
        let stopped_by = round.stopped_by;
        let covers_less =
            |best: &Found<C>| stopped_by.is_some() && best.all.covered() > round.all.covered();
        if !best.as_ref().is_some_and(covers_less) {
            best = Some(round);
        }
        if !goes_on {
            let best = best.expect("there was a round");
            return Ok(Found { stopped_by, ..best });
        }
        draws = draws.saturating_mul(2).min(limits.most_draws());
        first = Path::new(draws);
    }
}

/// Where the first round begins, and its number of draws.
fn first_path<T>(
    limits: &Limits,
    experiment: &impl Fn(&mut Choices<'_>) -> T,
) -> Result<(Path, usize), Error> {
    let few = FIRST_DRAWS.min(limits.most_draws());
    if limits.most_paths() == 0 {
        return Ok((Path::new(few), few));
    }
    let mut first = Path::new(FIRST_PATH.min(limits.most_draws()));
    match attempt(&mut first, experiment) {
        Ok(_) => {
            let draws = first.allow(few);
            Ok((first, draws))
        }
        Err(Error::TooManyDraws(_)) => Ok((Path::new(few), few)),
        Err(error) => Err(error),
    }
}

/// All paths of at most so many draws.
struct Round<'a, F> {
    limits: &'a Limits,
    deadline: Deadline,
    experiment: &'a F,
}

impl<F> Round<'_, F> {
    /// Runs them, from this one on, but no more than so many.
    fn run<T, C: Collect<T>>(&self, first: Path, most: u64) -> Result<Found<C>, Error>
    where
        F: Fn(&mut Choices<'_>) -> T + Sync,
    {
        let mut found = Found::<C>::default();
        let mut parts = vec![first];
        while !parts.is_empty() {
            let left = most - found.paths;
            let share = (left / parts.len() as u64).clamp(1, PATHS_AT_ONCE);
            let running = parts.len().min(usize::try_from(left).unwrap_or(usize::MAX));
            if running == 0 {
                found.stopped_by = Some(Limit::Paths);
                break;
            }
            let several = &mut parts[..running];
            let ran = match several {
                [one] => vec![self.run_part(one, share)],
                several => inside(current_team, || {
                    map(several, |part| self.run_part(part, share))
                }),
            };
            for part in ran {
                found.add(part?, self.limits);
            }
            if matches!(found.stopped_by, Some(Limit::Outcomes | Limit::Time)) {
                break;
            }
            parts.retain(|part| !part.is_over());
            let splits = parts.len().min(PARTS - parts.len());
            for part in 0..splits {
                let half = parts[part].split();
                parts.extend(half);
            }
        }
        Ok(found)
    }

    /// Runs the next paths of a part, so many at most.
    fn run_part<T, C: Collect<T>>(&self, part: &mut Path, most: u64) -> Result<Found<C>, Error>
    where
        F: Fn(&mut Choices<'_>) -> T,
    {
        let mut found = Found::<C>::default();
        while found.paths < most && !part.is_over() {
            if self.deadline.is_over() {
                found.stopped_by = Some(Limit::Time);
                break;
            }
            part.begin_run();
            found.paths += 1;
            match attempt(part, self.experiment) {
                Ok(outcome) => {
                    part.end_run()?;
                    found.all.add(outcome, part.weight());
                }
                Err(Error::TooManyDraws(_)) => found.stopped_by = Some(Limit::Draws),
                Err(error) => return Err(error),
            }
            part.advance();
        }
        Ok(found)
    }
}

impl<C: Default> Default for Found<C> {
    fn default() -> Self {
        Self {
            all: C::default(),
            stopped_by: None,
            paths: 0,
        }
    }
}

impl<C> Found<C> {
    /// Adds what was found in a part.
    fn add<T>(&mut self, part: Self, limits: &Limits)
    where
        C: Collect<T>,
    {
        self.paths += part.paths;
        // Draws that are too many do not end the round; the other limits do, so they are what is told.
        let merged = self.all.merge(part.all, limits).err();
        for limit in part.stopped_by.into_iter().chain(merged) {
            if limit != Limit::Draws || self.stopped_by.is_none() {
                self.stopped_by = Some(limit);
            }
        }
    }

    /// How probable what is left over is.
    pub(crate) fn uncovered<T>(&self) -> Probability
    where
        C: Collect<T>,
    {
        Probability::of_rational(RBig::ONE - self.all.covered())
    }
}
