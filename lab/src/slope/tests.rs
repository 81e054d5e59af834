//! The start is not in a slope, and what has no second size says so.

use super::*;
use crate::workloads::find;

#[test]
fn the_start_is_not_in_a_slope() {
    let wall = |ops: u64| 5.0 + ops as f64 * 2e-9;
    let sizes = [500_000_000, 1_000_000_000];
    let found = slope(sizes.map(wall), sizes);
    assert!((found - 2.0).abs() < 1e-6, "{found}");
}

#[test]
fn one_disturbed_round_of_three_does_not_count() {
    assert_eq!(middle(&[2.0, -40.0, 3.0]), Some(2.0));
    assert_eq!(middle(&[-1.0, -40.0, 3.0]), None);
    assert_eq!(middle(&[]), None);
}

#[test]
fn a_second_size_is_half_or_a_tenth_or_there_is_none() {
    let contender: Contender = toml::from_str(
        "name = \"a\"\nlanguage = \"sh\"\nabout = \"a fake\"\n\
         [workload.park]\ncost_ns = 1\nat_least = { threads = 10 }\n",
    )
    .expect("a contender");
    let of = |name: &str, ops: u64| {
        let workload = find(name).expect("a workload");
        sizes(&contender, workload, ops)
    };
    assert_eq!(of("ring", 1_000), Ok([500, 1_000]));
    assert_eq!(of("skynet", 1_000), Ok([100, 1_000]));
    assert_eq!(of("park", 20), Ok([10, 20]));
    for (name, ops) in [("ring", 1), ("skynet", 1), ("park", 19), ("process", 1)] {
        assert!(of(name, ops).is_err(), "{name} {ops}");
    }
}
