//! What a program draws while it runs in a simulation: its draws are choices, as the scheduler's are.

use std::sync::Arc;

use dashu_int::UBig;
use gossamer_sim::{Draw, Weights};

use crate::interpreter::sum;
use crate::simulation::by_weight;
use crate::weight::Weight;
use crate::{Among, Choices, Error, Interpreter, attempt};

/// Draws at random in a program that runs in a simulation: what is drawn is a choice, beside those of the scheduler.
///
/// `Distribution::of_schedules` follows each alternative, with its exact weight. A simulation from a seed draws at random, and
/// a replay what was drawn before: in a [`Schedule`](crate::Schedule) a draw is one more choice, `2/6` for a die that shows
/// three. (Alternatives that are impossible are none, and where there is but one, nothing is drawn.)
///
/// The closure may draw as often as it likes. It is called once.
///
/// ```
/// use std::sync::Arc;
/// use gossamer::experiment::{self, Distribution, Error, Outcome, Probability};
/// use gossamer::sync::Mutex;
///
/// /// Locks both, in an order that it draws.
/// async fn lock_both(locks: &[Mutex<()>; 2]) {
///     let first = experiment::draw(|c| c.below(2)) as usize;
///     let _first = locks[first].lock().await;
///     let _second = locks[1 - first].lock().await;
/// }
///
/// let ends = Distribution::of_schedules(async || {
///     let locks = Arc::new([Mutex::new(()), Mutex::new(())]);
///     let theirs = locks.clone();
///     let other = gossamer::spawn(async move { lock_both(&theirs).await });
///     lock_both(&locks).await;
///     other.await.expect("no panic");
/// })?;
/// // Their orders differ half of the time, and then one of two schedules is a deadlock.
/// assert_eq!(Some(ends.probability(&Outcome::Deadlock)), Probability::new(1, 4));
/// # Ok::<(), Error>(())
/// ```
///
/// # Panics
/// Outside of a simulation, or if the closure draws from nothing. It unwinds, without a message, where a run is not followed
/// further.
#[track_caller]
pub fn draw<T>(from: impl FnOnce(&mut Choices<'_>) -> T) -> T {
    assert!(
        gossamer_sim::is_simulated(),
        "experiment::draw() was called outside of a simulation: use it in a program whose schedules are run, or inside \
         sim::run(); elsewhere Simulation::seeded() draws"
    );
    match attempt(&mut Simulated, from) {
        Ok(drawn) => drawn,
        Err(error) => panic!("experiment::draw(): {error}"),
    }
}

/// Answers the draws of a program that is simulated.
struct Simulated;

/// The weights of the alternatives that can be, and their sum.
pub(crate) struct DrawWeights {
    weights: Vec<UBig>,
    sum: UBig,
}

impl Interpreter for Simulated {
    #[track_caller]
    fn choose(&mut self, among: Among<'_>) -> Result<usize, Error> {
        let weights = match among {
            Among::Alike(count) => {
                let by_chance = |random: &mut fastrand::Rng| random.usize(..count as usize);
                return Ok(gossamer_sim::draw(count as usize, None, by_chance));
            }
            Among::Weighted(weights) => weights,
        };
        let possible: Vec<usize> = (0..weights.len())
            .filter(|index| among.is_possible(*index))
            .collect();
        let parts = Arc::new(DrawWeights {
            weights: possible.iter().map(|at| weights[*at].clone()).collect(),
            sum: sum(weights),
        });
        let its = parts.clone();
        let by_chance = |random: &mut fastrand::Rng| by_weight(random, &its.weights, &its.sum);
        let drawn = gossamer_sim::draw(possible.len(), Some(parts), by_chance);
        Ok(possible[drawn])
    }
}

impl DrawWeights {
    /// Those of a draw in a simulation.
    pub(crate) fn of(weights: &Weights) -> Option<&Self> {
        (**weights).downcast_ref()
    }

    /// The weight of the alternative with this index, after what was so probable.
    pub(crate) fn part(&self, before: &Weight, index: usize) -> Weight {
        before.part(&self.weights[index], &self.sum)
    }
}

impl PartialEq for DrawWeights {
    fn eq(&self, other: &Self) -> bool {
        self.weights == other.weights
    }
}

/// The probability of a run that has made these choices, of which these were draws with weights.
pub(crate) fn weight_of(choices: &[gossamer_sim::Choice], draws: &[Draw]) -> Weight {
    if draws.is_empty() {
        let mut counts = choices.iter().map(|choice| choice.enabled as u64);
        if let Some(all) = counts.try_fold(1, u64::checked_mul) {
            return Weight::Small(1, all.into());
        }
    }
    let mut draws = draws.iter().peekable();
    let choices = choices.iter().enumerate();
    choices.fold(Weight::ONE, |weight, (at, choice)| {
        let draw = draws.next_if(|draw| draw.at == at);
        let parts = draw.and_then(|draw| DrawWeights::of(&draw.weights));
        match parts {
            Some(parts) => parts.part(&weight, choice.chosen),
            None => weight.one_of(choice.enabled as u32),
        }
    })
}
