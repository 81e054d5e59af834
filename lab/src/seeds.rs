//! `lab seeds`: the tables of the seeds, as they were printed, and beside them what the same programs do today.

pub mod beside;
pub mod page;
pub mod tables;

use std::path::{Path, PathBuf};

use anyhow::Result;

use crate::catalogue::{Catalogue, Contender};
use crate::cli::SeedsOptions;
use crate::commands::BadInput;
use crate::history;
use crate::paths::Paths;
use crate::plan::{BUDGET_S, How};
use crate::probe::Tools;
use crate::report;
use crate::results::{Results, Row, write_atomically};
use crate::sayln;
use crate::session::{Session, interrupted};
use crate::workload::Request;
use crate::workloads::find;

use tables::{GHC_GC, LATER, LINES, OCAML_GC, PROTOTHREADS, RING, Table};

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

/// The rows of a results file that are the usual ring.
fn loaded(file: &Path) -> Result<Results> {
    let mut results = Results::load(file).map_err(|error| BadInput(format!("{error:#}")))?;
    let ring = find(RING.workload).expect("a workload of ours");
    let mut usual = ring.usual_values().recorded();
    usual.remove(ring.size);
    let is_usual = |row: &Row| {
        let mut params = row.params.clone();
        params.remove(ring.size);
        row.workload == ring.name && params == usual
    };
    results.results.retain(is_usual);
    if results.results.is_empty() {
        let (file, usual) = (file.display(), serde_json::to_string(&usual)?);
        let message = format!(
            "{file} has no row of the ring with {usual}; give what `lab run ring` wrote, or measure it without --from"
        );
        return Err(BadInput(message).into());
    }
    Ok(results)
}

type Found = (Results, Option<usize>, PathBuf);

/// Measures the rings of all that have a row in one of the tables.
fn measured(
    catalogue: &Catalogue,
    paths: &Paths,
    tools: &Tools,
    options: &SeedsOptions,
) -> Result<Found> {
    let workload = find(RING.workload).expect("a workload of ours");
    let request = Request {
        workload,
        values: workload.usual_values(),
        asked: None,
    };
    let session = Session::open(catalogue, paths, tools)?;
    let selected = selected(catalogue);
    let built = session.build(&selected);
    let file = paths.out.join("seeds.json");
    let how = How::new(options.runs, options.timeout, BUDGET_S);
    let files = [file.clone()];
    let (results, signal) = session.measure(&selected, &built, &[request], &how, &files)?;
    Ok((results, signal, file))
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
    let measured = [
        (&RING, beside::ring(catalogue, results)),
        (&PROTOTHREADS, beside::protothreads(results)),
        (&OCAML_GC, beside::ocaml(results)),
        (&GHC_GC, beside::collectors(results)),
        (&LINES, beside::lines(catalogue)),
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
