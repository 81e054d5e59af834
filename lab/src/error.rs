//! What the lab is asked for and cannot do, as an error that has an exit code of its own.

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
