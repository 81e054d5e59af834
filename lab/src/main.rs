//! The `lab` program: parses the command line, does what it says, turns errors into exit codes.
//!
//! Exit codes: 0 done, 1 the lab itself failed, 2 bad input (nothing was written or measured),
//! 130 and 143 interrupted (what was measured until then is kept).

#![forbid(unsafe_code)]

use std::process::ExitCode;

use clap::Parser;
use gossamer_lab::{cli::Cli, commands, error::Interrupted, esayln};

fn main() -> ExitCode {
    let cli = Cli::parse();
    match commands::execute(cli) {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            esayln!("error: {error:#}");
            ExitCode::from(match error.downcast_ref::<Interrupted>() {
                Some(interrupted) => interrupted.code(),
                None if error.is::<commands::BadInput>() => 2,
                None => 1,
            })
        }
    }
}
