//! The operations of the facade, the test that does each of them again and again beside a sleeper, and the page that
//! says what becomes of each that ends early.
//!
//! An operation is a public future (or stream) of a crate that the facade re-exports from. Its name is that of the module
//! it is implemented in, and its own: `sync::mutex::Lock`.

use std::collections::BTreeMap;

use regex::Regex;

use super::Finding;
use crate::repo::{File, Repo};
use crate::source::Source;

/// The test, and its modules beside it.
const TEST: &str = "tests/it/models/always_ready";

/// The page, which names operations in comments behind its rows.
const PAGE: &str = "docs/CANCELLATION.md";

/// The crates that have operations.
const CRATES: [&str; 10] = [
    "channel",
    "fiber",
    "gossamer",
    "io",
    "par",
    "sched",
    "structure",
    "sync",
    "task",
    "time",
];

/// Where each name is.
type Names = BTreeMap<String, (String, usize)>;

/// The test names every operation, and nothing else; no operation is without a name.
pub(super) fn all_are_tested(repo: &Repo) -> Vec<Finding> {
    let (there_are, mut findings) = operations(repo);
    let case = format!("a case of it in {TEST}.rs: whoever does it all the time must give way");
    let found = "is done in no test beside a sleeper";
    findings.extend(compare(&there_are, &tested(repo), found, &case));
    findings
}

/// The page names every operation, and nothing else.
pub(super) fn all_are_on_the_page(repo: &Repo) -> Vec<Finding> {
    let expected = format!("its name in a comment behind a row of {PAGE}");
    let found = "is in no row of the table of what ends early";
    compare(&operations(repo).0, &on_the_page(repo), found, &expected)
}

/// The operations that there are, and those without a name.
fn operations(repo: &Repo) -> (Names, Vec<Finding>) {
    let (mut there_are, mut findings) = (Names::new(), Vec::new());
    let all: Vec<_> = repo
        .rust()
        .filter(|(file, _)| is_of_the_facade(file))
        .collect();
    for (path, line, name) in all.iter().flat_map(|one| futures(&all, *one)) {
        match name {
            Some(name) => {
                let name = format!("{}::{name}", module(path));
                there_are.insert(name, (path.to_string(), line));
            }
            None => findings.push(Finding::new(
                path,
                line,
                "an operation without a name",
                format!("a public future, and a case of it in {TEST}.rs"),
            )),
        }
    }
    (there_are, findings)
}

/// Operations that are not named, as told, and names of what is none.
fn compare(there_are: &Names, named: &Names, found: &str, expected: &str) -> Vec<Finding> {
    let missing = |one: &Names, other: &Names, found: &str, expected: &str| {
        let missing = one.iter().filter(|(name, _)| !other.contains_key(*name));
        let finding = |(name, (path, line)): (&String, &(String, usize))| {
            Finding::new(path, *line, format!("`{name}` {found}"), expected)
        };
        missing.map(finding).collect::<Vec<_>>()
    };
    let mut findings = missing(there_are, named, found, expected);
    let none = missing(
        named,
        there_are,
        "is no operation",
        "the name of a public future",
    );
    findings.extend(none);
    findings
}

fn is_of_the_facade(file: &File) -> bool {
    let name = file.path.split('/').nth(1);
    file.is_crate_source() && name.is_some_and(|name| CRATES.contains(&name))
}

/// `crates/sync/src/once/cell.rs`: `sync::once::cell`.
fn module(path: &str) -> String {
    let path = path.trim_start_matches("crates/").trim_end_matches(".rs");
    let parts = path
        .split('/')
        .filter(|part| !["src", "mod", "lib"].contains(part));
    parts.collect::<Vec<_>>().join("::")
}

/// Where a future is, and its name if it has one.
type Future<'a> = (&'a str, usize, Option<String>);

