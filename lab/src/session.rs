//! One run of a workload from its options to the report.
//!
//! The order matters: everything that can be refused is refused before anything is written, the
//! builds come before the measuring, and every row exists before the first run.

use std::io::IsTerminal;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use crate::building::{Built, build_all};
use crate::catalogue::{Catalogue, Contender, RunSpec};
use crate::commands::BadInput;
use crate::launch::Launcher;
use crate::machine::Machine;
use crate::measure::{Job, Measure, waiting_row};
use crate::paths::Paths;
use crate::plan::{OPS_DEFAULT, Size, sizes};
use crate::results::{Results, Row, SCHEMA, check_writable, write_atomically};
use crate::workload::Workload;
use crate::{report, table};

/// Runs the workload on the contenders asked for; the exit code.
///
/// # Errors
/// [`BadInput`], or whatever keeps the lab itself from working.
pub fn run(catalogue: &Catalogue, paths: &Paths, workload: &dyn Workload) -> Result<u8> {
    let common = workload.common();
    let selected = catalogue
        .select(workload.name(), &common.only)
        .map_err(BadInput)?;
    let json = common.json.as_deref().map(check_writable).transpose();
    let json = json.map_err(|error| BadInput(format!("--json: {error:#}")))?;
    std::fs::create_dir_all(&paths.out)
        .with_context(|| format!("cannot make the folder {}", paths.out.display()))?;
    let stop = Arc::new(AtomicUsize::new(0));
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
        signal_hook::flag::register_usize(signal, stop.clone(), signal as usize)?;
    }
    let launcher = Launcher::build(&paths.bin)?;
    let building = Instant::now();
    let built = build_all(catalogue, &selected, paths);
    eprintln!(
        "building took {:.1} s; it is not measured",
        building.elapsed().as_secs_f64()
    );

    let (mut results, jobs) = prepare(&selected, &built, paths, workload);
    let mut files = vec![paths.out.join(format!("{}.json", workload.name()))];
    files.extend(json);
    let measure = Measure {
        launcher: &launcher,
        paths,
        runs: common.runs,
        timeout: Duration::from_secs(common.timeout),
        stop: &stop,
        files: &files,
    };
    let measuring = Instant::now();
    let signal = measure.run(&jobs, &mut results)?;
    eprintln!("measuring took {:.1} s", measuring.elapsed().as_secs_f64());
    present(workload, paths, &results, &files)?;
    Ok(signal.map_or(0, |signal| {
        eprintln!("interrupted; what was measured until then is kept");
        u8::try_from(128 + signal).unwrap_or(1)
    }))
}

/// One row for each selected contender, and a job for each that can run.
fn prepare(
    selected: &[&Contender],
    built: &Built,
    paths: &Paths,
    workload: &dyn Workload,
) -> (Results, Vec<Job>) {
    let common = workload.common();
    let specs: Vec<&RunSpec> = selected
        .iter()
        .filter(|contender| why_not(contender, built).is_none())
        .filter_map(|contender| contender.workload.get(workload.name()))
        .collect();
    let planned = sizes(
        &specs,
        workload.threads(),
        common.runs,
        workload.asked(),
        common.timeout,
    );
    let mut planned = specs.into_iter().zip(planned);
    let (mut rows, mut jobs) = (Vec::new(), Vec::new());
    for contender in selected {
        // `planned` has exactly those that can run, in the same order.
        let next = match why_not(contender, built) {
            None => planned.next(),
            Some(_) => None,
        };
        let Some((spec, size)) = next else {
            let ops = workload.asked().unwrap_or(OPS_DEFAULT);
            let mut row = row(contender, workload, &Size { ops, note: None });
            row.reason = why_not(contender, built);
            rows.push(row);
            continue;
        };
        let mut argv: Vec<String> = spec.run.iter().map(|word| paths.fill(word)).collect();
        argv.extend(workload.options(size.ops));
        let mut row = row(contender, workload, &size);
        row.command = paths.show(&argv);
        jobs.push(Job {
            argv,
            expected: workload.expected(size.ops),
            row: rows.len(),
        });
        rows.push(row);
    }
    (
        Results {
            schema: SCHEMA,
            machine: Machine::here(paths),
            results: rows,
        },
        jobs,
    )
}

/// Why a contender cannot run, if its build says so.
fn why_not(contender: &Contender, built: &Built) -> Option<String> {
    built.get(contender.build.as_ref()?)?.clone().err()
}

fn row(contender: &Contender, workload: &dyn Workload, size: &Size) -> Row {
    let params = workload.recorded(size.ops);
    let mut row = waiting_row(workload.name(), &contender.name, params, size.ops);
    row.note.clone_from(&size.note);
    row
}

/// Prints the table and writes the report.
fn present(
    workload: &dyn Workload,
    paths: &Paths,
    results: &Results,
    files: &[PathBuf],
) -> Result<()> {
    let plain = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let colour = !plain && std::io::stdout().is_terminal();
    println!("{}\n{}\n", workload.title(), results.machine.line());
    print!("{}", table::render(results, colour));
    if results.results.iter().any(|row| row.note.is_some()) {
        println!("\nSlow contenders made fewer hops, as their rows say; the report says why.");
    }
    let page = paths.out.join(format!("{}.html", workload.name()));
    write_atomically(&page, report::html(&workload.title(), results)?.as_bytes())?;
    println!("\nreport: {}", page.display());
    for file in files {
        println!("data:   {}", file.display());
    }
    Ok(())
}
