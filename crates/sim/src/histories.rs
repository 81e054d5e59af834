//! What has led to a state, as a number: for each task the operations that happened before it came where it is.
//!
//! Two runs in which the same operations came in the same order at each object, though not in the same order all in all,
//! have the same happens-before graph (Lamport, *Time, Clocks, and the Ordering of Events in a Distributed System*, 1978),
//! and are in the same state: Mazurkiewicz's traces. Each operation is a hash of those that came directly before it, of its
//! task and at its objects; what a task wakes or spawns comes after what that task has done so far. What a task draws is one
//! more thing that it has behind it.

use std::hash::{DefaultHasher, Hash, Hasher};

use rustc_hash::FxHashMap;

/// Where the tasks and objects stand.
#[derive(Debug, Default)]
pub(crate) struct Histories {
    /// By the task's number.
    tasks: FxHashMap<usize, Task>,
    /// By address: the last operation there.
    objects: FxHashMap<usize, u64>,
    operations: usize,
}

#[derive(Debug, Default, Clone, Copy)]
struct Task {
    last: u64,
    children: u64,
}

/// Who made a task runnable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum By {
    /// A task, in its turn.
    Task(usize),
    /// Time.
    Time(u64),
    /// The simulation, which has chosen it.
    Choice,
}

fn hash(of: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    of.hash(&mut hasher);
    hasher.finish()
}

impl Histories {
    /// A task was chosen, and its operations at these objects take effect, at this time.
    pub(crate) fn operate(&mut self, task: usize, objects: &[usize], now: u64) {
        let mut event = hash((self.of(task), now));
        let objects = match gossamer_core::mutant!("merging_forgets_objects") {
            true => &[],
            false => objects,
        };
        for object in objects {
            let there = self.objects.get(object).copied().unwrap_or_default();
            event = hash((event, there));
        }
        event = hash((event, objects.len()));
        for object in objects {
            self.objects.insert(*object, event);
        }
        self.tasks.entry(task).or_default().last = event;
        self.operations += 1;
    }

    /// A task has become runnable; `is_new`, for the first time.
    pub(crate) fn wake(&mut self, task: usize, by: By, is_new: bool) {
        let cause = match by {
            By::Choice => return,
            By::Time(now) => hash(("time", now)),
            By::Task(other) => {
                let waking = self.tasks.entry(other).or_default();
                waking.children += u64::from(is_new);
                hash((waking.last, waking.children * u64::from(is_new)))
            }
        };
        let woken = self.tasks.entry(task).or_default();
        woken.last = hash((woken.last, cause));
    }

    /// What a task has behind it.
    fn of(&self, task: usize) -> u64 {
        self.tasks.get(&task).map_or(0, |task| task.last)
    }

    /// A number for a task's turn among others, by what it has behind it.
    pub(crate) fn rank(&self, task: usize, seed: u64) -> u64 {
        hash((self.of(task), seed))
    }

    /// A task has drawn this one of so many alternatives.
    pub(crate) fn draw(&mut self, task: usize, among: usize, index: usize) {
        if !gossamer_core::mutant!("merging_forgets_draws") {
            let drawing = self.tasks.entry(task).or_default();
            drawing.last = hash(("draw", drawing.last, among, index));
        }
        self.operations += 1;
    }

    /// How many operations and draws there were, and what all tasks have behind them, at this time, when one of them `draws`,
    /// or none does.
    pub(crate) fn state(&self, draws: Option<usize>, now: u64) -> (usize, u64) {
        // In whatever order the tasks are.
        let tasks = self.tasks.values().map(|task| hash(task.last));
        let all = tasks.fold(0, u64::wrapping_add);
        let drawing = draws.map(|task| self.of(task));
        (self.operations, hash((all, drawing, now)))
    }
}
