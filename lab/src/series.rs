//! Several workloads after each other: `lab run all`; and one over a range of an option: `lab run sizes`, `senders`,
//! `intervals`.

use anyhow::Result;
use serde_json::{Value, json};

use crate::catalogue::Catalogue;
use crate::cli::Series;
use crate::clock::Clock;
use crate::commands::BadInput;
use crate::paths::Paths;
use crate::plan::How;
use crate::probe::Tools;
use crate::session::{Session, interrupted, jobs, show};
use crate::workload::Request;
use crate::workloads::{SOCKETS, find};
use crate::{esayln, say, sayln};
use crate::{report, scaling};

/// How long `lab run all` measures, in seconds, beside building and the starting of many threads.
const FULL_S: f64 = 1_000.0;
const QUICK_S: f64 = 50.0;
/// The sizes are for so small a part of the limit: starting processes takes most of the rest.
const LIMIT_TIMES: f64 = 3.3;
/// What it takes at most, building apart, however wrong the estimates are.
const LIMITS_S: [f64; 2] = [3_300.0, 270.0];

/// The sizes of the ring that are compared.
const SIZES: [u64; 6] = [10, 100, 1_000, 10_000, 100_000, 1_000_000];
/// The same for `--quick`.
const QUICK_SIZES: [u64; 3] = [10, 100, 1_000];

/// The hops of a ring that is compared with larger ones: so many that the quickest contender runs for longer than a
/// process takes to start. With `--quick` most do.
const HOPS: [u64; 2] = [10_000_000, 300_000];
/// The same from [`LARGE`] threads on, whose hops take longer, because they are in no cache near the processor.
const LARGE_HOPS: u64 = 3_000_000;
const LARGE: u64 = 10_000;

/// The senders, and the intervals, of msgsend that are compared, and how many of them with `--quick`.
const SENDERS: [u64; 5] = [1, 10, 100, 1_000, 10_000];
const INTERVALS: [u64; 5] = [1, 10, 100, 1_000, 10_000];
const QUICK_POINTS: usize = 3;
/// How many requests there are at each, and with `--quick`; and the most steps that all these together calculate.
const REQUESTS: [u64; 2] = [1_000_000, 100_000];
const STEPS_MAX: u64 = 100_000_000;

/// Some requests whose results go into one file.
#[derive(Debug)]
struct Part {
    /// The file's name, without its end.
    name: &'static str,
    /// The option in which the requests differ, if there are several.
    along: &'static str,
    requests: Vec<Request>,
    /// Its share of the time.
    weight: f64,
    /// How many times each contender runs, and with `--quick`.
    runs: [u32; 2],
    /// Seconds that a run should take at most, and with `--quick`.
    most_s: [f64; 2],
}

/// The channels of `ports` if there are many, and its options if all of them have messages.
const MANY_PORTS: u64 = 100_000;
const ALL_ACTIVE: [&str; 2] = ["ports", "active"];

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
        along: "",
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
        let usual = HOPS[usize::from(quick)];
        let hops = if *threads < LARGE { usual } else { LARGE_HOPS };
        let hops = hops.max(10 * threads);
        let mut ring = request(
            "ring",
            &[("threads", json!(threads)), ("hops", json!(hops))],
        );
        ring.asked = Some(hops);
        ring
    };
    Part {
        name: "sizes",
        along: "threads",
        requests: sizes.iter().map(ring).collect(),
        weight: 0.0,
        // Starting a million threads takes most contenders longer than all else: a second run of each took 19 minutes.
        runs: [1, 1],
        most_s: [4.0, 0.1],
    }
}

/// msgsend over a range of one of its options, everybody with as many requests.
fn msgsend(name: &'static str, option: &'static str, points: &[u64; 5], quick: bool) -> Part {
    let points = &points[..if quick { QUICK_POINTS } else { points.len() }];
    let point = |value: &u64| {
        let steps = if option == "interval" { *value } else { 1 };
        let requests = REQUESTS[usize::from(quick)].min(STEPS_MAX / steps);
        let given = [(option, json!(value)), ("requests", json!(requests))];
        let mut point = request("msgsend", &given);
        point.asked = Some(requests);
        point
    };
    Part {
        name,
        along: option,
        requests: points.iter().map(point).collect(),
        weight: 0.0,
        runs: [3, 1],
        most_s: [10.0, 1.0],
    }
}

