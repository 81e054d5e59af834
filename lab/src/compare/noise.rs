//! Whether two sets of runs differ by more than chance, as far as so few runs can tell.

/// A change of the median by less is not worth a line, however sure it is.
pub const CHANGE_MIN: f64 = 0.03;
/// How seldom chance alone may make two sets of runs look as different.
pub const CHANCE_MAX: f64 = 0.01;
/// From so many runs on each side on, a rank test can be as sure as [`CHANCE_MAX`].
const RUNS_FOR_RANKS: usize = 5;

/// Beyond so many pairs of runs the normal distribution is as good as counting.
const EXACT_PAIRS_MAX: usize = 400;
/// Where the normal distribution has half of [`CHANCE_MAX`] beyond it.
const NORMAL_AT_CHANCE_MAX: f64 = 2.5758;

/// What can be said of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Slower beyond noise.
    Slower,
    /// Faster beyond noise.
    Faster,
    /// It may be chance, or is too small.
    Noise,
    /// One side has a single run: nothing is known of its noise.
    Unknown,
}

/// Compares nanoseconds per operation of all runs before and after.
#[must_use]
pub fn verdict(before: &[f64], after: &[f64]) -> Verdict {
    if before.len().min(after.len()) < 2 {
        return Verdict::Unknown;
    }
    let change = median(after) / median(before) - 1.0;
    if change.abs() <= CHANGE_MIN || !differ(before, after) {
        return Verdict::Noise;
    }
    if change > 0.0 {
        Verdict::Slower
    } else {
        Verdict::Faster
    }
}

/// Few runs: no run of one side is as quick as any of the other. More: the rank test of Mann and
/// Whitney, two-sided and exact; with five runs on each side that is the same.
fn differ(before: &[f64], after: &[f64]) -> bool {
    if before.len().min(after.len()) < RUNS_FOR_RANKS {
        let ends = |runs: &[f64]| {
            let least = runs.iter().copied().fold(f64::INFINITY, f64::min);
            (least, runs.iter().copied().fold(0.0, f64::max))
        };
        let ((low, high), (least, most)) = (ends(before), ends(after));
        return high < least || most < low;
    }
    let (m, n, less) = fewer_pairs(before, after);
    if m * n <= EXACT_PAIRS_MAX {
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
    let ways = ways(m, n);
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
