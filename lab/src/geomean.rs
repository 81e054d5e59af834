//! `lab geomean FILE`: the geometric means of the data files that the Benben seed publishes.
//!
//! A file has comments (`#`), headings (`name: …`) and lines of values separated by commas: three
//! times `hh:mm:ss.nnnnnnnnn`, three rates in samples per second, and at least one memory in
//! bytes. What comes out has the seed's layout, its odd time included: `00:00:23:88967938` is 23
//! seconds and 88,967,938 nanoseconds, without leading zeros, so the seconds stand behind it.
//!
//! All of it is exact: a mean is the whole number next to the root of the product. (The seed's own
//! figures may differ from that by one in the last digit.)

use std::cmp::Ordering;
use std::fmt::Write as _;
use std::io::Read;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::Args;

use crate::error::BadInput;
use crate::format::thousands;
use crate::say::attempt;

const TIMES: usize = 3;
const RATES: usize = 3;
const NS_PER_S: u64 = 1_000_000_000;
/// So that twice a value and one fits into 64 bits.
const VALUE_MAX: u64 = i64::MAX as u64;
const LINE: &str = "three times hh:mm:ss.nnnnnnnnn, three rates and at least one memory in bytes, separated by commas";

/// The options of `lab geomean`.
#[derive(Debug, Args)]
#[command(after_help = "\
The lines of FILE:
  # …        a comment; empty lines count as one, too
  name: …    a heading
  T,T,T,R,R,R,M…
             three times, hh:mm:ss with at most nine digits behind a point; three rates, samples per
             second; one memory or more, bytes. Whole numbers above 0.

How to read the time: 00:00:23:88967938 is the form of the seed, 23 seconds and 88,967,938
nanoseconds. What stands behind the last colon is no decimal fraction; the seconds in parentheses are.")]
pub struct Options {
    /// The file with the values; `-` for the standard input.
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
}

/// Prints the means of a file; the exit code.
///
/// # Errors
/// [`BadInput`] for a file that cannot be read or has a bad line; then nothing was printed.
pub fn run(options: &Options) -> Result<u8> {
    let (name, bytes) = read(&options.file)?;
    let text = means(&name, &bytes).map_err(BadInput)?;
    match attempt(&mut std::io::stdout().lock(), format_args!("{text}")) {
        Some(problem) => Err(problem).context("cannot print the means"),
        None => Ok(0),
    }
}

fn read(file: &Path) -> Result<(String, Vec<u8>)> {
    let (name, bytes) = if file == Path::new("-") {
        let mut bytes = Vec::new();
        let read = std::io::stdin().read_to_end(&mut bytes);
        ("standard input".to_owned(), read.map(|_| bytes))
    } else {
        (file.display().to_string(), std::fs::read(file))
    };
    match bytes {
        Ok(bytes) => Ok((name, bytes)),
        Err(error) => Err(BadInput(format!(
            "cannot read {name}: {error}; expected a file of values"
        ))
        .into()),
    }
}

/// What is printed for a file of this name and content, or what is wrong with it.
///
/// # Errors
/// The first line that is bad, or that there is no line of values at all.
pub fn means(name: &str, bytes: &[u8]) -> Result<String, String> {
    let (mut text, mut values) = (String::new(), 0);
    for (index, line) in bytes.split(|&byte| byte == b'\n').enumerate() {
        let bad = |what: String| format!("{name}, line {}: {what}", index + 1);
        let line = std::str::from_utf8(line)
            .map_err(|_| bad("not text in UTF-8; expected a line of values".into()))?
            .trim_end();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        if line.starts_with("name:") {
            let _ = writeln!(text, "== {line} ==");
            continue;
        }
        text.push_str(&of_line(line).map_err(bad)?);
        values += 1;
    }
    if values == 0 {
        return Err(format!("{name}: no line of values; expected {LINE}"));
    }
    Ok(text)
}

fn of_line(line: &str) -> Result<String, String> {
    let parts: Vec<&str> = line.split(',').map(str::trim).collect();
    if parts.len() <= TIMES + RATES {
        let found = match parts.len() {
            1 => "1 value".to_owned(),
            number => format!("{number} values"),
        };
        return Err(format!("found {found} in {line:?}, expected {LINE}"));
    }
    let (times, rest) = parts.split_at(TIMES);
    let (rates, memories) = rest.split_at(RATES);
    let time = mean_of(times, time_ns)?;
    let rate = mean_of(rates, |text| number(text, "samples per second"))?;
    let memory = mean_of(memories, |text| number(text, "bytes"))?;
    Ok(format!(
        " GM Time: {}\n GM Samples per Sec: {}\n GM Memory Used: {}\n\n",
        shown_time(time),
        thousands(rate),
        shown_memory(memory)
    ))
}

