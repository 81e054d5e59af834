//! Tests of the library: the graph, the searches on every model, the checks, the figures, and bad input.

mod checking;
mod figures;
mod generating;
mod input;
mod searching;

use crate::generator::Edge;
use crate::graph::Graph;
use crate::workers::Alone;

/// A graph with two components, an edge that occurs twice, one from a vertex to itself, and a vertex without edges.
const SMALL: [Edge; 7] = [[0, 1], [1, 2], [2, 1], [3, 3], [4, 5], [0, 3], [2, 3]];
const SMALL_VERTICES: usize = 7;

fn small() -> Graph {
    Graph::new(SMALL_VERTICES, &SMALL, &Alone)
}
