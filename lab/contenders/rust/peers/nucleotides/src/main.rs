//! `nucleotides-contender THREADS FILE`: k-nucleotide on rayon.
//!
//! While one thread reads the next block, the pool counts parts of this one, as our own program does.
#![forbid(unsafe_code)]

use std::error::Error;
use std::fs::File;
use std::io::Read;
use std::process::ExitCode;

use k_nucleotide::counter::Counter;
use k_nucleotide::fasta::Sequence;
use k_nucleotide::parts::{BLOCK, Block, Part};
use k_nucleotide::{error, report};
use rayon::prelude::*;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match run(&words) {
        Ok(text) => {
            print!("{text}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(2)
        }
    }
}

fn run(words: &[String]) -> Result<String, Box<dyn Error + Send + Sync>> {
    let [threads, file] = words else {
        return Err("expected THREADS FILE".into());
    };
    let threads: usize = threads.parse()?;
    let input = File::open(file)?;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
    let mut sequence = Sequence::new(input, file.as_str(), "THREE");
    let counters = pool.build()?.install(|| count(&mut sequence, threads))?;
    Ok(report::text(&counters))
}

fn count<R: Read + Send>(
    sequence: &mut Sequence<R>,
    ranges: usize,
) -> Result<Vec<Counter>, error::Error> {
    let mut parts = Part::all(ranges);
    let (mut block, mut next) = (Block::default(), Block::default());
    sequence.next_block(BLOCK, next.follow(&block))?;
    while !next.is_empty() {
        std::mem::swap(&mut block, &mut next);
        let read = || sequence.next_block(BLOCK, next.follow(&block));
        let each = || {
            parts
                .par_iter_mut()
                .with_max_len(1)
                .for_each(|part| part.count(&block))
        };
        rayon::join(read, each).0?;
    }
    Ok(parts.into_iter().map(Part::into_counter).collect())
}
