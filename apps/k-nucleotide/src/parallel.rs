//! Counts in parallel: while one task reads the next block, others count parts of this one.

use std::io::Read;

use gossamer::{Runtime, Wait};

use crate::counter::Counter;
use crate::error::Error;
use crate::fasta::Sequence;
use crate::parts::{BLOCK, Block, Part};

/// Counts all lengths on the runtime's workers, each length cut into so many ranges.
///
/// # Errors
/// The input is bad.
pub fn count<R: Read + Send>(
    runtime: &Runtime,
    sequence: &mut Sequence<R>,
    ranges: usize,
) -> Result<Vec<Counter>, Error> {
    let mut parts = Part::all(ranges);
    let (mut block, mut next) = (Block::default(), Block::default());
    sequence.next_block(BLOCK, next.follow(&block))?;
    while !next.is_empty() {
        std::mem::swap(&mut block, &mut next);
        let read = || sequence.next_block(BLOCK, next.follow(&block));
        beside(runtime, read, &mut parts, |part| part.count(&block))?;
    }
    Ok(parts.into_iter().map(Part::into_counter).collect())
}

/// Does one thing, and another one to each of the parts, at once.
fn beside<T: Send, O: Send>(
    runtime: &Runtime,
    one: impl FnOnce() -> O + Send,
    parts: &mut [T],
    each: impl Fn(&mut T) + Sync,
) -> O {
    runtime.scope(|scope| {
        let each = &each;
        let one = scope.spawn(async move { one() });
        for part in parts {
            scope.spawn(async move { each(part) });
        }
        one.wait()
            .unwrap_or_else(|error| panic!("the reading task: {error}"))
    })
}
