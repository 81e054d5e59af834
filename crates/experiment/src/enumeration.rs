//! Every path of a description, one run after the other.
//!
//! A path is a list of the alternatives that were chosen. A run follows the list, and takes the first alternative in
//! each draw beyond it; the next path is the list with its last entry that has another alternative moved to that, and
//! what came after it cut off.

use std::time::{Duration, Instant};

use dashu_int::UBig;
use dashu_ratio::RBig;

use crate::weight::Weight;
use crate::{Among, Choices, Error, Interpreter, Probability, attempt};

/// How long an enumeration goes on. What it has not come to then, it tells the probability of.
///
/// ```
/// use gossamer::experiment::{Choices, Distribution, Error, Limit, Limits, Probability};
///
/// let half = Probability::new(1, 2).expect("it is one");
/// // It may go on for ever.
/// let tosses = |c: &mut Choices| (1..).find(|_| c.coin(&half)).unwrap_or(0);
/// let found = Distribution::within(&Limits::new().draws(10), tosses)?;
/// assert_eq!(found.probability(&3).to_string(), "1/8");
/// assert_eq!(found.uncovered().to_string(), "1/1024");
/// assert_eq!(found.stopped_by(), Some(Limit::Draws));
/// # Ok::<(), Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Limits {
    paths: u64,
    draws: usize,
    outcomes: usize,
    time: Option<Duration>,
}

/// What ended an enumeration before it had covered everything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Limit {
    /// There were more paths.
    Paths,
    /// Some paths had more draws, and were not followed to their end.
    Draws,
    /// There were more outcomes.
    Outcomes,
    /// The time was over.
    Time,
}

impl Limits {
    /// Ten million paths, a thousand draws each, a million outcomes, and any time.
    pub fn new() -> Self {
        Self {
            paths: 10_000_000,
            draws: 1_000,
            outcomes: 1_000_000,
            time: None,
        }
    }

    /// So many paths at most, in all rounds: the enumeration begins with those of few draws, and does it again with twice
    /// as many as long as some paths have more.
    #[must_use]
    pub fn paths(self, most: u64) -> Self {
        Self {
            paths: most,
            ..self
        }
    }

    /// So many draws at most in each.
    #[must_use]
    pub fn draws(self, most: usize) -> Self {
        Self {
            draws: most,
            ..self
        }
    }

    /// So many different outcomes at most, which is what the memory goes to. (An [`Expectation`](crate::Expectation) keeps
    /// none.)
    #[must_use]
    pub fn outcomes(self, most: usize) -> Self {
        Self {
            outcomes: most,
            ..self
        }
    }

    /// For so long at most.
    #[must_use]
    pub fn time(self, most: Duration) -> Self {
        Self {
            time: Some(most),
            ..self
        }
    }

    pub(crate) fn most_outcomes(&self) -> usize {
        self.outcomes
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self::new()
    }
}

/// The first round has so many draws, and each later one twice as many.
const FIRST_DRAWS: usize = 4;

