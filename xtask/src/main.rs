//! The command line of `cargo xtask`: names a command, runs it, turns its answer into an exit code.
//!
//! Exit codes: 0 all is well, 1 a check failed, 2 the command line was wrong, 3 foreign tests are not to be had.

#![forbid(unsafe_code)]

use std::path::{Path, PathBuf};
use std::process::ExitCode;

const USAGE: &str = "\
usage: cargo xtask COMMAND
  tidy                   the repository lints itself
  mutants [--only NAME]  plants each bug of xtask/mutants.toml and runs the gate that must catch it
  loom                   runs the models of every crate that has a tests/loom.rs under the model checker
  shuttle                runs every crates/*/tests/shuttle.rs under random schedulers
  asan                   runs the tests with threads and stacks under AddressSanitizer
  counts                 counts the hot operations' instructions and checks their limits
  upstream [NAME]        runs the tests of other channels against ours (xtask/upstream.toml)";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let root = root();
    let answer = match words.as_slice() {
        ["tidy"] => tidy(&root),
        ["mutants"] => xtask::mutants::run(&root, None),
        ["mutants", "--only", name] => xtask::mutants::run(&root, Some(name)),
        ["loom"] => xtask::loom::run(&root),
        ["shuttle"] => xtask::shuttle::run(&root),
        ["asan"] => xtask::asan::run(&root),
        ["upstream"] => xtask::upstream::run(&root, None),
        ["upstream", name] => xtask::upstream::run(&root, Some(name)),
        ["counts"] => xtask::counts::run(&root),
        ["help" | "--help" | "-h"] => {
            println!("{USAGE}");
            return ExitCode::SUCCESS;
        }
        _ => {
            eprintln!(
                "xtask: got `{}`; expected one of the commands below\n{USAGE}",
                words.join(" ")
            );
            return ExitCode::from(2);
        }
    };
    match answer {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::from(match () {
                () if error.is::<xtask::mutants::UnknownMutant>() => 2,
                () if error.is::<xtask::upstream::NotThere>() => 3,
                () => 1,
            })
        }
    }
}

/// The workspace root: the folder above this package.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn tidy(root: &Path) -> anyhow::Result<bool> {
    let findings = xtask::tidy::run(root)?;
    for finding in &findings {
        println!("{finding}");
    }
    match findings.len() {
        0 => println!("tidy: nothing found"),
        count => println!("tidy: {count} found"),
    }
    Ok(findings.is_empty())
}
