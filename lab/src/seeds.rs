//! `lab seeds`: the tables of the seeds, as they were printed, and beside them what the same programs do today.

pub mod beside;
pub mod improvement;
pub mod page;
pub mod tables;

use std::path::{Path, PathBuf};

use anyhow::Result;

use crate::catalogue::{Catalogue, Contender};
use crate::cli::SeedsOptions;
use crate::clock::Clock;
use crate::commands::BadInput;
use crate::history;
use crate::paths::Paths;
use crate::plan::{BUDGET_S, How, LIMIT_S};
use crate::probe::Tools;
use crate::report;
use crate::results::{Results, Row, write_atomically};
use crate::sayln;
use crate::session::{Session, interrupted, jobs};
use crate::workload::Request;
use crate::workloads::find;

use tables::{
    GHC_GC, LATER, LINES, MESSAGE_RING, MSGSEND, OCAML_GC, PBFS, PROTOTHREADS, RING, Table,
};

/// Beside those in the tables: the programs that the seeds speak of without a row, and ours.
const ALSO: [&str; 8] = [
    "lwt-1m",
    "lwt-1m-relaxed",
    "go",
    "java-virtual",
    "gossamer/single-local",
    "gossamer/single",
    "gossamer/pool-2",
    "gossamer/threads",
];
/// Who runs the workloads of the seed of 2012: ours, what the seed names that there is, and the next best.
const SENDING: [&str; 12] = [
    "gossamer/single-local",
    "gossamer/single",
    "gossamer/pool-2",
    "kanal-tasks-1",
    "tokio-tasks-1",
    "std-threads",
    "go",
    "ghc-chan",
    "erlang",
    "erlang-otp",
    improvement::BFS[0],
    improvement::BFS[1],
];
/// The share of their measuring in what the ring takes.
const SENDING_SHARE: f64 = 0.25;
/// The rows with which GHC's allocation area is swept.
const SWEEP: &str = "ghc-a";

/// Prints all tables; the exit code.
///
/// # Errors
/// [`BadInput`] if the results given cannot be used, or whatever keeps the lab itself from working.
pub fn run(
    catalogue: &Catalogue,
    paths: &Paths,
    tools: &Tools,
    options: &SeedsOptions,
) -> Result<u8> {
    let (results, signal, data) = match &options.from {
        Some(file) => (loaded(file)?, None, file.clone()),
        None => measured(catalogue, paths, tools, options)?,
    };
    if let Some(signal) = signal.filter(|_| results.is_empty_handed()) {
        return Ok(interrupted(signal));
    }
    print(catalogue, &results);
    let page = paths.out.join("seeds.html");
    std::fs::create_dir_all(&paths.out)?;
    write_atomically(&page, page::html(catalogue, &results)?.as_bytes())?;
    sayln!("page: {}", page.display());
    sayln!("data: {}", data.display());
    if options.from.is_none() {
        report::after_all(paths)?;
    }
    Ok(signal.map_or(0, interrupted))
}

/// The rows of a results file that are the usual ring, and those of the other tables.
fn loaded(file: &Path) -> Result<Results> {
    let mut results = Results::load(file).map_err(|error| BadInput(format!("{error:#}")))?;
    let settings = [&RING, &MSGSEND, &MESSAGE_RING, &PBFS].map(|table| {
        let workload = find(table.workload).expect("a workload of ours");
        let mut usual = workload.usual_values().recorded();
        usual.remove(workload.size);
        (workload, usual)
    });
    let is_usual = |row: &Row| {
        settings.iter().any(|(workload, usual)| {
            let mut params = row.params.clone();
            params.remove(workload.size);
            row.workload == workload.name && params == *usual
        })
    };
    results.results.retain(is_usual);
    if only(&results, RING.workload).results.is_empty() {
        let (file, usual) = (file.display(), serde_json::to_string(&settings[0].1)?);
        let message = format!(
            "{file} has no row of the ring with {usual}; give what `lab run ring` wrote, or measure it without --from"
        );
        return Err(BadInput(message).into());
    }
    Ok(results)
}

type Found = (Results, Option<usize>, PathBuf);

/// The rows of one workload.
fn only(results: &Results, workload: &str) -> Results {
    let mut results = results.clone();
    results.results.retain(|row| row.workload == workload);
    results
}

