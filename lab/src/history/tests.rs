//! Nothing is lost between the printed tables and the numbers.

use super::*;

#[test]
fn every_row_is_a_number() {
    let all = of("ring");
    let memory: Vec<u32> = all.iter().map(|past| past.memory_kb).collect();
    assert_eq!(
        memory,
        [
            2680, 5178, 2760, 2016, 1228, 5996, 3788, 970, 3300, 4520, 220, 220
        ]
    );
    let total: f64 = all.iter().map(|past| past.seconds).sum();
    assert!((total - 85.026).abs() < 1e-9, "{total}");
    assert_eq!(of("spawn"), []);
}

#[test]
fn who_runs_it_today_is_a_contender() {
    let known = |past: &Past| past.contender.is_empty() == (past.implementation == "Mozart/Oz");
    assert!(of("ring").iter().all(known));
}
