//! What a reader must know before believing a figure, in words.

use std::collections::BTreeSet;

use crate::inputs::Source;
use crate::results::Row;
use crate::table::speed;

/// So many files are named in a warning.
const NAMED_MAX: usize = 5;
/// Fewer runs than this say little about chance.
const RUNS_MIN: usize = 5;
/// Runs of one contender that differ by more than this part of the median are noisy.
const NOISE_MAX: f64 = 0.10;
/// The load of the last minute has the lab's own builds in it, and what it measured just before;
/// these keep the processors busy, and little more. By so much more something else was running.
const LOAD_BEYOND_CORES: f64 = 1.0;

/// What is to be said about whole files and about their being together.
#[must_use]
pub fn of_sources(sources: &[Source]) -> Vec<String> {
    let mut warnings = Vec::new();
    let distinct = |pick: fn(&Source) -> String| -> Vec<String> {
        let all: BTreeSet<String> = sources.iter().map(pick).collect();
        all.into_iter().collect()
    };
    let machines = distinct(machine);
    if machines.len() > 1 {
        warnings.push(format!(
            "The files are from {} machines ({}): figures of one are not those of another.",
            machines.len(),
            machines.join("; ")
        ));
    }
    let commits = distinct(|source| source.results.machine.commit.clone());
    if commits.len() > 1 {
        let commits_listed = commits.join(", ");
        warnings.push(format!(
            "The files were measured at {} commits ({commits_listed}): what differs between files may be the code.",
            commits.len()
        ));
    }
    let named = |test: fn(&Source) -> bool| -> Vec<String> {
        let files = sources.iter().filter(|source| test(source));
        files.map(|source| source.name.clone()).collect()
    };
    let all = sources.len();
    let changed = named(|source| source.results.machine.commit.ends_with('+'));
    if !changed.is_empty() {
        warnings.push(format!(
            "{} of {all} files are of a checkout with changes that were not committed, so nobody can measure it again: {}.",
            changed.len(),
            some(&changed)
        ));
    }
    let busy: Vec<String> = sources
        .iter()
        .map(|source| (source, &source.results.machine))
        .filter(|(_, machine)| machine.load_1min > machine.cores as f64 + LOAD_BEYOND_CORES)
        .map(|(source, machine)| {
            let (load, cores) = (machine.load_1min, machine.cores);
            format!("{} ({load:.2} on {cores} cores)", source.name)
        })
        .collect();
    if !busy.is_empty() {
        warnings.push(format!(
            "When {} of {all} runs began, the load of the last minute was more than {LOAD_BEYOND_CORES} above the number of cores; \
             the lab's own building and what it measured just before are in it, but other work may be, too: {}.",
            busy.len(),
            some(&busy)
        ));
    }
    warnings
}

/// The first few, and how many more there are.
fn some(names: &[String]) -> String {
    let first: Vec<&str> = names.iter().take(NAMED_MAX).map(String::as_str).collect();
    let first = first.join(", ");
    match names.len().saturating_sub(NAMED_MAX) {
        0 => first,
        more => format!("{first}, and {more} more"),
    }
}

/// What is to be said about rows.
#[must_use]
pub fn of_rows(rows: &[&Row]) -> Vec<String> {
    let mut warnings = Vec::new();
    let cut = rows.iter().filter(|row| row.cut_text().is_some());
    let cut: Vec<&str> = cut.map(|row| row.contender.as_str()).collect();
    if !cut.is_empty() {
        let cut = cut.join(", ");
        warnings.push(format!(
            "Cut, because more took longer than a share of the time: {cut}."
        ));
    }
    let measured = || rows.iter().filter(|row| speed(row).is_some());
    let few: Vec<String> = measured()
        .filter(|row| row.runs < RUNS_MIN)
        .map(|row| format!("{} ({})", row.contender, row.runs))
        .collect();
    if !few.is_empty() {
        let few = few.join(", ");
        warnings.push(format!("Fewer than {RUNS_MIN} runs: {few}."));
    }
    let noisy: Vec<String> = measured()
        .filter_map(|row| Some((row, noise(row)?)))
        .filter(|(_, noise)| *noise > NOISE_MAX)
        .map(|(row, noise)| format!("{} ({:.0} %)", row.contender, noise * 100.0))
        .collect();
    if !noisy.is_empty() {
        warnings.push(format!(
            "Noisy, the slowest run and the quickest are more than {:.0} % of the median apart: {}.",
            NOISE_MAX * 100.0,
            noisy.join(", ")
        ));
    }
    warnings
}

/// How far the runs of a row are apart, as a part of their median.
fn noise(row: &Row) -> Option<f64> {
    let wall = row.wall_s?;
    (wall.median > 0.0).then(|| (wall.max - wall.min) / wall.median)
}

/// What makes a machine another one: processor, cores, kernel.
#[must_use]
pub fn machine(source: &Source) -> String {
    let machine = &source.results.machine;
    let (cpu, cores, kernel) = (machine.processor(), machine.cores, &machine.kernel);
    format!("{cpu}, {cores} cores, Linux {kernel}")
}
