//! Links between the repository's own pages lead somewhere: to a file, and to a heading in it. A source file that a page
//! names is there.

use regex::Regex;

use super::Finding;
use crate::repo::{File, Repo};

/// Every relative link in a `.md` file resolves.
pub(super) fn resolve(repo: &Repo) -> Vec<Finding> {
    let inline =
        Regex::new(r#"\]\(\s*<?([^)\s>]+)>?(?:\s+"[^"]*")?\s*\)"#).expect("a valid pattern");
    let reference = Regex::new(r"^\s{0,3}\[[^\]]+\]:\s*<?([^\s>]+)").expect("a valid pattern");
    let mut findings = Vec::new();
    for file in repo.files().filter(|file| file.path.ends_with(".md")) {
        for (at, line) in prose(&file.text) {
            for found in inline
                .captures_iter(&line)
                .chain(reference.captures_iter(&line))
            {
                if let Err(expected) = check(repo, &file.path, &found[1]) {
                    let found = format!("the link `{}`", &found[1]);
                    findings.push(Finding::new(&file.path, at, found, expected));
                }
            }
        }
    }
    findings
}

/// Every source file that a page names in code style, or by the end of its path, exists; and so does everything in `crates/`.
pub(super) fn named_files_exist(repo: &Repo) -> Vec<Finding> {
    let name = Regex::new(r"`([a-z0-9_./-]+\.rs|crates/[a-z0-9_./-]+)`").expect("a valid pattern");
    let is_history = |path: &str| path == "CHANGELOG.md" || path.starts_with("lab/records/");
    let pages = repo.files().filter(|file| file.path.ends_with(".md"));
    let mut findings = Vec::new();
    for page in pages.filter(|page| !is_history(&page.path)) {
        for (at, line) in fenced_out(&page.text) {
            for found in name.captures_iter(line) {
                let ending = format!("/{}", &found[1]);
                let is_there = |file: &File| file.path.ends_with(&ending);
                if !repo.has(&found[1]) && !repo.files().any(is_there) {
                    let found = format!("the file `{}`", &found[1]);
                    findings.push(Finding::new(&page.path, at, found, "a file that exists"));
                }
            }
        }
    }
    findings
}

fn check(repo: &Repo, from: &str, link: &str) -> Result<(), String> {
    let scheme = link
        .split(['/', '#'])
        .next()
        .is_some_and(|start| start.contains(':'));
    if scheme || link.starts_with("//") {
        return Ok(());
    }
    let (path, anchor) = link.split_once('#').unwrap_or((link, ""));
    let path = match path {
        "" => from.to_string(),
        _ => join(from, path).ok_or("a file inside the repository")?,
    };
    if !repo.has(&path) {
        return Err(format!("`{path}` to exist"));
    }
    let page = repo.get(&path).filter(|page| page.path.ends_with(".md"));
    match page {
        Some(page) if !anchor.is_empty() && !anchors(&page.text).iter().any(|a| a == anchor) => {
            Err(format!("a heading `#{anchor}` in `{path}`"))
        }
        _ => Ok(()),
    }
}

/// `link` seen from the folder of `from`; `None` when it leaves the repository.
fn join(from: &str, link: &str) -> Option<String> {
    if link.starts_with('/') {
        return None;
    }
    let mut parts: Vec<&str> = from.split('/').collect();
    parts.pop();
    for part in link.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            _ => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

/// The names that headings have as link targets, as the common forges make them.
fn anchors(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for (_, line) in fenced_out(text).filter(|(_, line)| line.starts_with('#')) {
        let title = line.trim_start_matches('#').trim().to_lowercase();
        let kept = |c: &char| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_');
        let name: String = title
            .chars()
            .filter(kept)
            .collect::<String>()
            .replace(' ', "-");
        let copies = found.iter().filter(|known| **known == name).count();
        found.push(if copies == 0 {
            name
        } else {
            format!("{name}-{copies}")
        });
    }
    found
}

/// The lines outside code, with their numbers; code inside a line is blanked.
fn prose(text: &str) -> impl Iterator<Item = (usize, String)> {
    let code = Regex::new(r"`[^`]*`").expect("a valid pattern");
    fenced_out(text).map(move |(at, line)| (at, code.replace_all(line, "code").into_owned()))
}

fn fenced_out(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut fenced = false;
    text.lines().enumerate().filter_map(move |(at, line)| {
        let fence = line.trim_start().starts_with("```");
        fenced ^= fence;
        (!fenced && !fence).then_some((at + 1, line))
    })
}
