//! What "Warm fuzzy things for random simulations" shows.

use gossamer_experiment::{Choices, Expectation, Probability};

use crate::{of, p};

/// The ways to roll 3, 4 and so on up to 18 with three dice, of 216.
const WAYS: [u64; 16] = [1, 3, 6, 10, 15, 21, 25, 27, 27, 25, 21, 15, 10, 6, 3, 1];

fn roll_3d6(c: &mut Choices<'_>) -> u32 {
    3 + c.below(6) + c.below(6) + c.below(6)
}

/// An extra roll if one of the three is a six.
fn roll_3d6_b(c: &mut Choices<'_>) -> u32 {
    let dice = [c.below(6), c.below(6), c.below(6)];
    let sum = 3 + dice.iter().sum::<u32>();
    if dice.contains(&5) {
        sum + 1 + c.below(6)
    } else {
        sum
    }
}

#[test]
fn the_table_of_three_dice() {
    let all = of(roll_3d6);
    let found: Vec<_> = all
        .iter()
        .map(|(sum, chance)| (*sum, chance.clone()))
        .collect();
    let expected: Vec<_> = (3..).zip(WAYS.map(|ways| p(ways, 216))).collect();
    assert_eq!(found, expected);
    assert_eq!((all.paths(), all.stopped_by()), (216, None));
    assert_eq!(*all.uncovered(), Probability::ZERO);
}

#[test]
fn the_expectations_from_1_to_21() {
    for sum in 1..=21 {
        let expected = match sum {
            3..=18 => p(WAYS[sum as usize - 3], 216),
            _ => Probability::ZERO,
        };
        let found = Expectation::that(roll_3d6, |outcome| *outcome == sum);
        assert_eq!(
            *found.expect("it is sound").probability(),
            expected,
            "{sum}"
        );
    }
}

#[test]
fn an_extra_roll_for_a_six() {
    // Counted apart: of 6^4 rolls, as if the extra die were always rolled.
    let mut ways = [0; 25];
    for roll in 0..6_u32.pow(4) {
        let [first, second, third, extra] = [1, 6, 36, 216].map(|place| roll / place % 6 + 1);
        let has_six = [first, second, third].contains(&6);
        let sum = first + second + third + if has_six { extra } else { 0 };
        ways[sum as usize] += 1;
    }
    let all = of(roll_3d6_b);
    for (sum, ways) in (0..).zip(ways) {
        assert_eq!(all.probability(&sum), p(ways, 1_296), "{sum}");
    }
    assert_eq!(all.paths(), 125 + (216 - 125) * 6);
    assert_eq!(
        all.iter()
            .map(|(_, chance)| chance.clone())
            .sum::<Probability>(),
        Probability::ONE
    );
}
