//! The command line: what may be asked for, and what becomes of it.

use std::fs::File;
use std::io::{self, BufWriter, IsTerminal, Read, Write};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Instant;

use clap::{Args, Parser, Subcommand, ValueEnum};
use gossamer::{Model, Runtime};
use indicatif::{ProgressBar, ProgressStyle};

use crate::counter::Counter;
use crate::error::Error;
use crate::fasta::Sequence;
use crate::json::{Run, object};
use crate::messages::Over;
use crate::{generate, messages, parallel, report, serial};

/// An input of fewer bytes is counted before a bar is worth its line.
const LARGE: u64 = 32 * 1024 * 1024;
/// Bytes that the generator writes at once.
const WRITTEN: usize = 256 * 1024;
/// The program `fasta` counts in signed 32 bits; ten times this is 10 GB.
const N_MAX: u64 = 1_000_000_000;
/// Room for lines to each counting task, unless told otherwise: that of the lab's workload `spsc`, where a channel is
/// quickest.
const CAPACITY: usize = 1_024;
/// Pipes to each counting task, unless told otherwise.
const PIPES: usize = 16;

/// Counts k-nucleotides in a FASTA sequence, as the Benchmarks Game does.
///
/// Prints the shares of nucleotides and pairs of them in percent, and how often GGT, GGTA, GGTATT, GGTATTTTAATT and
/// GGTATTTTAATTTATAGT occur.
#[derive(Debug, Parser)]
#[command(version, args_conflicts_with_subcommands = true)]
pub struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    count: Count,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Writes the Benchmarks Game's input for N to the standard output: what its program fasta writes.
    Generate {
        /// The sequence THREE gets five times as many nucleotides.
        #[arg(value_parser = clap::value_parser!(u64).range(1..=N_MAX))]
        n: u64,
    },
}

#[derive(Debug, Args)]
struct Count {
    /// A FASTA file; - or none is the standard input.
    file: Option<PathBuf>,
    /// The first word in the header of the sequence to count.
    #[arg(long, default_value = "THREE", value_name = "NAME")]
    sequence: String,
    /// How to count.
    #[arg(long, value_enum, default_value_t = How::Par)]
    how: How,
    /// What carries the lines to the counting tasks of --how messages.
    #[arg(long, value_enum)]
    over: Option<Carrier>,
    /// How many lines are on their way to each counting task at most: a channel's room, or how many pipes.
    #[arg(long, value_name = "LINES", value_parser = clap::value_parser!(u32).range(1..=65_536))]
    capacity: Option<u32>,
    /// Which threads run the tasks: single, pool, pool:N or threads; one worker for each processor if not given.
    #[arg(long)]
    model: Option<Given>,
    /// How many workers the pool has, as --model pool:N.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1_024))]
    workers: Option<u16>,
    /// Print one JSON object instead.
    #[arg(long)]
    json: bool,
}

/// A model, and whether it says how many workers it has.
#[derive(Debug, Clone, Copy)]
struct Given {
    model: Model,
    is_sized: bool,
}

