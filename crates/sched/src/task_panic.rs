//! Telling of tasks that panic.

use std::any::Any;
use std::panic::Location;
use std::sync::Arc;

use gossamer_core::panics;
use gossamer_task::Id;

/// A panic of a task, a fiber or a blocking call.
#[non_exhaustive]
pub struct TaskPanic<'a> {
    /// Which task.
    pub id: Id,
    /// Its name, if it has one.
    pub name: Option<String>,
    /// Where it was spawned.
    pub spawned: &'static Location<'static>,
    /// What it panicked with.
    pub payload: &'a (dyn Any + Send),
}

impl TaskPanic<'_> {
    /// What was said, if the payload is a text, as that of `panic!` is.
    #[must_use]
    pub fn message(&self) -> Option<&str> {
        let text = self.payload.downcast_ref::<&'static str>().copied();
        text.or_else(|| self.payload.downcast_ref::<String>().map(String::as_str))
    }
}

gossamer_core::impl_debug!([] TaskPanic['_], this => name: this.name, spawned: this.spawned, message: this.message());

type Report = dyn Fn(&TaskPanic<'_>) + Send + Sync;

/// The function that is told of each panic, if there is one.
#[derive(Clone, Default)]
pub struct OnPanic(Option<Arc<Report>>);

impl OnPanic {
    /// Has `report` be told.
    pub fn new(report: impl Fn(&TaskPanic<'_>) + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(report)))
    }

    /// Tells of a panic; one of the function itself ends here.
    pub(crate) fn tell(
        &self,
        id: Id,
        name: impl FnOnce() -> Option<String>,
        spawned: &'static Location<'static>,
        payload: &(dyn Any + Send),
    ) {
        let Some(report) = &self.0 else { return };
        panics::end(|| {
            report(&TaskPanic {
                id,
                name: name(),
                spawned,
                payload,
            });
        });
    }
}

gossamer_core::impl_debug!([] OnPanic[], this => is_set: this.0.is_some());
