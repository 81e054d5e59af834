//! tokio's five programs of Savina: `tokio-savina WORKLOAD --kind KIND …`.

mod mailboxes;

use std::process::ExitCode;

use peer_ring::{Failure, end};
use savina::{
    Bank, Big, BoundedBuffer, ForkJoin, Tasks, Uts, bank, big, bounded_buffer, fork_join, uts,
};
use tokio::runtime::Runtime;
use tokio_contender::options::{Options, as_task};

use mailboxes::Tokio;

fn run() -> Result<u64, Failure> {
    let options = Options::parse(std::env::args().skip(1))?;
    let number = |name: &str, usual| {
        let number = options.number(name, usual);
        number.map_err(|failure| match failure {
            Failure::Asked(words) | Failure::Ran(words) => words,
        })
    };
    let runtime = options.runtime()?;
    match options.workload.as_str() {
        "forkjoin" => {
            options.only(ForkJoin::OPTIONS)?;
            let asked = ForkJoin::of(number).map_err(Failure::Asked)?;
            run_on(runtime, fork_join::<Tokio>(asked))
        }
        "big" => {
            options.only(Big::OPTIONS)?;
            let asked = Big::of(number).map_err(Failure::Asked)?;
            run_on(runtime, big::<Tokio>(asked))
        }
        "bounded-buffer" => {
            options.only(BoundedBuffer::OPTIONS)?;
            let asked = BoundedBuffer::of(number).map_err(Failure::Asked)?;
            run_on(runtime, bounded_buffer::<Tokio>(asked))
        }
        "bank" => {
            options.only(Bank::OPTIONS)?;
            let asked = Bank::of(number).map_err(Failure::Asked)?;
            run_on(runtime, bank::<Tokio>(asked))
        }
        "uts" => {
            options.only(Uts::OPTIONS)?;
            let asked = Uts::of(number).map_err(Failure::Asked)?;
            as_task(runtime, uts::<Tokio>(asked))
        }
        other => Err(Failure::Asked(format!("unknown workload '{other}'"))),
    }
}

/// The sum of what all tasks return.
fn run_on<A, B, C>(runtime: &Runtime, tasks: Tasks<A, B, C>) -> Result<u64, Failure>
where
    A: Future<Output = u64> + Send + 'static,
    B: Future<Output = u64> + Send + 'static,
    C: Future<Output = u64> + Send + 'static,
{
    runtime.block_on(async {
        let mut handles: Vec<_> = tasks.first.into_iter().map(tokio::spawn).collect();
        handles.extend(tasks.second.into_iter().map(tokio::spawn));
        handles.push(tokio::spawn(tasks.one));
        let mut sum = 0_u64;
        for handle in handles {
            sum = sum.wrapping_add(handle.await?);
        }
        Ok(sum)
    })
}

fn main() -> ExitCode {
    end(run())
}
