//! A run: the list of edges, kernel 1, the roots, and kernel 2 for each with its checks.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use crate::edge_list::{self, VERTICES_MAX};
use crate::generator::{Edge, Kronecker};
use crate::graph::Graph;
use crate::memory;
use crate::progress::Progress;
use crate::search::{NONE, Search};
use crate::validate;
use crate::workers::Workers;

/// Which graph.
#[derive(Debug, Clone)]
pub enum Source {
    /// A generated one.
    Kronecker {
        /// Its vertices are 2 to this power.
        scale: u32,
        /// Edges a vertex.
        edge_factor: u64,
    },
    /// One from a file.
    File {
        /// Where the list of edges is.
        path: PathBuf,
        /// How many vertices it has; without it, one more than the largest.
        vertices: Option<u64>,
    },
}

/// What is asked for, whatever searches.
#[derive(Debug, Clone)]
pub struct Asked {
    /// The graph.
    pub source: Source,
    /// How many searches, unless fewer vertices have neighbours.
    pub roots: usize,
    /// How many of the roots are left out, from the first on: another process searches from those.
    pub skip: usize,
    /// How many tasks keep a bit for each vertex, in searches by messages.
    pub scanners: usize,
    /// Of the graph and the roots.
    pub seed: u64,
    /// Whether each tree is checked.
    pub validate: bool,
}

/// Why there is no result.
#[derive(Debug)]
pub enum Failure {
    /// What was asked for makes no sense: exit code 2.
    Input(String),
    /// A tree is wrong: exit code 1.
    Invalid(String),
}

/// A graph, ready to be searched.
#[derive(Debug)]
pub struct Prepared {
    /// The list that it was made of.
    pub edges: Vec<Edge>,
    /// The graph.
    pub graph: Arc<Graph>,
    /// Where the searches begin.
    pub roots: Vec<u32>,
    /// Seconds for the list.
    pub generation_s: f64,
    /// Seconds of kernel 1.
    pub construction_s: f64,
    validate: bool,
    progress: Progress,
}

/// One search.
#[derive(Debug, Clone, Copy)]
pub struct Searched {
    /// Where it began.
    pub root: u32,
    /// How long kernel 2 took.
    pub seconds: f64,
    /// Edges of the list in the component.
    pub edges: u64,
    /// How long the checks took, if there were any.
    pub validation_s: Option<f64>,
}

fn timed<R>(work: impl FnOnce() -> R) -> (R, f64) {
    let start = Instant::now();
    let result = work();
    (result, start.elapsed().as_secs_f64())
}

/// Makes the graph, and chooses the roots.
///
/// # Errors
/// [`Failure::Input`].
pub fn prepare(asked: &Asked, workers: &impl Workers) -> Result<Prepared, Failure> {
    let progress = Progress::new();
    progress.doing("listing the edges");
    let ((vertices, edges), generation_s) = match &asked.source {
        Source::Kronecker { scale, edge_factor } => {
            generated(*scale, *edge_factor, asked, workers)?
        }
        Source::File { path, vertices } => {
            let read = || edge_list::read(path, *vertices, asked.scanners, memory::available());
            let (list, seconds) = timed(read);
            let list = list.map_err(Failure::Input)?;
            ((list.vertices, list.edges), seconds)
        }
    };
    progress.doing("kernel 1: constructing the graph");
    let (graph, construction_s) = timed(|| Graph::new(vertices, &edges, workers));
    let mut roots = graph.roots(asked.roots.saturating_add(asked.skip), asked.seed);
    if roots.is_empty() {
        let message =
            "no edge joins two vertices, so there is nothing to search; give another graph";
        return Err(Failure::Input(match &asked.source {
            Source::File { path, .. } => format!("{}: {message}", path.display()),
            Source::Kronecker { .. } => message.into(),
        }));
    }
    if roots.len() <= asked.skip {
        let message = format!("--skip {}: only {} roots", asked.skip, roots.len());
        return Err(Failure::Input(
            message + " are there; give a smaller number",
        ));
    }
    roots.drain(..asked.skip);
    Ok(Prepared {
        edges,
        graph: Arc::new(graph),
        roots,
        generation_s,
        construction_s,
        validate: asked.validate,
        progress,
    })
}

type Listed = ((usize, Vec<Edge>), f64);

fn generated(
    scale: u32,
    edge_factor: u64,
    asked: &Asked,
    workers: &impl Workers,
) -> Result<Listed, Failure> {
    let vertices = 2_f64.powi(scale.min(1_000) as i32);
    let what = format!("a graph of scale {scale} with edge factor {edge_factor}");
    let edges = vertices * edge_factor as f64;
    let available = memory::available();
    memory::check(&what, vertices, edges, asked.scanners, available).map_err(Failure::Input)?;
    if vertices > VERTICES_MAX as f64 || edges > u64::MAX as f64 / 4.0 {
        let message =
            format!("{what}: vertices are numbers of 32 bits; expected a scale of at most 31");
        return Err(Failure::Input(message));
    }
    let generator = Kronecker::new(scale, edge_factor, asked.seed);
    let (edges, seconds) = timed(|| generator.edges(workers));
    Ok(((1 << scale, edges), seconds))
}

impl Prepared {
    /// Kernel 2 for each root, and the checks.
    ///
    /// # Errors
    /// [`Failure::Invalid`].
    pub fn search(
        &self,
        search: &mut dyn Search,
        workers: &impl Workers,
    ) -> Result<Vec<Searched>, Failure> {
        self.progress.doing("kernel 2: searching");
        self.progress.searches(self.roots.len());
        // As the reference code does: the first search of all is not timed.
        search.clear();
        search.run(self.roots[0]);
        let mut all = Vec::with_capacity(self.roots.len());
        for &root in &self.roots {
            search.clear();
            let ((), seconds) = timed(|| search.run(root));
            let parents = search.parents();
            let (valid, validation_s) = timed(|| self.check(root, &parents, workers));
            valid.map_err(|fault| {
                Failure::Invalid(format!(
                    "Validation: FAILED\nthe search from vertex {root}: {fault}"
                ))
            })?;
            let is_reached = |vertex: u32| parents[vertex as usize] != NONE;
            all.push(Searched {
                root,
                seconds,
                edges: self.graph.edges_reached(is_reached),
                validation_s: self.validate.then_some(validation_s),
            });
            self.progress.searched();
        }
        Ok(all)
    }

    fn check(
        &self,
        root: u32,
        parents: &[u32],
        workers: &impl Workers,
    ) -> Result<(), validate::Fault> {
        if !self.validate {
            return Ok(());
        }
        let levels = validate::levels(parents, root)?;
        validate::check(&self.edges, root, parents, &levels, workers)
    }
}
