//! `lab seeds`: the tables of the seeds, as they were printed, and beside them what the same programs do today.

pub mod beside;
pub mod page;
pub mod tables;

use std::path::PathBuf;

use anyhow::Result;

use crate::catalogue::{Catalogue, Contender};
use crate::cli::SeedsOptions;
use crate::commands::BadInput;
use crate::history;
use crate::paths::Paths;
use crate::plan::BUDGET_S;
use crate::results::{Results, write_atomically};
use crate::session::{Session, interrupted};
use crate::workload::Request;
use crate::workloads::find;

use tables::{GHC_GC, LATER, LINES, OCAML_GC, PROTOTHREADS, RING, Table};

/// Beside those in the tables: the programs that the seeds speak of without a row, and ours.
const ALSO: [&str; 8] = [
    "lwt-1m-relaxed",
    "lwt-1m-list",
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
pub fn run(catalogue: &Catalogue, paths: &Paths, options: &SeedsOptions) -> Result<u8> {
    let (results, signal, data) = match &options.from {
        Some(file) => {
            let results = Results::load(file).map_err(|error| BadInput(format!("{error:#}")))?;
            (results, None, file.clone())
        }
        None => measured(catalogue, paths, options)?,
    };
    print(catalogue, &results);
    let page = paths.out.join("seeds.html");
    std::fs::create_dir_all(&paths.out)?;
    write_atomically(&page, page::html(catalogue, &results)?.as_bytes())?;
    println!("page: {}", page.display());
    println!("data: {}", data.display());
    Ok(signal.map_or(0, interrupted))
}

type Found = (Results, Option<usize>, PathBuf);

/// Measures the rings of all that have a row in one of the tables.
fn measured(catalogue: &Catalogue, paths: &Paths, options: &SeedsOptions) -> Result<Found> {
    let workload = find(RING.workload).expect("a workload of ours");
    let request = Request {
        workload,
        values: workload.usual_values(),
        asked: None,
    };
    let session = Session::open(catalogue, paths)?;
    let selected = selected(catalogue);
    let built = session.build(&selected);
    let file = paths.out.join("seeds.json");
    let (how, files) = (options.how(BUDGET_S), [file.clone()]);
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
    println!("Measured now on {}\n", results.machine.line());
    let printed: [(&Table, String); 5] = [
        (&RING, beside::ring(results)),
        (&PROTOTHREADS, beside::protothreads(results)),
        (&OCAML_GC, beside::ocaml(results)),
        (&GHC_GC, beside::collectors(results)),
        (&LINES, beside::lines(catalogue)),
    ];
    for (table, now) in printed {
        println!("{}\nnow:\n\n{now}\n", table.render());
    }
    for table in &LATER {
        println!("{}\nnow: {}\n", table.render(), not_yet(table));
    }
}

/// What stands beside a table whose workload is still to come.
fn not_yet(table: &Table) -> String {
    let name = table.workload;
    match find(name) {
        None => format!("not yet (there is no workload {name})"),
        Some(_) => format!("`lab run {name}`"),
    }
}
