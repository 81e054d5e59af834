//! `graph500`: see `--help`.
#![forbid(unsafe_code)]

use std::io::{Write, stdout};
use std::process::ExitCode;

use clap::Parser;

use graph500::benchmark::Failure;
use graph500::cli::Options;

fn main() -> ExitCode {
    let options = Options::parse();
    let report = match options.run() {
        Ok(report) => report,
        Err(Failure::Input(message)) => {
            eprintln!("error: {message}");
            return ExitCode::from(2);
        }
        Err(Failure::Invalid(message)) => {
            eprintln!("{message}");
            return ExitCode::FAILURE;
        }
    };
    let text = if options.lab {
        let (valid, figures) = report.lab();
        eprintln!("{figures}");
        format!("{valid}\n")
    } else if options.json {
        format!("{:#}\n", report.json())
    } else {
        report.text()
    };
    match stdout().write_all(text.as_bytes()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: cannot write to the standard output: {error}");
            ExitCode::FAILURE
        }
    }
}
