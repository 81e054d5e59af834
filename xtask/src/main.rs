//! The command line of `cargo xtask`: names a command, runs it, turns its answer into an exit code.
//!
//! Exit codes: 0 all is well, 1 a check failed, 2 the command line was wrong, 3 foreign tests are not to be had.

#![forbid(unsafe_code)]

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use xtask::mutants::choice::Which;

const USAGE: &str = "\
usage: cargo xtask COMMAND
  tidy                   the repository lints itself
  mutants                plants bugs of xtask/mutants.toml, those that the last commit and what is not committed can
                         touch and a share of the others, and runs the gates that must catch them
  mutants --all          plants all of them
  mutants [--only] NAME...
                         plants those of these names
  loom [FILTER...]       runs the models of every crate that has a tests/loom.rs under the model checker
  shuttle [FILTER...]    runs every crates/*/tests/shuttle.rs under random schedulers
  asan                   runs the tests with threads and stacks under AddressSanitizer
  valgrind               runs tests of fibers under valgrind
  portable [--all] [FILTER...]
                         runs a share of the tests, or all, on what other systems than Linux on x86-64 with glibc
                         would get
  upstream [NAME]        runs the tests of other channels against ours (xtask/upstream.toml)
  whole [--each N]       runs all of what the tests run a part of, in release; or each N-th of what takes minutes
  examples               runs the code of the documentation, the README and the guide in a crate that depends on
                         gossamer-rt alone
  counts [--page]        counts the hot operations' instructions and checks their limits and docs/HOP.md, which says
                         where the instructions of a hop go; or writes that page's table";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let root = root();
    let answer = match words.as_slice() {
        ["tidy"] => tidy(&root),
        ["mutants"] => xtask::mutants::run(&root, Which::Some),
        ["mutants", "--all"] => xtask::mutants::run(&root, Which::All),
        ["mutants", "--only", names @ ..] | ["mutants", names @ ..] if are_names(names) => {
            xtask::mutants::run(&root, Which::Named(names))
        }
        ["loom", filters @ ..] => xtask::loom::run(&root, filters),
        ["shuttle", filters @ ..] => xtask::shuttle::run(&root, filters),
        ["asan"] => xtask::asan::run(&root),
        ["valgrind"] => xtask::valgrind::run(&root),
        ["portable", "--all", filters @ ..] => xtask::portable::run(&root, true, filters),
        ["portable", filters @ ..] => xtask::portable::run(&root, false, filters),
        ["upstream"] => xtask::upstream::run(&root, None),
        ["upstream", name] => xtask::upstream::run(&root, Some(name)),
        ["whole"] => xtask::whole::run(&root, "1"),
        ["whole", "--each", nth] => xtask::whole::run(&root, nth),
        ["examples"] => xtask::examples::run(&root),
        ["counts"] => xtask::counts::run(&root, false),
        ["counts", "--page"] => xtask::counts::run(&root, true),
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

fn are_names(words: &[&str]) -> bool {
    !words.is_empty() && words.iter().all(|word| !word.starts_with('-'))
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
