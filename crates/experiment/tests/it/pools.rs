//! Pools of dice, which are one draw, against each die drawn.

use crate::of;

fn sorted<const N: usize>(mut dice: [u32; N]) -> [u32; N] {
    dice.sort_unstable();
    dice
}

#[test]
fn what_is_kept_of_four_dice() {
    for kept in 0..=5 {
        let pooled = of(|c| c.keep_highest(4, 5, kept));
        let drawn = of(|c| {
            let dice = sorted([c.die(5), c.die(5), c.die(5), c.die(5)]);
            dice.iter().rev().take(kept as usize).sum::<u32>()
        });
        assert!(pooled.iter().eq(drawn.iter()), "{kept} highest");

        let pooled = of(|c| c.keep_lowest(4, 5, kept));
        let drawn = of(|c| {
            let dice = sorted([c.die(5), c.die(5), c.die(5), c.die(5)]);
            dice.iter().take(kept as usize).sum::<u32>()
        });
        assert!(pooled.iter().eq(drawn.iter()), "{kept} lowest");
    }
}

#[test]
fn a_die_that_explodes() {
    for (sides, again) in [(6, 0), (6, 3), (2, 5), (1, 4)] {
        let pooled = of(|c| c.explode(sides, again));
        let drawn = of(|c| {
            let mut sum = 0;
            for _ in 0..=again {
                let die = c.die(sides);
                sum += die;
                if die < sides {
                    break;
                }
            }
            sum
        });
        assert!(pooled.iter().eq(drawn.iter()), "d{sides}, {again} times");
    }
}

#[test]
fn a_die_that_is_rolled_again() {
    for lowest in 0..=7 {
        let pooled = of(|c| c.reroll(6, lowest));
        let drawn = of(|c| match c.die(6) {
            die if die <= lowest => c.die(6),
            die => die,
        });
        assert!(pooled.iter().eq(drawn.iter()), "{lowest}");
    }
}
