//! One run of a workload from its options to the report.
//!
//! The order matters: everything that can be refused is refused before anything is written, the
//! builds come before the measuring, and every row exists before the first run.

use std::collections::{BTreeMap, BTreeSet};
use std::io::IsTerminal;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};

use crate::building::{Built, build_all};
use crate::catalogue::{Catalogue, Contender, RunSpec};
use crate::cli::Common;
use crate::commands::BadInput;
use crate::counting::{Counter, NO_VALGRIND, has_valgrind};
use crate::format::thousands;
use crate::gate::{Gate, holds};
use crate::launch::Launcher;
use crate::machine::Machine;
use crate::measure::{Job, Measure, waiting_row};
use crate::paths::Paths;
use crate::plan::{Size, sizes};
use crate::probe::{Found, probe};
use crate::results::{Results, Row, SCHEMA, check_writable, write_atomically};
use crate::workload::Request;
use crate::{counting, report, table};

/// Runs the workload on the contenders asked for; the exit code.
///
/// # Errors
/// [`BadInput`], or whatever keeps the lab itself from working.
pub fn run(catalogue: &Catalogue, paths: &Paths, request: &Request, common: &Common) -> Result<u8> {
    let name = request.workload.name;
    let selected = catalogue.select(name, &common.only).map_err(BadInput)?;
    let json = common.json.as_deref().map(check_writable).transpose();
    let json = json.map_err(|error| BadInput(format!("--json: {error:#}")))?;
    let mut files = vec![paths.out.join(format!("{name}.json"))];
    files.extend(json);
    let gate = open_gate(&selected, request, common, &files)?;
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

    let (mut results, jobs) = prepare(catalogue, &selected, &built, paths, request, common);
    let measure = Measure {
        launcher: &launcher,
        paths,
        runs: common.runs,
        timeout: Duration::from_secs(common.timeout),
        stop: &stop,
        files: &files,
    };
    let measuring = Instant::now();
    let mut signal = measure.run(&jobs, &mut results)?;
    eprintln!("measuring took {:.1} s", measuring.elapsed().as_secs_f64());
    if signal.is_none() && (common.count || gate.is_some()) {
        let counting = Instant::now();
        let counter = Counter {
            launcher: &launcher,
            paths,
            timeout: measure.timeout,
            stop: &stop,
            files: &files,
        };
        let wanted = |name: &str| common.count || gate.as_ref().is_some_and(|g| g.covers(name));
        signal = counter.run(&selected, request, wanted, &mut results)?;
        eprintln!("counting took {:.1} s", counting.elapsed().as_secs_f64());
    }
    present(request, paths, &results, &files)?;
    if let Some(signal) = signal {
        eprintln!("interrupted; what was measured until then is kept");
        return Ok(u8::try_from(128 + signal).unwrap_or(1));
    }
    Ok(gate.map_or(0, |gate| judge(&gate, request, &results)))
}

/// Reads the baseline, if one was given: all that can be refused is refused here.
fn open_gate(
    selected: &[&Contender],
    request: &Request,
    common: &Common,
    files: &[PathBuf],
) -> Result<Option<Gate>> {
    let Some(file) = &common.gate else {
        return Ok(None);
    };
    let names: Vec<&str> = selected.iter().map(|one| one.name.as_str()).collect();
    let opened = Gate::load(file, request, common.gate_tolerance).and_then(|mut gate| {
        gate.only(&names, !common.only.is_empty())?;
        let own = file.canonicalize()?;
        ensure!(
            !files
                .iter()
                .any(|file| file.canonicalize().is_ok_and(|file| file == own)),
            "{} would be overwritten by this run; keep the baseline somewhere else",
            file.display()
        );
        Ok(gate)
    });
    let gate = opened.map_err(|error| BadInput(format!("--gate: {error:#}")))?;
    ensure!(has_valgrind(), "--gate: {NO_VALGRIND}");
    Ok(Some(gate))
}

/// Prints the comparison; the exit code.
fn judge(gate: &Gate, request: &Request, results: &Results) -> u8 {
    let compared = gate.compare(&results.results);
    print!(
        "{}",
        gate.render(&compared, request.workload.op[0], &results.machine)
    );
    let holds = holds(&compared);
    if !holds {
        eprintln!(
            "the gate does not hold: more instructions than in the baseline, or none counted"
        );
    }
    u8::from(!holds)
}

