//! `bfs-control`: the serial search of the app `graph500`, started twice with half of the searches each: what the
//! machine gives to two independent processes. The figures are those of both together: rates are added up.

#![forbid(unsafe_code)]

use std::io;
use std::process::{Child, Command, ExitCode, Stdio};

use clap::Parser;
use graph500::cli::Options;

/// One process: how many trees were valid, and its figures in the order in which it says them.
type Half = (u64, Vec<(String, f64)>);

/// This says to a process that it is one of the two.
const HALF: &str = "BFS_CONTROL_HALF";

fn start(options: &[String], searches: u32) -> io::Result<Child> {
    // Of an option that is given twice clap takes none, so the number of searches is replaced.
    let mut words = options.to_vec();
    let given = words.iter().position(|word| word == "--searches");
    match given {
        Some(at) => words[at + 1] = searches.to_string(),
        None => words.extend(["--searches".into(), searches.to_string()]),
    }
    Command::new(std::env::current_exe()?)
        .args(words)
        .env(HALF, "1")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
}

fn end(child: Child) -> Result<Half, String> {
    let output = child
        .wait_with_output()
        .map_err(|error| error.to_string())?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
    let errors = text(&output.stderr);
    let valid = text(&output.stdout).parse().map_err(|_| errors.clone())?;
    let line = errors
        .lines()
        .find_map(|line| line.strip_prefix("figures: "));
    let figures = line.unwrap_or_default().split(' ').filter_map(|word| {
        let (name, value) = word.split_once('=')?;
        Some((name.to_owned(), value.parse().ok()?))
    });
    Ok((valid, figures.collect()))
}

/// Runs both, and says what they did together.
fn both() -> Result<u64, String> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let searches = Options::parse().roots;
    let said = |error: io::Error| error.to_string();
    let one = start(&words, searches.div_ceil(2)).map_err(said)?;
    let other = match searches / 2 {
        0 => None,
        half => Some(start(&words, half).map_err(said)?),
    };
    let mut halves = vec![end(one)?];
    halves.extend(other.map(end).transpose()?);
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

/// Searches serially, whatever else was said.
fn half() -> Result<u64, String> {
    let mut options = Options::parse();
    options.how = graph500::cli::How::Serial;
    let report = options.run().map_err(|failure| format!("{failure:?}"))?;
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
