//! Which runtime the current thread runs tasks for, or other code.
//!
//! The builder of a runtime sets its environment ([`Environment::set`]). A runner of one of its shards enters the
//! environment while it runs tasks there, and a task reads it ([`current`]). No task exists before it is set.

use std::any::Any;
use std::cell::RefCell;
use std::panic::Location;
use std::sync::{Arc, LazyLock, OnceLock, Weak};

use gossamer_core::context;
use gossamer_core::mutant;
use gossamer_core::platform::thread_local;
use gossamer_core::poller::{Attended, PollerCell};
use gossamer_task::Id;

use crate::task_panic::OnPanic;

/// The environment that the tasks of one runtime run in.
#[derive(Clone)]
pub struct Environment(Arc<Inner>);

struct Inner {
    known: OnceLock<Known>,
    /// Where the sockets' poller is that its tasks wait at.
    poller: Arc<PollerCell>,
}

/// What is known of the runtime.
struct Known {
    runtime: Weak<dyn Any + Send + Sync>,
    on_panic: OnPanic,
}

/// Whose tasks a thread runs, or whose code.
struct Current {
    environment: Environment,
    /// Tasks: the thread goes on with them while one of them waits.
    runs_tasks: bool,
}

thread_local! {
    static CURRENT: RefCell<Option<Current>> = const { RefCell::new(None) };
}

/// Of a runtime for which nobody polls.
impl Default for Environment {
    fn default() -> Self {
        static NEVER: LazyLock<Arc<PollerCell>> =
            LazyLock::new(|| Arc::new(PollerCell::new(Attended::Never)));
        Self::with_poller(NEVER.clone())
    }
}

impl Environment {
    /// Of a runtime that has its poller there.
    #[must_use]
    pub fn with_poller(poller: Arc<PollerCell>) -> Self {
        let known = OnceLock::new();
        Self(Arc::new(Inner { known, poller }))
    }

    /// Where its poller is.
    pub fn poller(&self) -> &PollerCell {
        &self.0.poller
    }

    /// Says what it is, and who is told of tasks that panic; the first call counts.
    pub fn set(&self, runtime: Weak<dyn Any + Send + Sync>, on_panic: OnPanic) {
        self.0.known.get_or_init(|| Known { runtime, on_panic });
    }

    /// Whether it is the same one.
    #[must_use]
    pub fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// The current thread runs tasks of this runtime from now on, until the result is dropped. Nothing, if nobody has
    /// said what it is.
    #[inline]
    pub fn enter(&self) -> Entered {
        Entered(self.0.known.get().map(|_| self.is_current(true)))
    }

    /// Like [`enter`](Environment::enter), for a thread that may begin before the environment is set.
    pub fn enter_early(&self) -> Entered {
        Entered(Some(self.is_current(true)))
    }

    /// Like [`enter`](Environment::enter), for a thread that runs code as a part of this runtime, but none of its tasks.
    pub fn enter_alone(&self) -> Entered {
        Entered(self.0.known.get().map(|_| self.is_current(false)))
    }

    fn is_current(&self, runs_tasks: bool) -> Option<Current> {
        set(Some(Current {
            environment: self.clone(),
            runs_tasks,
        }))
    }

    /// Tells of what has panicked in it, as the builder of the runtime wanted.
    #[cold]
    pub fn tell_of_panic(
        &self,
        id: Id,
        name: impl FnOnce() -> Option<String>,
        spawned: &'static Location<'static>,
        payload: &(dyn Any + Send),
    ) {
        if let Some(known) = self.0.known.get() {
            known.on_panic.tell(id, name, spawned, payload);
        }
    }
}

/// The current one is brought back when this is dropped.
#[must_use]
pub struct Entered(Option<Option<Current>>);

gossamer_core::impl_debug!([] Entered[]);

impl Drop for Entered {
    fn drop(&mut self) {
        if let Some(before) = self.0.take() {
            drop(set(before));
        }
    }
}

fn set(new: Option<Current>) -> Option<Current> {
    // At the end of a thread there is nobody left who could ask.
    CURRENT
        .try_with(|current| current.replace(new))
        .ok()
        .flatten()
}

/// Of the runtime that the current thread runs tasks or other code for, if any.
pub fn here() -> Option<Environment> {
    let environment = |current: &RefCell<Option<Current>>| {
        let current = current.borrow();
        current.as_ref().map(|here| here.environment.clone())
    };
    CURRENT.try_with(environment).ok().flatten()
}

/// Whether this thread runs tasks of a runtime that has its poller in the cell of this number.
#[inline]
pub fn is_polled_by(number: u32) -> bool {
    let is_it = |current: &RefCell<Option<Current>>| {
        let current = current.borrow();
        current.as_ref().is_some_and(|here| {
            (here.runs_tasks || mutant!("entered_runtime_counts_as_run"))
                && here.environment.poller().number() == number
        })
    };
    !context::runs(context::NOWHERE) && CURRENT.try_with(is_it).unwrap_or(false)
}

/// The runtime that the current thread runs tasks or other code for, if any.
#[inline]
pub fn current() -> Option<Arc<dyn Any + Send + Sync>> {
    let runtime = |current: &RefCell<Option<Current>>| {
        let current = current.borrow();
        let known = current.as_ref()?.environment.0.known.get()?;
        known.runtime.upgrade()
    };
    CURRENT.try_with(runtime).ok().flatten()
}

/// Tells of what has panicked on this thread, as the builder of its runtime wanted.
#[cold]
pub(crate) fn tell_of_panic(
    id: Id,
    name: impl FnOnce() -> Option<String>,
    spawned: &'static Location<'static>,
    payload: &(dyn Any + Send),
) {
    if let Some(here) = here() {
        here.tell_of_panic(id, name, spawned, payload);
    }
}

gossamer_core::impl_debug!([] Environment[]);