/// One row for each selected contender, and a job for each that can run.
fn prepare(
    catalogue: &Catalogue,
    selected: &[&Contender],
    built: &Built,
    paths: &Paths,
    request: &Request,
    common: &Common,
) -> (Results, Vec<Job>) {
    let name = request.workload.name;
    let specs: Vec<&RunSpec> = selected
        .iter()
        .filter(|contender| why_not(contender, built, request).is_none())
        .filter_map(|contender| contender.workload.get(name))
        .collect();
    let planned = sizes(&specs, request, common.runs, common.timeout);
    let mut planned = planned.into_iter();
    let (mut rows, mut jobs) = (Vec::new(), Vec::new());
    for contender in selected {
        // `planned` has exactly those that can run, in the same order.
        let next = match why_not(contender, built, request) {
            None => planned.next(),
            Some(_) => None,
        };
        let Some(size) = next else {
            let ops = request.ops();
            let mut row = row(contender, request, &Size { ops, note: None });
            row.reason = why_not(contender, built, request);
            rows.push(row);
            continue;
        };
        let values = request.sized(size.ops);
        let words = contender.command(name);
        let mut argv: Vec<String> = words.iter().map(|word| paths.fill(word)).collect();
        argv.extend(values.words());
        let mut row = row(contender, request, &size);
        row.command = paths.show(&argv);
        jobs.push(Job {
            argv,
            expected: (request.workload.expected)(&values),
            row: rows.len(),
        });
        rows.push(row);
    }
    (
        Results {
            schema: SCHEMA,
            machine: Machine::here(paths, versions(catalogue, selected)),
            results: rows,
        },
        jobs,
    )
}

/// The version of everything that the selected contenders need and that is there.
fn versions(catalogue: &Catalogue, selected: &[&Contender]) -> BTreeMap<String, String> {
    let builds = selected
        .iter()
        .filter_map(|contender| catalogue.build(contender.build.as_ref()?));
    let names: BTreeSet<&String> = builds.flat_map(|build| &build.needs).collect();
    let needs = names.into_iter().filter_map(|name| catalogue.need(name));
    needs
        .filter_map(|need| match probe(need) {
            Found::Yes(version) => Some((need.name.clone(), version)),
            Found::No => None,
        })
        .collect()
}

/// Why a contender cannot run, if its build says so, or what was asked for is too much.
fn why_not(contender: &Contender, built: &Built, request: &Request) -> Option<String> {
    let build = contender.build.as_ref();
    let unbuilt = build.and_then(|name| built.get(name)?.clone().err());
    unbuilt.or_else(|| too_much(contender.workload.get(request.workload.name)?, request))
}

fn too_much(spec: &RunSpec, request: &Request) -> Option<String> {
    let over = |(option, most): (&String, &u64)| {
        let given = request.values.number(option);
        (given > *most).then(|| {
            let (most, beyond) = (thousands(*most), &spec.beyond);
            format!("not run with more than --{option} {most}: {beyond}")
        })
    };
    spec.at_most.iter().find_map(over)
}

fn row(contender: &Contender, request: &Request, size: &Size) -> Row {
    let params = request.sized(size.ops).recorded();
    let mut row = waiting_row(request.workload.name, &contender.name, params, size.ops);
    row.note.clone_from(&size.note);
    row.category.clone_from(&contender.category);
    row
}

/// Prints the table and writes the report.
fn present(request: &Request, paths: &Paths, results: &Results, files: &[PathBuf]) -> Result<()> {
    let plain = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let colour = !plain && std::io::stdout().is_terminal();
    let (title, op) = (request.title(), request.workload.op);
    println!("{title}\n{}\n", results.machine.line());
    print!("{}", table::render(results, op, colour));
    for row in &results.results {
        if let Some(said) = &row.said {
            println!("\n{} said: {said}", row.contender);
        }
    }
    if results.results.iter().any(|row| row.note.is_some()) {
        let many = op[1];
        println!("\nSlow contenders made fewer {many}, as their rows say; the report says why.");
    }
    print!("{}", counting::render(results, op[0]));
    let page = paths.out.join(format!("{}.html", request.workload.name));
    write_atomically(&page, report::html(&title, op, results)?.as_bytes())?;
    println!("\nreport: {}", page.display());
    for file in files {
        println!("data:   {}", file.display());
    }
    Ok(())
}
