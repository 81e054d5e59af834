//! The mean of ratios does not depend on which side of a ratio is above.

use super::*;

#[test]
fn a_ratio_and_its_inverse_cancel_out() {
    let mean = geometric(&[4.0, 0.25]).expect("two");
    assert!((mean.mean - 1.0).abs() < 1e-12);
    assert_eq!((mean.min, mean.max, mean.count), (0.25, 4.0, 2));
    // The logs are ±ln 4, their standard deviation is √2 · ln 4.
    assert!((mean.deviation.ln() - 2_f64.sqrt() * 4_f64.ln()).abs() < 1e-12);
}

#[test]
fn none_and_one() {
    assert_eq!(geometric(&[]), None);
    let mean = geometric(&[3.0]).expect("one");
    assert!((mean.mean - 3.0).abs() < 1e-12);
    assert_eq!((mean.deviation, mean.count), (1.0, 1));
}
