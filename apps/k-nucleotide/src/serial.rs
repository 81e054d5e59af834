//! Counts on the calling thread, block after block.

use std::io::Read;

use crate::counter::{Counter, LENGTHS};
use crate::error::Error;
use crate::fasta::Sequence;
use crate::parts::BLOCK;

/// Counts all lengths.
///
/// # Errors
/// The input is bad.
pub fn count<R: Read>(sequence: &mut Sequence<R>) -> Result<Vec<Counter>, Error> {
    let mut counters: Vec<Counter> = LENGTHS.map(Counter::new).into();
    let mut block = Vec::with_capacity(BLOCK);
    while sequence.next_block(BLOCK, &mut block)? {
        for counter in &mut counters {
            counter.feed(&block);
        }
        block.clear();
    }
    Ok(counters)
}
