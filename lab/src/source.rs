//! The programs themselves: how many lines of code they have, and their text.

use std::path::{Path, PathBuf};

use crate::catalogue::Catalogue;

/// A program that some contenders share.
#[derive(Debug)]
pub struct Program {
    /// The contenders.
    pub names: Vec<String>,
    /// Its files' names.
    pub files: Vec<String>,
    /// Their texts.
    pub texts: Vec<String>,
    /// Lines that are neither empty nor only a comment.
    pub lines: usize,
}

/// The programs of the ring, the shortest first. A file that cannot be read has no text.
#[must_use]
pub fn of_ring(catalogue: &Catalogue) -> Vec<Program> {
    let mut seen: Vec<&Vec<PathBuf>> = Vec::new();
    let mut programs: Vec<Program> = Vec::new();
    for contender in &catalogue.contenders {
        let files = &contender.sources;
        if files.is_empty() || !contender.workload.contains_key("ring") {
            continue;
        }
        if let Some(at) = seen.iter().position(|other| *other == files) {
            programs[at].names.push(contender.name.clone());
            continue;
        }
        seen.push(files);
        let texts: Vec<String> = files
            .iter()
            .map(|file| std::fs::read_to_string(file).unwrap_or_default())
            .collect();
        programs.push(Program {
            names: vec![contender.name.clone()],
            files: files.iter().map(|file| name(file)).collect(),
            lines: files
                .iter()
                .zip(&texts)
                .map(|(file, text)| count(file, text))
                .sum(),
            texts,
        });
    }
    programs.sort_by_key(|program| program.lines);
    programs
}

fn name(file: &Path) -> String {
    file.file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned()
}

/// How a comment to the end of the line begins, and one that goes on until its end, by a file's ending.
fn comments(file: &Path) -> (&'static str, [&'static str; 2]) {
    match file
        .extension()
        .and_then(|end| end.to_str())
        .unwrap_or_default()
    {
        "hs" => ("--", ["{-", "-}"]),
        "ml" => ("(**)", ["(*", "*)"]),
        "erl" => ("%", ["%{", "%}"]),
        "py" | "rb" | "cr" => ("#", ["\"\"\"", "\"\"\""]),
        "lisp" => (";", ["#|", "|#"]),
        _ => ("//", ["/*", "*/"]),
    }
}

/// Lines that are neither empty nor only a comment; a comment in the middle of code is code.
#[must_use]
pub fn count(file: &Path, text: &str) -> usize {
    let (to_the_end, [open, close]) = comments(file);
    let mut inside = false;
    let mut lines = 0;
    for line in text.lines().map(str::trim) {
        if inside {
            inside = !line.contains(close);
        } else if let Some(rest) = line.strip_prefix(open) {
            inside = !rest.contains(close);
        } else if !line.is_empty() && !line.starts_with(to_the_end) {
            lines += 1;
        }
    }
    lines
}

#[cfg(test)]
mod tests;
