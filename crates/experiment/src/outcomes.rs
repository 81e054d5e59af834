//! The outcomes that a program may have, without their probabilities: those need fewer runs.

use std::collections::BTreeMap;
use std::fmt::{self, Display};

use gossamer_sim::{Run, Search, Sim};

use crate::schedules::{Outcome, Schedule, outcome_of};
use crate::{Error, Limit, Limits};

/// The outcomes that a program has in any of its schedules, each with a schedule that leads to it.
///
/// Which they are is found without running all schedules: operations of two tasks that do not depend on each other are run in
/// one order alone. How probable an outcome is, that does not say; [`Distribution`](crate::Distribution) does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcomes<T> {
    outcomes: Vec<(Outcome<T>, Schedule)>,
    runs: u64,
    cut_off: u64,
    stopped_by: Option<Limit>,
}

/// The next run of a program.
enum Next<T> {
    /// There is none.
    None,
    /// There are as many as may be.
    NotAllowed,
    /// It was made; or cut off.
    Made(Option<Run<T>>),
}

impl<T: Ord> Outcomes<T> {
    /// Of a program, within the usual [`Limits`], as [`Outcomes::of_schedules_within`] finds them.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use gossamer::experiment::{Error, Outcome, Outcomes};
    /// use gossamer::sync::Mutex;
    ///
    /// // Two tasks lock the same two in turn, and the others one of their own each.
    /// let found = Outcomes::of_schedules(async || {
    ///     let locks = Arc::new([Mutex::new(()), Mutex::new(())]);
    ///     let crossed = [0, 1].map(|first| {
    ///         let locks = locks.clone();
    ///         gossamer::spawn(async move {
    ///             let _first = locks[first].lock().await;
    ///             let _second = locks[1 - first].lock().await;
    ///         })
    ///     });
    ///     let others = [(); 3].map(|()| gossamer::spawn(async { drop(Mutex::new(()).lock().await) }));
    ///     for task in crossed.into_iter().chain(others) {
    ///         task.await.expect("no panic");
    ///     }
    /// })?;
    /// assert!(found.schedule(&Outcome::Deadlock).is_some());
    /// assert!(found.schedule(&Outcome::Returned(())).is_some());
    /// assert!(found.runs() < 100, "of 540");
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// As there.
    ///
    /// # Panics
    /// As there.
    #[track_caller]
    pub fn of_schedules<F>(program: impl Fn() -> F) -> Result<Self, Error>
    where
        F: Future<Output = T>,
    {
        Self::of_schedules_within(&Limits::new(), Sim::new(), program)
    }

    /// Of a program, within these limits (a path is a run), in a simulation with these settings that chooses among operations
    /// alone ([`Sim::only_operations`](https://docs.rs/gossamer-rt/latest/gossamer/sim/struct.Sim.html#method.only_operations)).
    ///
    /// This holds for programs whose tasks share nothing but Gossamer's primitives, and use them by operations that wait.
    /// What takes effect at once is not seen: atomics, `RefCell`s, `try_` functions, looks at what is there now
    /// (`is_finished`, a watch's `borrow`), sending that does not wait (one-shot, watch, broadcast), `Event::set`, closing a
    /// channel by dropping its end, and the order in which the members of a `JoinSet` end. Where others can tell in which
    /// order two of these came, an outcome may be missed: use [`Outcomes::without_reduction`]. (A value that is shared
    /// otherwise can be a [`sim::Cell`](https://docs.rs/gossamer-rt/latest/gossamer/sim/struct.Cell.html).)
    /// Closing a channel, a semaphore or the like takes effect at once as well. Nor is it seen in which order timers with the
    /// same deadline were set: a program where that counts is explored [without reduction](Outcomes::without_reduction).
    ///
    /// The schedule of an outcome is the simplest of those that were run, which need not be the simplest of all.
    ///
    /// # Errors
    /// The program does not depend on the schedule alone ([`Error::NotDeterministic`]).
    ///
    /// # Panics
    /// Inside a task. (A panic of the program is an outcome.)
    #[track_caller]
    pub fn of_schedules_within<F>(
        limits: &Limits,
        sim: Sim,
        program: impl Fn() -> F,
    ) -> Result<Self, Error>
    where
        F: Future<Output = T>,
    {
        let mut search = Search::new(sim);
        Self::of_runs(limits, |may_run| match search.is_complete() {
            true => Next::None,
            false if !may_run => Next::NotAllowed,
            false => Next::Made(search.run_next(&program)),
        })
    }

