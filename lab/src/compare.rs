//! What changed between two runs of the lab, beyond noise.
//!
//! Rows are matched by workload, options and contender (and by file, when two folders are
//! compared). What the machine itself drifted between the runs is taken out where it can be known:
//! it is the median change of the peers in the same race, because their code did not change with
//! ours; how far the peers are apart is added to what a change must be. The rule is in [`noise`], and in lab/METHODOLOGY.md.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::PathBuf;

use anyhow::Result;
use clap::Args;

use crate::format::{figure, thousands};
use crate::inputs::{Source, named};
use crate::report::class_of;
use crate::report::races::{setting, show, size_option};
use crate::report::warnings::machine;
use crate::results::{Row, Status};
use crate::say;
use crate::table::{speed, status_text};

pub mod noise;

use noise::{Drift, Verdict, least_chance, verdict};

/// Fewer peers than this do not tell the machine's drift from their own noise.
const PEERS_MIN: usize = 3;

/// What `lab compare` was asked for.
#[derive(Debug, Args)]
pub struct Asked {
    /// Before: a results file, or a folder with some (a record).
    #[arg(value_name = "A")]
    pub before: PathBuf,
    /// After: the same.
    #[arg(value_name = "B")]
    pub after: PathBuf,
    /// Exit with 1 when something got slower beyond noise, or does not work any more.
    #[arg(long)]
    pub fail: bool,
}

/// `lab compare`.
///
/// # Errors
/// A [`crate::commands::BadInput`] about a file.
pub fn run(asked: &Asked) -> Result<u8> {
    let before = named(std::slice::from_ref(&asked.before))?;
    let after = named(std::slice::from_ref(&asked.after))?;
    let by_file = asked.before.is_dir() && asked.after.is_dir();
    let comparison = Comparison::new(&before, &after, by_file);
    say!("{}", comparison.render(&before, &after));
    Ok(u8::from(asked.fail && comparison.worse() > 0))
}

/// A row and the file it is from.
type Place<'a> = (&'a Source, &'a Row);

/// One contender before and after.
#[derive(Debug)]
struct Pair<'a> {
    before: Place<'a>,
    after: Place<'a>,
    /// What the machine changed between the two; `None` if it cannot be known.
    drift: Option<Drift>,
    verdict: Verdict,
}

#[derive(Debug)]
struct Comparison<'a> {
    /// Measured on both sides, by race.
    races: BTreeMap<String, Vec<Pair<'a>>>,
    /// On both sides, measured on one of them or none.
    broken: Vec<(Place<'a>, Place<'a>)>,
    /// Not compared, by why: on one side only, or on one side more than once.
    alone: BTreeMap<&'static str, Vec<Place<'a>>>,
}

impl<'a> Comparison<'a> {
    fn new(before: &'a [Source], after: &'a [Source], by_file: bool) -> Comparison<'a> {
        let (mut only_before, mut only_after) = (rows(before), rows(after));
        let mut both = Vec::new();
        // First the same number of operations; then whatever is left over and alone.
        for sized in [true, false] {
            let left = index(&only_before, by_file, sized);
            let right = index(&only_after, by_file, sized);
            let alone = |(key, place): (&String, &Option<Place<'a>>)| {
                Some(((*place)?, (*right.get(key)?)?))
            };
            both.extend(left.iter().filter_map(alone));
            let gone = |(_, row): &Place<'a>, pick: fn(&(Place<'a>, Place<'a>)) -> &'a Row| {
                both.iter().any(|pair| std::ptr::eq(pick(pair), *row))
            };
            only_before.retain(|place| !gone(place, |pair| pair.0.1));
            only_after.retain(|place| !gone(place, |pair| pair.1.1));
        }
        let mut races: BTreeMap<String, Vec<Pair<'a>>> = BTreeMap::new();
        let mut broken = Vec::new();
        for (before, after) in both {
            if speed(before.1).is_none() || speed(after.1).is_none() {
                broken.push((before, after));
                continue;
            }
            races
                .entry(race_of(before, by_file))
                .or_default()
                .push(Pair {
                    before,
                    after,
                    drift: None,
                    verdict: Verdict::Unknown,
                });
        }
        races.values_mut().for_each(|pairs| judge(pairs));
        Comparison {
            races,
            broken,
            alone: why_alone(&only_before, &only_after, by_file),
        }
    }

    fn count(&self, verdict: Verdict) -> usize {
        let pairs = self.races.values().flatten();
        pairs.filter(|pair| pair.verdict == verdict).count()
    }

    /// How many got slower, or worked before and do not any more.
    fn worse(&self) -> usize {
        let gone = self.broken.iter().filter(|(before, after)| {
            speed(before.1).is_some() && matches!(after.1.status, Status::Failed | Status::Timeout)
        });
        self.count(Verdict::Slower) + gone.count()
    }

    fn render(&self, before: &[Source], after: &[Source]) -> String {
        let mut text = String::new();
        // Writing to a string cannot fail.
        let _ = push_sides(&mut text, before, after);
        for (race, pairs) in &self.races {
            let _ = push_race(&mut text, race, pairs);
        }
        for (before, after) in &self.broken {
            let state = |row: &Row| match speed(row) {
                Some(ns) => format!("{} ns", figure(ns)),
                None => status_text(row),
            };
            let (race, name) = (race_of(*before, false), &before.1.contender);
            let _ = writeln!(
                text,
                "\n{race}: {name}: before {}, after {}",
                state(before.1),
                state(after.1)
            );
        }
        for (why, rows) in &self.alone {
            for (race, names) in by_race(rows) {
                let _ = writeln!(text, "\n{why}: {race}: {names}");
            }
        }
        let compared: usize = self.races.values().map(Vec::len).sum();
        let (slower, faster) = (self.count(Verdict::Slower), self.count(Verdict::Faster));
        let _ = writeln!(
            text,
            "\n{compared} rows compared: {slower} slower and {faster} faster beyond noise, {} perhaps, {} within it, {} unknown",
            self.count(Verdict::Perhaps),
            self.count(Verdict::Noise),
            self.count(Verdict::Unknown)
        );
        text
    }
}

