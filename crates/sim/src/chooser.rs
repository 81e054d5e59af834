//! What chooses in a run: the oracle, what it has chosen so far, and what the tasks have behind them.
//!
//! The scheduler asks it between two turns, and a task that draws asks in the midst of its own, where the scheduler is not
//! to be had. So it lies apart, as the thread's that runs: a simulated thread gets it with the baton (`relay.rs`).
//!
//! It may stop the run: at the end of a recorded prefix, or where the run is not as recorded. A task that draws unwinds
//! then, with a payload by which the scheduler knows it ([`is_stop`]).

use std::any::Any;
use std::cell::RefCell;
use std::fmt;
use std::panic::resume_unwind;
use std::sync::Arc;

use gossamer_core::platform::thread_local;

use crate::choice::Choice;
use crate::choose::Oracle;
use crate::histories::Histories;
use crate::reduction::Reduction;

/// There is room for so many choices at first, as small programs are run very often.
const CHOICES: usize = 32;

/// A task to choose among: its number, and the address of the task, or [`NOT_HELD_BACK`].
pub(crate) type Actor = (usize, usize);

/// In place of the address of a task whose operations are not held back: it has yielded.
pub(crate) const NOT_HELD_BACK: usize = 0;

/// What a draw says of its alternatives, if they are not alike, to those who know what it means.
pub type Weights = Arc<dyn Any + Send + Sync>;

/// A choice that was a draw of alternatives that are not alike.
#[doc(hidden)]
#[derive(Clone)]
pub struct Draw {
    /// Its index in the choices.
    pub at: usize,
    /// Its alternatives.
    pub weights: Weights,
}

impl fmt::Debug for Draw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { at, .. } = self;
        f.debug_struct("Draw")
            .field("at", at)
            .finish_non_exhaustive()
    }
}

/// Where a run was that was to stop at a choice.
#[derive(Clone)]
pub struct Reached {
    /// Among how many it has to choose.
    pub among: usize,
    /// It is a draw, of alternatives that are not alike.
    pub weights: Option<Weights>,
    /// How many operations have taken effect, and draws were made.
    pub operations: usize,
    /// The state: equal after the same operations in the same order at each object. A hash.
    pub state: u64,
    /// How often another task was chosen than before, though that one could have gone on.
    pub preemptions: usize,
}

impl fmt::Debug for Reached {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reached")
            .field("among", &self.among)
            .field("operations", &self.operations)
            .field("state", &self.state)
            .finish_non_exhaustive()
    }
}

/// What chooses in a run.
#[derive(Debug)]
pub(crate) struct Chooser {
    // Boxed, as it is handed on now and then.
    chosen: Box<Chosen>,
    /// What the tasks have behind them, if states are told apart.
    histories: Option<Box<Histories>>,
    /// Whether the oracle chooses by what the actors are.
    looks_at_actors: bool,
    /// So many draws at most, as there are steps.
    most_draws: usize,
    /// The run is over: what draws now gets the first alternative.
    over: bool,
}

/// What it has chosen, and why it has stopped the run, if it has.
#[derive(Debug)]
pub(crate) struct Chosen {
    pub(crate) oracle: Oracle,
    /// One a step, unless operations alone are chosen among; and one for each draw.
    pub(crate) choices: Vec<Choice>,
    pub(crate) draws: Vec<Draw>,
    /// How many of the choices were draws.
    pub(crate) drawn: usize,
    /// How often another actor was chosen than before, though that one could have gone on.
    pub(crate) preemptions: usize,
    /// Where the run was to stop.
    pub(crate) reached: Option<Reached>,
    /// The run was cut off, as all actors sleep.
    pub(crate) is_cut: bool,
    /// The run drew as often as it may, and once more.
    pub(crate) draws_on: bool,
    /// Where the run is not as recorded.
    pub(crate) differs: Option<Differs>,
}

/// A step at which a run is not as recorded: how many alternatives it had then, if there was one, and now.
#[derive(Debug)]
pub(crate) struct Differs {
    pub(crate) step: usize,
    pub(crate) recorded: Option<usize>,
    pub(crate) found: usize,
}

thread_local! {
    static CHOOSER: RefCell<Option<Chooser>> = const { RefCell::new(None) };
}

