//! The budget is kept, and nobody is cut without need.

use super::*;

fn spec(cost_ns: f64, cost_grows_with_threads: bool) -> RunSpec {
    RunSpec {
        run: vec!["x".into()],
        cost_ns,
        cost_grows_with_threads,
    }
}

#[test]
fn the_budget_is_kept_and_the_quick_ones_are_not_cut() {
    let specs = [spec(3.0, false), spec(400.0, false), spec(15_000.0, false)];
    let specs: Vec<&RunSpec> = specs.iter().collect();
    let sizes = sizes(&specs, 503, 5, None, 120);
    assert_eq!(
        sizes[0],
        Size {
            ops: OPS_DEFAULT,
            note: None
        }
    );
    assert_eq!(sizes[1].ops, OPS_DEFAULT);
    assert_eq!(sizes[2].ops, 1_100_000);
    assert!(sizes[2].note.is_some());
    let total: f64 = specs
        .iter()
        .zip(&sizes)
        .map(|(s, n)| s.cost_ns * n.ops as f64)
        .sum();
    assert!(total * 5.0 / 1e9 <= BUDGET_S, "{total}");
}

#[test]
fn an_explicit_size_is_cut_only_by_the_timeout() {
    let specs = [spec(15_000.0, false), spec(900.0, true)];
    let specs: Vec<&RunSpec> = specs.iter().collect();
    assert_eq!(
        sizes(&specs, 503, 5, Some(1_000_000), 120)[0].ops,
        1_000_000
    );
    let cut = sizes(&specs, 503, 5, Some(10_000_000), 50);
    assert_eq!(cut[0].ops, 1_300_000);
    assert_eq!(cut[1].ops, 10_000_000);
    assert_eq!(
        sizes(&specs, 5030, 5, Some(10_000_000), 50)[1].ops,
        2_200_000
    );
}

#[test]
fn a_small_explicit_size_stays() {
    assert_eq!(size(7, 1e12, 1.0), Size { ops: 7, note: None });
}