/// The public futures that are implemented here, and the functions that give one without a name.
fn futures<'a>(
    all: &[(&'a File, &Source)],
    (file, source): (&'a File, &Source),
) -> Vec<Future<'a>> {
    let code = &source.code;
    let pattern = |text: &str| Regex::new(text).expect("a valid pattern");
    let implemented = pattern(r"\bimpl\b[^;{}]*?\b(?:Future|IntoFuture|Stream)\s+for\s+(\$?\w+)");
    let unnamed =
        pattern(r"\bpub\s+(?:async\s+fn\b|fn\b[^;{]*->\s*impl\s[^;{]*\b(?:Future|Stream)\b)");
    let mut found = Vec::new();
    for one in implemented.captures_iter(code) {
        let at = one.get(1).expect("the name").start();
        if source.in_test(at) {
            continue;
        }
        let name = &one[1];
        if name.starts_with('$') {
            found.extend(made_by_macro(all, (file, source), at));
        } else if pattern(&format!(r"\bpub\s+struct\s+{name}\b")).is_match(code) {
            found.push((&*file.path, source.line(at), Some(name.to_string())));
        }
    }
    let unnamed = unnamed
        .find_iter(code)
        .filter(|one| !source.in_test(one.start()));
    found.extend(unnamed.map(|one| (&*file.path, source.line(one.start()), None)));
    found
}

/// The names that the macro around this place is called with, each the first word of its line: in this file, and in
/// those of this crate that have no macro of this name themselves.
fn made_by_macro<'a>(
    all: &[(&'a File, &Source)],
    (file, source): (&'a File, &Source),
    at: usize,
) -> Vec<Future<'a>> {
    let unknown = vec![(&*file.path, source.line(at), None)];
    let pattern = |text: &str| Regex::new(text).expect("a valid pattern");
    let rules = pattern(r"\bmacro_rules!\s*(\w+)");
    let Some(name) = rules.captures_iter(&source.code[..at]).last() else {
        return unknown;
    };
    let own = pattern(&format!(r"\bmacro_rules!\s*{}\b", &name[1]));
    let call = pattern(&format!(r"(?m)^(?:\w+::)*{}!\s*\{{([^}}]*)", &name[1]));
    let word = pattern(r"\n\s+([A-Z]\w*)");
    let of_crate = |path: &str| path.split('/').nth(1) == file.path.split('/').nth(1);
    let mut found = Vec::new();
    for (other, text) in all.iter().filter(|(other, _)| of_crate(&other.path)) {
        if other.path != file.path && own.is_match(&text.code) {
            continue;
        }
        for call in call.captures_iter(&text.code) {
            let body = call.get(1).expect("the body");
            for word in word.captures_iter(body.as_str()) {
                let at = body.start() + word.get(1).expect("the word").start();
                found.push((&*other.path, text.line(at), Some(word[1].to_string())));
            }
        }
    }
    if found.is_empty() { unknown } else { found }
}

/// The names in the test.
fn tested(repo: &Repo) -> Names {
    let name = Regex::new(r#""(\w+(?:::\w+)+)(?:,[^"]*)?""#).expect("a valid pattern");
    let mut tested = Names::new();
    for (file, source) in repo.rust().filter(|(file, _)| file.path.starts_with(TEST)) {
        for found in name.captures_iter(&source.uncommented) {
            let line = source.line(found.get(1).expect("the name").start());
            tested.insert(found[1].to_string(), (file.path.clone(), line));
        }
    }
    tested
}

/// The names in the page's comments.
fn on_the_page(repo: &Repo) -> Names {
    let name = Regex::new(r"\b\w+(?:::\w+)+").expect("a valid pattern");
    let mut names = Names::new();
    for (line, text) in repo
        .get(PAGE)
        .iter()
        .flat_map(|page| (1..).zip(page.text.lines()))
    {
        let comment = text.split_once("<!--").map_or("", |(_, comment)| comment);
        for found in name.find_iter(comment) {
            names.insert(found.as_str().to_string(), (PAGE.to_string(), line));
        }
    }
    names
}
