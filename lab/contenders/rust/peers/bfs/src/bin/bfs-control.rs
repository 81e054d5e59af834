//! `bfs-control`: the serial search of the app `graph500`, started twice with half of the searches each: what the
//! machine gives to two independent processes. The figures are those of both together: rates are added up.
//!
//! Each process says when it is about to search, and waits until the other one is there too. Else many a search
//! would run beside the other's checks.

#![forbid(unsafe_code)]

use std::io::{self, BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitCode, Stdio};

use clap::Parser;
use graph500::benchmark::{Failure, prepare};
use graph500::cli::{Options, report};
use graph500::report::Report;
use graph500::search::Search;
use graph500::serial::Serial;
use graph500::workers::Alone;

/// One process: how many trees were valid, and its figures in the order in which it says them.
type Half = (u64, Vec<(String, f64)>);

/// This says to a process that it is one of the two.
const HALF: &str = "BFS_CONTROL_HALF";
/// What a process says before each search.
const READY: &str = "ready\n";

/// One of the two.
struct Process {
    child: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
    /// The last line that it said.
    said: String,
}

impl Process {
    /// Starts one, with this part of the searches.
    fn start(options: &[String], skip: u32, searches: u32) -> io::Result<Self> {
        // Of an option that is given twice clap takes none, so the number of searches is replaced.
        let mut words = options.to_vec();
        let given = words.iter().position(|word| word == "--searches");
        match given {
            Some(at) => words[at + 1] = searches.to_string(),
            None => words.extend(["--searches".into(), searches.to_string()]),
        }
        let mut child = Command::new(std::env::current_exe()?)
            .args(words)
            .args(["--skip", &skip.to_string()])
            .env(HALF, "1")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        let (Some(to), Some(from)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(io::Error::other("a process without pipes"));
        };
        let (from, said) = (BufReader::new(from), String::new());
        Ok(Self {
            child,
            to,
            from,
            said,
        })
    }

    /// Whether it is about to search; else it has said its answer, or failed.
    fn is_ready(&mut self) -> io::Result<bool> {
        self.said.clear();
        self.from.read_line(&mut self.said)?;
        Ok(self.said == READY)
    }

    fn end(self) -> Result<Half, String> {
        let output = self.child.wait_with_output();
        let output = output.map_err(|error| error.to_string())?;
        let errors = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        let valid = self.said.trim().parse().map_err(|_| errors.clone())?;
        let line = errors
            .lines()
            .find_map(|line| line.strip_prefix("figures: "));
        let figures = line.unwrap_or_default().split(' ').filter_map(|word| {
            let (name, value) = word.split_once('=')?;
            Some((name.to_owned(), value.parse().ok()?))
        });
        Ok((valid, figures.collect()))
    }
}

/// Lets both search at the same time, as often as they want to. One that has no more searches lets the other go on.
fn conduct(processes: &mut [Process]) -> io::Result<()> {
    let mut left: Vec<&mut Process> = processes.iter_mut().collect();
    while !left.is_empty() {
        let mut ready = Vec::new();
        for process in left {
            if process.is_ready()? {
                ready.push(process);
            }
        }
        for process in &mut ready {
            process.to.write_all(b"\n")?;
        }
        left = ready;
    }
    Ok(())
}

/// Runs both, and says what they did together.
fn both() -> Result<u64, String> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let searches = Options::parse().roots;
    let said = |error: io::Error| error.to_string();
    let half = searches.div_ceil(2);
    let mut processes = vec![Process::start(&words, 0, half).map_err(said)?];
    if searches > half {
        processes.push(Process::start(&words, half, searches - half).map_err(said)?);
    }
    conduct(&mut processes).map_err(said)?;
    let halves = processes.into_iter().map(Process::end);
    let halves = halves.collect::<Result<Vec<Half>, String>>()?;
    let mean = |name: &str| {
        let values = halves.iter().flat_map(|(_, figures)| figures);
        let values: Vec<f64> = values
            .filter(|(own, _)| own == name)
            .map(|(_, value)| *value)
            .collect();
        values.iter().sum::<f64>() / values.len() as f64
    };
    let mteps = mean("mteps") * halves.len() as f64;
    eprintln!(
        "figures: ns_per_edge={:.4} mteps={mteps:.3} search_ms={:.4} construction_ms={:.2} edges={}",
        1e3 / mteps,
        mean("search_ms"),
        mean("construction_ms"),
        mean("edges")
    );
    Ok(halves.iter().map(|(valid, _)| valid).sum())
}

/// A search that begins when the other process has come to its own.
struct Together<'g>(Serial<'g>);

impl Search for Together<'_> {
    fn clear(&mut self) {
        self.0.clear();
        print!("{READY}");
        let told = io::stdout()
            .flush()
            .and_then(|()| io::stdin().read_line(&mut String::new()));
        told.expect("the process that started this one is there");
    }

    fn run(&mut self, root: u32) {
        self.0.run(root);
    }

    fn parents(&mut self) -> Vec<u32> {
        self.0.parents()
    }
}

/// Searches serially, whatever else was said.
fn half() -> Result<u64, String> {
    let options = Options::parse();
    let run = || -> Result<Report, Failure> {
        let direction = options.direction()?;
        let prepared = prepare(&options.asked(), &Alone)?;
        let mut search = Together(Serial::new(&prepared.graph, direction));
        report(&prepared, &mut search, &Alone)
    };
    let report = run().map_err(|failure| match failure {
        Failure::Input(message) | Failure::Invalid(message) => message,
    })?;
    let (valid, figures) = report.lab();
    eprintln!("{figures}");
    Ok(valid as u64)
}

fn main() -> ExitCode {
    let result = match std::env::var_os(HALF) {
        Some(_) => half(),
        None => both(),
    };
    match result {
        Ok(valid) => {
            println!("{valid}");
            ExitCode::SUCCESS
        }
        Err(message) => {
            eprintln!("{message}");
            ExitCode::from(2)
        }
    }
}
