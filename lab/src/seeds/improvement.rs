//! The column *Improvement* of the seed of 2012: what pipes in place of channels are worth to a whole program.

use crate::results::{Results, Row, spread};

/// The search over channels, and over pipes.
pub const BFS: [&str; 2] = ["gossamer/bfs-futures", "gossamer/bfs-futures-pipe"];

/// The row of the search: the median time of its searches, not of what surrounds them.
#[must_use]
pub fn bfs(results: &Results) -> String {
    let seconds = |row: &Row| {
        let said = row.raw_figures.iter();
        let ms = said.filter_map(|run| run.get("search_ms")?.as_f64());
        ms.map(|ms| ms / 1e3).collect()
    };
    line("Graph500 PBFS", BFS, results, seconds)
}

/// A program's row: the medians, old / new - 1, and the least and the most of that, run by run. The runs took turns, so
/// the first of one stands beside the first of the other.
fn line(
    program: &str,
    [channel, pipe]: [&str; 2],
    results: &Results,
    seconds: impl Fn(&Row) -> Vec<f64>,
) -> String {
    let of = |name: &str| {
        let mut rows = results.results.iter();
        rows.find(|row| row.contender == name).map(&seconds)
    };
    let (old, new) = (
        of(channel).unwrap_or_default(),
        of(pipe).unwrap_or_default(),
    );
    let pairs = old.iter().zip(&new);
    let each: Vec<f64> = pairs.map(|(old, new)| (old / new - 1.0) * 100.0).collect();
    let (Some(old), Some(new), Some(each)) = (spread(&old), spread(&new), spread(&each)) else {
        return "it is not in these results\n".into();
    };
    format!(
        "{:<24} {:>18} {:>14} {:>15}  run by run\n{program:<24} {:>18.6} {:>14.6} {:>14.1}%  {:.1}% … {:.1}%\n\
         {channel} and {pipe}, the median of their searches\n",
        "Benchmark",
        "Channel time (s)",
        "Pipe time (s)",
        "Improvement (%)",
        old.median,
        new.median,
        (old.median / new.median - 1.0) * 100.0,
        each.min,
        each.max,
    )
}

#[cfg(test)]
mod tests;
