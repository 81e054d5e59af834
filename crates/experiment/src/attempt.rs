//! One run of a description.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use crate::path_end::is_end;
use crate::{Choices, Error, Interpreter};

/// Runs a description once, with an interpreter that answers its draws.
///
/// # Errors
/// The interpreter's, or [`Error::NothingToDraw`]; also if the description has caught the unwinding, and returned.
///
/// # Panics
/// As the description does; or the interpreter has chosen what cannot be.
pub fn attempt<T>(
    interpreter: &mut dyn Interpreter,
    experiment: impl FnOnce(&mut Choices<'_>) -> T,
) -> Result<T, Error> {
    let mut choices = Choices::new(interpreter);
    let ran = catch_unwind(AssertUnwindSafe(|| experiment(&mut choices)));
    match (ran, choices.into_error()) {
        (Ok(outcome), None) => Ok(outcome),
        (Ok(_), Some(error)) => Err(error),
        // The end of a path of an experiment around this one is not ours.
        (Err(payload), Some(error)) if is_end(&*payload) => Err(error),
        (Err(payload), _) => resume_unwind(payload),
    }
}
