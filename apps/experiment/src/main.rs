//! The `experiment` program: exit codes are 0 done, 1 trouble at run time, 2 bad input.
#![forbid(unsafe_code)]

use std::process::ExitCode;

use clap::Parser;
use experiment::cli::{Cli, execute};
use experiment::failure::Failure;

fn main() -> ExitCode {
    let (message, code) = match execute(&Cli::parse()) {
        Ok(()) => return ExitCode::SUCCESS,
        Err(Failure::Input(message)) => (message, 2),
        Err(Failure::Other(message)) => (message, 1),
    };
    eprintln!("error: {message}");
    ExitCode::from(code)
}
