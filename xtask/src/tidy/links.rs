//! Links between the repository's own pages lead somewhere: to a file, and to a heading in it.

use regex::Regex;

use super::Finding;
use crate::repo::Repo;

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