/// Measures the rings of all that have a row in one of the tables, and what the seed of 2012 has.
fn measured(
    catalogue: &Catalogue,
    paths: &Paths,
    tools: &Tools,
    options: &SeedsOptions,
) -> Result<Found> {
    let request = |table: &Table| {
        let workload = find(table.workload).expect("a workload of ours");
        Request {
            workload,
            values: workload.usual_values(),
            asked: None,
        }
    };
    let session = Session::open(catalogue, paths, tools)?;
    let (rings, sending) = (selected(catalogue), sending(catalogue));
    let all: Vec<&Contender> = rings.iter().chain(&sending).copied().collect();
    let built = session.build(&all);
    let file = paths.out.join("seeds.json");
    let files = [file.clone()];
    let how = |share| How::new(options.runs, options.timeout, share * BUDGET_S);
    let ring = [request(&RING)];
    let requests = [&MSGSEND, &MESSAGE_RING, &PBFS].map(request);
    let count = jobs(&rings, &built, &ring) + jobs(&sending, &built, &requests);
    let mut clock = Clock::new(Some(LIMIT_S), count);
    let ringing = session.measure(&rings, &built, &ring, &how(1.0), &mut clock, &files)?;
    let (mut results, mut signal) = ringing;
    if signal.is_none() && !sending.is_empty() {
        let apart = [paths.out.join("seeds-channels.json")];
        let how = how(SENDING_SHARE);
        let (more, ended) =
            session.measure(&sending, &built, &requests, &how, &mut clock, &apart)?;
        (signal, results.results) = (ended, [results.results, more.results].concat());
        results.save(&files)?;
        std::fs::remove_file(&apart[0])?;
    }
    Ok((results, signal, file))
}

fn sending(catalogue: &Catalogue) -> Vec<&Contender> {
    let all = catalogue.contenders.iter();
    let has = |entry: &&Contender| {
        [&MSGSEND, &MESSAGE_RING, &PBFS]
            .iter()
            .any(|table| entry.workload.contains_key(table.workload))
    };
    all.filter(|entry| SENDING.contains(&entry.name.as_str()))
        .filter(has)
        .collect()
}

fn selected(catalogue: &Catalogue) -> Vec<&Contender> {
    let pasts = history::of(RING.workload);
    let wanted = |entry: &&Contender| {
        let name = entry.name.as_str();
        pasts.iter().any(|past| past.contender == name)
            || ALSO.contains(&name)
            || name.starts_with(SWEEP)
    };
    let runs = |entry: &&Contender| entry.workload.contains_key(RING.workload);
    catalogue
        .contenders
        .iter()
        .filter(wanted)
        .filter(runs)
        .collect()
}

fn print(catalogue: &Catalogue, results: &Results) {
    sayln!("Measured now on {}\n", results.machine.line());
    for (table, now) in now(catalogue, results) {
        sayln!("{}\nnow:\n\n{now}\n", table.render());
    }
}

/// Every table, with what there is to say of it today.
fn now(catalogue: &Catalogue, results: &Results) -> Vec<(&'static Table, String)> {
    let ring = &only(results, RING.workload);
    let measured = [
        (&RING, beside::ring(catalogue, ring)),
        (&PROTOTHREADS, beside::protothreads(ring)),
        (&OCAML_GC, beside::ocaml(ring)),
        (&GHC_GC, beside::collectors(ring)),
        (&LINES, beside::lines(catalogue)),
        (&MSGSEND, beside::rates(&MSGSEND, results)),
        (&MESSAGE_RING, beside::rates(&MESSAGE_RING, results)),
        (&PBFS, improvement::bfs(&only(results, PBFS.workload))),
    ];
    let later = LATER.iter().map(|table| (table, later(table)));
    measured.into_iter().chain(later).collect()
}

/// What stands beside a table that is not about the ring. When its workload comes, its rows come with it, in a
/// function of [`beside`]; a test sees to that.
fn later(table: &Table) -> String {
    match table.workload {
        "" => "it compares what languages have, not what was measured\n".into(),
        name => format!("not yet: there is no workload {name}, with which these rows come\n"),
    }
}

#[cfg(test)]
mod tests;
