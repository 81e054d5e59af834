//! The scheduler: push, pop and idle are all there is to a simulation.

use std::collections::VecDeque;
use std::mem;
use std::sync::Arc;

use gossamer_core::context::simulated;
use gossamer_core::moment::{Moment, nanos_of};
use gossamer_core::shard::Shard;
use gossamer_sched::{Idle, Reason, Runnable, Scheduler, Tasks, TurnEnd};
use gossamer_time::timers::runner;

use crate::choose::{Choice, Oracle};
use crate::failure::Cause;
use crate::histories::{By, Histories};
use crate::look::{any_could_go_on, look};
use crate::relay::Threads;
use crate::report::Report;
use crate::settings::Sim;
use crate::trace::{Trace, TraceEvent};
use crate::world::World;

/// There is room for so many choices and actors at first, as small programs are run very often.
const CHOICES: usize = 32;
const ACTORS: usize = 8;

/// In place of the address of a task whose operations are not held back: it has yielded.
const NOT_HELD_BACK: usize = 0;

/// Runs one task after the other, as its oracle chooses.
#[derive(Debug)]
pub struct SimScheduler {
    world: World,
    oracle: Oracle,
    /// The oracle's choices: one a step, unless operations alone are chosen among.
    choices: Vec<Choice>,
    steps: usize,
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
    /// Where operations alone are chosen among: tasks on their way to the next one. They run first, in order.
    on_their_way: VecDeque<OnItsWay>,
    /// And the tasks to choose among, by number, with the address of each, or [`NOT_HELD_BACK`].
    actors: Vec<(usize, usize)>,
    only_operations: bool,
    /// What the tasks have behind them, if states are told apart.
    histories: Option<Histories>,
    /// Who makes those runnable that are pushed.
    by: By,
    /// Where a run was to stop.
    reached: Option<Reached>,
    /// The actor that was chosen last, and how often another one was though that one could have gone on.
    last: Option<usize>,
    preemptions: usize,
    /// Among how many the task was chosen that is first on its way.
    chosen_among: usize,
    steps_max: usize,
    panics_expected: bool,
    /// Whether lost wake-ups are looked for before each step.
    each_step: bool,
    /// Whether that has been done for the next one.
    has_looked: bool,
    /// The run is over: what is left is handed out without a choice.
    over: bool,
}

/// A task on its way to its next operation.
#[derive(Debug)]
struct OnItsWay {
    task: usize,
    runnable: Runnable,
    /// It is there, and polls once more to be held back.
    comes: bool,
}

/// Where a run was that was to stop at a choice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reached {
    /// Among how many it has to choose.
    pub among: usize,
    /// How many operations have taken effect.
    pub operations: usize,
    /// The state: equal after the same operations in the same order at each object. A hash.
    pub state: u64,
    /// How often another task was chosen than before, though that one could have gone on.
    pub preemptions: usize,
}

/// All that is known of a run.
pub(crate) struct Ended {
    pub(crate) oracle: Oracle,
    pub(crate) choices: Vec<Choice>,
    pub(crate) preemptions: usize,
    pub(crate) reached: Option<Reached>,
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
            choices: Vec::with_capacity(CHOICES),
            steps: 0,
            shard: None,
            cause: None,
            failed_at: 0,
            enabled: Vec::new(),
            ended: Vec::new(),
            on_their_way: VecDeque::with_capacity(ACTORS),
            actors: Vec::with_capacity(ACTORS),
            only_operations: sim.only_operations,
            histories: None,
            by: By::Choice,
            reached: None,
            last: None,
            preemptions: 0,
            chosen_among: 1,
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
        let differs = matches!(self.cause, Some(Cause::NonDeterministic { .. }));
        let is_whole = !self.has_failed() || self.oracle.follows() && !differs;
        if let (true, Some(choice)) = (is_whole, self.oracle.left_over(steps)) {
            self.cause = Some(Cause::NonDeterministic {
                step: steps,
                recorded: Some(choice.enabled),
                found: None,
            });
        }
        Ended {
            oracle: mem::replace(&mut self.oracle, Oracle::Recorded(Vec::new())),
            choices: mem::take(&mut self.choices),
            preemptions: self.preemptions,
            reached: self.reached.take(),
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
        self.cause.is_some() || self.reached.is_some()
    }

    /// The virtual time since the run began, in nanoseconds.
    fn now(&self) -> u64 {
        let now = self.shard.and_then(|(shard, began)| {
            let now = runner::virtual_now(shard)?;
            Some(nanos_of(now.since(began)))
        });
        now.unwrap_or_default()
    }

    /// Tells states apart from now on, for those who ask where a run has come.
    pub(crate) fn tell_states_apart(&mut self) {
        self.histories = Some(Histories::default());
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
        self.by = By::Time(nanos_of(to));
        runner::fire_due(shard, now);
        true
    }

    /// Virtual time has begun, at the shard of the simulation.
    pub(crate) fn begin(&mut self, shard: &'static Shard, began: Moment) {
        self.shard = Some((shard, began));
    }

    /// Counts a step; `false` gives the run up.
    fn count_step(&mut self) -> bool {
        if self.steps == self.steps_max {
            self.cause = Some(Cause::StepLimit { steps: self.steps });
            return false;
        }
        self.steps += 1;
        true
    }

