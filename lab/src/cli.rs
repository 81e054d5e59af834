//! The command line: `lab`, `lab run WORKLOAD …`, `lab list`, `lab doctor`.
//!
//! Frozen with the first workload: a later workload is one more subcommand of `run` with the
//! same [`Common`] options and its own beside them.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

/// More threads than this in one ring is a typing error, not a benchmark.
const THREADS_MAX: u64 = 100_000_000;
/// The token is counted in signed 64 bits by some contenders.
const HOPS_MAX: u64 = i64::MAX as u64;
const RUNS_MAX: u64 = 1_000;
const TIMEOUT_MAX_S: u64 = 86_400;

/// Runs the same workload on many kinds of threads and tells what each one cost.
///
/// Without a command: the thread ring on every contender found, in about two minutes, building
/// apart; a table on the terminal, and a report under target/lab.
#[derive(Debug, Parser)]
#[command(name = "lab", version)]
pub struct Cli {
    /// What to do; nothing means the ring on every contender, sized to take two minutes.
    #[command(subcommand)]
    pub command: Option<Command>,
    /// The list of contenders to use instead of lab/contenders.toml (for tests).
    #[arg(long, global = true, hide = true, value_name = "FILE")]
    pub contenders: Option<PathBuf>,
    /// Where reports go instead of target/lab (for tests).
    #[arg(long, global = true, hide = true, value_name = "DIR")]
    pub out: Option<PathBuf>,
}

/// What the lab can do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Measure one workload on the contenders.
    Run {
        /// The workload and its options.
        #[command(subcommand)]
        workload: Workload,
    },
    /// List the workloads and the contenders, and what each one is.
    List,
    /// Tell which tools are installed, which version, and how to install the rest.
    Doctor,
}

/// The workloads.
#[derive(Debug, Subcommand)]
pub enum Workload {
    /// N threads in a ring pass a token H times; one hop is one wake-up.
    Ring(RingArgs),
    /// Anything else: caught here so that the error can name the valid ones.
    #[command(external_subcommand)]
    Unknown(Vec<String>),
}

/// The options every workload has.
#[derive(Debug, Clone, Args)]
pub struct Common {
    /// Only these contenders, by the names `lab list` shows, separated by commas.
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    pub only: Vec<String>,
    /// How many times each contender runs.
    #[arg(long, value_name = "N", default_value = "5", value_parser = runs)]
    pub runs: u32,
    /// Also write the results as JSON to this file, after every single run.
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Stop a contender whose single run takes longer than this, and call it `timeout`.
    #[arg(long, value_name = "SECONDS", default_value = "120", value_parser = timeout)]
    pub timeout: u64,
}

/// The options of the ring.
#[derive(Debug, Clone, Args)]
pub struct RingArgs {
    /// How many threads are in the ring.
    #[arg(long, value_name = "N", default_value = "503", value_parser = threads)]
    pub threads: u64,
    /// How often the token is passed on [without it: 10 million, slow contenders fewer].
    #[arg(long, value_name = "H", value_parser = hops)]
    pub hops: Option<u64>,
    /// In which order the threads are created.
    #[arg(long, value_enum, default_value = "forward")]
    pub order: Order,
    /// What all workloads share.
    #[command(flatten)]
    pub common: Common,
}

/// The order in which the threads of a ring are created.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Order {
    /// Along the way the token takes.
    Forward,
    /// Against it.
    Reverse,
    /// Random, from a fixed seed that all contenders share.
    Shuffled,
}

impl Order {
    /// The name as contenders understand it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Order::Forward => "forward",
            Order::Reverse => "reverse",
            Order::Shuffled => "shuffled",
        }
    }
}

fn number(text: &str, least: u64, most: u64, what: &str) -> Result<u64, String> {
    match text.parse::<u64>() {
        Ok(value) if (least..=most).contains(&value) => Ok(value),
        _ => Err(format!(
            "{what}; give a whole number from {least} to {most}"
        )),
    }
}

fn threads(text: &str) -> Result<u64, String> {
    number(text, 1, THREADS_MAX, "a ring has at least one thread")
}

fn hops(text: &str) -> Result<u64, String> {
    number(text, 1, HOPS_MAX, "a run has at least one hop")
}

fn runs(text: &str) -> Result<u32, String> {
    let runs = number(text, 1, RUNS_MAX, "each contender runs at least once")?;
    u32::try_from(runs).map_err(|error| error.to_string())
}

fn timeout(text: &str) -> Result<u64, String> {
    number(text, 1, TIMEOUT_MAX_S, "a run gets at least one second")
}
