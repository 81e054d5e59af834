//! Gossamer's experiments in the workload `dice`: `gossamer-experiments dice --kind KIND …`.
#![forbid(unsafe_code)]

use std::borrow::Borrow;
use std::process::ExitCode;
use std::time::Instant;

use gossamer::Model;
use gossamer::experiment::{Choices, Dist, Distribution, Probability};
use gossamer_contender::args::{self, said};
use gossamer_contender::{Failure, end};
use waiting::Options;

/// The answer is modulo this prime, 2⁶¹ − 1.
const PRIME: u64 = (1 << 61) - 1;
/// Where the generating function is evaluated.
const POINT: u64 = 1_000_003;

/// The dice that were asked for.
struct Dice {
    dice: u32,
    sides: u32,
    kept: u32,
}

impl Dice {
    fn read(options: &Options) -> Result<Dice, String> {
        let number = |name, usual| {
            let number = options.number(name, usual)?;
            u32::try_from(number).map_err(|error| format!("{name} {number}: {error}"))
        };
        Ok(Dice {
            dice: number("--dice", 8)?,
            sides: number("--sides", 6)?,
            kept: number("--kept", 10)?,
        })
    }

    /// What is enumerated.
    fn roll(&self, choices: &mut Choices<'_>) -> u32 {
        (0..self.dice).map(|_| choices.die(self.sides)).sum()
    }

    fn paths(&self) -> Result<u64, Failure> {
        let all = timed(|| Distribution::of(|choices| self.roll(choices))).map_err(said)?;
        match all.stopped_by() {
            Some(limit) => Err(said(format!("a limit was reached: {limit}"))),
            None => Ok(generating_function(all.iter())),
        }
    }

    fn sum(&self) -> u64 {
        let dist = timed(|| Dist::die(self.sides).repeat(self.dice));
        generating_function(dist.iter())
    }

    fn keep(&self) -> Result<u64, Failure> {
        let dist = timed(|| Dist::keep_highest(self.dice, self.sides, self.kept)).map_err(said)?;
        Ok(generating_function(dist.iter()))
    }
}

/// Says how long that took.
fn timed<T>(evaluation: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let value = evaluation();
    let took = start.elapsed();
    eprintln!("figures: evaluation_us={}", took.as_secs_f64() * 1e6);
    value
}

/// The sum of each probability times [`POINT`] to the power of its outcome.
fn generating_function<'a, P: Borrow<Probability>>(
    outcomes: impl Iterator<Item = (&'a u32, P)>,
) -> u64 {
    let terms = outcomes.map(|(outcome, probability)| {
        let probability = probability.borrow();
        let above = probability.numerator() % PRIME;
        let below = probability.denominator() % PRIME;
        // By Fermat's little theorem.
        let probability = times(above, power(below, PRIME - 2));
        times(probability, power(POINT, u64::from(*outcome)))
    });
    terms.fold(0, |sum, term| (sum + term) % PRIME)
}

fn times(a: u64, b: u64) -> u64 {
    (u128::from(a) * u128::from(b) % u128::from(PRIME)) as u64
}

fn power(mut base: u64, mut exponent: u64) -> u64 {
    let mut product = 1;
    while exponent > 0 {
        if exponent % 2 == 1 {
            product = times(product, base);
        }
        base = times(base, base);
        exponent /= 2;
    }
    product
}

fn run() -> Result<u64, Failure> {
    let options = Options::read()?;
    options.only(&["--kind", "--what", "--dice", "--sides", "--kept"])?;
    let dice = Dice::read(&options)?;
    let kind = options.text("--kind", "dist");
    match (kind.split_once("-pool-"), options.text("--what", "sum")) {
        (None, "sum") if kind == "dist" => Ok(dice.sum()),
        (None, "keep") if kind == "dist" => dice.keep(),
        (None, "paths") if kind == "paths" => dice.paths(),
        (Some(("paths", workers)), "paths") => {
            let workers = args::number("--kind paths-pool-", workers)?;
            args::runtime(Model::Pool { workers })?.enter(|| dice.paths())
        }
        (_, what) => Err(format!("--kind {kind} has no --what {what}").into()),
    }
}

fn main() -> ExitCode {
    end(run())
}