fn mean_of(parts: &[&str], value: impl Fn(&str) -> Result<u64, String>) -> Result<u64, String> {
    let values: Result<Vec<u64>, String> = parts.iter().map(|part| value(part)).collect();
    Ok(geometric_mean(&values?))
}

fn number(text: &str, unit: &str) -> Result<u64, String> {
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    let value = text.parse::<u64>().ok().filter(|_| digits);
    value
        .filter(|value| (1..=VALUE_MAX).contains(value))
        .ok_or_else(|| {
            format!("found {text:?}, expected {unit} as a whole number from 1 to {VALUE_MAX}")
        })
}

/// `hh:mm:ss` and, behind a point, a decimal fraction of one to nine digits (the seed has always
/// nine, and would take `.5` for five nanoseconds).
fn time_ns(text: &str) -> Result<u64, String> {
    let bad = || {
        format!(
            "found {text:?}, expected a time above 0 as hh:mm:ss.nnnnnnnnn (minutes and seconds \
             below 60, one to nine digits behind the point)"
        )
    };
    let (clock, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let fields: Vec<&str> = clock.split(':').collect();
    let [hours, minutes, seconds] = fields[..] else {
        return Err(bad());
    };
    let field = |field: &str, most: u64| {
        let digits = !field.is_empty() && field.bytes().all(|byte| byte.is_ascii_digit());
        let value = field.parse::<u64>().ok().filter(|_| digits);
        value.filter(|value| *value <= most)
    };
    let total = || -> Option<u64> {
        let fraction_digits = u32::try_from(fraction.len()).ok().filter(|n| *n <= 9)?;
        let ns = field(fraction, NS_PER_S)? * 10_u64.pow(9 - fraction_digits);
        let minutes = field(hours, VALUE_MAX)?
            .checked_mul(60)?
            .checked_add(field(minutes, 59)?)?;
        let seconds = minutes.checked_mul(60)?.checked_add(field(seconds, 59)?)?;
        let total = seconds.checked_mul(NS_PER_S)?.checked_add(ns)?;
        (1..=VALUE_MAX).contains(&total).then_some(total)
    };
    total().ok_or_else(bad)
}

/// The whole number next to the geometric mean of some values from 1 to 2⁶³ - 1, exactly.
///
/// # Panics
/// If there are no values.
#[must_use]
pub fn geometric_mean(values: &[u64]) -> u64 {
    let doubled = Whole::product(values.iter().map(|value| 2 * value));
    let least = *values
        .iter()
        .min()
        .expect("a line has three values of each kind");
    let most = *values
        .iter()
        .max()
        .expect("a line has three values of each kind");
    // The last r such that r - 1/2 is not above the mean; both sides doubled, to stay whole.
    let (mut low, mut beyond) = (least, most + 1);
    while beyond - low > 1 {
        let middle = low + (beyond - low) / 2;
        let power = Whole::product(std::iter::repeat_n(2 * middle - 1, values.len()));
        if power.compare(&doubled) == Ordering::Greater {
            beyond = middle;
        } else {
            low = middle;
        }
    }
    low
}

/// A whole number of any size: 64 bits each, the lowest first, none of the highest 0.
struct Whole(Vec<u64>);

impl Whole {
    fn product(factors: impl Iterator<Item = u64>) -> Whole {
        let mut limbs = vec![1];
        for factor in factors {
            let mut carry = 0;
            for limb in &mut limbs {
                let sum = u128::from(*limb) * u128::from(factor) + carry;
                *limb = sum as u64;
                carry = sum >> 64;
            }
            if carry > 0 {
                limbs.push(carry as u64);
            }
        }
        Whole(limbs)
    }

    fn compare(&self, other: &Whole) -> Ordering {
        let length = self.0.len().cmp(&other.0.len());
        length.then_with(|| self.0.iter().rev().cmp(other.0.iter().rev()))
    }
}

/// The seed's form, and the seconds as a decimal number.
fn shown_time(ns: u64) -> String {
    let (seconds, rest) = (ns / NS_PER_S, ns % NS_PER_S);
    let (hours, minutes) = (seconds / 3_600, seconds / 60 % 60);
    let decimal = ns as f64 / NS_PER_S as f64;
    format!(
        "{hours:02}:{minutes:02}:{:02}:{rest:02} ({decimal:.3} s)",
        seconds % 60
    )
}

/// Units of 1,024 with two decimals, as in the seed.
fn shown_memory(bytes: u64) -> String {
    const UNITS: [&str; 6] = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    if bytes < 1_024 {
        return format!("{bytes} B");
    }
    let (mut value, mut unit) = (bytes as f64 / 1_024.0, 0);
    // What would be shown as 1024.00 is one of the next unit.
    while value >= 1_023.995 {
        (value, unit) = (value / 1_024.0, unit + 1);
    }
    format!("{value:.2} {}", UNITS[unit])
}

#[cfg(test)]
mod tests;
