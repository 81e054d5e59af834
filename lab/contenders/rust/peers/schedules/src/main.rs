//! loom and shuttle in the workload `schedules`: `schedules-contender schedules --kind KIND …`.
//!
//! Both count executions of the whole program; an operation of theirs is not one of ours (see `programs`).
//! * loom (`model::Builder`) does not run orders that only differ in steps that do not depend on each other (dynamic
//!   partial-order reduction), and has no bound on preemptions here. So it needs few executions where threads share
//!   nothing: one exploration proves the program, however few there were. The end of a thread and joining it depend on each
//!   other. It also explores the values that the memory model lets a load see, which neither of the others does. The
//!   number of executions is the one that loom logs when it is complete.
//! * shuttle (`check_dfs`) runs each order of its own scheduling points, depth first, and leaves none out. Besides each
//!   operation on a lock, a condition variable or an atomic, spawning and joining a thread are such points.
#![forbid(unsafe_code)]

mod programs;

use std::collections::BTreeSet;
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use loom::model::Builder;
use peer_ring::{Failure, end};
use programs::{on_loom, on_shuttle};
use waiting::Options;

/// shuttle runs no more executions than this of a program. If it runs as many, it has not explored the program, and the
/// row has no time of an exploration.
const MOST: usize = 500_000;

type Program = fn() -> u32;

/// What explores.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Library {
    Loom,
    Shuttle,
}

/// The program, and the values that it may return: an exploration must see each of them, and no other.
struct Asked {
    library: Library,
    program: Program,
    values: BTreeSet<u32>,
}

/// What came out so far.
#[derive(Default)]
struct Seen {
    executions: AtomicU64,
    values: Mutex<BTreeSet<u32>>,
}

impl Asked {
    fn read(options: &Options) -> Result<Asked, String> {
        let (kind, what) = (
            options.text("--kind", "loom"),
            options.text("--what", "three"),
        );
        let program: Program = match (kind, what) {
            ("loom", "three") => || on_loom::own::<on_loom::Locked>(3, 2),
            ("loom", "shared") => || on_loom::shared(3),
            ("loom", "four") => || on_loom::own::<on_loom::Locked>(4, 3),
            ("loom-atomics", "three") => || on_loom::own::<on_loom::Flag>(3, 2),
            ("loom-atomics", "four") => || on_loom::own::<on_loom::Flag>(4, 3),
            ("shuttle", "three") => || on_shuttle::own::<on_shuttle::Locked>(3, 2),
            // Its first executions have not all values, so the lab does not ask for it.
            ("shuttle", "shared") => || on_shuttle::shared(3),
            ("shuttle", "four") => || on_shuttle::own::<on_shuttle::Locked>(4, 3),
            ("shuttle-atomics", "three") => || on_shuttle::own::<on_shuttle::Flag>(3, 2),
            ("shuttle-atomics", "four") => || on_shuttle::own::<on_shuttle::Flag>(4, 3),
            _ => return Err(format!("--kind {kind} has no --what {what}")),
        };
        Ok(Asked {
            library: match kind.starts_with("loom") {
                true => Library::Loom,
                false => Library::Shuttle,
            },
            program,
            values: match what {
                "three" => BTreeSet::from([6]),
                "four" => BTreeSet::from([12]),
                _ => BTreeSet::from([123, 132, 213, 231, 312, 321]),
            },
        })
    }

    /// Explores the program once.
    fn explore(&self) -> Arc<Seen> {
        let seen = Arc::new(Seen::default());
        let (program, into) = (self.program, seen.clone());
        let execution = move || {
            let value = program();
            into.executions.fetch_add(1, Ordering::Relaxed);
            into.values.lock().expect("nobody panics").insert(value);
        };
        match self.library {
            Library::Loom => {
                let mut builder = Builder::new();
                builder.preemption_bound = None;
                builder.check(execution);
            }
            Library::Shuttle => shuttle::check_dfs(execution, Some(MOST)),
        }
        seen
    }

    /// Whether there was nothing more to explore.
    fn is_whole(&self, executions: u64) -> bool {
        self.library == Library::Loom || executions < MOST as u64
    }
}

/// Says the figures of the lab.
fn say(asked: &Asked, executions: u64, explorations: u64, took: Duration) {
    let us = took.as_secs_f64() * 1e6;
    let all = (executions * explorations) as f64;
    let whole = match asked.is_whole(executions) {
        true => format!(" exploration_us={}", us / explorations as f64),
        false => String::new(),
    };
    eprintln!(
        "figures: us_per_schedule={} schedules_per_s={} schedules={executions}{whole}",
        us / all,
        all / us * 1e6,
    );
    if whole.is_empty() {
        eprintln!("not all: there are more than {executions} executions");
    }
}

fn run() -> Result<u64, Failure> {
    let options = Options::read().map_err(Failure::Asked)?;
    let known = ["--kind", "--what", "--ms"];
    options.only(&known).map_err(Failure::Asked)?;
    let asked = Asked::read(&options).map_err(Failure::Asked)?;
    let ms = options.number("--ms", 500).map_err(Failure::Asked)?;
    let start = Instant::now();
    let mut explorations = 0;
    let (seen, took) = loop {
        let seen = asked.explore();
        explorations += 1;
        let took = start.elapsed();
        if took >= Duration::from_millis(ms) {
            break (seen, took);
        }
    };
    let values = seen.values.lock().expect("nobody panics");
    if *values != asked.values {
        return Err(Failure::Ran(format!(
            "what came out is {values:?} instead of {:?}",
            asked.values
        )));
    }
    let executions = seen.executions.load(Ordering::Relaxed);
    say(&asked, executions, explorations, took);
    Ok(values.len() as u64)
}

fn main() -> ExitCode {
    end(run())
}
