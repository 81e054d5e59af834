//! What the programs of our contender share: the command line, places, arithmetic.
//!
//! Two programs, because code that is called from many places is compiled otherwise than code that is called
//! from one: `gossamer-contender` has the ring and what `cargo xtask counts` counts, `gossamer-workloads` the
//! rest, and neither changes the other.
#![forbid(unsafe_code)]

pub mod args;
pub mod generator;
pub mod places;

use std::process::ExitCode;

/// Prints the answer, or says what was wrong.
pub fn end(answer: Result<u64, String>) -> ExitCode {
    match answer {
        Ok(number) => {
            println!("{number}");
            ExitCode::SUCCESS
        }
        Err(message) => {
            eprintln!("{message}");
            ExitCode::from(2)
        }
    }
}