/// Calls `use_it` with the chooser of the simulation that this thread runs.
#[inline(always)]
pub(crate) fn with<R>(use_it: impl FnOnce(&mut Chooser) -> R) -> R {
    CHOOSER.with(|chooser| {
        let mut chooser = chooser.borrow_mut();
        use_it(chooser.as_mut().expect("a simulation runs here"))
    })
}

impl Chosen {
    /// Nothing so far, and this oracle.
    pub(crate) fn nothing(oracle: Oracle) -> Box<Self> {
        Box::new(Self {
            oracle,
            choices: Vec::with_capacity(CHOICES),
            draws: Vec::new(),
            drawn: 0,
            preemptions: 0,
            reached: None,
            is_cut: false,
            draws_on: false,
            differs: None,
        })
    }

    /// Forgets what was chosen.
    pub(crate) fn clear(&mut self) {
        self.choices.clear();
        self.draws.clear();
        (self.drawn, self.preemptions) = (0, 0);
        (self.reached, self.differs) = (None, None);
        (self.is_cut, self.draws_on) = (false, false);
    }
}

/// A run begins, with nothing chosen.
pub(crate) fn begin(chosen: Box<Chosen>, most_draws: usize) {
    put(Some(Chooser {
        histories: chosen.oracle.tells_states().then(Box::default),
        looks_at_actors: chosen.oracle.looks_at_actors(),
        chosen,
        most_draws,
        over: false,
    }));
}

/// A run has ended: what was chosen.
pub(crate) fn take_chosen() -> Option<Box<Chosen>> {
    take().map(|chooser| chooser.chosen)
}

/// Takes the chooser from this thread, which does not run any more.
pub(crate) fn take() -> Option<Chooser> {
    CHOOSER.with(|chooser| chooser.borrow_mut().take())
}

/// The current thread runs from now on.
pub(crate) fn put(chooser: Option<Chooser>) {
    let former = CHOOSER.with(|own| own.replace(chooser));
    drop(former);
}

impl Chooser {
    /// The run is over.
    pub(crate) fn end(&mut self) {
        self.over = true;
    }

    /// What the tasks have behind them, if states are told apart.
    ///
    /// # Panics
    /// They are not.
    pub(crate) fn histories(&mut self) -> &mut Histories {
        self.histories.as_mut().expect("states are told apart")
    }

    fn has_stopped(&self) -> bool {
        let chosen = &self.chosen;
        chosen.reached.is_some() || chosen.differs.is_some() || chosen.is_cut || chosen.draws_on
    }

    /// An index among so many; `None` gives the run up.
    pub(crate) fn choose(&mut self, among: usize) -> Option<usize> {
        self.choose_or(among, Oracle::by_chance)
    }

    /// An index among so many, at random by `by_chance`.
    #[inline]
    fn choose_or(
        &mut self,
        among: usize,
        by_chance: impl FnOnce(&mut fastrand::Rng, usize) -> usize,
    ) -> Option<usize> {
        if self.has_stopped() {
            return None;
        }
        let chosen = &mut self.chosen;
        let step = chosen.choices.len();
        match chosen.oracle.choose(step, among, by_chance) {
            Ok(index) => {
                self.take_choice(among, index);
                Some(index)
            }
            Err(recorded) => {
                self.differ(step, recorded, among);
                None
            }
        }
    }

    fn differ(&mut self, step: usize, recorded: Option<usize>, found: usize) {
        self.chosen.differs = Some(Differs {
            step,
            recorded,
            found,
        });
    }

    /// The search that leaves out what leads to the same, if there is one.
    pub(crate) fn search(&mut self) -> Option<&mut Reduction> {
        match &mut self.chosen.oracle {
            Oracle::Reduced(search) => Some(search),
            _ => None,
        }
    }

    fn take_choice(&mut self, enabled: usize, chosen: usize) {
        self.chosen.choices.push(Choice { enabled, chosen });
    }

    /// The actor that was chosen last could have gone on, and another one does.
    pub(crate) fn preempt(&mut self, is_preempted: bool) {
        self.chosen.preemptions += usize::from(is_preempted);
    }

