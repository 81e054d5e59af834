//! Experiments: against tables that are known, against formulas, and one form against the other.

mod agreement;
mod faults;
mod formulas;
mod pools;
mod seed;
mod simulations;

use gossamer_experiment::{Choices, Distribution, Probability};

fn of<T: Ord + Send>(experiment: impl Fn(&mut Choices<'_>) -> T + Sync) -> Distribution<T> {
    Distribution::of(experiment).expect("the experiment is sound")
}

fn p(numerator: u64, denominator: u64) -> Probability {
    Probability::new(numerator, denominator).expect("it is one")
}
