//! What the programs of our contender share: the command line, `MVar`s, arithmetic, our channels.
//!
//! Several programs, because code that is called from many `MVar`s is compiled otherwise than code that is called
//! from one: `gossamer-contender` has the ring and what it rests on, `gossamer-counts` what else `cargo xtask counts`
//! counts, `gossamer-workloads` the rest, and none changes another.
#![forbid(unsafe_code)]

pub mod args;
pub mod flavours;
pub mod generator;
pub mod hostages;
pub mod mvars;
pub mod pipes;
pub mod sets;
mod spawned;

use std::process::ExitCode;

pub use spawned::{spawned, spawned_here};

/// Why there is no answer.
#[derive(Debug)]
pub enum Failure {
    /// The command line asks for something that is not there.
    Asked(String),
    /// Something went wrong at run time.
    Ran(String),
}

/// What is only words is about the command line; [`args::said`] makes the other kind.
impl From<String> for Failure {
    fn from(words: String) -> Failure {
        Failure::Asked(words)
    }
}

/// Prints the answer, or says what was wrong: status 2 for a bad command line, 1 for trouble at run time.
pub fn end(answer: Result<impl std::fmt::Display, Failure>) -> ExitCode {
    match answer {
        Ok(answer) => {
            println!("{answer}");
            ExitCode::SUCCESS
        }
        Err(Failure::Asked(message)) => {
            eprintln!("{message}");
            ExitCode::from(2)
        }
        Err(Failure::Ran(message)) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}
