//! Every atomic ordering says why: the line on the other side that it pairs with, or why none is
//! needed.

use regex::Regex;

use super::Finding;
use crate::repo::Repo;
use crate::source::Source;

/// How far above the use its comment may start.
const LINES_ABOVE: usize = 6;

/// Every `Ordering::X` of an atomic has `pairs with` or `Relaxed:` in a comment just above it.
pub(super) fn each_says_its_pair(repo: &Repo) -> Vec<Finding> {
    let names = "Relaxed|Acquire|Release|AcqRel|SeqCst";
    let used = Regex::new(&format!(r"\bOrdering\s*::\s*(?:{names})\b")).expect("a valid pattern");
    let hidden = Regex::new(&format!(
        r"\bOrdering\s*::\s*(?:\*|\{{[^}}]*\b(?:{names})\b)|\bOrdering\s+as\s|\buse\s[^;]*\bOrdering\s*::\s*(?:{names})"
    ))
    .expect("a valid pattern");
    let mut findings = Vec::new();
    for (file, source) in repo.rust().filter(|(file, _)| file.is_crate_source()) {
        for found in hidden
            .find_iter(&source.code)
            .filter(|at| !source.in_test(at.start()))
        {
            let line = source.line(found.start());
            let expected = "write `Ordering::X` in full at each use, where its reason stands";
            findings.push(Finding::new(
                &file.path,
                line,
                "an ordering imported by name",
                expected,
            ));
        }
        for found in used
            .find_iter(&source.code)
            .filter(|at| !source.in_test(at.start()))
        {
            let line = source.line(found.start());
            if !explained(source, line) {
                let found = format!("`{}` without its reason", found.as_str());
                let expected = format!(
                    "a comment within {LINES_ABOVE} lines above: \
                     `pairs with …`, or `Relaxed: why nothing is published`"
                );
                findings.push(Finding::new(&file.path, line, found, expected));
            }
        }
    }
    findings
}

fn explained(source: &Source, line: usize) -> bool {
    let first = line.saturating_sub(LINES_ABOVE).max(1);
    // A sentence may break between two lines: drop the slashes and join.
    let mut text = String::new();
    for line in first..=line {
        text += source
            .comment_line(line)
            .trim_start_matches(['/', '!', '*', ' ']);
        text += " ";
    }
    let words: Vec<&str> = text.split_whitespace().collect();
    let text = words.join(" ").to_lowercase();
    text.contains("pairs with") || text.contains("relaxed:")
}
