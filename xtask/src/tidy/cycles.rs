//! No import cycle between the modules of a crate.
//!
//! Files that use each other, directly or through others, form one knot: to understand one of them takes all.

mod modules;

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use self::modules::{Modules, Use};
use super::Finding;
use crate::repo::Repo;

type Uses = BTreeMap<(usize, usize), Use>;

/// No modules use each other.
pub(super) fn none(repo: &Repo) -> Vec<Finding> {
    let mut findings = Vec::new();
    for folder in crates(repo) {
        let modules = Modules::read(repo, &folder);
        let uses = modules.uses();
        for knot in knots(modules.files.len(), &uses) {
            findings.push(tell(&modules, &uses, &knot));
        }
    }
    findings
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
