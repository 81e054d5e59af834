//! Exact fractions as people read them: rounded decimals, percents, and "1 in x".

#[cfg(test)]
mod tests;

use gossamer::experiment::{Probability, RBig, UBig};

/// A fraction with this many digits behind the point, rounded exactly.
pub fn fixed(value: &RBig, digits: usize) -> String {
    let scaled = value * RBig::from(power_of_ten(digits));
    let text = scaled.round().to_string();
    let (sign, text) = match text.strip_prefix('-') {
        Some(text) => ("-", text),
        None => ("", &*text),
    };
    if digits == 0 {
        return format!("{sign}{text}");
    }
    let text = format!("{text:0>least$}", least = digits + 1);
    let (whole, part) = text.split_at(text.len() - digits);
    format!("{sign}{whole}.{part}")
}

/// As [`fixed`], without the zeros that end it.
pub fn brief(value: &RBig, digits: usize) -> String {
    let text = fixed(value, digits);
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').into(),
        false => text,
    }
}

/// A fraction that is not negative, with this many digits, at least one, and a power of ten: however small or large it is,
/// which a float could not tell from zero or infinity.
pub fn scientific(value: &RBig, digits: usize) -> String {
    if value.is_zero() {
        return "0".into();
    }
    let exponent = exponent(value);
    let shift = digits as i64 - 1 - exponent;
    let factor = RBig::from(power_of_ten(shift.unsigned_abs() as usize));
    let scaled = match shift < 0 {
        true => value / factor,
        false => value * factor,
    };
    // Rounding up may give one digit more: 9.99 is 10.0 then.
    let mut text = scaled.round().to_string();
    let exponent = exponent + (text.len() - digits) as i64;
    text.truncate(digits);
    let (first, rest) = text.split_at(1);
    let point = if rest.is_empty() { "" } else { "." };
    format!("{first}{point}{rest}e{exponent}")
}

/// Of a fraction above zero: of the largest power of ten that is no larger.
fn exponent(value: &RBig) -> i64 {
    let ten = UBig::from(10_u32);
    let numerator = UBig::try_from(value.numerator().clone()).unwrap_or(UBig::ONE);
    let denominator = value.denominator();
    let estimate = numerator.ilog(&ten) as i64 - denominator.ilog(&ten) as i64;
    // One too high at most.
    let power = power_of_ten(estimate.unsigned_abs() as usize);
    let reaches = match estimate < 0 {
        true => numerator * power >= *denominator,
        false => numerator >= power * denominator,
    };
    if reaches { estimate } else { estimate - 1 }
}

fn power_of_ten(exponent: usize) -> UBig {
    UBig::from(10_u32).pow(exponent)
}

/// A probability in percent, with four digits behind the point; what would be rounded to
/// nothing is said to be less, and what would be rounded to all to be more, in place of the wrong figure.
pub fn percent(probability: &Probability) -> String {
    let value = probability.as_rational() * RBig::from(UBig::from(100_u32));
    match &*fixed(&value, 4) {
        "0.0000" if !value.is_zero() => "<0.0001 %".into(),
        "100.0000" if *probability != Probability::ONE => ">99.9999 %".into(),
        text => format!("{text} %"),
    }
}

/// A probability as "1 in x".
pub fn one_in(probability: &Probability) -> String {
    let value = probability.as_rational();
    if value.is_zero() {
        return "never".into();
    }
    let inverse = RBig::ONE / value;
    // A number that is longer is counted in digits, not read.
    match inverse < RBig::from(UBig::from(1_000_000_000_u32)) {
        true => format!("1 in {}", brief(&inverse, 2)),
        false => format!("1 in {}", scientific(&inverse, 6)),
    }
}

/// A fraction of more letters than this is not read.
const LONG: usize = 60;

/// A probability as a fraction, a decimal, in percent, and as "1 in x".
pub fn all_of(probability: &Probability) -> String {
    // With fewer digits behind the point than usual a small one would lose all.
    let decimal = match probability.to_f64() < 1e-4 {
        true => scientific(probability.as_rational(), 9),
        false => fixed(probability.as_rational(), 8),
    };
    let (percent, one_in) = (percent(probability), one_in(probability));
    match probability.to_string() {
        long if long.len() > LONG => {
            format!("about {decimal}, {percent}, {one_in} (exactly: --json)")
        }
        fraction => format!("{fraction} = {decimal} = {percent}, {one_in}"),
    }
}

/// The number nearest to a fraction.
pub fn nearest(value: &RBig) -> f64 {
    value.to_f64().value()
}
