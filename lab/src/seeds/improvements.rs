//! The column Improvement: whole programs over channels and over pipes.
//!
//! As the seed of 2012 has it: the time over channels divided by that over pipes, less one. Here that is the median
//! over the rounds, as it is what the interval is of.

use crate::results::{Results, Row, Status, spread};
use crate::seeds::tables::{K_NUCLEOTIDE, PBFS, Table, columns};

/// A program that somebody ran over channels and over pipes.
#[derive(Debug)]
pub struct Improvement {
    /// What was printed.
    pub table: &'static Table,
    /// Which figure of a run is its time, in milliseconds; else its whole time counts.
    pub milliseconds: Option<&'static str>,
    /// What runs the same today; none if there is no such workload yet.
    pub pairs: &'static [Pair],
}

/// Two contenders that differ in what carries the messages.
#[derive(Debug)]
pub struct Pair {
    /// What the row is called.
    pub text: &'static str,
    /// The contender that has a channel.
    pub channel: &'static str,
    /// The one that has pipes.
    pub pipe: &'static str,
}

/// All of them.
pub static IMPROVEMENTS: [Improvement; 2] = [
    Improvement {
        table: &PBFS,
        // The search's own time: the graph's making and the checks take longer, and send nothing.
        milliseconds: Some("search_ms"),
        pairs: &[Pair {
            text: "Graph500 PBFS",
            channel: "gossamer/bfs-futures",
            pipe: "gossamer/bfs-futures-pipe",
        }],
    },
    Improvement {
        table: &K_NUCLEOTIDE,
        milliseconds: None,
        pairs: &[
            Pair {
                text: "K-Nucleotide, one worker",
                channel: "gossamer/channel-1",
                pipe: "gossamer/pipe-1",
            },
            Pair {
                text: "K-Nucleotide, two workers",
                channel: "gossamer/channel-2",
                pipe: "gossamer/pipe-2",
            },
        ],
    },
];

/// How sure it should be that the median is within the interval.
const SURE: f64 = 0.95;

/// An interval for a median, and how sure it is that the median is inside.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Interval {
    least: f64,
    most: f64,
    sure: f64,
}

/// From the order of the values alone: each is as probably below the median as above it. The narrowest that is as sure
/// as it should be, or else the whole range.
fn interval(values: &[f64]) -> Option<Interval> {
    let mut values = values.to_vec();
    values.sort_by(f64::total_cmp);
    let count = values.len();
    // The chance that at most `left_out` of the values are below the median.
    let chance = |left_out: usize| {
        let ways =
            |k: usize| (0..k).fold(1.0, |ways, i| ways * (count - i) as f64 / (i + 1) as f64);
        (0..=left_out).map(ways).sum::<f64>() / 2_f64.powi(count as i32)
    };
    let sure = |left_out: usize| 1.0 - 2.0 * chance(left_out);
    let narrowest = (0..count.div_ceil(2)).rev().find(|out| sure(*out) >= SURE);
    let left_out = narrowest.unwrap_or(0);
    Some(Interval {
        least: *values.get(left_out)?,
        most: *values.get(count - 1 - left_out)?,
        sure: sure(left_out),
    })
}

impl Improvement {
    /// Today's rows, below each other.
    #[must_use]
    pub fn now(&self, results: &Results) -> String {
        let headings = [
            "Benchmark",
            "Channel time (s)",
            "Pipe time (s)",
            "Improvement (%)",
            "interval",
        ];
        let mut lines = vec![headings.map(String::from).to_vec()];
        let mut notes = String::new();
        for pair in self.pairs {
            let row = |name: &str| {
                let mut rows = results.results.iter();
                let own = |row: &&Row| row.workload == self.table.workload && row.contender == name;
                rows.find(own).filter(|row| row.status == Status::Ok)
            };
            match row(pair.channel).zip(row(pair.pipe)) {
                Some((channel, pipe)) => lines.push(self.compared(pair.text, channel, pipe)),
                None => notes += &format!("{}: it is not in these results\n", pair.text),
            }
        }
        if lines.len() > 1 {
            notes += "The improvement is the median of those of the rounds, each of which ran both, one after the other, so \
                      it may differ from what the medians of the times give; the interval is of that median, and the \
                      share is how sure it is.\n";
            columns(&lines) + &notes
        } else {
            notes
        }
    }

    /// The cells of a row. Both made as many operations, or times are compared for one operation.
    fn compared(&self, text: &str, channel: &Row, pipe: &Row) -> Vec<String> {
        let (channels, pipes) = (self.seconds(channel), self.seconds(pipe));
        let each = channels.iter().zip(&pipes);
        let each: Vec<f64> = each
            .map(|((_, channel), (_, pipe))| 100.0 * (channel / pipe - 1.0))
            .collect();
        let middle = |values: &[f64]| spread(values).map_or(0.0, |spread| spread.median);
        let time = |runs: &[(f64, f64)]| {
            let times: Vec<f64> = runs.iter().map(|(time, _)| *time).collect();
            format!("{:.4}", middle(&times))
        };
        let improvement = middle(&each);
        let interval = interval(&each).map_or_else(String::new, |interval| {
            let Interval { least, most, sure } = interval;
            format!("{least:.1} to {most:.1} % ({:.0} %)", 100.0 * sure)
        });
        vec![
            text.to_owned(),
            time(&channels),
            time(&pipes),
            format!("{improvement:.1}%"),
            interval,
        ]
    }

    /// The time of each run in seconds, and what of it is compared: for one operation, as both may not have made as many.
    fn seconds(&self, row: &Row) -> Vec<(f64, f64)> {
        let whole = row
            .raw_wall_s
            .iter()
            .map(|wall| (*wall, wall / row.ops as f64));
        let Some(figure) = self.milliseconds else {
            return whole.collect();
        };
        let said = row
            .raw_figures
            .iter()
            .filter_map(|run| run.get(figure)?.as_f64());
        said.map(|ms| (ms / 1e3, ms / 1e3)).collect()
    }
}

#[cfg(test)]
mod tests;
