//! Scheduling by random priorities that change now and then (Burckhardt, Kothari, Musuvathi, Nagarakatte, *A Randomized
//! Scheduler with Probabilistic Guarantees of Finding Bugs*, ASPLOS 2010).
//!
//! Each task gets a random priority when it is first seen, and of those that can go on the highest one goes. At some of the
//! choices, as many as the depth less one, the task that is chosen gets a priority below all others. So a bug that shows when
//! `depth` operations come in a certain order, whatever the others do, is found with a probability of at least
//! 1 / (tasks × length^(depth - 1)), where the length is that of a run, in choices.
//!
//! A task that has yielded goes after those that have not: it has asked for it, and may wait for one of them.

/// Above the priorities that a change gives.
const UNCHANGED: u64 = 1 << 32;

/// The priorities of one run.
#[derive(Debug)]
pub(crate) struct Pct {
    pub(crate) random: fastrand::Rng,
    /// By the task's number.
    priorities: Vec<Option<u64>>,
    /// After which choices the chosen one gets a priority below all others: the first one here the lowest.
    changes: Vec<usize>,
    choices: usize,
}

impl Pct {
    /// Of a run that has about so many choices.
    pub(crate) fn new(seed: u64, depth: usize, length: usize) -> Self {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut changes: Vec<usize> = (1..depth).map(|_| random.usize(..length.max(1))).collect();
        if gossamer_core::mutant!("pct_never_changes") {
            changes.clear();
        }
        Self {
            random,
            priorities: Vec::new(),
            changes,
            choices: 0,
        }
    }

    /// The index of the actor that goes on, by their numbers and whether they have yielded.
    pub(crate) fn choose(&mut self, actors: impl ExactSizeIterator<Item = (usize, bool)>) -> usize {
        let mut best: Option<((bool, u64), usize, usize)> = None;
        for (index, (task, has_yielded)) in actors.enumerate() {
            // Anew each time, or of two that wait for a third by yielding one would go on for ever.
            let priority = match has_yielded {
                true => self.random.u64(UNCHANGED..),
                false => self.priority(task),
            };
            let rank = (!has_yielded, priority);
            if best.is_none_or(|(highest, ..)| rank > highest) {
                best = Some((rank, index, task));
            }
        }
        let (_, index, task) = best.expect("there is something to choose");
        if let Some(change) = self.changes.iter().position(|at| *at == self.choices) {
            self.priority(task);
            self.priorities[task] = Some(change as u64);
        }
        self.choices += 1;
        index
    }

    fn priority(&mut self, task: usize) -> u64 {
        if task >= self.priorities.len() {
            self.priorities.resize(task + 1, None);
        }
        *self.priorities[task].get_or_insert_with(|| self.random.u64(UNCHANGED..))
    }
}
