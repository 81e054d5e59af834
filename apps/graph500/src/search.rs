//! Kernel 2: a search from a root, whatever does it.

/// No vertex: the parent of one that was not reached.
pub const NONE: u32 = u32::MAX;

/// A breadth-first search that is made again and again on one graph.
pub trait Search {
    /// Forgets the last search; not timed, as in the reference code.
    fn clear(&mut self);

    /// Searches; timed. At its end the tree is in memory.
    fn run(&mut self, root: u32);

    /// The parent of each vertex, the root's is itself, and [`NONE`] of those that were not reached.
    fn parents(&mut self) -> Vec<u32>;
}
