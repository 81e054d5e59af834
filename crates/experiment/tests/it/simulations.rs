//! Simulations, whose seeds are fixed, fit the exact distributions.

use gossamer_experiment::{Choices, Dist, Distribution, Simulation};

use crate::{of, p};

/// Pearson's statistic: the squares of the distances from what is expected, each by that.
fn chi_square<T: Ord>(found: &Distribution<T>, runs: u64, count: impl Fn(&T) -> u64) -> f64 {
    let parts = found.iter().map(|(outcome, chance)| {
        let expected = chance.to_f64() * runs as f64;
        (count(outcome) as f64 - expected).powi(2) / expected
    });
    parts.sum()
}

/// The statistic of so many runs is below `most`, the value that one of a thousand such has above it.
fn fits<T: Ord + Send>(experiment: impl Fn(&mut Choices<'_>) -> T + Copy + Sync, most: f64) {
    const RUNS: u64 = 20_000;
    let exact = of(experiment);
    for seed in 0..3 {
        let counts = Simulation::seeded(seed).histogram(RUNS, experiment);
        let counts = counts.expect("the experiment is sound");
        assert!(
            counts
                .keys()
                .all(|outcome| exact.probability(outcome).to_f64() > 0.0)
        );
        let statistic = chi_square(&exact, RUNS, |outcome| {
            counts.get(outcome).copied().unwrap_or(0)
        });
        assert!(statistic < most, "{statistic} with seed {seed}");
    }
}

#[test]
fn three_dice() {
    // 15 degrees of freedom.
    fits(|c| c.die(6) + c.die(6) + c.die(6), 37.70);
}

#[test]
fn weights_and_coins() {
    let third = p(1, 3);
    // 5 degrees of freedom.
    fits(
        |c| (*c.weighted(&[("a", 3), ("b", 2), ("c", 1)]), c.coin(&third)),
        20.52,
    );
}

#[test]
fn weights_of_many_words() {
    // The weights of a hundred dice have five words; 3 degrees of freedom.
    let quarters = Dist::die(6).repeat(100).map(|sum| match sum {
        ..=339 => 0,
        340..=350 => 1,
        351..=361 => 2,
        _ => 3,
    });
    fits(|c| c.outcome(&quarters), 16.27);
}

#[test]
fn a_shuffle() {
    // 5 degrees of freedom.
    let shuffled = |c: &mut Choices<'_>| {
        let mut items = [0, 1, 2];
        c.shuffle(&mut items);
        items
    };
    fits(shuffled, 20.52);
}

#[test]
fn a_seed_gives_the_same_again() {
    let roll = |c: &mut Choices<'_>| [c.die(100), c.die(100), c.die(100)];
    let [first, again, other] = [7, 7, 8].map(|seed| Simulation::seeded(seed).run(roll));
    assert_eq!(first, again);
    assert_ne!(first, other);
}
