//! Against closed forms.

use gossamer_experiment::{Dist, Distribution, Expectation, Probability, RBig};

use crate::{of, p};

fn binomial(of: u64, ways: u64) -> u64 {
    (0..ways).fold(1, |product, at| product * (of - at) / (at + 1))
}

#[test]
fn heads_are_binomial() {
    let third = p(1, 3);
    let heads = of(|c| (0..8).filter(|_| c.coin(&third)).count());
    for count in 0..=8 {
        let expected = p(
            binomial(8, count) * 2_u64.pow(8 - count as u32),
            3_u64.pow(8),
        );
        assert_eq!(heads.probability(&(count as usize)), expected);
    }
    assert_eq!(
        heads.mean().map(|mean| mean.to_string()).as_deref(),
        Some("8/3")
    );
    assert_eq!(
        heads.variance().map(|it| it.to_string()).as_deref(),
        Some("16/9")
    );
    assert_eq!(heads.quantile(&p(1, 2)), Some(&3));
}

#[test]
fn twenty_three_share_a_birthday() {
    // Only how many days are taken counts, so the values are few.
    let apart = (0..23).fold(Dist::always(Some(0)), |before, _| {
        before.and_then(|taken: Option<u64>| match taken {
            None => Dist::always(None),
            Some(days) => Dist::weighted([(None, days), (Some(days + 1), 365 - days)])
                .expect("a year has days"),
        })
    });
    let expected = (0..23).fold(Probability::ONE, |product, days| {
        product * p(365 - days, 365)
    });
    assert_eq!(apart.probability(&Some(23)), expected);
    assert!((apart.probability(&None).to_f64() - 0.507_297).abs() < 1e-6);
}

#[test]
fn three_share_a_birthday_in_a_short_year() {
    let shared = Expectation::that(
        |c| [c.below(10), c.below(10), c.below(10)],
        |days| days[0] == days[1] || days[1] == days[2] || days[0] == days[2],
    );
    assert_eq!(*shared.expect("it is sound").probability(), p(28, 100));
}

#[test]
fn a_shuffle_gives_each_order() {
    let orders = of(|c| {
        let mut items = [0, 1, 2, 3];
        c.shuffle(&mut items);
        items
    });
    assert_eq!(orders.iter().len(), 24);
    assert!(orders.iter().all(|(_, chance)| *chance == p(1, 24)));
}

#[test]
fn weights_are_parts_of_their_sum() {
    let picked = of(|c| *c.weighted(&[("a", 1), ("never", 0), ("b", 2), ("a", 3)]));
    let found: Vec<_> = picked
        .iter()
        .map(|(name, chance)| (*name, chance.clone()))
        .collect();
    assert_eq!(found, [("a", p(2, 3)), ("b", p(1, 3))]);
    assert_eq!(picked.paths(), 3, "what is impossible has no path");
}

#[test]
fn a_hundred_dice() {
    let sum = Dist::die(6).repeat(100);
    assert_eq!(sum.iter().count(), 501);
    assert_eq!(
        sum.iter().map(|(_, chance)| chance).sum::<Probability>(),
        Probability::ONE
    );
    let all_ones = (0..100).fold(Probability::ONE, |product, _| product * p(1, 6));
    assert_eq!(
        (sum.probability(&100), sum.probability(&600)),
        (all_ones.clone(), all_ones)
    );
    assert_eq!(sum.probability(&150), sum.probability(&550));
    // The same by twenty sums of five.
    let five = Dist::die(6).repeat(5);
    let again = (1..20).fold(five.clone(), |sum, _| sum.sum(&five));
    assert_eq!(sum, again);
}

#[test]
fn the_numbers_of_a_hundred_dice() {
    let sum = Distribution::from(&Dist::die(6).repeat(100));
    let shown = |number: Option<RBig>| number.map(|number| number.to_string());
    assert_eq!(shown(sum.mean()).as_deref(), Some("350"));
    assert_eq!(shown(sum.variance()).as_deref(), Some("875/3"));
    assert_eq!(sum.quantile(&p(1, 2)), Some(&350));
    assert_eq!(sum.quantile(&Probability::ONE), Some(&600));
}

#[test]
fn numbers_far_apart_are_summed_too() {
    let far = Dist::weighted([(-1_000_000_000_i64, 1), (0, 1), (1_000_000_000, 2)]);
    let sum = far.expect("it has weights").repeat(3);
    assert_eq!(sum.probability(&3_000_000_000), p(1, 8));
    assert_eq!(sum.probability(&-3_000_000_000), p(1, 64));
}

#[test]
fn large_denominators_stay_exact() {
    // Each draw has another prime, and forty of them have more digits than two words.
    let primes = (2..).filter(|n: &u32| (2..*n).all(|divisor| !n.is_multiple_of(divisor)));
    let primes: Vec<u32> = primes.take(40).collect();
    let all_zero = Distribution::of(|c| primes.iter().find(|prime| c.below(**prime) > 0).copied());
    let all_zero = all_zero.expect("it is sound");
    let expected = primes.iter().fold(Probability::ONE, |product, prime| {
        product * p(1, u64::from(*prime))
    });
    assert_eq!(all_zero.probability(&None), expected);
    assert_eq!(*all_zero.uncovered(), Probability::ZERO);
}

#[test]
fn equal_distributions_are_equal() {
    let [thirds, again] = [[(0, 2), (1, 4)], [(0, 1), (1, 2)]].map(Dist::weighted);
    assert_eq!(thirds, again);
    assert_eq!(
        Dist::die(6).map(|side| side % 2),
        Dist::die(2).map(|side| side % 2)
    );
    assert_eq!(Dist::die(6).repeat(0), Dist::always(0));
    let wide = Dist::weighted([(i64::MIN, 1), (i64::MAX, 1)]).expect("it has weights");
    assert_eq!(wide.repeat(0), Dist::always(0));
    let drawn = of(|c| c.die(6) + c.die(6));
    let at_once = of(|c| c.outcome(&Dist::die(6).repeat(2)));
    assert_eq!(drawn, at_once);
    assert_ne!(drawn.paths(), at_once.paths());
}

#[test]
fn weights_larger_than_words() {
    let large = [("a", u64::MAX), ("b", u64::MAX), ("c", 2)];
    let found = of(|c| (0..5).filter(|_| *c.weighted(&large) == "c").count());
    let by_values = Dist::weighted([(0, u64::MAX), (0, u64::MAX), (1, 2)]);
    let by_values = by_values.expect("it has weights").repeat(5);
    for count in 0..=5_usize {
        assert_eq!(
            found.probability(&count),
            by_values.probability(&(count as i32))
        );
    }
}
