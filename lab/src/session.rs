//! One run of a workload from its options to the report.
//!
//! The order matters: everything that can be refused is refused before anything is written, the
//! builds come before the measuring, and every row exists before the first run.

use std::collections::{BTreeMap, BTreeSet};
use std::io::IsTerminal;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use crate::building::{Built, build_all};
use crate::catalogue::{Catalogue, Contender, RunSpec};
use crate::cli::Common;
use crate::clock::Clock;
use crate::commands::BadInput;
use crate::counting::Counter;
use crate::error::Interrupted;
use crate::format::thousands;
use crate::launch::Launcher;
use crate::machine::{Machine, available_bytes};
use crate::measure::{Job, Measure, waiting_row};
use crate::paths::Paths;
use crate::plan::{BUDGET_S, How, LIMIT_S, Size, sizes};
use crate::probe::{Found, Tools};
use crate::results::{Results, Row, SCHEMA, check_writable};
use crate::workload::Request;
use crate::{counting, figures, rates, report, table};
use crate::{esayln, say, sayln};

/// What the runs of one command share.
#[derive(Debug)]
pub struct Session<'a> {
    catalogue: &'a Catalogue,
    paths: &'a Paths,
    tools: &'a Tools,
    launcher: Launcher,
}

/// What was measured, and the signal that ended it early, if one did.
pub type Measured = (Results, Option<usize>);

/// Runs the workload on the contenders asked for; the exit code.
///
/// # Errors
/// [`BadInput`], or whatever keeps the lab itself from working.
pub fn run(
    catalogue: &Catalogue,
    paths: &Paths,
    tools: &Tools,
    request: &Request,
    common: &Common,
) -> Result<u8> {
    let name = request.workload.name;
    let selected = catalogue.select(&[name], &common.only).map_err(BadInput)?;
    among(&selected, common.against.as_deref())?;
    let json = common.json.as_deref().map(check_writable).transpose();
    let json = json.map_err(|error| BadInput(format!("--json: {error:#}")))?;
    let mut files = vec![paths.out.join(format!("{name}.json"))];
    files.extend(json);
    let session = Session::open(catalogue, paths, tools)?;
    let built = session.build(&selected);
    let requests = std::slice::from_ref(request);
    let how = How::new(common.runs, common.timeout, BUDGET_S);
    let jobs = jobs(&selected, &built, requests);
    // Twice, as a run may take half of what is left for its job.
    let idle_s = 2.0 * request.idle_s() * f64::from(common.runs) * jobs as f64;
    let limit_s = request.asked.is_none().then_some(LIMIT_S + idle_s);
    let mut clock = Clock::new(limit_s, jobs);
    let measured = session.measure(&selected, &built, requests, &how, &mut clock, &files)?;
    let (mut results, mut signal) = measured;
    if let Some(signal) = signal.filter(|_| results.is_empty_handed()) {
        return Ok(interrupted(signal));
    }
    if signal.is_none() && common.count {
        let counting = Instant::now();
        let counter = Counter {
            launcher: &session.launcher,
            paths,
            timeout: Duration::from_secs(common.timeout),
            tools,
            files: &files,
        };
        signal = counter.run(&selected, request, &mut results)?;
        esayln!("counting took {:.1} s", counting.elapsed().as_secs_f64());
    }
    show(request, &results, common.against.as_deref());
    report::after_run(paths, request.workload.name, &results)?;
    for file in &files {
        sayln!("data:   {}", file.display());
    }
    Ok(signal.map_or(0, interrupted))
}

/// Whether who is to have 100 % is measured at all.
fn among(selected: &[&Contender], against: Option<&str>) -> Result<()> {
    let names: Vec<&str> = selected.iter().map(|entry| entry.name.as_str()).collect();
    match against.filter(|name| !names.contains(name)) {
        None => Ok(()),
        Some(name) => {
            let valid = names.join(", ");
            let message = format!("--against {name}: it is not measured; these are: {valid}");
            Err(BadInput(message).into())
        }
    }
}

/// Says that a signal came; the exit code.
#[must_use]
pub fn interrupted(signal: usize) -> u8 {
    esayln!("interrupted; what was measured until then is kept");
    Interrupted(signal).code()
}

