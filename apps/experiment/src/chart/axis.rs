//! Where a value is on an axis, and which values are named there.

/// Values along pixels.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scale {
    first: f64,
    start: f64,
    /// Pixels for each one; pixels may count the other way than values.
    each: f64,
}

impl Scale {
    /// From the first value at the first pixel to the last at the last.
    pub(super) fn new([first, last]: [f64; 2], [start, end]: [f64; 2]) -> Scale {
        let each = (end - start) / (last - first);
        Scale { first, start, each }
    }

    pub(super) fn exact(&self, value: f64) -> f64 {
        self.start + (value - self.first) * self.each
    }

    pub(super) fn pixel(&self, value: f64) -> i32 {
        self.exact(value).round() as i32
    }

    /// The pixels of this difference between two values.
    pub(super) fn length(&self, difference: f64) -> f64 {
        (difference * self.each).abs()
    }
}

/// The named heights of an axis from zero on.
#[derive(Debug)]
pub(super) struct Heights {
    /// Each with its name.
    pub(super) labels: Vec<(f64, String)>,
    /// Where the axis ends.
    pub(super) end: f64,
}

/// About six heights, up to the tallest or above.
pub(super) fn probability_ticks(tallest: f64) -> Heights {
    // Of what no float can hold, nothing is seen either.
    let tallest = if tallest > 0.0 { tallest } else { 1.0 };
    let step = round_step(tallest / 5.0);
    let count = (tallest / step).ceil() as usize;
    let digits = (-step.log10().floor()).max(0.0) as usize;
    let label = |height: f64| match digits <= 5 {
        true => format!("{height:.digits$}"),
        false if height == 0.0 => "0".into(),
        false => format!("{height:.1e}"),
    };
    let heights = (0..=count).map(|tick| tick as f64 * step);
    Heights {
        labels: heights.map(|height| (height, label(height))).collect(),
        end: count as f64 * step,
    }
}

/// About fifteen outcomes at most, fewer if their names are long.
pub(super) fn outcome_ticks(lowest: i64, highest: i64) -> Vec<i64> {
    let name = |outcome: i64| outcome.to_string().len();
    let names = 110 / (name(lowest).max(name(highest)) + 3);
    let span = highest.abs_diff(lowest) as f64;
    let step = round_step(span / names.max(1) as f64).max(1.0) as i128;
    let first = i128::from(lowest).div_euclid(step) * step;
    let ticks = (0..).map(|tick| first + tick * step);
    ticks
        .take_while(|tick| *tick <= i128::from(highest))
        .filter(|tick| *tick >= i128::from(lowest))
        .filter_map(|tick| i64::try_from(tick).ok())
        .collect()
}

/// The next of 1, 2 and 5 times a power of ten.
fn round_step(least: f64) -> f64 {
    let power = 10_f64.powf(least.log10().floor());
    let factors = [1.0, 2.0, 5.0, 10.0];
    let factor = factors.into_iter().find(|factor| factor * power >= least);
    factor.unwrap_or(10.0) * power
}
