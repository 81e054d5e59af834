//! The start is not in a slope, and what has no second size has none.

use serde_json::Map;

use super::*;
use crate::measure::waiting_row;
use crate::workloads::find;

#[test]
fn the_start_is_not_in_a_slope() {
    let wall = |ops: u64| 5.0 + ops as f64 * 2e-9;
    let sizes = [1_000_000_000, 500_000_000];
    let found = ns_per_op(sizes.map(wall), sizes);
    assert!((found - 2.0).abs() < 1e-6, "{found}");
}

fn row(workload: &str, ops: u64, first_s: f64) -> Row {
    let mut row = waiting_row(workload, "a", Map::new(), ops);
    row.raw_wall_s = vec![first_s, 9.0];
    row
}

#[test]
fn one_disturbed_round_of_three_does_not_count() {
    let mut row = row("ring", 1_000, 0.5);
    record(&mut row, &[2.0, -40.0, 3.0]);
    assert_eq!((row.slope_ns_per_op, &row.no_slope), (Some(2.0), &None));
    record(&mut row, &[-1.0, -40.0, 3.0]);
    assert_eq!(row.slope_ns_per_op, None);
    assert!(
        row.no_slope
            .as_ref()
            .is_some_and(|why| why.contains("took no longer"))
    );
}

#[test]
fn a_single_pair_is_no_slope() {
    let mut row = row("ring", 1_000, 0.5);
    record(&mut row, &[2.0]);
    assert_eq!((row.slope_ns_per_op, &row.no_slope), (None, &None));
}

#[test]
fn a_second_size_is_half_or_a_tenth_or_there_is_none() {
    let contender: Contender = toml::from_str(
        "name = \"a\"\nlanguage = \"sh\"\nabout = \"a fake\"\n\
         [workload.ring]\ncost_ns = 1\n[workload.skynet]\ncost_ns = 1\n[workload.crowd]\ncost_ns = 1\n\
         [workload.workers]\ncost_ns = 1\n[workload.process]\ncost_ns = 1\n\
         [workload.spsc]\ncost_ns = 1\nat_least = { messages = 1000 }\n",
    )
    .expect("a contender");
    let of = |name: &str, ops: u64, first_s: f64| {
        let workload = find(name).expect("a workload");
        fewer(&contender, workload, &row(name, ops, first_s))
    };
    assert_eq!(of("ring", 1_000, 0.5), Some(500));
    assert_eq!(of("skynet", 1_000, 0.5), Some(100));
    assert_eq!(of("spsc", 2_000, 0.5), Some(1_000));
    assert_eq!(of("ring", 1_000, 1.5), None, "a long run");
    for (name, ops) in [
        ("ring", 199),
        ("skynet", 100),
        ("spsc", 1_999),
        ("process", 1),
        ("crowd", 1_000),
        ("workers", 1_000),
    ] {
        assert_eq!(of(name, ops, 0.5), None, "{name} {ops}");
    }
}
