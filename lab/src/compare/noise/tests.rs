//! The rank test against numbers that can be counted by hand, and the rule at its edges.

use super::*;

#[test]
fn ways_are_binomials() {
    // Of 2 and 2 things: 6 orders, by pairs 1 1 2 1 1.
    assert_eq!(ways(2, 2), [1.0, 1.0, 2.0, 1.0, 1.0]);
    let close = |a: f64, b: f64| assert!((a / b - 1.0).abs() < 1e-9, "{a} {b}");
    close(ways(5, 5).iter().sum(), 252.0);
    close(ways(20, 20).iter().sum(), 137_846_528_820.0);
}

#[test]
fn five_against_five() {
    let low = [1.0, 2.0, 3.0, 4.0, 5.0];
    let high = [6.0, 7.0, 8.0, 9.0, 10.0];
    let chance = |a: &[f64], b: &[f64]| {
        let (m, n, less) = fewer_pairs(a, b);
        super::chance(m, n, less)
    };
    assert!((chance(&low, &high) - 2.0 / 252.0).abs() < 1e-12);
    assert!((chance(&high, &low) - 2.0 / 252.0).abs() < 1e-12);
    let touching = [4.5, 7.0, 8.0, 9.0, 10.0];
    assert!((chance(&low, &touching) - 4.0 / 252.0).abs() < 1e-12);
    assert!((chance(&low, &low) - 1.0).abs() < 1e-12);
}

#[track_caller]
fn judged(before: &[f64], after: &[f64], expected: Verdict) {
    let verdict = verdict(before, after, Drift::NONE);
    assert_eq!(verdict, expected, "{before:?} {after:?}");
}

#[test]
fn the_rule() {
    let five = [100.0, 101.0, 102.0, 103.0, 104.0];
    judged(&five, &five.map(|ns| ns * 1.2), Verdict::Slower);
    judged(&five, &five.map(|ns| ns / 1.2), Verdict::Faster);
    // Sure, but small.
    let steady = [100.0, 100.1, 100.2, 100.3, 100.4];
    judged(&steady, &steady.map(|ns| ns * 1.02), Verdict::Noise);
    // Large, but not sure.
    judged(&five, &[103.5, 150.0, 150.0, 150.0, 150.0], Verdict::Noise);
    // Three runs each: apart, or not; apart is no proof.
    judged(&[1.0, 1.1, 1.2], &[1.3, 1.4, 1.5], Verdict::Perhaps);
    judged(&[1.0, 1.1, 1.3], &[1.3, 1.4, 1.5], Verdict::Noise);
    judged(&[1.0], &[2.0, 2.0], Verdict::Unknown);
    judged(&[], &[2.0, 2.0], Verdict::Unknown);
}

/// Chance alone puts so few runs apart: it has to be said, and never called sure.
#[test]
fn few_runs_apart_are_no_proof() {
    let runs = |count: u32, ns: f64| -> Vec<f64> {
        (0..count).map(|run| ns + f64::from(run) / 100.0).collect()
    };
    for (m, n, chance) in [(2, 2, 2.0 / 6.0), (3, 3, 0.1), (4, 4, 2.0 / 70.0)] {
        judged(&runs(m, 1.0), &runs(n, 2.0), Verdict::Perhaps);
        judged(&runs(m, 2.0), &runs(n, 1.0), Verdict::Perhaps);
        let least = least_chance(m as usize, n as usize);
        assert!((least - chance).abs() < 1e-12, "{m} {n}: {least}");
    }
    // Four and six are enough: 2 of 210 orders. Nine make up for three.
    judged(&runs(4, 1.0), &runs(6, 2.0), Verdict::Slower);
    judged(&runs(9, 2.0), &runs(3, 1.0), Verdict::Faster);
    judged(&runs(4, 1.0), &runs(5, 2.0), Verdict::Perhaps);
    // However many the others are: the normal distribution would never be sure of two.
    judged(&runs(2, 9.0), &runs(300, 1.0), Verdict::Faster);
    judged(&runs(300, 1.0), &runs(2, 9.0), Verdict::Slower);
}

#[test]
fn drift_is_as_sure_as_its_peers_agree() {
    assert_eq!(Drift::of(&[]), None);
    let close = |changes: &[f64], factor: f64, spread: f64| {
        let drift = Drift::of(changes).expect("there are peers");
        assert!((drift.factor - factor).abs() < 1e-12, "{drift:?}");
        assert!((drift.spread - spread).abs() < 1e-12, "{drift:?}");
    };
    // Of three the farthest; of four and five all but one.
    close(&[1.0, 1.01, 0.7], 1.0, 0.3);
    close(&[1.0, 1.0, 1.0, 1.5], 1.0, 0.0);
    close(&[1.0, 1.1, 0.95, 2.0, 1.0], 1.0, 0.1);
    let five = [100.0, 100.1, 100.2, 100.3, 100.4];
    let slower = five.map(|ns| ns * 1.1);
    let drift = |spread| Drift {
        factor: 1.0,
        spread,
    };
    assert_eq!(verdict(&five, &slower, drift(0.05)), Verdict::Slower);
    assert_eq!(verdict(&five, &slower, drift(0.08)), Verdict::Noise);
}

#[test]
fn many_runs_may_overlap() {
    let before: Vec<f64> = (0..11).map(|run| 100.0 + f64::from(run)).collect();
    let after: Vec<f64> = before.iter().map(|ns| ns + 8.0).collect();
    judged(&before, &after, Verdict::Slower);
    let after: Vec<f64> = before.iter().map(|ns| ns + 4.0).collect();
    judged(&before, &after, Verdict::Noise);
}

#[test]
fn hundreds_of_runs_need_no_counting() {
    let before: Vec<f64> = (0..500).map(|run| 100.0 + f64::from(run % 10)).collect();
    let after: Vec<f64> = before.iter().map(|ns| ns + 5.0).collect();
    judged(&before, &after, Verdict::Slower);
    judged(&after, &before, Verdict::Faster);
    judged(&before, &before, Verdict::Noise);
}
