//! How simulations are to be run.

use std::fmt;

use gossamer_fiber::Fibers;

/// How simulations are to be run; the free functions use the defaults.
///
/// # Examples
/// ```
/// use std::future::pending;
/// use gossamer::sim::{Cause, Sim};
///
/// // The panic is expected; that the task is joined, and nothing waits for ever, is tested.
/// const SIM: Sim = Sim::new().expect_panics().steps_max(10_000);
///
/// SIM.explore(0..10, async || {
///     let bad = gossamer::spawn(async { panic!("planned") });
///     assert!(bad.await.map(|never: ()| never).is_err());
/// });
/// let failure = SIM.run(0, async || pending::<()>().await).unwrap_err();
/// assert!(matches!(failure.cause, Cause::Deadlock(_)));
/// let again = "Sim::new().steps_max(10000).expect_panics().run(0, …)";
/// assert!(failure.to_string().ends_with(again), "{failure}");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use = "settings do nothing until something is run with them"]
pub struct Sim {
    pub(crate) steps_max: usize,
    pub(crate) panics_expected: bool,
    pub(crate) scheduling_points: bool,
    pub(crate) each_step: bool,
    pub(crate) only_operations: bool,
    pub(crate) fibers: Option<Fibers>,
    /// Whether what happens is recorded.
    pub(crate) is_traced: bool,
}

impl Sim {
    /// At most 1,000,000 steps; a panic of any task fails the run.
    pub const fn new() -> Self {
        Self {
            steps_max: 1_000_000,
            panics_expected: false,
            scheduling_points: true,
            each_step: false,
            only_operations: false,
            fibers: None,
            is_traced: true,
        }
    }

    /// Gives a run up after `steps_max` steps, or so many draws.
    pub const fn steps_max(self, steps_max: usize) -> Self {
        Self { steps_max, ..self }
    }

    /// Operations take effect at once, as in production, and by production's short ways: tasks change
    /// only where one waits or yields. Finds less about a program, and more about a primitive. It takes the
    /// place of [`Sim::only_operations`].
    pub const fn without_scheduling_points(self) -> Self {
        Self {
            scheduling_points: false,
            only_operations: false,
            ..self
        }
    }

    /// Leaves panics of spawned tasks to those who join them. (A panic of the root fails the run.)
    pub const fn expect_panics(self) -> Self {
        Self {
            panics_expected: true,
            ..self
        }
    }

    /// Looks for lost wake-ups before each step, and not only when nothing is enabled: finds also one that a later
    /// event would repair. Costs a look at every task for each step.
    pub const fn look_each_step(self) -> Self {
        Self {
            each_step: true,
            ..self
        }
    }

    /// Chooses among operations alone, each of which takes effect when its task is chosen: what a task does from its
    /// spawn, or from one effect, to its next operation is one step, and an operation that would have to wait is not
    /// enabled. Explores what a program does in far fewer schedules; but hardly any operation ever waits in a queue, so
    /// that it finds less about a primitive. It takes the place of [`Sim::without_scheduling_points`].
    ///
    /// What is no operation is no choice: the functions that do not wait (`try_lock`, `Event::set`), atomics, and the order in
    /// which spawned tasks come to their first operation. So each schedule is one of production's, but not the other way
    /// round.
    ///
    /// Where several operations of one task would take effect, as those of a `select!`, all of them do, or in a select the
    /// one that is asked first. In which order it asks them is then a choice as well, of one of its branches (with more than
    /// two, also in which direction it goes on from there), so that of any two each is as probable as the other; unless it
    /// is `biased`.
    ///
    /// An operation begins to wait all the same where that counts (at a barrier, for a notification, at a rendezvous). A
    /// task that joins others, or sleeps, waits from the first, and goes on at once when they have ended.
    pub const fn only_operations(self) -> Self {
        Self {
            scheduling_points: true,
            only_operations: true,
            ..self
        }
    }

    /// Has the program spawn fibers, which it has to promise something for: see [`Fibers::contract`].
    pub const fn fibers(self, promised: Fibers) -> Self {
        Self {
            fibers: Some(promised),
            ..self
        }
    }
}

impl Sim {
    pub(crate) fn is_usual(&self) -> bool {
        *self == Self::new() || gossamer_core::mutant!("options_unnamed")
    }

    /// The code that stands before `run(…)` or `replay(…)`.
    pub(crate) fn before_a_call(&self) -> String {
        match self.is_usual() {
            true => "sim::".to_owned(),
            false => format!("{self}."),
        }
    }
}

impl fmt::Display for Sim {
    /// Writes the code that selects these settings.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let usual = Self::new();
        f.write_str("Sim::new()")?;
        if self.steps_max != usual.steps_max {
            write!(f, ".steps_max({})", self.steps_max)?;
        }
        if self.panics_expected {
            f.write_str(".expect_panics()")?;
        }
        if !self.scheduling_points {
            f.write_str(".without_scheduling_points()")?;
        }
        if self.each_step {
            f.write_str(".look_each_step()")?;
        }
        if self.only_operations {
            f.write_str(".only_operations()")?;
        }
        if self.fibers.is_some() {
            f.write_str(".fibers(unsafe { Fibers::contract() })")?;
        }
        Ok(())
    }
}

impl Default for Sim {
    fn default() -> Self {
        Self::new()
    }
}
