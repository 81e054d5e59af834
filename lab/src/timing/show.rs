//! Figures as xtime prints them.

use std::fmt::Write;

use crate::results::spread;

/// The line of one run: `sleep: == 1.69MB, 00:00:01.002345678 (12.345 J energy) ==`.
pub(super) fn line(name: Option<&str>, bytes: u64, wall_s: f64, joules: Option<f64>) -> String {
    let name = name.map_or_else(String::new, |name| format!("{name}: "));
    format!(
        "{name}== {}, {} ({} J energy) ==",
        size(bytes as f64),
        clock(wall_s),
        energy(joules)
    )
}

/// The lines below several runs.
pub(super) fn summary(bytes: &[f64], wall_s: &[f64], joules: Option<&[f64]>) -> String {
    let joule = |joules: f64| format!("{joules:.3} J");
    let mut rows = vec![
        ("memory", bytes, size as fn(f64) -> String),
        ("time", wall_s, clock),
    ];
    rows.extend(joules.map(|joules| ("energy", joules, joule as fn(f64) -> String)));
    let mut text = String::new();
    for (what, values, shown) in rows {
        let Some(all) = spread(values) else { continue };
        let [min, median, max] = [all.min, all.median, all.max].map(shown);
        let mean = shown(geometric_mean(values));
        let _ = writeln!(
            text,
            "  {what:<6}  min {min}, median {median}, max {max}, geometric mean {mean}"
        );
    }
    text
}

/// The root of the product, 0 if there is a 0; never outside of the values, as rounding might have it.
pub(super) fn geometric_mean(values: &[f64]) -> f64 {
    let logarithms: f64 = values.iter().map(|value| value.ln()).sum();
    let mean = (logarithms / values.len() as f64).exp();
    spread(values).map_or(f64::NAN, |all| mean.clamp(all.min, all.max))
}

/// `hh:mm:ss.nnnnnnnnn`, as many hours as there are.
pub(super) fn clock(seconds: f64) -> String {
    let ns = (seconds * 1e9).round() as u64;
    let (whole, ns) = (ns / 1_000_000_000, ns % 1_000_000_000);
    let (hours, minutes) = (whole / 3_600, whole / 60 % 60);
    format!("{hours:02}:{minutes:02}:{:02}.{ns:09}", whole % 60)
}

/// Bytes in units of 1,024 that are called K, M, … (JEDEC), the way Crystal chooses them: the unit by
/// the decimal digits, three of them shown, zeros at the end not, one behind the point at least.
pub(super) fn size(bytes: f64) -> String {
    const UNITS: [&str; 7] = ["B", "KB", "MB", "GB", "TB", "PB", "EB"];
    let digits = (bytes.max(1.0).log10() + 1e-12).floor() as usize;
    let (unit, before) = (digits / 3, digits % 3);
    let value = bytes / 1_024_f64.powi(unit as i32);
    if unit == 0 || before == 2 {
        return format!("{value:.0}{}", UNITS[unit]);
    }
    let text = format!("{value:.*}", 2 - before);
    let shorter = text.strip_suffix('0').filter(|rest| !rest.ends_with('.'));
    format!("{}{}", shorter.unwrap_or(&text), UNITS[unit])
}

/// Joules with three decimals, `?` if they are not known.
fn energy(joules: Option<f64>) -> String {
    joules.map_or_else(|| "?".to_owned(), |joules| format!("{joules:.3}"))
}

#[cfg(test)]
mod tests;
