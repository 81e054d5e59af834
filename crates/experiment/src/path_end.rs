//! How a path ends before its description has returned: it unwinds.

use std::any::Any;
use std::panic::resume_unwind;

/// The payload. Why it ended, its `Choices` have.
struct Ended;

/// Unwinds the description whose path has ended.
#[cold]
pub(crate) fn unwind() -> ! {
    resume_unwind(Box::new(Ended))
}

/// Whether a description unwound for that.
pub(crate) fn is_end(payload: &(dyn Any + Send)) -> bool {
    payload.is::<Ended>()
}
