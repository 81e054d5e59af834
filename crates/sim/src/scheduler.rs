//! The scheduler: push, pop and idle are all there is to a simulation.

use std::mem;
use std::sync::Arc;

use gossamer_core::moment::Moment;
use gossamer_core::shard::Shard;
use gossamer_sched::{Idle, Reason, Runnable, Scheduler, Tasks, TurnEnd};
use gossamer_time::timers::runner;

use crate::choose::{Choice, Oracle};
use crate::failure::Cause;
use crate::look::{any_could_go_on, look};
use crate::relay::Threads;
use crate::report::Report;
use crate::settings::Sim;
use crate::trace::{Trace, TraceEvent};
use crate::world::World;

/// Runs one task after the other, as its oracle chooses.
#[derive(Debug)]
pub struct SimScheduler {
    world: World,
    oracle: Oracle,
    /// The oracle's choices, one a step.
    choices: Vec<Choice>,
    /// Its shard, and when it began.
    shard: Option<(&'static Shard, Moment)>,
    /// Why the run was given up.
    cause: Option<Cause>,
    /// How many events had happened when the run was over.
    failed_at: usize,
    /// Runnable tasks in the order in which they became so, with their numbers.
    enabled: Vec<(usize, Runnable)>,
    /// Tasks that have ended and only want to be freed: no actors.
    ended: Vec<Runnable>,
    steps_max: usize,
    panics_expected: bool,
    /// Whether lost wake-ups are looked for before each step.
    each_step: bool,
    /// Whether that has been done for the next one.
    has_looked: bool,
    /// The run is over: what is left is handed out without a choice.
    over: bool,
}

/// All that is known of a run.
pub(crate) struct Ended {
    pub(crate) oracle: Oracle,
    pub(crate) choices: Vec<Choice>,
    pub(crate) trace: Trace,
    /// Why it failed, if it has.
    pub(crate) cause: Option<Cause>,
    /// How many events had happened by then: what follows is the dropping of what is left.
    pub(crate) failed_at: usize,
}

impl SimScheduler {
    pub(crate) fn new(oracle: Oracle, sim: Sim, threads: Arc<Threads>) -> Self {
        Self {
            world: World::new(threads),
            oracle,
            choices: Vec::new(),
            shard: None,
            cause: None,
            failed_at: 0,
            enabled: Vec::new(),
            ended: Vec::new(),
            steps_max: sim.steps_max,
            panics_expected: sim.panics_expected,
            each_step: sim.each_step,
            has_looked: false,
            over: false,
        }
    }

    /// The run is over: what follows is the dropping of what is left.
    fn end(&mut self) {
        self.over = true;
        self.failed_at = self.world.trace.events().len();
    }

    /// What is known of the run, whose tasks are gone; and whose root panicked, if there is a message.
    pub(crate) fn take_ended(&mut self, root_panicked: Option<String>) -> Ended {
        self.world.end();
        if let (None, Some(message)) = (&self.cause, root_panicked) {
            self.cause = Some(Cause::Panicked { task: 0, message });
        }
        let steps = self.choices.len();
        if let (false, Some(choice)) = (self.has_failed(), self.oracle.left_over(steps)) {
            self.cause = Some(Cause::NonDeterministic {
                step: steps,
                recorded: Some(choice.enabled),
                found: None,
            });
        }
        Ended {
            oracle: mem::replace(&mut self.oracle, Oracle::Recorded(Vec::new())),
            choices: mem::take(&mut self.choices),
            trace: mem::take(&mut self.world.trace),
            cause: self.cause.take(),
            failed_at: self.failed_at,
        }
    }

    fn has_failed(&mut self) -> bool {
        if self.cause.is_none() && !self.panics_expected {
            let panicked = self.world.panicked.clone();
            self.cause = panicked.map(|(task, message)| Cause::Panicked { task, message });
        }
        self.cause.is_some()
    }

    /// Moves time to the next deadline, and wakes all who wait for it; `false` if there is no timer.
    fn advance(&mut self) -> bool {
        let Some((shard, began)) = self.shard else {
            return false;
        };
        let Some(now) = runner::advance(shard) else {
            return false;
        };
        let to = now.since(began);
        self.world.note(TraceEvent::Advanced { to });
        runner::fire_due(shard, now);
        true
    }

    /// Virtual time has begun, at the shard of the simulation.
    pub(crate) fn begin(&mut self, shard: &'static Shard, began: Moment) {
        self.shard = Some((shard, began));
    }

    /// The next actor's index among the enabled; `None` gives the run up.
    fn choose(&mut self) -> Option<usize> {
        let (step, enabled) = (self.choices.len(), self.enabled.len());
        if step == self.steps_max {
            self.cause = Some(Cause::StepLimit { steps: step });
            return None;
        }
        match self.oracle.choose(step, enabled) {
            Ok(chosen) => {
                self.choices.push(Choice { enabled, chosen });
                Some(chosen)
            }
            Err(recorded) => {
                self.cause = Some(Cause::NonDeterministic {
                    step,
                    recorded,
                    found: Some(enabled),
                });
                None
            }
        }
    }
}

// Nobody builds a runtime with it.
#[diagnostic::do_not_recommend]
impl Scheduler for SimScheduler {
    const IS_SIMULATED: bool = true;

    fn push(&mut self, task: Runnable, _reason: Reason) {
        if task.is_over() {
            self.ended.push(task);
        } else {
            self.enabled.push((self.world.number(&task), task));
        }
    }

    fn pop(&mut self) -> Option<Runnable> {
        if let Some(task) = self.ended.pop() {
            return Some(task);
        }
        if self.over {
            return self.enabled.pop().map(|(_, task)| task);
        }
        if self.enabled.is_empty() || self.has_failed() {
            return None;
        }
        // The tasks are to be seen in `idle` only.
        let looks = self.each_step && !gossamer_core::mutant!("looks_only_at_rest");
        if looks && !mem::take(&mut self.has_looked) {
            return None;
        }
        let enabled = self.enabled.len();
        let chosen = self.choose()?;
        let (task, runnable) = self.enabled.remove(chosen);
        self.world
            .begin_turn(task, runnable.id().address(), enabled);
        Some(runnable)
    }

    fn turn_ended(&mut self, task: usize, end: TurnEnd<'_>) {
        if self.world.end_turn(task, end) {
            self.end();
        }
    }

    /// Looks for lost wake-ups; then moves time on, if no task is enabled. With no timer, nothing will ever happen
    /// again.
    fn idle(&mut self, tasks: &Tasks<'_>) -> Idle {
        if !self.has_failed() {
            let at_rest = self.enabled.is_empty();
            let lost = any_could_go_on(tasks, at_rest);
            self.has_looked = true;
            if !lost && (!at_rest || self.advance()) {
                return Idle::Again;
            }
            let report = Report::new(look(tasks), &self.world);
            self.cause = Some(match lost {
                true => Cause::LostWakeup(report),
                false if report.is_open() => Cause::WaitsOutside(report),
                false => Cause::Deadlock(report),
            });
        }
        self.end();
        Idle::Stop
    }
}
