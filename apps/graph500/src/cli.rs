//! The options, and what they ask for.

use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;

use clap::{Parser, ValueEnum};
use gossamer::{Model, Runtime};

use crate::benchmark::{Asked, Failure, Prepared, Source, prepare};
use crate::direction::Direction;
use crate::futures::Futures;
use crate::messages::{Messages, Over};
use crate::parallel::Parallel;
use crate::report::Report;
use crate::search::Search;
use crate::serial::Serial;
use crate::workers::{Alone, OnRuntime, Workers};

/// What searches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum How {
    /// One thread, without a runtime
    Serial,
    /// The runtime's workers, in shared memory
    Par,
    /// Tasks that own vertices, and tell each other of edges in messages
    Messages,
    /// Futures that look at a part of the frontier each, and send one message back
    Futures,
}

/// A model, and whether it says how many workers it has.
#[derive(Debug, Clone, Copy)]
pub struct Given {
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

/// The breadth-first search of the Graph500 benchmark: generates a Kronecker graph (or reads one), constructs it,
/// searches it from 64 random vertices, checks each tree, and prints what the reference code does.
#[derive(Debug, Parser)]
#[command(name = "graph500", version)]
pub struct Options {
    /// The graph has 2 to the power of this many vertices
    #[arg(long, default_value_t = 16, value_name = "N", conflicts_with_all = ["edges", "vertices"],
          value_parser = clap::value_parser!(u32).range(1..))]
    pub scale: u32,
    /// Edges a vertex
    #[arg(long, default_value_t = 16, value_name = "N", conflicts_with = "edges",
          value_parser = clap::value_parser!(u64).range(1..))]
    pub edge_factor: u64,
    /// How many searches, each from another random vertex that has a neighbour
    #[arg(long, visible_alias = "searches", default_value_t = 64, value_name = "N",
          value_parser = clap::value_parser!(u32).range(1..))]
    pub roots: u32,
    /// How many roots to leave out before the first: the lab's control has another process search from those
    #[arg(long, hide = true, default_value_t = 0, value_name = "N")]
    pub skip: u32,
    /// Of the graph and the roots: the same seed, the same graph, whatever searches it
    #[arg(long, default_value_t = 1, value_name = "N")]
    pub seed: u64,
    /// A graph from a file instead: an edge a line, as `0 17`
    #[arg(long, value_name = "FILE")]
    pub edges: Option<PathBuf>,
    /// How many vertices the file's graph has; without it, one more than the largest in the file
    #[arg(long, value_name = "N", requires = "edges",
          value_parser = clap::value_parser!(u64).range(1..=crate::edge_list::VERTICES_MAX))]
    pub vertices: Option<u64>,
    /// What searches
    #[arg(long, value_enum, default_value_t = How::Par)]
    pub how: How,
    /// Whether large frontiers are searched bottom-up (Beamer et al. 2012, with alpha 14 and beta 24) [default:
    /// optimising for serial and par, top-down, which is all they have, for messages and futures]
    #[arg(long, value_enum)]
    pub direction: Option<Direction>,
    /// What messages go over [default: channel]
    #[arg(long, value_enum)]
    pub over: Option<Over>,
    /// Edges in a message of --how messages, or vertices that a future looks at [default: 64]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub batch: Option<u32>,
    /// How many tasks own vertices in --how messages [default: as many as there are workers]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_024))]
    pub tasks: Option<u32>,
    /// The threading model: single, pool, pool:N, or threads [default: pool]
    #[arg(long)]
    pub model: Option<Given>,
    /// How many workers the pool has [default: one for each processor]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_024))]
    pub workers: Option<u32>,
    /// Does not check the trees
    #[arg(long)]
    pub no_validate: bool,
    /// Prints JSON, with each search
    #[arg(long)]
    pub json: bool,
    /// Prints what the lab reads: how many trees were valid, and figures on the standard error
    #[arg(long, hide = true, conflicts_with_all = ["json", "no_validate"])]
    pub lab: bool,
}

fn refused<T>(message: impl Into<String>) -> Result<T, Failure> {
    Err(Failure::Input(message.into()))
}

impl Options {
    /// What is asked for, whatever searches.
    #[must_use]
    pub fn asked(&self) -> Asked {
        let source = match &self.edges {
            Some(path) => Source::File {
                path: path.clone(),
                vertices: self.vertices,
            },
            None => Source::Kronecker {
                scale: self.scale,
                edge_factor: self.edge_factor,
            },
        };
        Asked {
            source,
            roots: self.roots as usize,
            skip: self.skip as usize,
            scanners: 0,
            seed: self.seed,
            validate: !self.no_validate,
        }
    }

