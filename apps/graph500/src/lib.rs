//! The breadth-first search of the Graph500 benchmark, on lightweight threads.
//!
//! The modules in the order in which a run goes through them:
//!
//! * [`cli`]: the options; [`memory`]: whether the machine has the memory for them.
//! * [`generator`]: the Kronecker graph, or [`edge_list`]: one from a file.
//! * [`graph`]: kernel 1, from the list of edges to adjacency lists.
//! * [`search`]: kernel 2, [`serial`], in [`parallel`], by [`messages`] between owners, or by [`futures`] that answer.
//! * [`validate`]: the five checks of the specification.
//! * [`statistics`], [`report`]: what the reference code prints; [`benchmark`] puts it all together.
//!
//! [`workers`] is the seam between the searches and what computes in parallel: a runtime here, another library in the
//! lab's peers, which take everything else from this crate.
#![forbid(unsafe_code)]

pub mod benchmark;
mod bitmap;
pub mod cli;
pub mod direction;
pub mod edge_list;
pub mod futures;
pub mod generator;
pub mod graph;
pub mod memory;
pub mod messages;
pub mod parallel;
mod progress;
pub mod report;
pub mod search;
pub mod serial;
pub mod statistics;
pub mod validate;
pub mod workers;

#[cfg(test)]
mod tests;
