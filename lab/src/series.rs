//! Several workloads after each other: `lab run all`, and one over a range of sizes: `lab run sizes`.

use anyhow::Result;
use serde_json::{Value, json};

use crate::catalogue::Catalogue;
use crate::cli::Series;
use crate::commands::BadInput;
use crate::paths::Paths;
use crate::plan::How;
use crate::probe::Tools;
use crate::session::{Session, interrupted, show};
use crate::workload::Request;
use crate::workloads::find;
use crate::{esayln, say, sayln};
use crate::{report, scaling};

/// How long `lab run all` measures, in seconds, beside building and the starting of many threads.
const FULL_S: f64 = 1_000.0;
const QUICK_S: f64 = 50.0;

/// The sizes of the ring that are compared.
const SIZES: [u64; 6] = [10, 100, 1_000, 10_000, 100_000, 1_000_000];
/// The same for `--quick`.
const QUICK_SIZES: [u64; 3] = [10, 1_000, 10_000];

/// The hops of a ring that is compared with larger ones, and with `--quick`: so many that the quickest contender runs
/// for longer than a process takes to start.
const HOPS: [u64; 2] = [10_000_000, 1_000_000];
/// The same from [`LARGE`] threads on, whose hops take longer, because they are in no cache near the processor.
const LARGE_HOPS: [u64; 2] = [3_000_000, 1_000_000];
const LARGE: u64 = 10_000;

/// Some requests whose results go into one file.
#[derive(Debug)]
struct Part {
    /// The file's name, without its end.
    name: &'static str,
    requests: Vec<Request>,
    /// Its share of the time.
    weight: f64,
    /// How many times each contender runs, and with `--quick`.
    runs: [u32; 2],
    /// Seconds that a run should take at most, and with `--quick`.
    most_s: [f64; 2],
}

/// A request with these options, and the usual values for the others.
fn request(workload: &str, given: &[(&str, Value)]) -> Request {
    let workload = find(workload).expect("a workload of ours");
    let value = |name: &str| {
        let found = given.iter().find(|(own, _)| *own == name);
        found.map(|(_, value)| value.clone())
    };
    Request {
        workload,
        values: workload.values(value),
        asked: None,
    }
}

fn part(name: &'static str, workload: &str, given: &[(&str, Value)], weight: f64) -> Part {
    Part {
        name,
        requests: vec![request(workload, given)],
        weight,
        runs: [5, 3],
        most_s: [f64::INFINITY; 2],
    }
}

/// At each size everybody makes the same number of hops, at least ten for each thread, as their creation is in the
/// figures; but for those that are too slow.
fn sizes(quick: bool) -> Part {
    let sizes: &[u64] = if quick { &QUICK_SIZES } else { &SIZES };
    let ring = |threads: &u64| {
        let hops = if *threads < LARGE { HOPS } else { LARGE_HOPS };
        let hops = hops[usize::from(quick)].max(10 * threads);
        let mut ring = request(
            "ring",
            &[("threads", json!(threads)), ("hops", json!(hops))],
        );
        ring.asked = Some(hops);
        ring
    };
    Part {
        name: "sizes",
        requests: sizes.iter().map(ring).collect(),
        weight: 0.0,
        // Starting a million threads takes most contenders longer than all else: a second run of each took 19 minutes.
        runs: [1, 1],
        most_s: [4.0, 0.25],
    }
}

/// A part that takes its time whatever share it has: fewer runs.
fn rare(part: Part) -> Part {
    Part {
        runs: [3, 1],
        ..part
    }
}

fn hostages(name: &'static str, by: &str, quick: bool) -> Part {
    let ms = if quick { 100 } else { 1_000 };
    let given = [("by", json!(by)), ("stuck-ms", json!(ms))];
    rare(part(name, "hostage", &given, 0.1))
}

/// Every workload, with the options that its figures are about.
fn all(quick: bool) -> Vec<Part> {
    vec![
        part("ring", "ring", &[], 5.0),
        sizes(quick),
        part("spawn", "spawn", &[], 1.0),
        part("spawn-batch", "spawn", &[("batch", json!(1_000))], 1.0),
        part("yield", "yield", &[], 1.0),
        part("pingpong", "pingpong", &[], 1.0),
        part("skynet", "skynet", &[], 1.0),
        part("cpu", "cpu", &[], 1.0),
        part("resize", "resize", &[], 1.0),
        part("workers-1", "workers", &[("workers", json!(1))], 0.5),
        part("workers-64", "workers", &[("workers", json!(64))], 0.5),
        part("slot", "slot", &[], 1.0),
        rare(part("park", "park", &[], 1.0)),
        part("mutex", "mutex", &[], 1.0),
        part("mutex-yield", "mutex", &[("section", json!("yield"))], 1.0),
        part("timers", "timers", &[], 1.0),
        hostages("hostage", "read", quick),
        hostages("hostage-spin", "spin", quick),
        hostages("hostage-fault", "fault", quick),
        part("process", "process", &[], 0.1),
        part("slot-short", "slot", &[("which", json!("short"))], 1.0),
    ]
}

/// Runs one of the two; the exit code.
///
/// # Errors
/// [`BadInput`] for a contender that has none of the workloads, or whatever keeps the lab itself from working.
pub fn run(
    catalogue: &Catalogue,
    paths: &Paths,
    tools: &Tools,
    name: &str,
    options: &Series,
) -> Result<u8> {
    let parts = match name {
        "sizes" => vec![sizes(options.quick)],
        _ => all(options.quick),
    };
    let workloads: Vec<&str> = parts
        .iter()
        .map(|part| part.requests[0].workload.name)
        .collect();
    let selected = catalogue
        .select(&workloads, &options.only)
        .map_err(BadInput)?;
    let session = Session::open(catalogue, paths, tools)?;
    let built = session.build(&selected);
    let total_s = if options.quick { QUICK_S } else { FULL_S };
    let weights: f64 = all(options.quick).iter().map(|part| part.weight).sum();
    let has = |part: &&Part| {
        let name = part.requests[0].workload.name;
        selected
            .iter()
            .any(|entry| entry.workload.contains_key(name))
    };
    let parts: Vec<&Part> = parts.iter().filter(has).collect();
    let count = parts.len();
    let mut ended = None;
    for (index, part) in parts.into_iter().enumerate() {
        let workload = part.requests[0].workload;
        esayln!("part {} of {count}: {}", index + 1, part.name);
        let quick = usize::from(options.quick);
        let how = How {
            runs: options.runs.unwrap_or(part.runs[quick]),
            timeout_s: options.timeout,
            budget_s: total_s * part.weight / weights,
            most_s: part.most_s[quick],
        };
        let files = [paths.out.join(format!("{}.json", part.name))];
        let (results, signal) = session.measure(&selected, &built, &part.requests, &how, &files)?;
        if signal.is_some() && results.is_empty_handed() {
            ended = signal;
            break;
        }
        if let [only] = &part.requests[..] {
            show(only, &results);
        } else {
            sayln!("The ring at {} sizes\n", part.requests.len());
            say!("{}", scaling::render(&results, "threads", workload.op[0]));
        }
        sayln!();
        if signal.is_some() {
            ended = signal;
            break;
        }
    }
    report::after_all(paths)?;
    Ok(ended.map_or(0, interrupted))
}
