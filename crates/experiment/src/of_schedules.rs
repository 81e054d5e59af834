//! The outcomes of a program over all its schedules: each run on its own, or those that lead to one state together.

use gossamer_sim::Sim;

use crate::drawing::weight_of;
use crate::merging::merge;
use crate::schedules::{Found, Outcome, Schedules, outcome_of};
use crate::{Distribution, Error, Limits};

impl<T: Ord> Distribution<Outcome<T>> {
    /// Runs a program in all its schedules, within the usual [`Limits`]: a path is a schedule. (How many steps each may have
    /// the settings of the simulation say: a program that goes on for ever has outcome [`Outcome::NoEnd`].)
    ///
    /// The program runs in a simulation ([`gossamer::sim`](https://docs.rs/gossamer-rt/latest/gossamer/sim/)) that chooses
    /// among operations alone
    /// ([`Sim::only_operations`](https://docs.rs/gossamer-rt/latest/gossamer/sim/struct.Sim.html#method.only_operations)):
    /// tasks, fibers, all primitives, and time, which is virtual.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use gossamer::experiment::{Distribution, Error, Outcome, Probability};
    /// use gossamer::sync::Mutex;
    ///
    /// let crossed = Distribution::of_schedules(async || {
    ///     let locks = Arc::new([Mutex::new(()), Mutex::new(())]);
    ///     let theirs = locks.clone();
    ///     let task = gossamer::spawn(async move {
    ///         let _first = theirs[1].lock().await;
    ///         let _second = theirs[0].lock().await;
    ///     });
    ///     let _first = locks[0].lock().await;
    ///     let _second = locks[1].lock().await;
    ///     task.abort();
    /// })?;
    /// assert_eq!(Some(crossed.probability(&Outcome::Deadlock)), Probability::new(1, 2));
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// The program does not depend on the schedule alone ([`Error::NotDeterministic`]).
    ///
    /// # Panics
    /// Inside a task. (A panic of the program is an outcome.)
    #[track_caller]
    pub fn of_schedules<F>(program: impl Fn() -> F) -> Result<Schedules<T>, Error>
    where
        F: Future<Output = T>,
    {
        Self::of_schedules_within(&Limits::new(), Sim::new(), program)
    }

    /// [`Distribution::of_schedules`], within these limits, in a simulation with these settings.
    ///
    /// # Errors
    /// As there.
    ///
    /// # Panics
    /// As there.
    #[track_caller]
    pub fn of_schedules_within<F>(
        limits: &Limits,
        sim: Sim,
        program: impl Fn() -> F,
    ) -> Result<Schedules<T>, Error>
    where
        F: Future<Output = T>,
    {
        let deadline = limits.deadline();
        let mut schedules = sim.only_operations().untraced().schedules();
        let mut found = Found::default();
        while !schedules.is_complete() {
            if let Some(limit) = found.limit(limits, deadline) {
                return Ok(found.into_schedules(Some(limit)));
            }
            let Some(run) = schedules.run_next(&program) else {
                break;
            };
            found.paths += 1;
            let weight = weight_of(&run.choices, &run.draws);
            let (outcome, schedule) = outcome_of(run)?;
            match found.add(outcome, &weight, schedule, limits) {
                Ok(None) => {}
                Ok(Some(schedule)) => schedules.give_back(schedule.into_choices()),
                Err(limit) => return Ok(found.into_schedules(Some(limit))),
            }
        }
        Ok(found.into_schedules(None))
    }

    /// [`Distribution::of_schedules_within`], which merges: schedules in which the same operations come in the same order at
    /// each object lead to the same state, so one of them goes on for all, and their probabilities add up. What hundreds of
    /// millions of schedules come to is found in a moment.
    ///
    /// This holds for programs whose tasks share nothing but Gossamer's primitives, and use them by operations that wait.
    /// What takes effect at once leaves no mark: atomics, `RefCell`s, `try_` functions, looks at what is there now
    /// (`is_finished`, a watch's `borrow`), sending that does not wait (one-shot, watch, broadcast), `Event::set`, closing a
    /// channel by dropping its end, and the order in which the members of a `JoinSet` end. Where others can tell in which
    /// order two of these came, do not merge.
    /// That it holds is tried out at the first thousand states that are merged, and at some of the others: the program goes
    /// on from two of their schedules in the same order, and must end alike. (These runs are no paths.) A program that frees
    /// primitives and makes new ones may fail there though it is right, as they are told apart by their addresses.
    ///
    /// The schedule of an outcome has few preemptions, perhaps not the fewest. Paths, of [`Limits`] too, are runs: of the
    /// program from its beginning to the next choice.
    ///
    /// # Errors
    /// As there; two merged states were different ([`Error::NotMerged`]).
    ///
    /// # Panics
    /// As there.
    #[track_caller]
    pub fn of_merged_schedules<F>(
        limits: &Limits,
        sim: Sim,
        program: impl Fn() -> F,
    ) -> Result<Schedules<T>, Error>
    where
        F: Future<Output = T>,
    {
        merge(limits, sim, program)
    }
}
