//! Whether two sets of runs differ by more than chance, as far as so few runs can tell.

/// A change of the median by less is not worth a line, however sure it is.
pub const CHANGE_MIN: f64 = 0.03;
/// How seldom chance alone may make two sets of runs look as different.
pub const CHANCE_MAX: f64 = 0.01;
/// Of the peers' changes so many lie within the spread that is given of a drift.
const SPREAD_SHARE: f64 = 0.75;

/// With more runs than this on each side the normal distribution is as good as counting; with few
/// on one of them it never is.
const EXACT_RUNS_MAX: usize = 20;
/// Where the normal distribution has half of [`CHANCE_MAX`] beyond it.
const NORMAL_AT_CHANCE_MAX: f64 = 2.5758;

/// What can be said of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Slower beyond noise.
    Slower,
    /// Faster beyond noise.
    Faster,
    /// No run of one side is as slow as any of the other, but with so few runs chance alone makes
    /// that more often than [`CHANCE_MAX`]: [`least_chance`] says how often.
    Perhaps,
    /// It may be chance, or is too small.
    Noise,
    /// One side has a single run: nothing is known of its noise.
    Unknown,
}

/// What the machine changed between two runs of the lab, as far as the peers tell.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Drift {
    /// The median of the peers' changes, as a factor.
    pub factor: f64,
    /// How far from it, as a part of it, three quarters of the peers are at most.
    pub spread: f64,
}

impl Drift {
    /// Nothing is taken out, and nothing is known of how sure that is.
    pub const NONE: Drift = Drift {
        factor: 1.0,
        spread: 0.0,
    };

    /// From the changes of the peers; `None` of none.
    #[must_use]
    pub fn of(changes: &[f64]) -> Option<Drift> {
        let factor = median(changes);
        let mut far: Vec<f64> = changes
            .iter()
            .map(|change| (change / factor - 1.0).abs())
            .collect();
        far.sort_by(f64::total_cmp);
        // Rounded up: of three peers that is the farthest.
        let within = (far.len() as f64 * SPREAD_SHARE).ceil() as usize;
        let spread = *far.get(within.checked_sub(1)?)?;
        Some(Drift { factor, spread })
    }
}

/// Compares nanoseconds per operation of all runs before and after; `drift` is taken out of the
/// latter, and a change has to be larger than its spread as well.
#[must_use]
pub fn verdict(before: &[f64], after: &[f64], drift: Drift) -> Verdict {
    if before.len().min(after.len()) < 2 {
        return Verdict::Unknown;
    }
    let after: Vec<f64> = after.iter().map(|ns| ns / drift.factor).collect();
    let change = median(&after) / median(before) - 1.0;
    let (m, n, less) = fewer_pairs(before, &after);
    if change.abs() <= CHANGE_MIN + drift.spread {
        return Verdict::Noise;
    }
    if differ(m, n, less) {
        if change > 0.0 {
            Verdict::Slower
        } else {
            Verdict::Faster
        }
    } else if less == 0 {
        // As far apart as they can be; with more runs it would be sure.
        Verdict::Perhaps
    } else {
        Verdict::Noise
    }
}

/// How often chance alone puts all of m runs on one side of all of n runs of the same thing.
#[must_use]
pub fn least_chance(m: usize, n: usize) -> f64 {
    chance(m, n, 0)
}

/// The rank test of Mann and Whitney, two-sided, and exact unless there are many runs on both sides.
fn differ(m: usize, n: usize, less: usize) -> bool {
    if m.min(n) <= EXACT_RUNS_MAX {
        return chance(m, n, less) <= CHANCE_MAX;
    }
    let (m, n) = (m as f64, n as f64);
    let deviation = (m * n * (m + n + 1.0) / 12.0).sqrt();
    (m * n / 2.0 - less as f64) / deviation >= NORMAL_AT_CHANCE_MAX
}

/// The numbers of runs, and of pairs that stand the rarer way round.
fn fewer_pairs(a: &[f64], b: &[f64]) -> (usize, usize, usize) {
    let (m, n) = (a.len(), b.len());
    // How many pairs have the smaller run in `a`; equal ones count half, rounded towards no difference.
    let twice: usize = a
        .iter()
        .flat_map(|x| b.iter().map(move |y| (x, y)))
        .map(|(x, y)| match x.total_cmp(y) {
            std::cmp::Ordering::Less => 2,
            std::cmp::Ordering::Equal => 1,
            std::cmp::Ordering::Greater => 0,
        })
        .sum();
    (m, n, twice.min(2 * m * n - twice).div_ceil(2))
}

/// The probability that of m and n runs of the same thing so few pairs, or fewer, stand one way round.
fn chance(m: usize, n: usize, less: usize) -> f64 {
    // The same either way, and quicker this way.
    let ways = ways(m.min(n), m.max(n));
    let all: f64 = ways.iter().sum();
    let as_far: f64 = ways.iter().take(less + 1).sum();
    (2.0 * as_far / all).min(1.0)
}

/// In how many orders of m and n things exactly so many pairs stand the one way round: the
/// coefficients of the Gaussian binomial.
fn ways(m: usize, n: usize) -> Vec<f64> {
    let mut ways = vec![0.0; m * n + 1];
    ways[0] = 1.0;
    for k in 1..=m {
        // Times (1 - q^(n+k)), then divided by (1 - q^k).
        for at in (n + k..ways.len()).rev() {
            ways[at] -= ways[at - n - k];
        }
        for at in k..ways.len() {
            ways[at] += ways[at - k];
        }
    }
    ways
}

/// The middle of some values.
#[must_use]
pub fn median(values: &[f64]) -> f64 {
    crate::results::spread(values).map_or(f64::NAN, |spread| spread.median)
}

#[cfg(test)]
mod tests;
