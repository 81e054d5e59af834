//! Deadlocks in production models, each in a process of its own: what is proven is told, and nothing else is.
//!
//! The programs that deadlock are the patterns of the Go project's published kernels of deadlocks (GoBench, Yuan et al.,
//! CGO 2021; GOKER), restated. This is no test of a harness: that one's own threads would be threads of the process that
//! somebody might run on. Dumps of programs that run are here as well.
#[path = "../patience.rs"]
mod patience;
mod programs;
mod recorded;
mod sockets;

use std::env;
use std::io::Read;
use std::process::{Command, ExitCode, Stdio};
use std::thread::{self, sleep as rest};
use std::time::{Duration, Instant};

use gossamer::{Fibers, Model, Runtime};

use self::patience::Patience;
use self::programs::{Ends, PROGRAMS, Program};
use self::recorded::RECORDED;
use self::sockets::SOCKETS;

/// A program that has not ended by then hangs.
const LIMIT: Duration = Duration::from_secs(30);
const LOOK_EVERY: Duration = Duration::from_millis(2);

const MODELS: [&str; 4] = ["single", "pool:1", "pool:3", "threads"];

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    if let [own, program, model] = arguments.as_slice()
        && own == "--own"
    {
        run(find(program), model);
        return ExitCode::SUCCESS;
    }
    // Of one program alone, for planted bugs.
    let one = env::var("GOSSAMER_PROGRAM").ok();
    let one = one.as_deref().or(arguments.first().map(String::as_str));
    let (mut ran, mut failed) = (0, 0);
    for program in programs() {
        if one.is_some_and(|one| !one.starts_with('-') && one != program.name) {
            continue;
        }
        // At a time: they mostly wait, each in a process of its own.
        let verdicts = thread::scope(|scope| {
            let tests = MODELS.map(|model| scope.spawn(|| test(program, model)));
            tests.map(|test| test.join().expect("no panic"))
        });
        for (model, verdict) in MODELS.into_iter().zip(verdicts) {
            ran += 1;
            println!(
                "test {} in {model} ... {}",
                program.name,
                verdict.as_ref().map_or("FAILED", |()| "ok")
            );
            if let Err(why) = verdict {
                println!("{why}");
                failed += 1;
            }
        }
    }
    println!("{failed} of {ran} failed");
    if failed == 0 && ran > 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

fn programs() -> impl Iterator<Item = &'static Program> {
    PROGRAMS.iter().chain(RECORDED).chain(SOCKETS)
}

fn find(name: &str) -> &'static Program {
    let found = programs().find(|program| program.name == name);
    found.unwrap_or_else(|| panic!("there is no program {name}"))
}

/// Runs a program in this process, and prints how it ended.
fn run(program: &Program, model: &str) {
    let model: Model = model.parse().expect("a model");
    // SAFETY: nothing here uses thread-locals like a stack.
    let fibers = unsafe { Fibers::contract() };
    let mut builder = Runtime::builder().model(model).fibers(fibers);
    if RECORDED
        .iter()
        .any(|recorded| recorded.name == program.name)
    {
        builder = builder.record_waits();
    }
    let rt = builder.dump_on_quit().build().expect("a runtime");
    let began = Instant::now();
    match (program.run)(&rt) {
        Ok(()) => println!("returned"),
        // No more than a pipe has room for: it is read in the end.
        Err(stopped) => println!("stopped\n{:.20000}", stopped.to_string()),
    }
    println!("after {:?}", began.elapsed());
    // What waits for ever has no end.
    std::process::exit(0);
}

/// Runs it in a process of its own.
fn test(program: &Program, model: &str) -> Result<(), String> {
    let this = env::current_exe().map_err(|error| error.to_string())?;
    let mut child = Command::new(this)
        .args(["--own", program.name, model])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| error.to_string())?;
    let mut patience = Patience::new(LIMIT);
    let ended = loop {
        if let Some(status) = child.try_wait().map_err(|error| error.to_string())? {
            break Some(status);
        }
        if patience.is_over() {
            let _gone = child.kill();
            break None;
        }
        rest(LOOK_EVERY);
    };
    let (mut out, mut errors) = (String::new(), String::new());
    if let (Some(stdout), Some(stderr)) = (&mut child.stdout, &mut child.stderr) {
        let _read = (
            stdout.read_to_string(&mut out),
            stderr.read_to_string(&mut errors),
        );
    }
    let _reaped = child.wait();
    let told = format!("{out}{errors}");
    let has = |words: &[&str]| words.iter().all(|word| told.contains(word));
    let is_right = match program.ends {
        Ends::Deadlock(words) => has(&["stopped\ndeadlock"]) && has(words),
        Ends::Says(words) => has(&["returned"]) && has(words),
        Ends::Returns => has(&["returned"]) && !has(&["deadlock"]),
    };
    match ended {
        None => Err(format!("it hangs, with\n{told}")),
        Some(status) if !status.success() => Err(format!("{status}, with\n{told}")),
        Some(_) if !is_right => Err(format!("{:?} was expected, not\n{told}", program.ends)),
        Some(_) => Ok(()),
    }
}