impl<'a> Session<'a> {
    /// Makes the folder for the results and the launcher.
    ///
    /// # Errors
    /// One of these cannot be had.
    pub fn open(
        catalogue: &'a Catalogue,
        paths: &'a Paths,
        tools: &'a Tools,
    ) -> Result<Session<'a>> {
        std::fs::create_dir_all(&paths.out)
            .with_context(|| format!("cannot make the folder {}", paths.out.display()))?;
        Ok(Session {
            catalogue,
            paths,
            tools,
            launcher: Launcher::build(&paths.bin, tools.stop())?,
        })
    }

    /// Builds what these contenders need, and says how long it took.
    #[must_use]
    pub fn build(&self, selected: &[&Contender]) -> Built {
        let building = Instant::now();
        let built = build_all(self.catalogue, selected, self.paths, self.tools);
        esayln!(
            "building took {:.1} s; it is not measured",
            building.elapsed().as_secs_f64()
        );
        built
    }

    /// Measures all the requests, interleaved and by this clock, and saves the results to `files` after every run.
    ///
    /// # Errors
    /// What keeps the lab itself from working.
    pub fn measure(
        &self,
        selected: &[&Contender],
        built: &Built,
        requests: &[Request],
        how: &How,
        clock: &mut Clock,
        files: &[PathBuf],
    ) -> Result<Measured> {
        let versions = self.versions(selected);
        let machine = Machine::here(self.paths, versions, self.tools);
        let room = available_bytes();
        let (rows, jobs) = prepare(selected, built, self.paths, requests, how, room);
        let mut results = Results {
            schema: SCHEMA,
            machine,
            results: rows,
        };
        let measure = Measure {
            launcher: &self.launcher,
            paths: self.paths,
            runs: how.runs,
            timeout: Duration::from_secs(how.timeout_s),
            stop: self.tools.stop(),
            files,
        };
        let measuring = Instant::now();
        let signal = measure.run(&jobs, clock, &mut results)?;
        esayln!("measuring took {:.1} s", measuring.elapsed().as_secs_f64());
        Ok((results, signal))
    }

    /// The version of everything that the selected contenders need and that is there.
    fn versions(&self, selected: &[&Contender]) -> BTreeMap<String, String> {
        let builds = selected
            .iter()
            .filter_map(|contender| self.catalogue.build(contender.build.as_ref()?));
        let names: BTreeSet<&String> = builds.flat_map(|build| &build.needs).collect();
        let needs = names
            .into_iter()
            .filter_map(|name| self.catalogue.need(name));
        needs
            .filter_map(|need| match self.tools.probe(need) {
                Found::Yes(version) => Some((need.name.clone(), version)),
                Found::No | Found::Mute(_) => None,
            })
            .collect()
    }
}

/// One row for each selected contender and each request, and a job for each that can run. The budget is for all the
/// requests together; `room` is the memory that there is, in bytes.
fn prepare<'a>(
    selected: &[&'a Contender],
    built: &Built,
    paths: &Paths,
    requests: &'a [Request],
    how: &How,
    room: Option<u64>,
) -> (Vec<Row>, Vec<Job<'a>>) {
    let how = How {
        budget_s: how.budget_s / requests.len().max(1) as f64,
        ..*how
    };
    let (mut rows, mut jobs) = (Vec::new(), Vec::new());
    for request in requests {
        let name = request.workload.name;
        let able = runnable(selected, built, request, room);
        let specs: Vec<&RunSpec> = able
            .iter()
            .map(|contender| &contender.workload[name])
            .collect();
        let mut planned = sizes(&specs, request, &how).into_iter();
        for contender in selected {
            if !contender.workload.contains_key(name) {
                continue;
            }
            // `planned` has exactly those that can run, in the same order.
            let reason = why_not(contender, built, request, room);
            let size = reason.is_none().then(|| planned.next()).flatten();
            let mut row = row(contender, request, size.as_ref());
            if reason.is_some() {
                row.reason = reason;
            } else {
                let job = Job {
                    contender,
                    request,
                    row: rows.len(),
                };
                let ops = row.ops;
                job.size(&mut row, paths, ops);
                jobs.push(job);
            }
            rows.push(row);
        }
    }
    (rows, jobs)
}

