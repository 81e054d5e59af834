//! The table of mutants and the source name the same bugs.

use regex::Regex;

use super::Finding;
use crate::mutants::table::{self, TABLE};
use crate::repo::Repo;

/// Every bug of `xtask/mutants.toml` occurs as `mutant!("name")` in the source, and the reverse.
pub(super) fn table_matches_source(repo: &Repo) -> Vec<Finding> {
    let text = repo.get(TABLE).map_or("", |file| &file.text);
    let mutants = match table::parse(text) {
        Ok(mutants) => mutants,
        Err(error) => {
            let found = format!("cannot be used ({error:#})");
            return vec![Finding::new(
                TABLE,
                1,
                found,
                "the fields its first lines explain",
            )];
        }
    };
    let planted = planted(repo);
    let mut findings = Vec::new();
    for mutant in &mutants {
        if !planted.iter().any(|(name, ..)| *name == mutant.name) {
            let named = |line: &str| line.contains(&format!("\"{}\"", mutant.name));
            let line = text.lines().position(named).unwrap_or(0) + 1;
            let found = format!("the mutant `{}` is planted nowhere", mutant.name);
            let expected = format!("`mutant!(\"{}\")` in the source", mutant.name);
            findings.push(Finding::new(TABLE, line, found, expected));
        }
    }
    for (name, path, line) in planted {
        if !mutants.iter().any(|mutant| mutant.name == name) {
            let found = format!("the mutant `{name}` has no gate");
            findings.push(Finding::new(
                &path,
                line,
                found,
                format!("a row in {TABLE}"),
            ));
        }
    }
    findings
}

/// Name, path and line of every mutant.
pub(crate) fn planted(repo: &Repo) -> Vec<(String, String, usize)> {
    let condition = Regex::new(r#"\bmutant\s*(?:=|!\s*\()\s*"([^"]*)""#).expect("a valid pattern");
    let mut found = Vec::new();
    for (file, source) in repo.rust() {
        for planted in condition.captures_iter(&source.uncommented) {
            let at = planted.get(0).expect("the match").start();
            // In a string it is a text about mutants, not a mutant.
            if source.code[at..].starts_with("mutant") {
                found.push((planted[1].to_string(), file.path.clone(), source.line(at)));
            }
        }
    }
    found
}
