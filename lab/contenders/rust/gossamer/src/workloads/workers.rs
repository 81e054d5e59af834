//! Idle workers: a runtime with so many of them runs a small task for each, and waits.

use std::time::Duration;

use gossamer::{JoinHandle, Model, Wait};

use gossamer_contender::Failure;
use gossamer_contender::args::{Args, runtime, said};
use gossamer_contender::generator::steps;

/// Steps of a small task, about twenty microseconds.
const SMALL: u64 = 10_000;

/// How many tasks have run.
pub(crate) fn run(args: &Args) -> Result<u64, Failure> {
    args.only(&["--kind", "--workers", "--idle-ms"])?;
    let workers = args.count("--workers", 64)?;
    let idle = Duration::from_millis(args.number("--idle-ms", 1_000)?);
    let rt = runtime(match args.kind() {
        "pool" => Model::Pool { workers },
        "single" => Model::Single,
        other => return Err(format!("--kind {other}: expected pool, single").into()),
    })?;
    let tasks: Vec<JoinHandle<u64>> = (0..workers)
        .map(|task| rt.spawn(async move { steps(task as u64, SMALL) }))
        .collect();
    let mut ran = 0;
    for task in tasks {
        std::hint::black_box(task.wait().map_err(said)?);
        ran += 1;
    }
    std::thread::sleep(idle);
    Ok(ran)
}