/// A part that takes its time whatever share it has: fewer runs.
fn rare(part: Part) -> Part {
    Part {
        runs: [3, 1],
        ..part
    }
}

fn idle(name: &'static str, workers: u64, quick: bool) -> Part {
    let ms = if quick { 200 } else { 1_000 };
    let given = [("workers", json!(workers)), ("idle-ms", json!(ms))];
    part(name, "workers", &given, 0.5)
}

fn hostages(name: &'static str, by: &str, quick: bool) -> Part {
    let ms = if quick { 100 } else { 1_000 };
    let given = [("by", json!(by)), ("stuck-ms", json!(ms))];
    rare(part(name, "hostage", &given, 0.1))
}

fn search(name: &'static str, direction: &str, quick: bool) -> Part {
    let scale = if quick { 12 } else { 16 };
    let given = [("scale", json!(scale)), ("direction", json!(direction))];
    part(name, "bfs", &given, 1.0)
}

/// Along each path Python goes for seconds, so `--quick` has fewer dice there.
fn dice(name: &'static str, what: &str, quick: bool) -> Part {
    let paths = [("what", json!(what)), ("dice", json!(6))];
    let given = if quick && what == "paths" { 2 } else { 1 };
    rare(part(name, "dice", &paths[..given], 0.1))
}

/// A program whose schedules are explored for a time.
fn schedules(name: &'static str, what: &str, quick: bool) -> Part {
    let ms = if quick { 100 } else { 500 };
    let given = [("what", json!(what)), ("ms", json!(ms))];
    rare(part(name, "schedules", &given, 0.1))
}

/// Many tasks at one object, for a time.
fn crowd(name: &'static str, object: &str, quick: bool) -> Part {
    let ms = if quick { 100 } else { 2_000 };
    let given = [("object", json!(object)), ("ms", json!(ms))];
    rare(part(name, "crowd", &given, 0.5))
}

/// A server and its client, for a time or for some round trips.
fn server(name: &'static str, quick: bool) -> Part {
    let given: &[(&str, u64)] = match (name, quick) {
        ("echo", true) => &[("trips", 10_000), ("connections", 1_000)],
        ("idle", true) => &[("connections", 1_000), ("idle-ms", 100)],
        ("stuck", true) => &[("times", 1), ("stuck-ms", 100), ("connections", 100)],
        ("echo", false) => &[],
        ("idle", false) => &[("idle-ms", 5_000)],
        ("stuck", false) => &[("times", 3)],
        (_, true) => &[("ms", 100)],
        (_, false) => &[("ms", 2_000)],
    };
    let given: Vec<(&str, Value)> = given.iter().map(|(name, n)| (*name, json!(n))).collect();
    let part = rare(part(name, name, &given, 0.5));
    match name {
        "idle" => Part {
            runs: [1, 1],
            ..part
        },
        _ => part,
    }
}

/// Every workload, with the options that its figures are about.
fn all(quick: bool) -> Vec<Part> {
    let mut all = without_sockets(quick);
    all.extend(SOCKETS.map(|name| server(name, quick)));
    all
}