    /// The direction, or what is usual for what searches.
    ///
    /// # Errors
    /// [`Failure::Input`]: it has no other.
    pub fn direction(&self) -> Result<Direction, Failure> {
        let by_messages = matches!(self.how, How::Messages | How::Futures);
        match self.direction {
            Some(Direction::Optimising) if by_messages => refused(
                "--direction optimising: messages and futures search top-down; give --how serial or par, or another direction",
            ),
            Some(direction) => Ok(direction),
            None if by_messages => Ok(Direction::TopDown),
            None => Ok(Direction::Optimising),
        }
    }

    /// The model, and how many threads run tasks.
    fn model(&self) -> Result<(Model, usize), Failure> {
        let is_sized = self.model.is_some_and(|given| given.is_sized);
        let given = self.model.map_or_else(Model::default, |given| given.model);
        let model = match (given, self.workers) {
            (Model::Pool { workers: own }, Some(workers))
                if is_sized && own != workers as usize =>
            {
                return refused(format!(
                    "--model pool:{own} and --workers {workers} contradict each other; leave one of them out"
                ));
            }
            (Model::Pool { .. }, Some(workers)) => Model::Pool {
                workers: workers as usize,
            },
            (model, Some(_)) => {
                return refused(format!(
                    "--workers: the model {model} has none; give --model pool"
                ));
            }
            (model, None) => model,
        };
        let count = match model {
            Model::Pool { workers } => workers,
            Model::Single => 1,
            _ => std::thread::available_parallelism().map_or(1, usize::from),
        };
        Ok((model, count))
    }

    /// Refuses options that mean nothing here.
    fn check(&self) -> Result<(), Failure> {
        let (messages, serial) = (self.how == How::Messages, self.how == How::Serial);
        let posts = messages || self.how == How::Futures;
        let needless = [
            (
                "--over",
                self.over.is_some() && !posts,
                "--how messages or futures",
            ),
            (
                "--batch",
                self.batch.is_some() && !posts,
                "--how messages or futures",
            ),
            (
                "--tasks",
                self.tasks.is_some() && !messages,
                "--how messages",
            ),
            (
                "--model",
                self.model.is_some() && serial,
                "another --how than serial",
            ),
            (
                "--workers",
                self.workers.is_some() && serial,
                "another --how than serial",
            ),
        ];
        match needless.iter().find(|(_, given, _)| *given) {
            None => Ok(()),
            Some((option, _, expected)) => {
                refused(format!("{option} is for {expected}; leave it out"))
            }
        }
    }

    /// Makes the graph and searches it.
    ///
    /// # Errors
    /// The options, the file, or a tree.
    pub fn run(&self) -> Result<Report, Failure> {
        self.check()?;
        let direction = self.direction()?;
        if self.how == How::Serial {
            let prepared = prepare(&self.asked(), &Alone)?;
            return report(
                &prepared,
                &mut Serial::new(&prepared.graph, direction),
                &Alone,
            );
        }
        let (model, count) = self.model()?;
        let runtime = Runtime::builder().model(model).build();
        let runtime = runtime.or_else(|error| refused(format!("--model {model}: {error}")))?;
        let workers = OnRuntime::new(&runtime, count);
        let owners = self.tasks.map_or(count, |tasks| tasks as usize);
        let mut asked = self.asked();
        if self.how == How::Messages {
            asked.scanners = owners;
        }
        let prepared = prepare(&asked, &workers)?;
        let graph = &prepared.graph;
        let batch = self.batch.unwrap_or(64) as usize;
        let over = self.over.unwrap_or(Over::Channel);
        let mut search: Box<dyn Search + '_> = match self.how {
            How::Messages => Box::new(Messages::new(
                Arc::clone(graph),
                &runtime,
                owners,
                batch,
                over,
            )),
            How::Futures => Box::new(Futures::new(Arc::clone(graph), &runtime, batch, over)),
            How::Par | How::Serial => Box::new(Parallel::new(graph, direction, &workers)),
        };
        report(&prepared, &mut *search, &workers)
    }
}

/// Searches, and says what there is to say of it.
///
/// # Errors
/// A tree that is none.
pub fn report(
    prepared: &Prepared,
    search: &mut dyn Search,
    workers: &impl Workers,
) -> Result<Report, Failure> {
    let searches = prepared.search(search, workers)?;
    Ok(Report::new(prepared, searches, workers.count()))
}
