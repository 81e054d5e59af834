//! The statistics, by hand; and numbers as C prints them.

use super::*;
use crate::statistics::{Statistics, general};

#[track_caller]
fn near(found: f64, expected: f64) {
    assert!(
        (found - expected).abs() < 1e-9,
        "{found}, expected {expected}"
    );
}

#[test]
fn quartiles_as_the_reference_code_has_them() {
    let five = Statistics::of(&[5.0, 1.0, 4.0, 2.0, 3.0]);
    let expected = (1.0, 2.0, 3.0, 4.0, 5.0, 3.0);
    let found = (
        five.min,
        five.first_quartile,
        five.median,
        five.third_quartile,
        five.max,
        five.mean,
    );
    assert_eq!(found, expected);
    // The squares of 2, 1, 0, 1 and 2, over four.
    near(five.deviation, 2.5_f64.sqrt());
    let four = Statistics::of(&[4.0, 3.0, 2.0, 1.0]);
    let found = [four.first_quartile, four.median, four.third_quartile];
    assert_eq!(found, [1.5, 2.5, 3.5]);
    let one = Statistics::of(&[7.0]);
    assert_eq!(
        [one.min, one.median, one.max, one.mean, one.deviation],
        [7.0, 7.0, 7.0, 7.0, 0.0]
    );
}

#[test]
fn rates_have_a_harmonic_mean_and_its_deviation() {
    // Rates of 2 and 4: 2 / (1/2 + 1/4).
    let rates = Statistics::of_rates(&[0.5, 0.25]);
    assert_eq!([rates.min, rates.max], [2.0, 4.0]);
    near(rates.mean, 8.0 / 3.0);
    // As the specification writes it: the root of the squares of 1/2 - 3/8 and 1/4 - 3/8, over N - 1, by the mean
    // squared.
    near(
        rates.deviation,
        (2.0 * 0.125_f64.powi(2)).sqrt() * (8.0_f64 / 3.0).powi(2),
    );
    // Rates of 1, 2, 4 and 8, whose reciprocals are 1, 1/2, 1/4 and 1/8.
    let rates = Statistics::of_rates(&[1.0, 0.5, 0.25, 0.125]);
    near(rates.mean, 4.0 / 1.875);
    near(rates.first_quartile, 1.0 / 0.75);
    near(rates.median, 1.0 / 0.375);
    near(rates.third_quartile, 1.0 / 0.1875);
    let mean: f64 = 1.875 / 4.0;
    let squares: f64 = [1.0, 0.5, 0.25, 0.125]
        .iter()
        .map(|each: &f64| (each - mean).powi(2))
        .sum();
    near(rates.deviation, squares.sqrt() / 3.0 / mean.powi(2));
    assert_eq!(Statistics::of_rates(&[0.5]).deviation, 0.0);
}

#[test]
fn numbers_are_written_as_c_does() {
    let cases = [
        (0.0, 6, "0"),
        (0.5, 6, "0.5"),
        (0.0001, 6, "0.0001"),
        (0.000_012_345_678, 6, "1.23457e-05"),
        (0.123_456_789, 6, "0.123457"),
        (100_000.0, 6, "100000"),
        (999_999.5, 6, "1e+06"),
        (123_456_789.0, 6, "1.23457e+08"),
        (1.5e100, 6, "1.5e+100"),
        (16_777_216.0, 11, "16777216"),
        (16_776_891.5, 11, "16776891.5"),
        (-2.25, 6, "-2.25"),
    ];
    for (value, digits, expected) in cases {
        assert_eq!(general(value, digits), expected);
    }
}

#[test]
fn the_small_graph_has_what_the_other_tests_say() {
    let graph = small();
    assert_eq!((graph.vertices(), graph.targets()), (SMALL_VERTICES, 12));
    let mut neighbours = graph.neighbours(1).to_vec();
    neighbours.sort_unstable();
    assert_eq!(neighbours, [0, 2, 2]);
    assert_eq!(graph.neighbours(3).len(), 2);
}
