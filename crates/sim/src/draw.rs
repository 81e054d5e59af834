//! What a task draws in its turn: what the program asks for, and in which order a select asks its branches.

use gossamer_core::context::simulated;
use gossamer_core::moment::nanos_of;
use gossamer_core::platform::thread;

use crate::chooser::{self, Weights};
use crate::current::current;

/// Chooses one of so many alternatives, for the task whose turn it is: at random by `by_chance`, in a run from a seed. Where
/// there is but one it is no choice; nor when the run is over: then it is the first one. `weights`: they are not alike.
///
/// # Panics
/// Outside of a simulation. It unwinds where the run stops.
#[doc(hidden)]
#[track_caller]
pub fn draw(
    among: usize,
    weights: Option<Weights>,
    by_chance: impl FnOnce(&mut fastrand::Rng) -> usize,
) -> usize {
    let simulation = current("a draw").simulation;
    if among == 1 {
        return 0;
    }
    let weights = weights.filter(|_| !gossamer_core::mutant!("draws_unweighted"));
    let task = simulated::turn();
    let now = || nanos_of(simulation.now());
    match chooser::with(|chooser| chooser.draw(task, among, weights, by_chance, now)) {
        Some(index) => index,
        // The run is given up all the same.
        None if thread::panicking() => 0,
        None => chooser::unwind(),
    }
}

/// Draws one of so many that are alike.
pub(crate) fn draw_alike(among: usize) -> usize {
    draw(among, None, |random| random.usize(..among))
}
