//! Geometric means of ratios, with their spread: a ratio of 2 and one of ½ cancel out.

/// The geometric mean of some ratios and how far they are from it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Mean {
    /// The mean.
    pub mean: f64,
    /// The geometric standard deviation: a factor, 1 when all are equal. Of one value it is 1.
    pub deviation: f64,
    /// The least.
    pub min: f64,
    /// The most.
    pub max: f64,
    /// How many ratios it is over.
    pub count: usize,
}

/// The mean of positive ratios; `None` of none.
#[must_use]
pub fn geometric(ratios: &[f64]) -> Option<Mean> {
    let logs: Vec<f64> = ratios.iter().map(|ratio| ratio.ln()).collect();
    let count = logs.len();
    if count == 0 {
        return None;
    }
    let mean = logs.iter().sum::<f64>() / count as f64;
    let squares: f64 = logs.iter().map(|log| (log - mean).powi(2)).sum();
    let deviation = match count {
        1 => 1.0,
        _ => (squares / (count - 1) as f64).sqrt().exp(),
    };
    Some(Mean {
        mean: mean.exp(),
        deviation,
        min: ratios.iter().copied().fold(f64::INFINITY, f64::min),
        max: ratios.iter().copied().fold(0.0, f64::max),
        count,
    })
}

#[cfg(test)]
mod tests;