fn without_sockets(quick: bool) -> Vec<Part> {
    vec![
        part("ring", "ring", &[], 5.0),
        sizes(quick),
        part("spawn", "spawn", &[], 1.0),
        part("spawn-batch", "spawn", &[("batch", json!(1_000))], 1.0),
        part("yield", "yield", &[], 1.0),
        part("pingpong", "pingpong", &[], 1.0),
        part("skynet", "skynet", &[], 1.0),
        part(
            "fib",
            "fib",
            &[("n", json!(if quick { 20 } else { 25 }))],
            1.0,
        ),
        part("quicksort", "quicksort", &[], 1.0),
        part("cpu", "cpu", &[], 1.0),
        part("resize", "resize", &[], 1.0),
        idle("workers-1", 1, quick),
        idle("workers-64", 64, quick),
        part("slot", "slot", &[], 1.0),
        rare(part("park", "park", &[], 1.0)),
        part("mutex", "mutex", &[], 1.0),
        part("mutex-yield", "mutex", &[("section", json!("yield"))], 1.0),
        part("timers", "timers", &[], 1.0),
        hostages("hostage", "read", quick),
        hostages("hostage-spin", "spin", quick),
        hostages("hostage-fault", "fault", quick),
        crowd("crowd", "mutex", quick),
        crowd("crowd-rwlock", "rwlock", quick),
        crowd("crowd-semaphore", "semaphore", quick),
        crowd("crowd-bounded", "bounded", quick),
        part("spsc", "spsc", &[], 1.0),
        part("mpsc", "mpsc", &[], 1.0),
        part("mpsc-many", "mpsc", &[("receive", json!("many"))], 1.0),
        part("mpsc-10", "mpsc", &[("senders", json!(10))], 1.0),
        part("mpsc-100", "mpsc", &[("senders", json!(100))], 1.0),
        part("mpmc", "mpmc", &[], 1.0),
        part("rendezvous", "rendezvous", &[], 1.0),
        part("ports", "ports", &[], 1.0),
        part("ports-10", "ports", &[("ports", json!(10))], 1.0),
        part(
            "ports-100000",
            "ports",
            &[("ports", json!(MANY_PORTS))],
            1.0,
        ),
        part(
            "ports-all",
            "ports",
            &ALL_ACTIVE.map(|name| (name, json!(MANY_PORTS))),
            1.0,
        ),
        part("pipe", "pipe", &[], 1.0),
        part("message-ring", "message-ring", &[], 1.0),
        part("msgsend", "msgsend", &[], 1.0),
        part("k-nucleotide", "k-nucleotide", &[], 1.0),
        search("bfs", "top-down", quick),
        search("bfs-optimising", "optimising", quick),
        dice("dice", "sum", quick),
        dice("dice-keep", "keep", quick),
        dice("dice-paths", "paths", quick),
        schedules("schedules", "three", quick),
        schedules("schedules-shared", "shared", quick),
        schedules("schedules-four", "four", quick),
        schedules("schedules-philosophers", "philosophers", quick),
        part("process", "process", &[], 0.1),
        part("slot-short", "slot", &[("which", json!("short"))], 1.0),
    ]
}

/// How long one of them should measure, and how long at most, if there is a limit.
fn times_s(name: &str, options: &Series) -> (f64, Option<f64>) {
    let usual = (name == "all").then_some(LIMITS_S[usize::from(options.quick)]);
    let limit = options.within.map(|seconds| seconds as f64).or(usual);
    let total = if options.quick { QUICK_S } else { FULL_S };
    (
        limit.map_or(total, |limit| total.min(limit / LIMIT_TIMES)),
        limit,
    )
}

/// Runs one of them; the exit code.
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
        "senders" => vec![msgsend("senders", "senders", &SENDERS, options.quick)],
        "intervals" => vec![msgsend("intervals", "interval", &INTERVALS, options.quick)],
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
    let quick = usize::from(options.quick);
    let (total_s, limit_s) = times_s(name, options);
    let weights: f64 = all(options.quick).iter().map(|part| part.weight).sum();
    let has = |part: &&Part| {
        let name = part.requests[0].workload.name;
        selected
            .iter()
            .any(|entry| entry.workload.contains_key(name))
    };
    let parts: Vec<&Part> = parts.iter().filter(has).collect();
    let count = parts.len();
    let count_of = |part: &&Part| jobs(&selected, &built, &part.requests);
    let mut clock = Clock::new(limit_s, parts.iter().map(count_of).sum());
    let mut ended = None;
    for (index, part) in parts.into_iter().enumerate() {
        let workload = part.requests[0].workload;
        esayln!("part {} of {count}: {}", index + 1, part.name);
        let how = How {
            runs: options.runs.unwrap_or(part.runs[quick]),
            timeout_s: options.timeout,
            budget_s: total_s * part.weight / weights,
            most_s: part.most_s[quick],
        };
        let files = [paths.out.join(format!("{}.json", part.name))];
        let measured =
            session.measure(&selected, &built, &part.requests, &how, &mut clock, &files)?;
        let (results, signal) = measured;
        if signal.is_some() && results.is_empty_handed() {
            ended = signal;
            break;
        }
        if let [only] = &part.requests[..] {
            show(only, &results, None);
        } else {
            let (name, along) = (workload.name, part.along);
            sayln!("{name} by --{along}, {} values\n", part.requests.len());
            say!("{}", scaling::render(&results, along, workload.op[0]));
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
