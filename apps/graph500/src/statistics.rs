//! The statistics of the searches, as the reference code computes and prints them.

/// Of some values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Statistics {
    /// The least.
    pub min: f64,
    /// A quarter are below.
    pub first_quartile: f64,
    /// Half are below.
    pub median: f64,
    /// Three quarters are below.
    pub third_quartile: f64,
    /// The most.
    pub max: f64,
    /// The mean: arithmetic, or harmonic of rates.
    pub mean: f64,
    /// The standard deviation of the values, or of the harmonic mean of rates. 0 of a single one.
    pub deviation: f64,
}

impl Statistics {
    /// Of at least one value.
    #[must_use]
    pub fn of(values: &[f64]) -> Self {
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        let count = sorted.len();
        let last = count - 1;
        let between = |one: usize, other: usize| f64::midpoint(sorted[one], sorted[other]);
        let mean = values.iter().sum::<f64>() / count as f64;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        Self {
            min: sorted[0],
            first_quartile: between(last / 4, count / 4),
            median: between(last / 2, count / 2),
            third_quartile: between(last - last / 4, last - count / 4),
            max: sorted[last],
            mean,
            deviation: (squares / last.max(1) as f64).sqrt(),
        }
    }

    /// Of rates, from the seconds that one unit takes: rates are averaged by their harmonic mean, and its standard
    /// deviation is that of Norris, *The Standard Errors of the Geometric and Harmonic Means*, 1940.
    #[must_use]
    pub fn of_rates(seconds_each: &[f64]) -> Self {
        let each = Self::of(seconds_each);
        let freedom = (seconds_each.len() - 1).max(1) as f64;
        Self {
            min: 1.0 / each.max,
            first_quartile: 1.0 / each.third_quartile,
            median: 1.0 / each.median,
            third_quartile: 1.0 / each.first_quartile,
            max: 1.0 / each.min,
            mean: 1.0 / each.mean,
            deviation: each.deviation / (each.mean.powi(2) * freedom.sqrt()),
        }
    }
}

/// A number as C's `%g` writes it, with so many significant digits.
#[must_use]
pub fn general(value: f64, digits: usize) -> String {
    if value == 0.0 || !value.is_finite() {
        return value.to_string();
    }
    // The exponent after rounding, which may carry into another digit.
    let scientific = format!("{value:.*e}", digits - 1);
    let (mantissa, exponent) = scientific.split_once('e').expect("an exponent");
    let exponent: i32 = exponent.parse().expect("a number");
    let trimmed = |text: &str| match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text.to_owned(),
    };
    if exponent < -4 || exponent >= digits as i32 {
        let sign = if exponent < 0 { '-' } else { '+' };
        return format!("{}e{sign}{:02}", trimmed(mantissa), exponent.abs());
    }
    trimmed(&format!(
        "{value:.*}",
        (digits as i32 - 1 - exponent) as usize
    ))
}
