//! Figures that are known, at the edges of rounding and of what a float can hold.

use gossamer::experiment::{Probability, RBig, UBig};

use super::{all_of, brief, fixed, one_in, percent, scientific};

fn ratio(numerator: i64, denominator: u64) -> RBig {
    RBig::from_parts(numerator.into(), UBig::from(denominator))
}

fn p(numerator: u64, denominator: u64) -> Probability {
    Probability::new(numerator, denominator).expect("it is one")
}

#[test]
fn decimals_are_rounded_exactly() {
    assert_eq!(fixed(&ratio(1, 216), 8), "0.00462963");
    assert_eq!(fixed(&ratio(2, 3), 0), "1");
    assert_eq!(fixed(&ratio(-1, 3), 2), "-0.33");
    assert_eq!(fixed(&ratio(-7, 2), 1), "-3.5");
    assert_eq!(fixed(&ratio(0, 1), 3), "0.000");
    assert_eq!(fixed(&ratio(9_999, 10_000), 2), "1.00");
    assert_eq!(brief(&ratio(21, 2), 6), "10.5");
    assert_eq!(brief(&ratio(700, 1), 6), "700");
    assert_eq!(brief(&ratio(100, 1), 0), "100");
}

#[test]
fn small_ones_have_a_power_of_ten() {
    assert_eq!(scientific(&ratio(1, 1), 3), "1.00e0");
    assert_eq!(scientific(&ratio(1, 8), 3), "1.25e-1");
    assert_eq!(scientific(&ratio(1, 10), 3), "1.00e-1");
    assert_eq!(scientific(&ratio(1, 1_001), 3), "9.99e-4");
    assert_eq!(scientific(&ratio(9_999, 10_000), 3), "1.00e0");
    assert_eq!(scientific(&ratio(123_456, 1), 2), "1.2e5");
    assert_eq!(scientific(&ratio(7, 1), 1), "7e0");
    assert_eq!(scientific(&ratio(0, 1), 3), "0");
    let tiny = RBig::ONE / RBig::from(UBig::from(6_u32).pow(1_000));
    assert_eq!(scientific(&tiny, 6), "7.05910e-779");
}

#[test]
fn nothing_is_not_the_same_as_little() {
    assert_eq!(percent(&p(1, 8)), "12.5000 %");
    assert_eq!(percent(&p(1, 10_000_000)), "<0.0001 %");
    assert_eq!(percent(&p(9_999_999, 10_000_000)), ">99.9999 %");
    assert_eq!(percent(&Probability::ONE), "100.0000 %");
    assert_eq!(percent(&Probability::ZERO), "0.0000 %");
    assert_eq!(one_in(&p(5, 54)), "1 in 10.8");
    assert_eq!(one_in(&Probability::ZERO), "never");
    assert_eq!(one_in(&p(1, 1 << 40)), "1 in 1.09951e12");
    assert_eq!(all_of(&p(5, 54)), "5/54 = 0.09259259 = 9.2593 %, 1 in 10.8");
    let half = p(1, 2);
    let tiny = (0..300).fold(half.clone(), |tiny, _| tiny * half.clone());
    assert_eq!(
        all_of(&tiny),
        "about 2.45454673e-91, <0.0001 %, 1 in 4.07407e90 (exactly: --json)"
    );
}
