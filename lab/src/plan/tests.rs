//! The budget is kept, and nobody is cut without need.

use serde_json::json;

use super::*;
use crate::workloads::find;

const USUAL: u64 = 10_000_000;

fn spec(cost_ns: f64, cost_grows_with: Option<&str>) -> RunSpec {
    RunSpec {
        run: vec!["x".into()],
        cost_ns,
        cost_grows_with: cost_grows_with.map(String::from),
        ..RunSpec::default()
    }
}

fn ring(threads: u64, asked: Option<u64>) -> Request {
    let workload = find("ring").expect("a workload");
    let given = |name: &str| match name {
        "threads" => Some(json!(threads)),
        _ => asked.map(|hops| json!(hops)).filter(|_| name == "hops"),
    };
    Request {
        workload,
        values: workload.values(given),
        asked,
    }
}

fn how(runs: u32, timeout_s: u64) -> How {
    How::new(runs, timeout_s, BUDGET_S)
}

#[test]
fn the_budget_is_kept_and_the_quick_ones_are_not_cut() {
    let specs = [3.0, 400.0, 15_000.0].map(|cost| spec(cost, None));
    let specs: Vec<&RunSpec> = specs.iter().collect();
    let sizes = sizes(&specs, &ring(503, None), &how(5, 120));
    let uncut = Size {
        ops: USUAL,
        note: None,
    };
    assert_eq!(sizes[..2], [uncut.clone(), uncut]);
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
    let specs = [spec(15_000.0, None), spec(900.0, Some("threads"))];
    let specs: Vec<&RunSpec> = specs.iter().collect();
    let few = sizes(&specs, &ring(503, Some(1_000_000)), &how(5, 120));
    assert_eq!(few[0].ops, 1_000_000);
    let cut = sizes(&specs, &ring(503, Some(10_000_000)), &how(5, 50));
    assert_eq!((cut[0].ops, cut[1].ops), (1_300_000, 10_000_000));
    let ten_times = sizes(&specs, &ring(5030, Some(10_000_000)), &how(5, 50));
    assert_eq!(ten_times[1].ops, 2_200_000);
}

#[test]
fn a_small_explicit_size_stays() {
    let stays = Size { ops: 7, note: None };
    assert_eq!(size(7, 2e8, 1.0, |ops| ops), stays);
}

#[test]
fn the_least_is_so_many_operations_or_so_many_seconds() {
    let least = |cost| size(USUAL, cost, 0.1, |ops| ops).ops;
    assert_eq!(least(50_000.0), 20_000);
    assert_eq!(least(100_000.0), 20_000);
    assert_eq!(least(500_000.0), 4_000);
    assert_eq!(least(1e12), 100);
}

#[test]
fn a_size_that_must_be_a_power_of_ten_stays_one() {
    let workload = find("skynet").expect("a workload");
    let request = Request {
        workload,
        values: workload.usual_values(),
        asked: None,
    };
    for (cost, ops) in [(100.0, 1_000_000), (1e6, 10_000), (1e9, 100)] {
        let slow = spec(cost, None);
        assert_eq!(
            sizes(&[&slow], &request, &how(5, 120))[0].ops,
            ops,
            "{cost} ns"
        );
    }
}

#[test]
fn each_round_has_all_jobs_in_an_order_of_its_own() {
    let listed: Vec<usize> = (0..20).collect();
    let orders: Vec<Vec<usize>> = (0..8).map(|round| order(round, 20)).collect();
    assert_eq!(orders[0], listed);
    for (round, order) in orders.iter().enumerate() {
        let mut sorted = order.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, listed, "round {round}");
        assert!(!orders[..round].contains(order), "round {round}");
    }
    assert_eq!((order(1, 0), order(3, 1)), (vec![], vec![0]));
}
