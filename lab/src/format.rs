//! Numbers and dates as people read them.

use std::time::{Duration, SystemTime};

/// A whole number with a comma between thousands.
#[must_use]
pub fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Three significant digits, thousands separated: 2.31, 23.1, 231, 2,310. What is no number, or
/// without end, is a dash.
#[must_use]
pub fn figure(value: f64) -> String {
    match value {
        v if !v.is_finite() => "–".into(),
        v if v < 9.995 => format!("{v:.2}"),
        v if v < 99.95 => format!("{v:.1}"),
        v => {
            let unit = 10_f64.powf((v.log10().floor() - 2.0).max(0.0));
            thousands(((v / unit).round() * unit) as u64)
        }
    }
}

/// Seconds, to the tenth of a millisecond while they are few.
#[must_use]
pub fn seconds(value: f64) -> String {
    if value < 1.0 {
        format!("{value:.4}")
    } else {
        format!("{value:.3}")
    }
}

/// Bytes as megabytes of a million.
#[must_use]
pub fn megabytes(bytes: u64) -> String {
    format!("{:.1}", bytes as f64 / 1e6)
}

/// A line of somebody else's, cut where nobody reads on.
#[must_use]
pub fn shorten(text: &str) -> String {
    const KEPT: usize = 160;
    let text = text.trim();
    match text.char_indices().nth(KEPT) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.into(),
    }
}

/// A moment as `2026-01-31T12:00:00Z`.
#[must_use]
pub fn timestamp(moment: SystemTime) -> String {
    let since = moment
        .duration_since(SystemTime::UNIX_EPOCH)
        .unwrap_or(Duration::ZERO)
        .as_secs();
    let (day, second) = ((since / 86_400) as i64, since % 86_400);
    // Days to a civil date: Howard Hinnant's algorithm, eras of 400 years that begin in March.
    let shifted = day + 719_468;
    let (era, of_era) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let date = of_year - (153 * month + 2) / 5 + 1;
    let civil_month = if month < 10 { month + 3 } else { month - 9 };
    let civil_year = year + era * 400 + i64::from(civil_month <= 2);
    let (hour, minute) = (second / 3_600, second / 60 % 60);
    format!(
        "{civil_year:04}-{civil_month:02}-{date:02}T{hour:02}:{minute:02}:{:02}Z",
        second % 60
    )
}

#[cfg(test)]
mod tests;
