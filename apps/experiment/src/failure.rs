//! Why there is no output.

use crate::expression::Fault;

/// Why there is no output.
#[derive(Debug)]
pub enum Failure {
    /// The input, or what was asked for, is bad.
    Input(String),
    /// Something else went wrong.
    Other(String),
}

impl Failure {
    /// A fault of this expression, with a mark below its place.
    pub fn of(fault: &Fault, text: &str) -> Failure {
        Failure::Input(fault.in_text(text))
    }
}
