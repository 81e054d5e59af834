//! All outcomes of a program without all of its schedules: a depth-first search with sleep sets (Godefroid,
//! *Partial-Order Methods for the Verification of Concurrent Systems*, 1996).
//!
//! Two steps that do not depend on each other lead to the same state in either order, so one order is enough. When an
//! actor's step has been explored from a state, it sleeps in those that are explored after it, until a step comes that
//! depends on its own; where all actors sleep, each way on has been seen in another order, and the run is cut off.
//!
//! # What a step is, and what depends on it
//! A step is from one choice of an actor to the next, whether there were others or not. Before it is run it is known at
//! which objects the actor has operations that are held back; a [`Footprint`] is what is seen of it as it is run. Two steps
//! depend on each other if they
//! * are at one object, whether the operations there could go or not,
//! * have a task in common: the actor, or one that also had a turn, as it was woken or aborted,
//! * are one in which other tasks had a turn, and one in which a task ended: those may have begun to wait for that end, or
//! * if one of them [concerns all](Footprint::concerns_all): an operation begins though it may wait, as others notice that
//!   (at a barrier, for a notification); a task is spawned, as that numbers them; time moves; or the run ends.
//!
//! A sleeper whose operations have changed, or could begin and cannot any more, is not the same step, and is awake.
//!
//! Objects are numbered in the order in which a run comes to them, as their addresses may be others in the next one.

use gossamer_core::context::simulated;
use gossamer_core::waiter::Begins;
use rustc_hash::FxHashMap;

use crate::choice::Choice;

/// The address of a task, and its number.
type Actor = (usize, usize);

/// A search, at one of its runs.
#[derive(Debug, Default)]
pub(crate) struct Reduction {
    /// The choices of the next run; what follows them is new.
    path: Vec<Node>,
    /// How many of them the run has made.
    at: usize,
    /// The last one that was a step.
    step: Option<usize>,
    /// The objects of this run, by address.
    objects: FxHashMap<usize, usize>,
    cut: bool,
}

#[derive(Debug)]
enum Node {
    Step(Step),
    Draw(Choice),
}

#[derive(Debug)]
struct Step {
    actors: Vec<Next>,
    chosen: usize,
    /// Of the chosen one, in all runs so far.
    footprint: Footprint,
    /// Asleep from the first.
    sleeping: Vec<Sleeper>,
    /// Chosen before.
    explored: Vec<Sleeper>,
}

/// What an actor is about to do: the objects of its operations, and what comes of it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Next {
    task: usize,
    operations: Vec<(usize, Begins)>,
}

/// What was seen of a step.
#[derive(Debug, Default, Clone)]
struct Footprint {
    /// Tasks that had a turn beside the actor.
    others: Vec<usize>,
    /// A task has ended.
    ends: bool,
    concerns_all: bool,
}

#[derive(Debug, Clone)]
struct Sleeper {
    next: Next,
    footprint: Footprint,
}

impl Sleeper {
    /// Whether its step and this one must be explored in both orders.
    fn depends_on(&self, next: &Next, footprint: &Footprint) -> bool {
        let (own, its) = (&self.footprint, footprint);
        let is_at = |object: usize| self.next.operations.iter().any(|(at, _)| *at == object);
        let meets = next.operations.iter().any(|(object, _)| is_at(*object));
        let concerns_all =
            |next: &Next, footprint: &Footprint| footprint.concerns_all || next.is_noticed();
        let is_own = |task: &usize| *task == self.next.task || own.others.contains(task);
        meets && !gossamer_core::mutant!("sleep_sets_forget_objects")
            || concerns_all(&self.next, own)
            || concerns_all(next, its)
            || is_own(&next.task)
            || its.others.iter().any(is_own)
            || own.ends && !its.others.is_empty()
            || its.ends && !own.others.is_empty()
    }
}

impl Next {
    /// Whether it may begin to wait, which others notice.
    fn is_noticed(&self) -> bool {
        let mut operations = self.operations.iter();
        operations.any(|(_, begins)| *begins == Begins::ToBeNoticed)
    }
}

