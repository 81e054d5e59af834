//! Gossamer's five programs of Savina: `gossamer-savina WORKLOAD --kind KIND …`.

#![forbid(unsafe_code)]

mod actors;
mod mailboxes;
#[cfg(test)]
mod tests;

use std::process::ExitCode;

use gossamer::Wait;
use gossamer_contender::args::{Args, said};
use gossamer_contender::{Failure, args, end};
use savina::{Bank, Big, BoundedBuffer, ForkJoin, Uts, bank, big, bounded_buffer, fork_join, uts};

use actors::{run_here, run_on};
use mailboxes::{Local, Shared};

fn run(words: impl Iterator<Item = String>) -> Result<u64, Failure> {
    let args = args::parse(words)?;
    let number = |name: &str, usual| args.number(name, usual);
    let here = args.kind() == "single-local";
    match args.workload.as_str() {
        "forkjoin" => {
            let asked = ForkJoin::of(number)?;
            let args = args.only(ForkJoin::OPTIONS)?;
            match here {
                true => run_here(fork_join::<Local>(asked)),
                false => run_on(args.runtime()?, fork_join::<Shared>(asked)),
            }
        }
        "big" => {
            let asked = Big::of(number)?;
            let args = args.only(Big::OPTIONS)?;
            match here {
                true => run_here(big::<Local>(asked)),
                false => run_on(args.runtime()?, big::<Shared>(asked)),
            }
        }
        "bounded-buffer" => {
            let asked = BoundedBuffer::of(number)?;
            let args = args.only(BoundedBuffer::OPTIONS)?;
            match here {
                true => run_here(bounded_buffer::<Local>(asked)),
                false => run_on(args.runtime()?, bounded_buffer::<Shared>(asked)),
            }
        }
        "bank" => {
            let asked = Bank::of(number)?;
            let args = args.only(Bank::OPTIONS)?;
            match here {
                true => run_here(bank::<Local>(asked)),
                false => run_on(args.runtime()?, bank::<Shared>(asked)),
            }
        }
        "uts" => grows(args.only(Uts::OPTIONS)?, Uts::of(number)?),
        other => Err(format!("unknown workload '{other}'").into()),
    }
}

/// The tree has no kind for one thread: its tasks spawn tasks that may go to any.
fn grows(args: &Args, asked: Uts) -> Result<u64, Failure> {
    let rt = args.runtime()?;
    rt.spawn(uts::<Shared>(asked)).wait().map_err(said)
}

fn main() -> ExitCode {
    end(run(std::env::args().skip(1)))
}
