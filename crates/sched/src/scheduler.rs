//! The interface of a scheduler: the order among runnable tasks, and the action when there are none.

use std::any::Any;

use gossamer_core::context::Context;
use gossamer_core::header::Description;
use gossamer_core::shard::ShardGuard;

use crate::runnable::Runnable;

/// Chooses which runnable task is polled next.
///
/// A scheduler is never entered from inside a task: the tasks that a poll wakes are collected and
/// handed over after the poll, in the order in which they were woken; one that yields comes behind
/// those that it woke. So its methods need no locks and may not wait.
///
/// # Examples
/// ```
/// use gossamer::scheduler::{Reason, Runnable, Scheduler};
/// use gossamer::{Model, Runtime, Wait, channel};
///
/// /// The task that became runnable last is polled first.
/// #[derive(Default)]
/// struct LastInFirstOut(Vec<Runnable>);
///
/// impl Scheduler for LastInFirstOut {
///     fn push(&mut self, task: Runnable, _reason: Reason) {
///         self.0.push(task);
///     }
///
///     fn pop(&mut self) -> Option<Runnable> {
///         self.0.pop()
///     }
/// }
///
/// let rt = Runtime::builder().model(Model::Single).scheduler(LastInFirstOut::default()).build()?;
/// let (tx, rx) = channel::unbounded();
/// for number in [1, 2] {
///     let tx = tx.clone();
///     drop(rt.spawn(async move { tx.send(number).await }));
/// }
/// assert_eq!((rx.recv().wait(), rx.recv().wait()), (Ok(2), Ok(1)));
/// # Ok::<(), std::io::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no scheduler",
    label = "not a scheduler",
    note = "a scheduler implements `gossamer::scheduler::Scheduler`; without one, a runtime has `Fifo`",
    note = "the threads that a runtime has are chosen by `model`"
)]
pub trait Scheduler: Send + 'static {
    /// Whether polls are watched for one that goes on for long: the workers' of a pool are.
    #[doc(hidden)]
    const IS_MONITORED: bool = false;

    /// Whether it never loses a task: then new ones need not be on their shard's list until they have been polled.
    #[doc(hidden)]
    const KEEPS_ALL: bool = false;

    /// Whether it is a simulation's, in which operations may be scheduling points.
    #[doc(hidden)]
    const IS_SIMULATED: bool = false;

    /// The runner is between two polls, and is about to look at its inbox.
    #[doc(hidden)]
    #[inline(always)]
    fn between_polls(&mut self, _context: &Context) {}

    /// A poll has ended in which what it woke was published to other workers at once.
    #[doc(hidden)]
    fn poll_published(&mut self, _context: &Context) {}

    /// A task that was popped has had its turn. (Those that the end of a blocking call or of the runtime drops have none.)
    #[doc(hidden)]
    #[inline(always)]
    fn turn_ended(&mut self, _task: usize, _end: TurnEnd<'_>) {}

    /// A task became runnable.
    ///
    /// A [`Runnable`] that is dropped instead of returned by [`pop`](Scheduler::pop) is a lost
    /// wake-up: its task is not polled again, and its memory not freed.
    fn push(&mut self, task: Runnable, reason: Reason);

    /// The task to poll next.
    fn pop(&mut self) -> Option<Runnable>;

    /// [`push`](Scheduler::push), then [`pop`](Scheduler::pop): what the default does, and others at the cost of one.
    #[inline(always)]
    fn push_and_pop(&mut self, task: Runnable, reason: Reason) -> Option<Runnable> {
        self.push(task, reason);
        self.pop()
    }

    /// Whether it holds no task. A single woken task is then polled without being pushed and popped. The
    /// default, `false`, has every task pushed.
    #[inline(always)]
    fn is_empty(&self) -> bool {
        false
    }

    /// Nothing is runnable: whether the scheduler has just woken a task, and the runner goes on at once. Else the runner
    /// looks at its timers, and asks [`idle`](Scheduler::idle).
    #[doc(hidden)]
    #[inline(always)]
    fn goes_on(&mut self) -> bool {
        false
    }

    /// Nothing is runnable. The default parks the thread until a wake comes from elsewhere.
    fn idle(&mut self, tasks: &Tasks<'_>) -> Idle {
        let _ = tasks;
        Idle::Park
    }
}

/// How a task's turn ended. It is not over yet: it has its name still.
#[doc(hidden)]
#[derive(Debug, Clone, Copy)]
pub enum TurnEnd<'a> {
    /// It goes on later.
    Pending,
    /// Its future has returned.
    Returned,
    /// Its future has panicked, with this payload.
    Panicked(&'a (dyn Any + Send)),
    /// It was aborted: its future is about to be dropped.
    Dropped,
}

/// Why a task became runnable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// It was spawned, or something it waited for came.
    Woken,
    /// It woke itself during its poll, by its waker: it wants others to run first.
    Yielded,
}

/// The scheduler's decision when nothing is runnable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Idle {
    /// Sleep until a wake comes from another thread.
    Park,
    /// Something has become runnable (a timer woke it): go on.
    Again,
    /// Give up: the blocking call returns [`Stopped`](crate::Stopped).
    Stop,
}

/// All living tasks of a runtime, as its idle scheduler may look at them.
#[derive(Debug)]
pub struct Tasks<'a>(&'a ShardGuard);

impl<'a> Tasks<'a> {
    pub(crate) fn new(guard: &'a ShardGuard) -> Self {
        Self(guard)
    }

    /// Calls `look` for each task: those of the local scope first, newest first.
    pub fn for_each(&self, look: impl FnMut(&Description<'_>)) {
        self.0.describe(look);
    }
}
