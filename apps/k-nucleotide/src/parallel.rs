//! Counts in parallel: while one thread reads the next block, others count parts of this one.

use std::io::Read;

use gossamer::{Runtime, par};

use crate::counter::Counter;
use crate::error::Error;
use crate::fasta::Sequence;
use crate::parts::{BLOCK, Block, Part};

/// Counts all lengths on this thread and the runtime's workers, each length cut into so many ranges.
///
/// # Errors
/// The input is bad.
pub fn count<R: Read + Send>(
    runtime: &Runtime,
    sequence: &mut Sequence<R>,
    ranges: usize,
) -> Result<Vec<Counter>, Error> {
    // One computation for all blocks, in which the workers stay.
    let all = || blocks(sequence, ranges);
    runtime.enter(|| par::join(all, || ())).0
}

fn blocks<R: Read + Send>(
    sequence: &mut Sequence<R>,
    ranges: usize,
) -> Result<Vec<Counter>, Error> {
    let mut parts = Part::all(ranges);
    let (mut block, mut next) = (Block::default(), Block::default());
    sequence.next_block(BLOCK, next.follow(&block))?;
    while !next.is_empty() {
        std::mem::swap(&mut block, &mut next);
        let read = || sequence.next_block(BLOCK, next.follow(&block));
        par::join(read, || each(&mut parts, &block)).0?;
    }
    Ok(parts.into_iter().map(Part::into_counter).collect())
}

/// Has each part count, perhaps several at the same time. The parts are few and cost very differently, so each is a job
/// of its own: [`par::for_each`] would leave the costly ones of a range to one thread, as they are neighbours.
fn each(parts: &mut [Part], block: &Block) {
    if let [part] = parts {
        return part.count(block);
    }
    let (left, right) = parts.split_at_mut(parts.len() / 2);
    par::join(|| each(left, block), || each(right, block));
}
