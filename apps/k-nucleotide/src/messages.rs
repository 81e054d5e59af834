//! Counts by messages: a reading task sends each line to seven counting tasks, one for each length.
//!
//! This is the division of `shootout-k-nucleotide-pipes` in rustc's benchmarks of 2012: the line is copied for each
//! receiver, and each counts all of it. There are two ways to send. A channel takes the copy, and the receiver frees
//! it. A pipe goes both ways, so the receiver sends the empty line back and the next copy needs no allocation.

use std::io::Read;

use gossamer::channel::{self, Receiver, Sender};
use gossamer::{JoinHandle, Runtime, Wait, protocol};

use crate::counter::{Counter, LENGTHS};
use crate::error::Error;
use crate::fasta::Sequence;

/// What carries the lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Over {
    /// A channel with room for so many lines to each counting task.
    Channel {
        /// How many lines.
        capacity: usize,
    },
    /// So many pipes to each counting task, of which each holds one line; they take turns.
    Pipe {
        /// How many pipes.
        capacity: usize,
    },
}

protocol! {
    /// Lines one way, and what held them back.
    protocol Lines between reader and counter {
        Free: counter { free(Vec<u8>) -> Line },
        Line: reader { line(Vec<u8>) -> Free },
    }
}

use lines::{Free, Line, counter, reader};

/// Counts all lengths; also gives the sequence back.
///
/// # Errors
/// The input is bad.
pub fn count<R: Read + Send + 'static>(
    runtime: &Runtime,
    sequence: Sequence<R>,
    over: Over,
) -> Result<(Vec<Counter>, Sequence<R>), Error> {
    let counters = LENGTHS.map(Counter::new).into_iter();
    let (counting, reading): (Vec<JoinHandle<Counter>>, _) = match over {
        Over::Channel { capacity } => {
            let (senders, receivers): (Vec<_>, Vec<_>) = LENGTHS
                .map(|_| channel::bounded(capacity))
                .into_iter()
                .unzip();
            let ends = counters.zip(receivers);
            let counting = ends.map(|(counter, lines)| runtime.spawn(of_channel(counter, lines)));
            (
                counting.collect(),
                runtime.spawn(to_channels(sequence, senders)),
            )
        }
        Over::Pipe { capacity } => {
            let pipes = |_| (0..capacity).map(|_| lines::pipe()).unzip();
            let (to, from): (Vec<Vec<_>>, Vec<Vec<_>>) = LENGTHS.map(pipes).into_iter().unzip();
            let ends = counters.zip(from);
            let counting = ends.map(|(counter, lines)| runtime.spawn(of_pipes(counter, lines)));
            (counting.collect(), runtime.spawn(to_pipes(sequence, to)))
        }
    };
    let read = reading.wait();
    let counted = counting.into_iter().map(|task| task.wait()).collect();
    let counted: Result<Vec<Counter>, _> = counted;
    let counted = counted.unwrap_or_else(|error| panic!("a counting task: {error}"));
    let sequence = read.unwrap_or_else(|error| panic!("the reading task: {error}"))?;
    Ok((counted, sequence))
}

/// Sends all lines; a counting task that has gone has panicked, which its handle says.
async fn to_channels<R: Read>(
    mut sequence: Sequence<R>,
    counters: Vec<Sender<Vec<u8>>>,
) -> Result<Sequence<R>, Error> {
    let mut line = Vec::new();
    while sequence.next_line(&mut line)? {
        for counter in &counters {
            if counter.send(line.clone()).await.is_err() {
                return Ok(sequence);
            }
        }
        line.clear();
    }
    Ok(sequence)
}

async fn of_channel(mut counter: Counter, lines: Receiver<Vec<u8>>) -> Counter {
    while let Ok(line) = lines.recv().await {
        counter.feed(&line);
    }
    counter
}

/// As [`to_channels`]; the first lines fill what the counting tasks send at the beginning.
async fn to_pipes<R: Read>(
    mut sequence: Sequence<R>,
    counters: Vec<Vec<reader::Free>>,
) -> Result<Sequence<R>, Error> {
    let mut ends: Vec<Vec<_>> = counters
        .into_iter()
        .map(|ends| ends.into_iter().map(Some).collect())
        .collect();
    let turns = ends.iter().map(Vec::len).min().unwrap_or(0);
    let mut line = Vec::new();
    for turn in (0..turns).cycle() {
        if !sequence.next_line(&mut line)? {
            break;
        }
        for ends in &mut ends {
            let Some(end) = ends[turn].take() else {
                return Ok(sequence);
            };
            let Ok(Free::Free(mut copy, end)) = end.recv().await else {
                return Ok(sequence);
            };
            copy.clear();
            copy.extend_from_slice(&line);
            ends[turn] = end.line(copy).ok();
        }
        line.clear();
    }
    Ok(sequence)
}

/// A pipe whose reader has gone still gives the line that it holds.
async fn of_pipes(mut counter: Counter, lines: Vec<counter::Free>) -> Counter {
    let free = |end: counter::Free| end.free(Vec::new()).ok();
    let mut ends: Vec<Option<counter::Line>> = lines.into_iter().map(free).collect();
    for turn in (0..ends.len()).cycle() {
        let Some(end) = ends[turn].take() else {
            break;
        };
        let Ok(Line::Line(line, end)) = end.recv().await else {
            break;
        };
        counter.feed(&line);
        ends[turn] = end.free(line).ok();
    }
    counter
}
