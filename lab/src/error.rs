//! Errors that have an exit code of their own.

use std::fmt;

/// An error in what was asked for: exit code 2, and nothing was written or measured.
#[derive(Debug)]
pub struct BadInput(pub String);

impl fmt::Display for BadInput {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl std::error::Error for BadInput {}

/// A signal that came to the lab: exit code 128 and its number. As an error it says that there was nothing to keep.
#[derive(Debug)]
pub struct Interrupted(pub usize);

impl Interrupted {
    /// As shells do.
    #[must_use]
    pub fn code(&self) -> u8 {
        u8::try_from(128 + self.0).unwrap_or(1)
    }
}

impl fmt::Display for Interrupted {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "interrupted by signal {}", self.0)
    }
}

impl std::error::Error for Interrupted {}