    /// [`Chooser::choose`], of actors.
    pub(crate) fn choose_actor(
        &mut self,
        actors: &[Actor],
        now: impl FnOnce() -> u64,
    ) -> Option<usize> {
        match self.looks_at_actors && !self.has_stopped() {
            true => self.choose_by_actor(actors, now),
            false => self.choose(actors.len()),
        }
    }

    /// By priorities; or beyond the choices that were given: it stops, or goes on by what the actors have behind them, which
    /// are the same ones in equal states, whatever their numbers.
    fn choose_by_actor(&mut self, actors: &[Actor], now: impl FnOnce() -> u64) -> Option<usize> {
        let among = actors.len();
        if let Oracle::Pct(pct) = &mut self.chosen.oracle {
            let actors = actors.iter();
            let index = pct.choose(actors.map(|(task, at)| (*task, *at == NOT_HELD_BACK)));
            self.take_choice(among, index);
            return Some(index);
        }
        let step = self.chosen.choices.len();
        if let Oracle::Reduced(search) = &mut self.chosen.oracle {
            return match search.arrive(actors) {
                Ok(Some(index)) => {
                    if among > 1 {
                        self.take_choice(among, index);
                    }
                    Some(index)
                }
                Ok(None) => {
                    self.chosen.is_cut = true;
                    None
                }
                Err(recorded) => {
                    self.differ(step, Some(recorded), among);
                    None
                }
            };
        }
        let Some(then) = self.chosen.oracle.is_beyond(step) else {
            return self.choose(among);
        };
        let histories = self.histories.as_ref()?;
        let Some(seed) = then else {
            self.reach(among, None, None, now());
            return None;
        };
        let order = |at: &usize| histories.rank(actors[*at].0, seed);
        let chosen = (0..among).min_by_key(order)?;
        self.take_choice(among, chosen);
        Some(chosen)
    }

    /// The run stops, where there is something to choose; or to draw, for this task.
    fn reach(&mut self, among: usize, weights: Option<Weights>, draws: Option<usize>, now: u64) {
        let preemptions = self.chosen.preemptions;
        let (operations, state) = self.histories().state(draws, now);
        self.chosen.reached = Some(Reached {
            among,
            weights,
            operations,
            state,
            preemptions,
        });
    }

    /// The task with this number draws; `None` gives the run up.
    pub(crate) fn draw(
        &mut self,
        task: usize,
        among: usize,
        weights: Option<Weights>,
        by_chance: impl FnOnce(&mut fastrand::Rng) -> usize,
        now: impl FnOnce() -> u64,
    ) -> Option<usize> {
        if self.over {
            return Some(0);
        }
        let more = usize::from(gossamer_core::mutant!("draws_end_late"));
        if self.chosen.drawn == self.most_draws + more {
            self.chosen.draws_on = true;
            return None;
        }
        let step = self.chosen.choices.len();
        let index = match self.chosen.oracle.is_beyond(step) {
            None => self.choose_or(among, |random, _| by_chance(random))?,
            Some(_) if self.has_stopped() => return None,
            Some(None) => {
                self.reach(among, weights, Some(task), now());
                return None;
            }
            Some(Some(seed)) => {
                let index = self.histories().rank(task, seed) as usize % among;
                self.take_choice(among, index);
                index
            }
        };
        self.chosen.drawn += 1;
        if let Some(weights) = weights {
            self.chosen.draws.push(Draw { at: step, weights });
        }
        if let Some(histories) = &mut self.histories {
            histories.draw(task, among, index);
        }
        Some(index)
    }
}

/// The payload with which a task unwinds whose draw stops the run.
struct Stop;

/// Whether a task unwound for that.
pub(crate) fn is_stop(payload: &(dyn Any + Send)) -> bool {
    payload.is::<Stop>()
}

/// The run has stopped: the task unwinds.
pub(crate) fn unwind() -> ! {
    resume_unwind(Box::new(Stop))
}

/// Unwinds, if the chooser has stopped the run.
pub(crate) fn unwind_if_stopped() {
    if with(|chooser| chooser.has_stopped()) {
        unwind();
    }
}

/// Whether the current thread runs a simulation, or a thread of one.
#[doc(hidden)]
pub fn is_simulated() -> bool {
    CHOOSER
        .try_with(|chooser| chooser.borrow().is_some())
        .unwrap_or(false)
}
