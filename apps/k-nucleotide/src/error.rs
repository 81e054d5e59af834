//! What is wrong with an input, with file and line.

use std::fmt;
use std::io;

/// An input that cannot be counted.
#[derive(Debug)]
pub enum Error {
    /// The file cannot be opened or read.
    Unreadable {
        /// Its name.
        file: String,
        /// What the system says.
        cause: io::Error,
    },
    /// The file has something else than what it should have.
    Unexpected {
        /// Its name.
        file: String,
        /// The line, counted from 1.
        line: u64,
        /// What was found, what was expected, and what to do.
        what: String,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Unreadable { file, cause } => write!(
                f,
                "cannot read {file}: {cause}; give a FASTA file, or - for the standard input"
            ),
            Error::Unexpected { file, line, what } => write!(f, "{file}:{line}: {what}"),
        }
    }
}

impl std::error::Error for Error {}