/// What an enumeration collects: the outcomes that it has, each with the probability of its path.
pub(crate) trait Collect<T>: Default {
    /// Adds one, or says which limit that would pass.
    fn add(&mut self, outcome: T, weight: &Weight, limits: &Limits) -> Result<(), Limit>;

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
    experiment: impl Fn(&mut Choices<'_>) -> T,
) -> Result<Found<C>, Error> {
    let began = Instant::now();
    let (mut draws, mut left) = (FIRST_DRAWS.min(limits.draws), limits.paths);
    let mut best: Option<Found<C>> = None;
    loop {
        let round = run_round::<T, C>(limits, began, draws, left, &experiment)?;
        left -= round.paths;
        let goes_on = round.stopped_by == Some(Limit::Draws) && draws < limits.draws;
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
        draws = draws.saturating_mul(2).min(limits.draws);
    }
}

/// Runs all paths of at most so many draws, but no more than so many paths.
fn run_round<T, C: Collect<T>>(
    limits: &Limits,
    began: Instant,
    draws: usize,
    most: u64,
    experiment: impl Fn(&mut Choices<'_>) -> T,
) -> Result<Found<C>, Error> {
    let mut path = Path {
        steps: Vec::new(),
        answers: Vec::new(),
        at: 0,
        most: draws,
    };
    let mut found = Found {
        all: C::default(),
        stopped_by: None,
        paths: 0,
    };
    loop {
        if found.paths == most {
            found.stopped_by = Some(Limit::Paths);
            return Ok(found);
        }
        if limits.time.is_some_and(|time| began.elapsed() >= time) {
            found.stopped_by = Some(Limit::Time);
            return Ok(found);
        }
        path.at = 0;
        found.paths += 1;
        match attempt(&mut path, &experiment) {
            Ok(_) if path.at < path.steps.len() => {
                return Err(Error::NotDeterministic { draw: path.at });
            }
            Ok(outcome) => {
                if let Err(limit) = found.all.add(outcome, path.weight(), limits) {
                    found.stopped_by = Some(limit);
                    return Ok(found);
                }
            }
            Err(Error::TooManyDraws(_)) => found.stopped_by = Some(Limit::Draws),
            Err(error) => return Err(error),
        }
        if !path.advance() {
            return Ok(found);
        }
    }
}

impl<C> Found<C> {
    /// How probable what is left over is.
    pub(crate) fn uncovered<T>(&self) -> Probability
    where
        C: Collect<T>,
    {
        Probability::of_rational(RBig::ONE - self.all.covered())
    }
}

/// A path, and how far a run has followed it.
struct Path {
    steps: Vec<Step>,
    /// What was chosen in each step, close together, as a run asks for that alone.
    answers: Vec<Answer>,
    at: usize,
    most: usize,
}

/// What was chosen.
#[derive(Clone, Copy)]
struct Answer {
    /// Of so many that are alike; 0: of others.
    of: u32,
    chosen: u32,
}

/// A draw.
struct Step {
    among: Alternatives,
    /// The probability of the path up to the draw, and up to and with it.
    before: Weight,
    weight: Weight,
}

enum Alternatives {
    Alike(u32),
    Weighted(Box<[UBig]>),
}

impl Alternatives {
    fn as_among(&self) -> Among<'_> {
        match self {
            Self::Alike(count) => Among::Alike(*count),
            Self::Weighted(weights) => Among::Weighted(weights),
        }
    }
}

impl Interpreter for Path {
    #[inline]
    fn choose(&mut self, among: Among<'_>) -> Result<usize, Error> {
        let draw = self.at;
        self.at += 1;
        match self.answers.get(draw) {
            Some(answer) if among == Among::Alike(answer.of) => Ok(answer.chosen as usize),
            _ => self.choose_slowly(draw, among),
        }
    }
}

impl Path {
    /// In a draw that is new, or has weights, or was of others before.
    #[inline(never)]
    fn choose_slowly(&mut self, draw: usize, among: Among<'_>) -> Result<usize, Error> {
        match self.steps.get(draw) {
            Some(step) if step.among.as_among() == among => Ok(self.answers[draw].chosen as usize),
            Some(_) => Err(Error::NotDeterministic { draw }),
            None if draw >= self.most => Err(Error::TooManyDraws(self.most)),
            None => Ok(self.begin(among)),
        }
    }

    /// Takes the first alternative of a draw that is new.
    fn begin(&mut self, among: Among<'_>) -> usize {
        let chosen = (0..among.len())
            .find(|index| among.is_possible(*index))
            .expect("not all are impossible");
        let before = self.weight().clone();
        self.answers.push(Answer {
            of: match among {
                Among::Alike(count) => count,
                Among::Weighted(_) => 0,
            },
            chosen: chosen as u32,
        });
        self.steps.push(Step {
            weight: before.then(among, chosen),
            among: match among {
                Among::Alike(count) => Alternatives::Alike(count),
                Among::Weighted(weights) => Alternatives::Weighted(weights.into()),
            },
            before,
        });
        chosen
    }

    fn weight(&self) -> &Weight {
        self.steps.last().map_or(&Weight::ONE, |step| &step.weight)
    }

    /// The next path; `false` if there is none.
    fn advance(&mut self) -> bool {
        while let Some(last) = self.steps.len().checked_sub(1) {
            let step = &mut self.steps[last];
            let among = step.among.as_among();
            let answer = &mut self.answers[last];
            let mut others = answer.chosen as usize + 1..among.len();
            if let Some(next) = others.find(|index| among.is_possible(*index)) {
                answer.chosen = next as u32;
                if let Among::Weighted(_) = among {
                    step.weight = step.before.then(among, next);
                }
                return true;
            }
            self.steps.pop();
            self.answers.pop();
        }
        false
    }
}