impl FromStr for Given {
    type Err = <Model as FromStr>::Err;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (model, is_sized) = (text.parse()?, text.starts_with("pool:"));
        Ok(Self { model, is_sized })
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum How {
    /// On one thread, without a runtime.
    Serial,
    /// In parallel.
    Par,
    /// By messages from a reading task to counting tasks, one message a line and length.
    Messages,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Carrier {
    /// A channel that holds several lines.
    Channel,
    /// Pipes, which bring the empty lines back.
    Pipe,
}

/// Why there is no output.
#[derive(Debug)]
pub enum Failure {
    /// The input, or what was asked for, is bad.
    Input(String),
    /// Something else went wrong.
    Other(String),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        Failure::Input(error.to_string())
    }
}

/// Does what was asked for.
///
/// # Errors
/// The input is bad, or the output cannot be written.
pub fn execute(cli: &Cli) -> Result<(), Failure> {
    let written = |error: io::Error| Failure::Other(format!("cannot write the output: {error}"));
    match cli.command {
        Some(Command::Generate { n }) => generated(n).map_err(written),
        None => {
            let text = counted(&cli.count)?;
            io::stdout().write_all(text.as_bytes()).map_err(written)
        }
    }
}

fn generated(n: u64) -> io::Result<()> {
    // About ten letters for each, in lines of sixty.
    let bar = bar(Some(n * 10 * 61 / 60));
    let hidden = io::stdout().is_terminal();
    let bar = if hidden { ProgressBar::hidden() } else { bar };
    let out = BufWriter::with_capacity(WRITTEN, bar.wrap_write(io::stdout().lock()));
    let mut out = out;
    let done = generate::fasta(n, &mut out);
    bar.finish_and_clear();
    done
}

/// A bar on the standard error, if that is a terminal and there is enough to do.
fn bar(bytes: Option<u64>) -> ProgressBar {
    let (bar, style) = match bytes {
        Some(bytes) if bytes < LARGE => return ProgressBar::hidden(),
        Some(bytes) => (
            ProgressBar::new(bytes),
            "{bar:40} {bytes} of {total_bytes}, {binary_bytes_per_sec}, {eta} left",
        ),
        None => (
            ProgressBar::new_spinner(),
            "{spinner} {bytes}, {binary_bytes_per_sec}",
        ),
    };
    let style = ProgressStyle::with_template(style);
    bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

type Input = Box<dyn Read + Send>;

/// The input, its name for people, and a bar that moves while it is read.
fn opened(file: Option<&Path>) -> Result<(Input, String, ProgressBar), Error> {
    let Some(path) = file.filter(|path| *path != Path::new("-")) else {
        let bar = bar(None);
        let input = bar.wrap_read(io::stdin());
        return Ok((Box::new(input), "standard input".into(), bar));
    };
    let name = path.display().to_string();
    let open = || {
        let file = File::open(path)?;
        let metadata = file.metadata()?;
        Ok((file, metadata.is_file().then_some(metadata.len())))
    };
    let (input, bytes) = open().map_err(|cause| {
        let file = name.clone();
        Error::Unreadable { file, cause }
    })?;
    let bar = bar(bytes);
    Ok((Box::new(bar.wrap_read(input)), name, bar))
}

impl Count {
    /// Refuses options that would have no effect.
    fn check(&self) -> Result<(), Failure> {
        let refuse = |option: &str, how: &str, instead: &str| {
            let message = format!("{option} is for {how}: leave it out, or give {instead}");
            Err(Failure::Input(message))
        };
        let is_pool = matches!(self.given(), Model::Pool { .. });
        if self.how == How::Serial && self.model.is_some() {
            return refuse("--model", "--how par and --how messages", "one of these");
        }
        if self.workers.is_some() && (self.how == How::Serial || !is_pool) {
            return refuse(
                "--workers",
                "the pool of --how par and --how messages",
                "one of these and --model pool",
            );
        }
        if let (Some(given), Some(workers)) = (self.model, self.workers)
            && let Model::Pool { workers: own } = given.model
            && given.is_sized
            && own != usize::from(workers)
        {
            return Err(Failure::Input(format!(
                "--model pool:{own} and --workers {workers} contradict each other; leave one of them out"
            )));
        }
        if self.how != How::Messages && self.over.is_some() {
            return refuse("--over", "--how messages", "that");
        }
        if self.how != How::Messages && self.capacity.is_some() {
            return refuse("--capacity", "--how messages", "that");
        }
        Ok(())
    }

    fn given(&self) -> Model {
        self.model.map_or_else(Model::default, |given| given.model)
    }

    fn model(&self) -> Model {
        match self.workers {
            Some(workers) => Model::Pool {
                workers: workers.into(),
            },
            None => self.given(),
        }
    }

    fn over(&self) -> Over {
        let room = |usual| self.capacity.map_or(usual, |lines| lines as usize);
        match self.over {
            Some(Carrier::Pipe) => Over::Pipe {
                capacity: room(PIPES),
            },
            Some(Carrier::Channel) | None => Over::Channel {
                capacity: room(CAPACITY),
            },
        }
    }
}

/// The output.
fn counted(count: &Count) -> Result<String, Failure> {
    count.check()?;
    let (input, file, bar) = opened(count.file.as_deref())?;
    let sequence = Sequence::new(input, &*file, &*count.sequence);
    let model = count.model();
    let start = Instant::now();
    let done = by(count, model, sequence);
    let took = start.elapsed();
    bar.finish_and_clear();
    let (counters, nucleotides) = done?;
    if !count.json {
        return Ok(report::text(&counters));
    }
    let over = match count.over() {
        Over::Channel { .. } => "channel",
        Over::Pipe { .. } => "pipe",
    };
    let run = Run {
        how: match count.how {
            How::Serial => "serial",
            How::Par => "par",
            How::Messages => "messages",
        },
        over: (count.how == How::Messages).then_some(over),
        model: (count.how != How::Serial).then(|| model.to_string()),
        input: &file,
        nucleotides,
        took,
    };
    Ok(format!("{:#}\n", object(&run, &counters)))
}

fn by(
    count: &Count,
    model: Model,
    mut sequence: Sequence<Input>,
) -> Result<(Vec<Counter>, u64), Failure> {
    let runtime = || {
        let built = Runtime::builder().model(model).build();
        built.map_err(|error| Failure::Other(format!("cannot start the runtime: {error}")))
    };
    let counters = match count.how {
        How::Serial => serial::count(&mut sequence)?,
        How::Par => {
            let ranges = match model {
                Model::Single => 1,
                Model::Pool { workers } => workers,
                _ => match Model::pool() {
                    Model::Pool { workers } => workers,
                    _ => 1,
                },
            };
            parallel::count(&runtime()?, &mut sequence, ranges)?
        }
        How::Messages => {
            let (counters, read) = messages::count(&runtime()?, sequence, count.over())?;
            sequence = read;
            counters
        }
    };
    Ok((counters, sequence.nucleotides()))
}
