//! Kernel 1: adjacency lists from the list of edges, in the form of compressed sparse rows.
//!
//! Edges that occur several times stay, as in the reference code; an edge from a vertex to itself leads nowhere and is
//! only counted.

use std::sync::atomic::{AtomicU32, Ordering};

use crate::generator::{Edge, Permutation, ROOTS};
use crate::workers::Workers;

/// How many edges one part of the work has.
const PART: usize = 1 << 15;

/// An undirected graph.
#[derive(Debug)]
pub struct Graph {
    /// Where the neighbours of each vertex begin in `targets`, and at the end where the last one's end.
    offsets: Vec<usize>,
    targets: Vec<u32>,
    /// The vertex of each edge from a vertex to itself.
    loops: Vec<u32>,
}

impl Graph {
    /// Kernel 1.
    #[must_use]
    pub fn new(vertices: usize, edges: &[Edge], workers: &impl Workers) -> Self {
        let mut parts: Vec<&[Edge]> = edges.chunks(PART).collect();
        let degrees: Vec<AtomicU32> = (0..vertices).map(|_| AtomicU32::new(0)).collect();
        let loops = workers.each(&mut parts, |part| {
            let mut loops = Vec::new();
            for &[one, other] in part.iter() {
                if one == other {
                    loops.push(one);
                    continue;
                }
                // Relaxed: `each` has ended before anybody reads.
                degrees[one as usize].fetch_add(1, Ordering::Relaxed);
                degrees[other as usize].fetch_add(1, Ordering::Relaxed);
            }
            loops
        });
        let mut end = 0;
        // Relaxed: nobody else is there.
        let sums = degrees.iter().map(|degree| {
            end += degree.load(Ordering::Relaxed) as usize;
            end
        });
        let offsets: Vec<usize> = std::iter::once(0).chain(sums).collect();
        let targets: Vec<AtomicU32> = (0..offsets[vertices]).map(|_| AtomicU32::new(0)).collect();
        workers.each(&mut parts, |part| {
            let put = |at: u32, target: u32| {
                // Relaxed: each place is given once, and `each` has ended before anybody reads.
                let place = degrees[at as usize].fetch_sub(1, Ordering::Relaxed) as usize - 1;
                targets[offsets[at as usize] + place].store(target, Ordering::Relaxed);
            };
            for &[one, other] in part.iter().filter(|[one, other]| one != other) {
                put(one, other);
                put(other, one);
            }
        });
        Self {
            offsets,
            targets: targets.into_iter().map(AtomicU32::into_inner).collect(),
            loops: loops.concat(),
        }
    }

    /// How many vertices there are, also those without an edge.
    #[must_use]
    pub fn vertices(&self) -> usize {
        self.offsets.len() - 1
    }

    /// How many neighbours all vertices have together: each edge between two vertices counts twice.
    #[must_use]
    pub fn targets(&self) -> u64 {
        self.targets.len() as u64
    }

    /// How many neighbours a vertex has.
    #[must_use]
    pub fn degree(&self, vertex: u32) -> usize {
        self.offsets[vertex as usize + 1] - self.offsets[vertex as usize]
    }

    /// The neighbours of a vertex.
    #[must_use]
    pub fn neighbours(&self, vertex: u32) -> &[u32] {
        &self.targets[self.offsets[vertex as usize]..self.offsets[vertex as usize + 1]]
    }

    /// How many edges of the list are in the component that was reached, as the specification counts them: those from a
    /// vertex to itself, and half of the others' ends.
    #[must_use]
    pub fn edges_reached(&self, is_reached: impl Fn(u32) -> bool) -> u64 {
        let reached = |vertex: &u32| is_reached(*vertex);
        let vertices = (0..self.vertices() as u32).filter(reached);
        let ends: u64 = vertices.map(|vertex| self.degree(vertex) as u64).sum();
        ends / 2 + self.loops.iter().filter(|vertex| reached(vertex)).count() as u64
    }

    /// At most so many different vertices that have a neighbour, at random.
    #[must_use]
    pub fn roots(&self, count: usize, seed: u64) -> Vec<u32> {
        let vertices = self.vertices() as u64;
        let order = Permutation::new(vertices, seed, ROOTS);
        let shuffled = (0..vertices).map(|index| order.of(index) as u32);
        shuffled
            .filter(|vertex| self.degree(*vertex) > 0)
            .take(count)
            .collect()
    }
}
