//! The exponent of points whose law is known.

use super::*;

#[track_caller]
fn close(fit: Option<Fit>, exponent: f64, r_squared: f64) {
    let fit = fit.expect("enough points");
    assert!((fit.exponent - exponent).abs() < 1e-9, "{fit:?}");
    assert!((fit.r_squared - r_squared).abs() < 1e-9, "{fit:?}");
}

#[test]
fn laws() {
    let sizes = [10.0, 100.0, 1_000.0, 10_000.0];
    close(fit(&sizes.map(|size| (size, 7.0))), 0.0, 1.0);
    close(fit(&sizes.map(|size| (size, 3.0 * size))), 1.0, 1.0);
    close(fit(&sizes.map(|size| (size, size * size / 5.0))), 2.0, 1.0);
}

#[test]
fn a_line_that_explains_nothing() {
    close(fit(&[(1.0, 1.0), (10.0, 2.0), (100.0, 1.0)]), 0.0, 0.0);
}

#[test]
fn one_size_has_no_growth() {
    assert_eq!(fit(&[]), None);
    assert_eq!(fit(&[(5.0, 1.0), (5.0, 2.0)]), None);
}