    /// Of any program, by all of its schedules: [`Outcomes::of_schedules_within`], with nothing left out.
    ///
    /// # Errors
    /// As there.
    ///
    /// # Panics
    /// As there.
    #[track_caller]
    pub fn without_reduction<F>(
        limits: &Limits,
        sim: Sim,
        program: impl Fn() -> F,
    ) -> Result<Self, Error>
    where
        F: Future<Output = T>,
    {
        let mut schedules = sim.only_operations().untraced().schedules();
        Self::of_runs(limits, |may_run| match schedules.is_complete() {
            true => Next::None,
            false if !may_run => Next::NotAllowed,
            false => Next::Made(schedules.run_next(&program)),
        })
    }

    /// Of these runs; `next` makes one if it may, and there is one.
    fn of_runs(limits: &Limits, mut next: impl FnMut(bool) -> Next<T>) -> Result<Self, Error> {
        let deadline = limits.deadline();
        let mut seen: BTreeMap<Outcome<T>, Schedule> = BTreeMap::new();
        let (mut runs, mut cut_off) = (0, 0);
        let mut stopped_by = None;
        loop {
            if deadline.is_over() {
                stopped_by = Some(Limit::Time);
                break;
            }
            let run = match next(runs < limits.most_paths()) {
                Next::None => break,
                Next::NotAllowed => {
                    stopped_by = Some(Limit::Paths);
                    break;
                }
                Next::Made(run) => run,
            };
            runs += 1;
            let Some(run) = run else {
                cut_off += 1;
                continue;
            };
            let (outcome, schedule) = outcome_of(run)?;
            if let Some(known) = seen.get_mut(&outcome) {
                if schedule.is_simpler_than(known) {
                    *known = schedule;
                }
            } else if seen.len() == limits.most_outcomes() {
                stopped_by = Some(Limit::Outcomes);
                break;
            } else {
                seen.insert(outcome, schedule);
            }
        }
        Ok(Self {
            outcomes: seen.into_iter().collect(),
            runs,
            cut_off,
            stopped_by,
        })
    }

    /// A schedule that leads to this outcome, if one was found.
    pub fn schedule(&self, of: &Outcome<T>) -> Option<&Schedule> {
        let at = self
            .outcomes
            .binary_search_by(|(outcome, _)| outcome.cmp(of));
        at.ok().map(|at| &self.outcomes[at].1)
    }
}

impl<T> Outcomes<T> {
    /// The outcomes in their order, each with a schedule that leads to it.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&Outcome<T>, &Schedule)> {
        let outcomes = self.outcomes.iter();
        outcomes.map(|(outcome, schedule)| (outcome, schedule))
    }

    /// The limit that was reached, if one was: then there may be other outcomes.
    pub fn stopped_by(&self) -> Option<Limit> {
        self.stopped_by
    }

    /// How many runs there were.
    pub fn runs(&self) -> u64 {
        self.runs
    }

    /// How many of them were cut off, as they would have led to nothing new.
    pub fn cut_off(&self) -> u64 {
        self.cut_off
    }
}

impl<T: fmt::Debug> Display for Outcomes<T> {
    /// A line for each outcome, and how they were found.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (outcome, schedule) in self.iter() {
            writeln!(f, "{outcome:?}, such as \"{schedule}\"")?;
        }
        if let Some(limit) = self.stopped_by {
            writeln!(f, "perhaps others, as {limit}")?;
        }
        write!(f, "{} runs, {} of them cut off", self.runs, self.cut_off)
    }
}
