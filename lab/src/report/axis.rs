//! Logarithmic axes: where a value stands, and which values are worth a line.

/// A logarithmic axis along some pixels.
#[derive(Debug, Clone, Copy)]
pub struct Log {
    low: f64,
    high: f64,
    from_px: f64,
    to_px: f64,
}

/// Up to so many powers of ten, their double and fivefold get a line as well.
const DECADES_FEW: f64 = 2.0;

impl Log {
    /// An axis of whole powers of ten around all of these; `None` without any.
    #[must_use]
    pub fn powers(values: impl IntoIterator<Item = f64>, px: [f64; 2]) -> Option<Log> {
        let (least, most) = ends(values)?;
        // A bar of the least value must be visible, too.
        let low = 10_f64.powf((least * 0.8).log10().floor());
        let high = 10_f64.powf(most.log10().ceil()).max(low * 10.0);
        Some(Log::of([low, high], px))
    }

    /// An axis that begins and ends at one, two or five times a power of ten.
    #[must_use]
    pub fn tight(values: impl IntoIterator<Item = f64>, px: [f64; 2]) -> Option<Log> {
        let (least, most) = ends(values)?;
        let low = nice(least)
            .take_while(|tick| *tick <= least * 1.000_001)
            .last();
        let high = nice(most).find(|tick| *tick >= most * 0.999_999);
        let low = low.unwrap_or(least);
        let high = high.unwrap_or(most).max(low * 2.0);
        Some(Log::of([low, high], px))
    }

    fn of([low, high]: [f64; 2], [from_px, to_px]: [f64; 2]) -> Log {
        Log {
            low,
            high,
            from_px,
            to_px,
        }
    }

    /// Where a value stands.
    #[must_use]
    pub fn at(&self, value: f64) -> f64 {
        let share = (value / self.low).ln() / (self.high / self.low).ln();
        self.from_px + share * (self.to_px - self.from_px)
    }

    /// The values that get a line.
    #[must_use]
    pub fn ticks(&self) -> Vec<f64> {
        let few = (self.high / self.low).log10() <= DECADES_FEW + 0.01;
        let power = |tick: &f64| (tick.log10() - tick.log10().round()).abs() < 1e-6;
        nice(self.low)
            .skip_while(|tick| *tick < self.low * 0.999_999)
            .take_while(|tick| *tick <= self.high * 1.000_001)
            .filter(|tick| few || power(tick))
            .collect()
    }
}

/// One, two and five times each power of ten, from the one below a value on.
fn nice(from: f64) -> impl Iterator<Item = f64> {
    let power = from.log10().floor() as i32;
    (power..power + 30).flat_map(|power| [1.0, 2.0, 5.0].map(|first| first * 10_f64.powi(power)))
}

fn ends(values: impl IntoIterator<Item = f64>) -> Option<(f64, f64)> {
    let (mut least, mut most) = (f64::INFINITY, 0.0_f64);
    for value in values {
        if value > 0.0 && value.is_finite() {
            (least, most) = (least.min(value), most.max(value));
        }
    }
    (most > 0.0).then_some((least, most))
}

/// A value of a line, short: 0.5, 20, 10k, 5M.
#[must_use]
pub fn short(value: f64) -> String {
    let scaled = |unit: f64, letter: &str| {
        let text = format!("{:.3}", value / unit);
        let text = text.trim_end_matches('0').trim_end_matches('.');
        format!("{text}{letter}")
    };
    match value {
        v if v >= 0.999e9 => scaled(1e9, "G"),
        v if v >= 0.999e6 => scaled(1e6, "M"),
        v if v >= 0.999e3 => scaled(1e3, "k"),
        _ => scaled(1.0, ""),
    }
}

#[cfg(test)]
mod tests;
