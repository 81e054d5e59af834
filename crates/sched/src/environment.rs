//! Which runtime the current thread runs tasks for.
//!
//! The builder of a runtime sets its environment ([`Environment::set`]). A runner of one of its shards enters the
//! environment while it runs tasks there, and a task reads it ([`current`]). No task exists before it is set.

use std::any::Any;
use std::cell::RefCell;
use std::panic::Location;
use std::sync::{Arc, LazyLock, OnceLock, Weak};

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

thread_local! {
    static CURRENT: RefCell<Option<Environment>> = const { RefCell::new(None) };
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
        Entered(self.0.known.get().map(|_| set(Some(self.clone()))))
    }

    /// Like [`enter`](Environment::enter), for a thread that may begin before the environment is set.
    pub fn enter_early(&self) -> Entered {
        Entered(Some(set(Some(self.clone()))))
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
#[derive(Debug)]
#[must_use]
pub struct Entered(Option<Option<Environment>>);

impl Drop for Entered {
    fn drop(&mut self) {
        if let Some(before) = self.0.take() {
            drop(set(before));
        }
    }
}

fn set(environment: Option<Environment>) -> Option<Environment> {
    // At the end of a thread there is nobody left who could ask.
    CURRENT
        .try_with(|current| current.replace(environment))
        .ok()
        .flatten()
}

/// Of the runtime that the current thread runs tasks for, if any.
pub fn here() -> Option<Environment> {
    CURRENT
        .try_with(|current| current.borrow().clone())
        .ok()
        .flatten()
}

/// Whether the poller of that runtime is in the cell of this number.
#[inline]
pub fn is_polled_by(number: u32) -> bool {
    let is_it = |current: &RefCell<Option<Environment>>| {
        let current = current.borrow();
        current
            .as_ref()
            .is_some_and(|here| here.poller().number() == number)
    };
    CURRENT.try_with(is_it).unwrap_or(false)
}

/// The runtime that the current thread runs tasks for, if any.
#[inline]
pub fn current() -> Option<Arc<dyn Any + Send + Sync>> {
    let runtime = |current: &RefCell<Option<Environment>>| {
        let current = current.borrow();
        current.as_ref()?.0.known.get()?.runtime.upgrade()
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
