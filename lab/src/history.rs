//! The seeds' figures of a workload as numbers, to be shown beside today's, never mixed into a ratio with them.

use crate::seeds::tables::{PROTOTHREADS, RING, Table};

/// A row that somebody printed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Past {
    /// What the row was called.
    pub implementation: &'static str,
    /// The contender that comes closest today; empty if it cannot be had any more.
    pub contender: &'static str,
    /// Memory in KB, as printed.
    pub memory_kb: u32,
    /// Seconds.
    pub seconds: f64,
    /// The same, as it was printed.
    pub printed: &'static str,
    /// How many operations they were for.
    pub ops: u64,
    /// Where and when it was printed.
    pub source: &'static str,
}

/// The hops of the seeds' rings.
pub const HOPS: u64 = 10_000_000;

/// Who runs today what the rows of [`RING`] and [`PROTOTHREADS`] ran. On Lwt that is the relaxed put and a list of
/// readers.
const TODAY: [&str; 12] = [
    "ghc",
    "lwt-1m-list",
    "ghc-threaded-n1",
    "lwt-256k-list",
    "lwt-64k-list",
    "erlang",
    "",
    "lwt-32k-list",
    "ghc-threaded-n2",
    "pthreads",
    "protothreads/optimum",
    "protothreads/pessimum",
];

/// What was printed about this workload: a row each.
#[must_use]
pub fn of(workload: &str) -> Vec<Past> {
    let printed = |table: &'static Table| table.rows.iter().map(move |cells| (table, *cells));
    let rows = printed(&RING).chain(printed(&PROTOTHREADS));
    let pasts = rows
        .zip(TODAY)
        .filter_map(|((table, cells), contender)| past(table, cells, contender));
    pasts.filter(|_| workload == RING.workload).collect()
}

fn past(table: &Table, cells: &[&'static str], contender: &'static str) -> Option<Past> {
    let [implementation, memory, seconds] = cells else {
        return None;
    };
    let printed = seconds.trim_end_matches('s');
    Some(Past {
        implementation,
        contender,
        memory_kb: memory.trim_end_matches("KB").parse().ok()?,
        seconds: printed.parse().ok()?,
        printed,
        ops: HOPS,
        source: table.source,
    })
}

#[cfg(test)]
mod tests;