/// The contenders that have a workload and can run it.
fn runnable<'a>(
    selected: &[&'a Contender],
    built: &Built,
    request: &Request,
    room: Option<u64>,
) -> Vec<&'a Contender> {
    let has = |contender: &&&'a Contender| contender.workload.contains_key(request.workload.name);
    let able = |contender: &&&'a Contender| why_not(contender, built, request, room).is_none();
    selected.iter().filter(has).filter(able).copied().collect()
}

/// How many jobs there are in these requests.
#[must_use]
pub fn jobs(selected: &[&Contender], built: &Built, requests: &[Request]) -> usize {
    let room = available_bytes();
    let of = |request| runnable(selected, built, request, room).len();
    requests.iter().map(of).sum()
}

/// Why a contender cannot run, if its build says so, or what was asked for is too much.
fn why_not(
    contender: &Contender,
    built: &Built,
    request: &Request,
    room: Option<u64>,
) -> Option<String> {
    let build = contender.build.as_ref();
    let unbuilt = build.and_then(|name| built.get(name)?.clone().err());
    let spec = contender.workload.get(request.workload.name)?;
    unbuilt
        .or_else(|| too_much(spec, request))
        .or_else(|| too_large(spec, request, room?))
}

/// A contender that needs more memory than there is would be killed, or another process in its place.
fn too_large(spec: &RunSpec, request: &Request, room: u64) -> Option<String> {
    let each = spec.bytes_each.iter();
    let bytes: f64 = each
        .map(|(option, bytes)| request.values.number(option) as f64 * *bytes as f64)
        .sum();
    (bytes > room as f64).then(|| {
        let [needed, room] = [bytes, room as f64].map(|bytes| bytes / 1e9);
        format!("needs about {needed:.1} GB, {room:.1} GB are available")
    })
}

fn too_much(spec: &RunSpec, request: &Request) -> Option<String> {
    let beyond = |word: &str, (option, limit): (&String, &u64)| {
        let (limit, why) = (thousands(*limit), &spec.beyond);
        format!("not run with {word} than --{option} {limit}: {why}")
    };
    let given = |option: &str| request.values.number(option);
    let over = spec
        .at_most
        .iter()
        .find(|(option, most)| given(option) > **most);
    let under = spec
        .at_least
        .iter()
        .find(|(option, least)| given(option) < **least);
    let other = spec.choices.iter().find(|(option, names)| {
        let chosen = request.values.choice(option);
        !names.iter().any(|name| name == chosen)
    });
    let without = |(option, _): (&String, &Vec<String>)| {
        let (chosen, why) = (request.values.choice(option), &spec.beyond);
        format!("not run with --{option} {chosen}: {why}")
    };
    over.map(|limit| beyond("more", limit))
        .or_else(|| under.map(|limit| beyond("less", limit)))
        .or_else(|| other.map(without))
}

fn row(contender: &Contender, request: &Request, size: Option<&Size>) -> Row {
    let ops = size.map_or(request.ops(), |size| size.ops);
    let params = request.sized(ops).recorded();
    let mut row = waiting_row(request.workload.name, &contender.name, params, ops);
    row.category.clone_from(&contender.category);
    row.note = size.and_then(|size| size.note.clone());
    row
}

/// Prints the table, and what the contenders said; `against` has 100 % where there is a comparison.
pub fn show(request: &Request, results: &Results, against: Option<&str>) {
    let plain = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let colour = !plain && std::io::stdout().is_terminal();
    let (title, op) = (request.title(), request.workload.op);
    sayln!("{title}\n{}\n", results.machine.line());
    say!("{}", table::render(results, op, colour));
    say!("{}", figures::render(results, request.workload.figures));
    say!("{}", rates::render(request.workload.name, results, against));
    for row in &results.results {
        if let Some(said) = &row.said {
            sayln!("\n{} said: {said}", row.contender);
        }
    }
    if results.results.iter().any(|row| row.note.is_some()) {
        let many = op[1];
        sayln!("\nSlow contenders made fewer {many}, as their rows say; the report says why.");
    }
    say!("{}", counting::render(results, op[0]));
}
