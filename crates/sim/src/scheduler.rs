//! The scheduler: push, pop and idle are all there is to a simulation.

use std::collections::VecDeque;
use std::mem;
use std::sync::Arc;

use gossamer_core::context::simulated;
use gossamer_core::moment::{Moment, nanos_of};
use gossamer_core::shard::Shard;
use gossamer_sched::{Idle, Reason, Runnable, Scheduler, Tasks, TurnEnd};
use gossamer_time::timers::runner;

use crate::choose::Oracle;
use crate::chooser::{self, Actor, Chooser, Chosen, NOT_HELD_BACK};
use crate::failure::Cause;
use crate::histories::By;
use crate::look::{any_could_go_on, look};
use crate::reduction::Reduction;
use crate::relay::Threads;
use crate::report::Report;
use crate::settings::Sim;
use crate::trace::{Trace, TraceEvent};
use crate::world::World;

/// There is room for so many actors at first, as small programs are run very often.
const ACTORS: usize = 8;

/// Runs one task after the other, as its oracle chooses.
#[derive(Debug)]
pub struct SimScheduler {
    world: World,
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
    on_their_way: VecDeque<(usize, Runnable)>,
    /// The task that had its turn last has come to an operation, and polls once more to be held back.
    comes: Option<Runnable>,
    /// And the tasks to choose among, by number.
    actors: Vec<Actor>,
    only_operations: bool,
    /// Whether states are told apart, by what the tasks have behind them.
    tells_states: bool,
    /// Whether the chooser searches, and is told what happens.
    searches: bool,
    /// Who makes those runnable that are pushed.
    by: By,
    /// The actor that was chosen last.
    last: Option<usize>,
    /// The chooser has stopped the run.
    stopped: bool,
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

/// All that is known of a run.
pub(crate) struct Ended {
    pub(crate) chosen: Box<Chosen>,
    pub(crate) trace: Trace,
    /// Why it failed, if it has.
    pub(crate) cause: Option<Cause>,
    /// How many events had happened by then: what follows is the dropping of what is left.
    pub(crate) failed_at: usize,
}

impl SimScheduler {
    /// One that asks the [chooser](crate::chooser) of the thread that runs it.
    pub(crate) fn new(sim: Sim, threads: Arc<Threads>) -> Self {
        Self {
            world: World::new(threads, sim.is_traced),
            steps: 0,
            shard: None,
            cause: None,
            failed_at: 0,
            enabled: Vec::new(),
            ended: Vec::new(),
            on_their_way: VecDeque::with_capacity(ACTORS),
            comes: None,
            actors: Vec::with_capacity(ACTORS),
            only_operations: sim.only_operations,
            tells_states: false,
            searches: false,
            by: By::Choice,
            last: None,
            stopped: false,
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
        chooser::with(Chooser::end);
        self.failed_at = self.world.trace.events().len();
    }

    /// What is known of the run, whose tasks are gone; and whose root panicked, if there is a message.
    pub(crate) fn take_ended(&mut self, root_panicked: Option<String>) -> Ended {
        self.world.end();
        let mut chosen = chooser::take_chosen().expect("it is there until the run has ended");
        if let Some(differs) = chosen.differs.take() {
            self.cause = Some(Cause::NonDeterministic {
                step: differs.step,
                recorded: differs.recorded,
                found: Some(differs.found),
            });
        }
        if chosen.draws_on {
            self.cause = Some(Cause::StepLimit {
                steps: chosen.drawn,
            });
        }
        if let (None, Some(message)) = (&self.cause, root_panicked) {
            self.cause = Some(Cause::Panicked { task: 0, message });
        }
        let steps = chosen.choices.len();
        let differs = matches!(self.cause, Some(Cause::NonDeterministic { .. }));
        let is_whole = !self.has_failed() || chosen.oracle.follows() && !differs;
        if let (true, Some(choice)) = (
            is_whole && chosen.reached.is_none() && !chosen.is_cut,
            chosen.oracle.left_over(steps),
        ) {
            self.cause = Some(Cause::NonDeterministic {
                step: steps,
                recorded: Some(choice.enabled),
                found: None,
            });
        }
        Ended {
            chosen,
            trace: mem::take(&mut self.world.trace),
            cause: self.cause.take(),
            failed_at: self.failed_at,
        }
    }

    #[inline(never)]
    fn end_turn(&mut self, task: usize, end: TurnEnd<'_>) {
        match end {
            TurnEnd::Pending => {}
            TurnEnd::Panicked(payload) if chooser::is_stop(payload) => {
                self.stopped = true;
                chooser::with(Chooser::end);
            }
            _ => self.tell_search(Reduction::end_task),
        }
        if self.world.end_turn(task, end) {
            self.end();
        }
    }

    fn has_failed(&mut self) -> bool {
        if self.cause.is_none()
            && !self.panics_expected
            && let Some((task, message)) = self.world.panicked.clone()
        {
            self.cause = Some(Cause::Panicked { task, message });
        }
        self.cause.is_some() || self.stopped
    }

    /// The virtual time since the run began, in nanoseconds.
    fn now(&self) -> u64 {
        let now = self.shard.and_then(|(shard, began)| {
            let now = runner::virtual_now(shard)?;
            Some(nanos_of(now.since(began)))
        });
        now.unwrap_or_default()
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
        self.tell_search(Reduction::concern_all);
        self.by = By::Time(nanos_of(to));
        runner::fire_due(shard, now);
        true
    }

    /// A run begins, with this oracle; and virtual time has begun, at the shard of the simulation.
    pub(crate) fn begin(&mut self, oracle: &Oracle, shard: &'static Shard, began: Moment) {
        self.world.begin();
        self.enabled.clear();
        self.ended.clear();
        self.on_their_way.clear();
        self.shard = Some((shard, began));
        self.tells_states = oracle.tells_states();
        self.searches = matches!(oracle, Oracle::Reduced(_));
        (self.comes, self.cause, self.last, self.by) = (None, None, None, By::Choice);
        (self.steps, self.failed_at, self.chosen_among) = (0, 0, 1);
        (self.stopped, self.has_looked, self.over) = (false, false, false);
    }

    /// Tells the chooser's search, if it does one.
    fn tell_search(&self, tell: impl FnOnce(&mut Reduction)) {
        if self.searches {
            chooser::with(|chooser| chooser.search().map(tell));
        }
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

    /// The next task's index among so many; `None` gives the run up.
    fn choose(&mut self, enabled: usize) -> Option<usize> {
        let chosen = chooser::with(|chooser| chooser.choose(enabled));
        self.stopped |= chosen.is_none();
        chosen
    }

    /// The next actor's index among several; `None` gives the run up.
    fn choose_actor(&mut self) -> Option<usize> {
        let (actors, last) = (&self.actors, self.last);
        // One that has yielded has asked for it.
        let goes = |last, (task, at)| task == last && at != NOT_HELD_BACK;
        let could_go_on = |last| actors.iter().any(|actor| goes(last, *actor));
        let chosen = chooser::with(|chooser| {
            let chosen = chooser.choose_actor(actors, || self.now())?;
            let is_preempted = |last| last != actors[chosen].0 && could_go_on(last);
            chooser.preempt(last.is_some_and(is_preempted));
            Some(chosen)
        });
        self.stopped |= chosen.is_none();
        chosen
    }
}

/// Where operations alone are chosen among.
impl SimScheduler {
    /// The next task that is on its way to an operation.
    #[inline(always)]
    fn next_on_its_way(&mut self) -> Option<Runnable> {
        let is_any = self.comes.is_some() || !self.on_their_way.is_empty();
        if !is_any || self.has_failed() || !self.count_step() {
            return None;
        }
        if let Some(comes) = self.comes.take() {
            return Some(comes);
        }
        let (task, runnable) = self.on_their_way.pop_front()?;
        self.by = By::Task(task);
        let enabled = mem::replace(&mut self.chosen_among, 1);
        let address = runnable.id().address();
        self.world.begin_turn(task, address, enabled);
        self.tell_search(|search| search.run(task));
        Some(runnable)
    }

    /// Chooses the task whose operation takes effect next, and has it go on; `false` if there is none, or the run is given
    /// up.
    fn choose_operation(&mut self) -> bool {
        self.actors.clear();
        simulated::able_tasks(&mut self.actors);
        if !self.enabled.is_empty() {
            let yielded = self.enabled.iter().map(|(task, _)| (*task, NOT_HELD_BACK));
            self.actors.extend(yielded);
            self.actors.sort_unstable();
            self.actors.dedup_by_key(|(task, _)| *task);
        }
        let chosen = match self.actors.len() {
            0 => return false,
            1 if !self.searches => Some(0),
            _ => self.choose_actor(),
        };
        let Some(chosen) = chosen else {
            return false;
        };
        self.chosen_among = self.actors.len();
        let (task, address) = self.actors[chosen];
        self.by = By::Choice;
        self.note_operation(task, address);
        self.last = Some(task);
        if address != NOT_HELD_BACK {
            return simulated::let_begin((task, address), false);
        }
        let at = self.enabled.iter().position(|(other, _)| *other == task);
        let yielded = self.enabled.remove(at.expect("it is one of them"));
        self.on_their_way.push_back(yielded);
        true
    }

    /// The operations of this task that are held back take effect; or it has yielded.
    fn note_operation(&mut self, task: usize, address: usize) {
        if !self.tells_states {
            return;
        }
        let mut objects = Vec::new();
        if address != NOT_HELD_BACK {
            simulated::objects_of(address, &mut objects);
        }
        let now = self.now();
        chooser::with(|chooser| chooser.histories().operate(task, &objects, now));
    }

    /// The number of a task that was made runnable.
    fn number(&mut self, task: &Runnable) -> usize {
        let tasks = self.world.tasks();
        let number = self.world.number(task);
        if self.tells_states || self.searches {
            self.tell_of_wake(number, number == tasks);
        }
        number
    }

    /// A task was made runnable; `is_new`, for the first time.
    #[cold]
    fn tell_of_wake(&self, number: usize, is_new: bool) {
        if self.tells_states {
            chooser::with(|chooser| chooser.histories().wake(number, self.by, is_new));
        }
        if is_new {
            self.tell_search(Reduction::concern_all);
        }
    }

    /// No operation could take effect, and time does not move either: all of them begin to wait, so that it is seen who
    /// waits for what. `false`: all do.
    fn let_all_begin(&mut self) -> bool {
        self.by = By::Choice;
        self.tell_search(Reduction::concern_all);
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

    #[inline(always)]
    fn push(&mut self, task: Runnable, reason: Reason) {
        if task.is_over() {
            self.ended.push(task);
            return;
        }
        if !self.only_operations {
            self.enabled.push((self.world.number(&task), task));
        } else if reason == Reason::Woken {
            let number = self.number(&task);
            self.on_their_way.push_back((number, task));
        } else if simulated::take_comes() {
            self.comes = Some(task);
        } else {
            self.enabled.push((self.world.number(&task), task));
        }
    }

    #[inline(always)]
    fn pop(&mut self) -> Option<Runnable> {
        if let Some(task) = self.ended.pop() {
            return Some(task);
        }
        if self.over {
            let left = self.on_their_way.pop_back().or_else(|| self.enabled.pop());
            return left.map(|(_, task)| task).or_else(|| self.comes.take());
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

    #[inline(always)]
    fn turn_ended(&mut self, task: usize, end: TurnEnd<'_>) {
        // As most turns end.
        if !matches!(end, TurnEnd::Pending) || self.world.is_first_turn() {
            self.end_turn(task, end);
        }
    }

    /// Where operations alone are chosen among, the next one is: nobody has to look around for that.
    #[inline(always)]
    fn goes_on(&mut self) -> bool {
        self.only_operations && !self.each_step && !self.has_failed() && self.choose_operation()
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
