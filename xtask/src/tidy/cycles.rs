//! No import cycle between the modules of a crate.
//!
//! Files that use each other, directly or through others, form one knot: to understand one of them takes all. The knots
//! that are left stand in `xtask/cycles.txt`, which only shrinks.

mod modules;

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use self::modules::{Modules, Use};
use super::Finding;
use crate::repo::Repo;

const ALLOW: &str = "xtask/cycles.txt";

type Uses = BTreeMap<(usize, usize), Use>;

/// Modules that use each other are in one line of the list, and what is in the list uses each other.
pub(super) fn none_but_known(repo: &Repo) -> Vec<Finding> {
    let known = known(repo);
    let mut findings = Vec::new();
    let mut seen = BTreeSet::new();
    for folder in crates(repo) {
        let modules = Modules::read(repo, &folder);
        let uses = modules.uses();
        for knot in knots(modules.files.len(), &uses) {
            let paths: BTreeSet<&str> = knot
                .iter()
                .map(|file| modules.files[*file].path.as_str())
                .collect();
            if !known.iter().any(|(_, line)| paths.is_subset(line)) {
                findings.push(tell(&modules, &uses, &knot));
            }
            seen.extend(paths);
        }
    }
    for (line, paths) in &known {
        for path in paths.iter().filter(|path| !seen.contains(*path)) {
            let found = format!("`{path}` is listed and in no import cycle");
            findings.push(Finding::new(ALLOW, *line, found, "take it out of the list"));
        }
    }
    findings
}

/// The lines of the list: files that use each other.
fn known(repo: &Repo) -> Vec<(usize, BTreeSet<&str>)> {
    let text = repo.get(ALLOW).map_or("", |file| &file.text);
    let lines = text
        .lines()
        .enumerate()
        .filter(|(_, line)| !line.starts_with('#'));
    let lines = lines.map(|(at, line)| (at + 1, line.split_whitespace().collect()));
    lines.collect()
}

fn crates(repo: &Repo) -> Vec<String> {
    let manifests = repo
        .files()
        .filter_map(|file| file.path.strip_suffix("/Cargo.toml"));
    let ours = |folder: &&str| {
        folder
            .strip_prefix("crates/")
            .is_some_and(|name| !name.contains('/'))
    };
    manifests.filter(ours).map(str::to_string).collect()
}

/// Files of which each uses each other, directly or not; by their first.
fn knots(files: usize, uses: &Uses) -> Vec<Vec<usize>> {
    let reached: Vec<BTreeSet<usize>> = (0..files)
        .map(|from| way(uses, from, None).into_keys().collect())
        .collect();
    let mut knots = Vec::new();
    for first in (0..files).filter(|first| reached[*first].contains(first)) {
        let both =
            |other: &usize| reached[first].contains(other) && reached[*other].contains(&first);
        let knot: Vec<usize> = (0..files).filter(both).collect();
        if knot[0] == first {
            knots.push(knot);
        }
    }
    knots
}

/// Which files `from` uses, directly or not, each with the one before it on a shortest way; until `to` is found.
fn way(uses: &Uses, from: usize, to: Option<usize>) -> BTreeMap<usize, usize> {
    let mut before = BTreeMap::new();
    let mut next = VecDeque::from([from]);
    while let Some(at) = next.pop_front() {
        for (_, used) in uses.range((at, 0)..(at + 1, 0)).map(|(pair, _)| pair) {
            if !before.contains_key(used) {
                before.insert(*used, at);
                next.push_back(*used);
            }
            if Some(*used) == to {
                return before;
            }
        }
    }
    before
}

/// A shortest cycle of a knot, in words.
fn tell(modules: &Modules<'_>, uses: &Uses, knot: &[usize]) -> Finding {
    let cycle = knot
        .iter()
        .map(|first| cycle(uses, *first))
        .min_by_key(Vec::len);
    let cycle = cycle.unwrap_or_default();
    let steps = cycle.iter().map(|(from, to)| {
        let Use { line, path } = &uses[&(*from, *to)];
        let (from, to) = (&modules.files[*from].path, &modules.files[*to].path);
        format!("{from}:{line} uses `{path}` of {to}")
    });
    let steps: Vec<_> = steps.collect();
    let files: Vec<_> = knot
        .iter()
        .map(|file| modules.files[*file].path.as_str())
        .collect();
    let (from, to) = cycle[0];
    Finding::new(
        &modules.files[from].path,
        uses[&(from, to)].line,
        format!(
            "an import cycle: {} (all {} files of it: {})",
            steps.join(", "),
            files.len(),
            files.join(" ")
        ),
        "one of them says what it needs as a trait or an argument, or what both need stands in a third",
    )
}

/// The steps of a shortest cycle through a file that is in one.
fn cycle(uses: &Uses, first: usize) -> Vec<(usize, usize)> {
    let before = way(uses, first, Some(first));
    let mut steps = Vec::new();
    let mut to = first;
    while let Some(from) = before.get(&to) {
        steps.push((*from, to));
        to = *from;
        if to == first {
            break;
        }
    }
    steps.reverse();
    steps
}
