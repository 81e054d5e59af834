//! Random descriptions: all interpreters, and both forms, agree.

use std::collections::BTreeMap;

use gossamer_experiment::{Choices, Dist, Expectation, Simulation};

use crate::of;

/// A tree of draws, whose leaves are outcomes.
enum Tree {
    Outcome(u32),
    Alike(Vec<Tree>),
    Weighted(Vec<(Tree, u64)>),
}

impl Tree {
    fn random(random: &mut fastrand::Rng, depth: u32) -> Self {
        let branches = |random: &mut fastrand::Rng| {
            let count = random.usize(1..=4);
            (0..count)
                .map(|_| Self::random(random, depth - 1))
                .collect::<Vec<_>>()
        };
        match random.u32(0..3) {
            _ if depth == 0 => Self::Outcome(random.u32(0..6)),
            0 => Self::Outcome(random.u32(0..6)),
            1 => Self::Alike(branches(random)),
            _ => {
                let trees = branches(random);
                let mut weighted: Vec<_> = trees
                    .into_iter()
                    .map(|tree| (tree, random.u64(0..5)))
                    .collect();
                weighted[0].1 += 1;
                Self::Weighted(weighted)
            }
        }
    }

    fn draw(&self, c: &mut Choices<'_>) -> u32 {
        match self {
            Self::Outcome(outcome) => *outcome,
            Self::Alike(trees) => c.pick(trees).draw(c),
            Self::Weighted(trees) => c.weighted(trees).draw(c),
        }
    }

    fn dist(&self) -> Dist<u32> {
        let branches = |weights: Vec<u64>, trees: Vec<&Self>| {
            let index = Dist::weighted((0..).zip(weights)).expect("one is not zero");
            index.and_then(|index: usize| trees[index].dist())
        };
        match self {
            Self::Outcome(outcome) => Dist::always(*outcome),
            Self::Alike(trees) => branches(vec![1; trees.len()], trees.iter().collect()),
            Self::Weighted(trees) => branches(
                trees.iter().map(|(_, weight)| *weight).collect(),
                trees.iter().map(|(tree, _)| tree).collect(),
            ),
        }
    }
}

#[test]
fn random_trees() {
    for seed in 0..300 {
        let tree = Tree::random(&mut fastrand::Rng::with_seed(seed), 5);
        let exact = of(|c| tree.draw(c));
        let values: BTreeMap<_, _> = exact
            .iter()
            .map(|(o, chance)| (*o, chance.clone()))
            .collect();
        let dist = tree.dist();
        let theirs: BTreeMap<_, _> = dist.iter().map(|(o, chance)| (*o, chance)).collect();
        assert_eq!(values, theirs, "seed {seed}");
        for outcome in 0..6 {
            let found = Expectation::that(|c| tree.draw(c), |drawn| *drawn == outcome);
            let found = found.expect("it is sound");
            assert_eq!(
                *found.probability(),
                exact.probability(&outcome),
                "seed {seed}"
            );
        }
        let histogram = Simulation::seeded(seed).histogram(200, |c| tree.draw(c));
        let histogram = histogram.expect("it is sound");
        assert!(
            histogram.keys().all(|outcome| values.contains_key(outcome)),
            "seed {seed}"
        );
    }
}

#[test]
fn dice_by_paths_and_by_values() {
    let paths = of(|c| (0..5).map(|_| c.die(6)).sum::<u32>());
    let values = Dist::die(6).repeat(5);
    assert_eq!(paths.paths(), 6_u64.pow(5));
    assert!(
        paths
            .iter()
            .map(|(o, chance)| (o, chance.clone()))
            .eq(values.iter())
    );
}