impl Reduction {
    /// An actor is to be chosen. `None`: all sleep.
    ///
    /// # Errors
    /// There were others in this place before: so many.
    pub(crate) fn arrive(&mut self, actors: &[Actor]) -> Result<Option<usize>, usize> {
        let actors: Vec<_> = actors.iter().map(|actor| self.next_of(*actor)).collect();
        let at = self.at;
        let Some(node) = self.path.get(at) else {
            let sleeping = self.sleepers(&actors);
            let is_awake = |next: &Next| sleeping.iter().all(|sleeper| sleeper.next != *next);
            let Some(chosen) = actors.iter().position(is_awake) else {
                self.cut = true;
                return Ok(None);
            };
            self.path.push(Node::Step(Step {
                actors,
                chosen,
                footprint: Footprint::default(),
                sleeping,
                explored: Vec::new(),
            }));
            self.step = Some(at);
            self.at += 1;
            return Ok(Some(chosen));
        };
        match node {
            Node::Step(step) if step.actors == actors => {
                self.step = Some(at);
                self.at += 1;
                Ok(Some(step.chosen))
            }
            other => Err(other.choice().enabled),
        }
    }

    fn next_of(&mut self, (task, address): Actor) -> Next {
        let mut operations = Vec::new();
        simulated::held_by(address, &mut operations);
        for (object, _) in &mut operations {
            let next = self.objects.len();
            *object = *self.objects.entry(*object).or_insert(next);
        }
        Next { task, operations }
    }

    /// Those of these actors that sleep after the last step.
    fn sleepers(&self, actors: &[Next]) -> Vec<Sleeper> {
        let Some(Node::Step(step)) = self.step.map(|at| &self.path[at]) else {
            return Vec::new();
        };
        let (chosen, footprint) = (&step.actors[step.chosen], &step.footprint);
        let sleeps = |sleeper: &&Sleeper| {
            actors.contains(&sleeper.next) && !sleeper.depends_on(chosen, footprint)
        };
        let asleep = step.sleeping.iter().chain(&step.explored);
        asleep.filter(sleeps).cloned().collect()
    }

    /// The task whose turn it is draws one of so many.
    ///
    /// # Errors
    /// There was something else in this place before: of so many.
    pub(crate) fn draw(&mut self, enabled: usize) -> Result<usize, usize> {
        let at = self.at;
        self.at += 1;
        match self.path.get(at) {
            None => {
                self.path.push(Node::Draw(Choice { enabled, chosen: 0 }));
                Ok(0)
            }
            Some(Node::Draw(choice)) if choice.enabled == enabled => Ok(choice.chosen),
            Some(other) => Err(other.choice().enabled),
        }
    }

    /// What is seen of the step that goes on.
    fn footprint(&mut self) -> Option<(usize, &mut Footprint)> {
        match self.step.map(|at| &mut self.path[at]) {
            Some(Node::Step(step)) => Some((step.actors[step.chosen].task, &mut step.footprint)),
            _ => None,
        }
    }

    /// A task has a turn.
    pub(crate) fn run(&mut self, task: usize) {
        if let Some((actor, footprint)) = self.footprint()
            && task != actor
            && !footprint.others.contains(&task)
        {
            footprint.others.push(task);
        }
    }

    /// A task has ended.
    pub(crate) fn end_task(&mut self) {
        if let Some((_, footprint)) = self.footprint() {
            footprint.ends = true;
        }
    }

    /// The step does what every other one may depend on.
    pub(crate) fn concern_all(&mut self) {
        if let Some((_, footprint)) = self.footprint() {
            footprint.concerns_all = true;
        }
    }

    /// The choice that the run has not come to, if there is one.
    pub(crate) fn left_over(&self) -> Option<Choice> {
        self.path.get(self.at).map(Node::choice)
    }

    /// Goes to the next run; `false` when there is none.
    pub(crate) fn next_run(&mut self) -> bool {
        if !self.cut {
            self.concern_all();
        }
        (self.at, self.step, self.cut) = (0, None, false);
        self.objects.clear();
        while let Some(last) = self.path.last_mut() {
            if last.next_alternative() {
                return true;
            }
            self.path.pop();
        }
        false
    }
}

impl Node {
    fn choice(&self) -> Choice {
        match self {
            Self::Draw(choice) => *choice,
            Self::Step(step) => Choice {
                enabled: step.actors.len(),
                chosen: step.chosen,
            },
        }
    }

    /// Takes the next alternative, if there is one.
    fn next_alternative(&mut self) -> bool {
        match self {
            Self::Draw(choice) => {
                choice.chosen += 1;
                choice.chosen < choice.enabled
            }
            Self::Step(step) => {
                step.explored.push(Sleeper {
                    next: step.actors[step.chosen].clone(),
                    footprint: std::mem::take(&mut step.footprint),
                });
                let sleeping = &step.sleeping;
                let is_awake = |at: &usize| {
                    let next = &step.actors[*at];
                    sleeping.iter().all(|sleeper| sleeper.next != *next)
                };
                let next = (step.chosen + 1..step.actors.len()).find(is_awake);
                step.chosen = next.unwrap_or(step.chosen);
                next.is_some()
            }
        }
    }
}
