//! The five checks of the Graph500 specification (version 2.0, "Validation"), on the list of edges as it was given.
//!
//! Levels are not what a search says but what its tree says: [`levels`] follows the parents, and that is the first
//! check. [`check`] has the other four.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::generator::Edge;
use crate::search::NONE;
use crate::workers::Workers;

/// How many edges, or vertices, one part of the work has; few under test, so that small graphs have several parts.
const PART: usize = if cfg!(test) { 1 << 8 } else { 1 << 15 };

/// The level of a vertex that was not reached.
pub const UNREACHED: u32 = u32::MAX;

/// What is wrong with a tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// Check 1: the root is not its own parent.
    Root(u32),
    /// Check 1: the parent of this vertex is no vertex, or was not reached.
    Parent(u32),
    /// Check 1: from this vertex the parents lead in a circle.
    Cycle(u32),
    /// Check 2: the vertex is not one level below its parent.
    TreeEdge(u32),
    /// Check 3: the ends of this edge differ by more than one level.
    Levels(Edge),
    /// Check 4: one end of this edge was reached and the other was not.
    Component(Edge),
    /// Check 5: no edge joins this vertex and its parent.
    NoEdge(u32),
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Root(root) => write!(f, "check 1: the root {root} is not its own parent"),
            Self::Parent(vertex) => write!(
                f,
                "check 1: the parent of vertex {vertex} is not in the tree"
            ),
            Self::Cycle(vertex) => write!(
                f,
                "check 1: the parents of vertex {vertex} lead in a circle"
            ),
            Self::TreeEdge(vertex) => write!(
                f,
                "check 2: vertex {vertex} is not one level below its parent"
            ),
            Self::Levels([one, other]) => write!(
                f,
                "check 3: the ends of the edge {one} {other} differ by more than one level"
            ),
            Self::Component([one, other]) => write!(
                f,
                "check 4: of the edge {one} {other} one end was reached and the other was not"
            ),
            Self::NoEdge(vertex) => {
                write!(f, "check 5: no edge joins vertex {vertex} and its parent")
            }
        }
    }
}

impl std::error::Error for Fault {}

/// Check 1, a tree without cycles: the level of each vertex.
///
/// # Errors
/// It is none.
pub fn levels(parents: &[u32], root: u32) -> Result<Vec<u32>, Fault> {
    let mut levels = vec![UNREACHED; parents.len()];
    if parents[root as usize] != root {
        return Err(Fault::Root(root));
    }
    levels[root as usize] = 0;
    // From a vertex up to the first whose level is known.
    let mut path = Vec::new();
    for start in (0..).take(parents.len()) {
        let mut at: u32 = start;
        while parents[start as usize] != NONE && levels[at as usize] == UNREACHED {
            if path.len() == parents.len() {
                return Err(Fault::Cycle(start));
            }
            path.push(at);
            let parent = parents[at as usize];
            if parents
                .get(parent as usize)
                .is_none_or(|above| *above == NONE)
            {
                return Err(Fault::Parent(at));
            }
            at = parent;
        }
        let mut level = levels[at as usize];
        while let Some(below) = path.pop() {
            level += 1;
            levels[below as usize] = level;
        }
    }
    Ok(levels)
}

/// Checks 2 to 5.
///
/// # Errors
/// The first fault that was found.
pub fn check(
    edges: &[Edge],
    root: u32,
    parents: &[u32],
    levels: &[u32],
    workers: &impl Workers,
) -> Result<(), Fault> {
    // The vertices that an edge joins with their parents, one bit each.
    let joined: Vec<AtomicU64> = parents.chunks(64).map(|_| AtomicU64::new(0)).collect();
    let join = |child: u32, parent: u32| {
        if parents[child as usize] == parent {
            // Relaxed: `each` has ended before anybody reads.
            joined[child as usize / 64].fetch_or(1 << (child % 64), Ordering::Relaxed);
        }
    };
    let mut parts: Vec<&[Edge]> = edges.chunks(PART).collect();
    let checked = workers.each(&mut parts, |part| {
        for &edge in part.iter() {
            let [one, other] = edge.map(|end| levels[end as usize]);
            match (one, other) {
                (UNREACHED, UNREACHED) => continue,
                (UNREACHED, _) | (_, UNREACHED) => return Err(Fault::Component(edge)),
                _ if one.abs_diff(other) > 1 => return Err(Fault::Levels(edge)),
                _ => {}
            }
            let [one, other] = edge;
            join(one, other);
            join(other, one);
        }
        Ok(())
    });
    checked.into_iter().collect::<Result<(), Fault>>()?;
    let vertices: Vec<u32> = (0..).take(parents.len()).collect();
    let mut parts: Vec<&[u32]> = vertices.chunks(PART).collect();
    let checked = workers.each(&mut parts, |part| {
        let in_tree = |vertex: &&u32| **vertex != root && parents[**vertex as usize] != NONE;
        for &vertex in part.iter().filter(in_tree) {
            let parent = parents[vertex as usize];
            let expected = levels[parent as usize].checked_add(1);
            if expected != Some(levels[vertex as usize]) {
                return Err(Fault::TreeEdge(vertex));
            }
            // Relaxed: as above.
            let word = joined[vertex as usize / 64].load(Ordering::Relaxed);
            if word >> (vertex % 64) & 1 == 0 {
                return Err(Fault::NoEdge(vertex));
            }
        }
        Ok(())
    });
    checked.into_iter().collect()
}
