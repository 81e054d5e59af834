//! Bare arithmetic in parallel, and as a control the same in independent processes.

use std::process::{Command, Stdio};

use gossamer::{JoinHandle, Wait};

use gossamer_contender::Failure;
use gossamer_contender::args::{Args, number, said};
use gossamer_contender::generator::steps;

/// The states that all tasks end with, xor-ed.
pub(crate) fn run(args: &Args) -> Result<u64, Failure> {
    args.only(&["--kind", "--rounds", "--tasks"])?;
    let (rounds, tasks) = (args.number("--rounds", 1_000)?, args.number("--tasks", 2)?);
    let work = move |task: u64| steps(task + 1, waiting::part(rounds, tasks, task));
    match args.kind() {
        "one-process" => Ok((0..tasks).map(work).fold(0, |all, own| all ^ own)),
        "two-processes" => in_two_processes(rounds, tasks),
        "even-tasks" => Ok((0..tasks)
            .step_by(2)
            .map(work)
            .fold(0, |all, own| all ^ own)),
        "odd-tasks" => Ok((1..tasks)
            .step_by(2)
            .map(work)
            .fold(0, |all, own| all ^ own)),
        _ => {
            let rt = args.runtime()?;
            let tasks: Vec<JoinHandle<u64>> = (0..tasks)
                .map(|task| rt.spawn(async move { work(task) }))
                .collect();
            let mut all = 0;
            for task in tasks {
                all ^= task.wait().map_err(said)?;
            }
            Ok(all)
        }
    }
}

/// Starts this program twice, each with every second task, and waits for both.
fn in_two_processes(rounds: u64, tasks: u64) -> Result<u64, Failure> {
    let program = std::env::current_exe().map_err(said)?;
    let start = |kind: &str| {
        let (rounds, tasks) = (rounds.to_string(), tasks.to_string());
        Command::new(&program)
            .args([
                "cpu", "--kind", kind, "--rounds", &rounds, "--tasks", &tasks,
            ])
            .stdout(Stdio::piped())
            .spawn()
            .map_err(said)
    };
    let children = [start("even-tasks")?, start("odd-tasks")?];
    let mut all = 0;
    for child in children {
        let output = child.wait_with_output().map_err(said)?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        all ^= number::<u64>("a process", text.trim()).map_err(said)?;
    }
    Ok(all)
}
