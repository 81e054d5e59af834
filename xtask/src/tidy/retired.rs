//! Words that were given up for standard ones (`docs/GLOSSARY.md`), and the table that lists them.

use std::collections::BTreeMap;

use regex::Regex;
use serde::Deserialize;

use super::Finding;
use crate::repo::Repo;

/// Where the table is, from the root.
pub(super) const TABLE: &str = "xtask/words.toml";

/// Each retired word with the one to use, and the names that may mean several things, with the reason.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Words {
    names: BTreeMap<String, String>,
    parts: BTreeMap<String, String>,
    prose: BTreeMap<String, String>,
    pub(super) roles: BTreeMap<String, String>,
}

impl Words {
    /// The table of `repo`, or what is wrong with it.
    pub(super) fn of(repo: &Repo) -> Result<Words, Finding> {
        let wrong =
            |found: String| Finding::new(TABLE, 1, found, "the tables its first lines explain");
        match repo.get(TABLE) {
            Some(file) => toml::from_str(&file.text)
                .map_err(|error| wrong(format!("cannot be used ({})", error.message()))),
            None => Ok(Words::default()),
        }
    }
}

/// No retired word is in `crates/`: not as a name, in a name, in a path or in a comment.
pub(super) fn no_retired_words(repo: &Repo) -> Vec<Finding> {
    let words = match Words::of(repo) {
        Ok(words) => words,
        Err(finding) => return vec![finding],
    };
    let name = Regex::new(r"[A-Za-z_][A-Za-z0-9_]*").expect("a valid pattern");
    let word = Regex::new(r"[A-Za-z]+").expect("a valid pattern");
    let ours = |path: &str| path.starts_with("crates/");
    let mut findings = Vec::new();
    for file in repo.files().filter(|file| ours(&file.path)) {
        let mut found = |line: usize, old: &str, new: &String| {
            let found = format!("the retired word `{old}`");
            let expected = format!("`{new}` (docs/GLOSSARY.md)");
            findings.push(Finding::new(&file.path, line, found, expected));
        };
        for part in name.find_iter(&file.path).flat_map(|at| parts(at.as_str())) {
            if let Some(new) = words.parts.get(&part) {
                found(1, &part, new);
            }
        }
        let Some(source) = &file.source else {
            continue;
        };
        for at in name.find_iter(&source.code) {
            let line = source.line(at.start());
            if let Some(new) = words.names.get(at.as_str()) {
                found(line, at.as_str(), new);
            }
            for part in parts(at.as_str()) {
                if let Some(new) = words.parts.get(&part) {
                    found(line, &part, new);
                }
            }
        }
        for at in word.find_iter(&source.comments) {
            let old = at.as_str().to_lowercase();
            if let Some(new) = words.prose.get(&old) {
                found(source.line(at.start()), &old, new);
            }
        }
    }
    findings
}

/// The parts of a name, in lower case: `open_home` and `OpenHome` have `open` and `home`.
fn parts(name: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut before = '_';
    for letter in name.chars() {
        let begins = letter == '_' || (letter.is_uppercase() && !before.is_uppercase());
        if begins {
            parts.push(String::new());
        }
        if letter != '_' {
            let part = parts.last_mut().expect("there is one");
            part.extend(letter.to_lowercase());
        }
        before = letter;
    }
    parts.retain(|part| !part.is_empty());
    parts
}
