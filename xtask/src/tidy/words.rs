//! Words that must be there, and words that must not.

use regex::Regex;

use super::Finding;
use crate::repo::Repo;

/// Every `.rs` file starts with `//!`.
pub(super) fn first_line_says_what(repo: &Repo) -> Vec<Finding> {
    repo.rust()
        .filter(|(file, _)| !file.text.starts_with("//!"))
        .map(|(file, _)| {
            let first = file.text.lines().next().unwrap_or("");
            Finding::new(
                &file.path,
                1,
                format!("starts with `{first}`"),
                "start with `//!`: what, why",
            )
        })
        .collect()
}

/// No unfinished code and no test that is switched off.
pub(super) fn no_unfinished_code(repo: &Repo) -> Vec<Finding> {
    let words = Regex::new(r"\b(todo|unimplemented|dbg)\s*!\s*[(\[{]|#\s*\[\s*(ignore)\b|\bcfg_attr\s*\([^\]]*,\s*(ignore)\b")
        .expect("a valid pattern");
    let mut findings = Vec::new();
    for (file, source) in repo.rust() {
        for found in words.find_iter(&source.code) {
            let line = source.line(found.start());
            let found = format!("`{}`", found.as_str());
            findings.push(Finding::new(
                &file.path,
                line,
                found,
                "finish it, or open an issue",
            ));
        }
    }
    findings
}

/// No test sleeps: sleeping orders nothing.
pub(super) fn no_sleep_in_tests(repo: &Repo) -> Vec<Finding> {
    let sleep = Regex::new(r"\bsleep\s*\(").expect("a valid pattern");
    let mut findings = Vec::new();
    for (file, source) in repo.rust() {
        for found in sleep.find_iter(&source.code) {
            if file.is_test() || source.in_test(found.start()) {
                let line = source.line(found.start());
                let expected = "order events with sim, a channel or a barrier";
                findings.push(Finding::new(
                    &file.path,
                    line,
                    "a test that sleeps",
                    expected,
                ));
            }
        }
    }
    findings
}

/// No path of the machine somebody worked on, in any text file.
pub(super) fn no_machine_paths(repo: &Repo) -> Vec<Finding> {
    // An absolute path starts where no word, dot or slash precedes it.
    let path = Regex::new(r"(?:^|[^A-Za-z0-9_.~/}$)-])(/(?:work|farm|root|home)/)")
        .expect("a valid pattern");
    let mut findings = Vec::new();
    for file in repo.files() {
        for (at, line) in file.text.lines().enumerate() {
            for found in path.captures_iter(line) {
                let found = format!("the machine path `{}`", &found[1]);
                let expected = "a path relative to the repository, or one from the environment";
                findings.push(Finding::new(&file.path, at + 1, found, expected));
            }
        }
    }
    findings
}