    /// The next actor's index among so many; `None` gives the run up.
    fn choose(&mut self, enabled: usize) -> Option<usize> {
        let step = self.choices.len();
        if let Some(then) = self.oracle.is_beyond(step) {
            return self.choose_beyond(enabled, then);
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

/// Where operations alone are chosen among.
impl SimScheduler {
    /// The next task that is on its way to an operation.
    fn next_on_its_way(&mut self) -> Option<Runnable> {
        if self.on_their_way.is_empty() || self.has_failed() || !self.count_step() {
            return None;
        }
        let OnItsWay {
            task,
            runnable,
            comes,
        } = self.on_their_way.pop_front()?;
        self.by = By::Task(task);
        let enabled = mem::replace(&mut self.chosen_among, 1);
        let address = runnable.id().address();
        // That it comes to an operation is the end of its last turn.
        match comes {
            true => self.world.go_on_with_turn(task, address),
            false => self.world.begin_turn(task, address, enabled),
        }
        Some(runnable)
    }

    /// Chooses the task whose operation takes effect next, and has it go on; `false` if there is none, or the run is given
    /// up.
    fn choose_operation(&mut self) -> bool {
        self.actors.clear();
        simulated::able_tasks(&mut self.actors);
        let yielded = self.enabled.iter().map(|(task, _)| (*task, NOT_HELD_BACK));
        self.actors.extend(yielded);
        if !self.actors.is_sorted() {
            self.actors.sort_unstable();
        }
        self.actors.dedup_by_key(|(task, _)| *task);
        let chosen = match self.actors.len() {
            0 => return false,
            1 => Some(0),
            several => self.choose(several),
        };
        let Some(chosen) = chosen else {
            return false;
        };
        self.chosen_among = self.actors.len();
        let (task, address) = self.actors[chosen];
        self.by = By::Choice;
        self.note_operation(task, address);
        // One that has yielded has asked for it.
        let goes = |last, (task, at)| task == last && at != NOT_HELD_BACK;
        let could_go_on = |last| self.actors.iter().any(|actor| goes(last, *actor));
        let is_preempted = |last| last != task && could_go_on(last);
        self.preemptions += usize::from(self.last.is_some_and(is_preempted));
        self.last = Some(task);
        if address != NOT_HELD_BACK {
            return simulated::let_begin((task, address), false);
        }
        let at = self.enabled.iter().position(|(other, _)| *other == task);
        let (task, runnable) = self.enabled.remove(at.expect("it is one of them"));
        let comes = false;
        self.on_their_way.push_back(OnItsWay {
            task,
            runnable,
            comes,
        });
        true
    }

    /// Beyond the choices that were given: stops, or goes on by what the actors have behind them, which are the same ones in
    /// equal states, whatever their numbers.
    fn choose_beyond(&mut self, enabled: usize, then: Option<u64>) -> Option<usize> {
        let now = self.now();
        let histories = self.histories.as_ref()?;
        let Some(seed) = then else {
            let (operations, state) = histories.state(now);
            self.reached = Some(Reached {
                among: enabled,
                operations,
                state,
                preemptions: self.preemptions,
            });
            return None;
        };
        let order = |at: &usize| histories.rank(self.actors[*at].0, seed);
        let chosen = (0..enabled).min_by_key(order)?;
        self.choices.push(Choice { enabled, chosen });
        Some(chosen)
    }

    /// The operations of this task that are held back take effect; or it has yielded.
    fn note_operation(&mut self, task: usize, address: usize) {
        if self.histories.is_none() {
            return;
        }
        let now = self.now();
        if let Some(histories) = &mut self.histories {
            let mut objects = Vec::new();
            if address != NOT_HELD_BACK {
                simulated::objects_of(address, &mut objects);
            }
            histories.operate(task, &objects, now);
        }
    }

    /// The number of a task that was made runnable.
    fn number(&mut self, task: &Runnable) -> usize {
        let tasks = self.world.tasks();
        let number = self.world.number(task);
        if let Some(histories) = &mut self.histories {
            histories.wake(number, self.by, number == tasks);
        }
        number
    }

    /// No operation could take effect, and time does not move either: all of them begin to wait, so that it is seen who
    /// waits for what. `false`: all do.
    fn let_all_begin(&mut self) -> bool {
        self.by = By::Choice;
        let mut any = false;
        for task in simulated::held_back_tasks() {
            any |= simulated::let_begin(task, true);
        }
        any
    }
}

// Nobody builds a runtime with it.
#[diagnostic::do_not_recommend]
impl Scheduler for SimScheduler {
    const IS_SIMULATED: bool = true;

    fn push(&mut self, task: Runnable, reason: Reason) {
        if task.is_over() {
            self.ended.push(task);
            return;
        }
        let comes = self.only_operations && reason == Reason::Yielded && simulated::take_comes();
        if !comes && (!self.only_operations || reason == Reason::Yielded) {
            self.enabled.push((self.world.number(&task), task));
            return;
        }
        let number = match comes {
            true => self.world.chosen(),
            false => self.number(&task),
        };
        self.on_their_way.push_back(OnItsWay {
            task: number,
            runnable: task,
            comes,
        });
    }

    fn pop(&mut self) -> Option<Runnable> {
        if let Some(task) = self.ended.pop() {
            return Some(task);
        }
        if self.over {
            let left = self.on_their_way.pop_back().map(|left| left.runnable);
            return left.or_else(|| self.enabled.pop().map(|(_, task)| task));
        }
        if self.only_operations {
            return self.next_on_its_way();
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
        if !self.count_step() {
            return None;
        }
        let chosen = self.choose(enabled)?;
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
        if self.only_operations && !self.has_failed() {
            let looks = self.each_step && any_could_go_on(tasks, false);
            if !looks && self.choose_operation() {
                return Idle::Again;
            }
        }
        if !self.has_failed() {
            let at_rest = self.enabled.is_empty();
            let lost = any_could_go_on(tasks, at_rest);
            self.has_looked = true;
            if !lost && (!at_rest || self.advance() || self.let_all_begin()) {
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
