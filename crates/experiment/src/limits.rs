//! How long an enumeration goes on.

use std::fmt;
use std::time::{Duration, Instant};

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

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Paths => "there are more paths than are allowed",
            Self::Draws => "some paths have more draws than are allowed",
            Self::Outcomes => "there are more outcomes than are allowed",
            Self::Time => "the time was over",
        })
    }
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
    /// as many as long as some paths have more. (The first path is run once beside, to see how long it is.)
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

    pub(crate) fn most_paths(&self) -> u64 {
        self.paths
    }

    pub(crate) fn most_draws(&self) -> usize {
        self.draws
    }

    pub(crate) fn most_outcomes(&self) -> usize {
        self.outcomes
    }

    /// When an enumeration that begins now is to end.
    pub(crate) fn deadline(&self) -> Deadline {
        Deadline(self.time.map(|time| (Instant::now(), time)))
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self::new()
    }
}

/// When an enumeration is to end: when it began, and how long it may take.
#[derive(Clone, Copy)]
pub(crate) struct Deadline(Option<(Instant, Duration)>);

impl Deadline {
    pub(crate) fn is_over(self) -> bool {
        self.0.is_some_and(|(began, time)| began.elapsed() >= time)
    }
}