fn rows(sources: &[Source]) -> Vec<Place<'_>> {
    let all = |source| -> Vec<Place<'_>> {
        let source: &Source = source;
        source
            .results
            .results
            .iter()
            .map(|row| (source, row))
            .collect()
    };
    sources.iter().flat_map(all).collect()
}

/// Rows by what they are; `None` where several are the same.
fn index<'a>(
    rows: &[Place<'a>],
    by_file: bool,
    sized: bool,
) -> BTreeMap<String, Option<Place<'a>>> {
    let mut index: BTreeMap<String, Option<Place<'a>>> = BTreeMap::new();
    for place in rows {
        let key = key_of(*place, by_file, sized);
        let entry = index.entry(key).or_insert(Some(*place));
        if !entry.is_some_and(|(_, row)| std::ptr::eq(row, place.1)) {
            *entry = None;
        }
    }
    index
}

/// What a row is, with its number of operations or without.
fn key_of(place: Place<'_>, by_file: bool, sized: bool) -> String {
    let ops = if sized { place.1.ops } else { 0 };
    format!("{}\0{ops}\0{}", race_of(place, by_file), place.1.contender)
}

/// What was left over, by why. Two that are left are a pair unless one of them is there twice.
fn why_alone<'a>(
    before: &[Place<'a>],
    after: &[Place<'a>],
    by_file: bool,
) -> BTreeMap<&'static str, Vec<Place<'a>>> {
    let (left, right) = (index(before, by_file, false), index(after, by_file, false));
    let mut alone: BTreeMap<&'static str, Vec<Place<'a>>> = BTreeMap::new();
    for place in before {
        let key = key_of(*place, by_file, false);
        let several_before = left.get(&key).is_some_and(Option::is_none);
        let why = match right.get(&key) {
            None => "only in A",
            Some(None) if several_before => "several in A and in B",
            Some(None) => "several in B",
            Some(Some(_)) => "several in A",
        };
        alone.entry(why).or_default().push(*place);
    }
    // What both sides have has been said.
    let new = |place: &&Place<'a>| !left.contains_key(&key_of(**place, by_file, false));
    for place in after.iter().filter(new) {
        alone.entry("only in B").or_default().push(*place);
    }
    alone
}

/// The workload and its options, and the file when that is part of what is compared.
fn race_of((source, row): Place<'_>, by_file: bool) -> String {
    let options = show(&setting(row, &[size_option(&row.workload)]));
    let separator = if options.is_empty() { "" } else { ", " };
    let race = format!("{}{separator}{options}", row.workload);
    if by_file {
        format!("{}: {race}", source.name)
    } else {
        race
    }
}

/// Finds the drift for each pair of a race, and judges it.
fn judge(pairs: &mut [Pair<'_>]) {
    // With other operations the start of the process weighs more or less: no measure of the machine.
    let is_peer = |pair: &Pair<'_>| {
        class_of(&pair.before.1.contender) != "ours" && pair.before.1.ops == pair.after.1.ops
    };
    let changes: Vec<Option<f64>> = pairs
        .iter()
        .map(|pair| {
            let change = speed(pair.after.1)? / speed(pair.before.1)?;
            is_peer(pair).then_some(change)
        })
        .collect();
    for (own, pair) in pairs.iter_mut().enumerate() {
        let others = changes.iter().enumerate().filter(|(at, _)| *at != own);
        let peers: Vec<f64> = others.filter_map(|(_, change)| *change).collect();
        pair.drift = Drift::of(&peers).filter(|_| peers.len() >= PEERS_MIN);
        let drift = pair.drift.unwrap_or(Drift::NONE);
        pair.verdict = verdict(&runs(pair.before.1), &runs(pair.after.1), drift);
    }
}

/// Nanoseconds per operation of every run.
fn runs(row: &Row) -> Vec<f64> {
    let per_op = |wall: &f64| wall * 1e9 / row.ops as f64;
    row.raw_wall_s.iter().map(per_op).collect()
}

fn push_sides(text: &mut String, before: &[Source], after: &[Source]) -> std::fmt::Result {
    for (side, sources) in [("A, before", before), ("B, after", after)] {
        let all: BTreeSet<String> = sources
            .iter()
            .map(|source| {
                format!(
                    "commit {}, {}",
                    source.results.machine.commit,
                    machine(source)
                )
            })
            .collect();
        let all: Vec<String> = all.into_iter().collect();
        writeln!(text, "{side}: {} ({})", all.join("; "), files(sources))?;
    }
    let machines =
        |sources: &[Source]| -> BTreeSet<String> { sources.iter().map(machine).collect() };
    let (left, right) = (machines(before), machines(after));
    if left != right || left.len() > 1 {
        let advice = "only ratios within one of them mean anything";
        writeln!(
            text,
            "warning: A and B are not from the same machine; {advice}"
        )?;
    }
    Ok(())
}

fn files(sources: &[Source]) -> String {
    match sources {
        [source] => source.name.clone(),
        _ => format!("{} files", sources.len()),
    }
}

fn push_race(text: &mut String, race: &str, pairs: &[Pair<'_>]) -> std::fmt::Result {
    let mut sorted: Vec<&Pair<'_>> = pairs.iter().collect();
    sorted.sort_by_key(|pair| match pair.verdict {
        Verdict::Slower => 0,
        Verdict::Faster => 1,
        Verdict::Perhaps => 2,
        Verdict::Unknown => 3,
        Verdict::Noise => 4,
    });
    let names = sorted.iter().map(|pair| pair.before.1.contender.len());
    let width = names.max().unwrap_or(0).max("contender".len());
    writeln!(text, "\n{race}")?;
    writeln!(
        text,
        "{:<width$}  {:>10}  {:>10}  {:>9}  {:>17}  verdict",
        "contender", "ns before", "ns after", "change", "drift"
    )?;
    for pair in sorted {
        let (before, after) = (pair.before.1, pair.after.1);
        let (Some(was), Some(is)) = (speed(before), speed(after)) else {
            continue;
        };
        let percent = |factor: f64| format!("{:+.1} %", (factor - 1.0) * 100.0);
        writeln!(
            text,
            "{:<width$}  {:>10}  {:>10}  {:>9}  {:>17}  {}{}",
            before.contender,
            figure(was),
            figure(is),
            percent(is / was),
            pair.drift.map_or_else(
                || "unknown".to_owned(),
                |drift| format!("{} ± {:.1}", percent(drift.factor), drift.spread * 100.0)
            ),
            said(pair),
            other_size(before, after)
        )?;
    }
    Ok(())
}

fn said(pair: &Pair<'_>) -> String {
    match pair.verdict {
        Verdict::Slower => "SLOWER beyond noise".into(),
        Verdict::Faster => "faster beyond noise".into(),
        Verdict::Perhaps => {
            let runs = |row: &Row| row.raw_wall_s.len();
            let chance = least_chance(runs(pair.before.1), runs(pair.after.1)) * 100.0;
            let digits = usize::from(chance < 9.95);
            format!("perhaps: chance alone does it in {chance:.digits$} %; more runs would tell")
        }
        Verdict::Noise => "within noise".into(),
        Verdict::Unknown => "unknown: a single run has no noise to compare with".into(),
    }
}

fn other_size(before: &Row, after: &Row) -> String {
    if before.ops == after.ops {
        return String::new();
    }
    let (was, is) = (thousands(before.ops), thousands(after.ops));
    format!("; with {is} operations instead of {was}")
}

/// Contenders by race, as text.
fn by_race(rows: &[Place<'_>]) -> BTreeMap<String, String> {
    let mut races: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for place in rows {
        let names = races.entry(race_of(*place, false)).or_default();
        names.push(&place.1.contender);
    }
    let joined = races
        .into_iter()
        .map(|(race, names)| (race, names.join(", ")));
    joined.collect()
}
