//! Gossamer's `par` in the workloads that compute: `gossamer-parallel WORKLOAD --kind par-N …`.
#![forbid(unsafe_code)]

use std::process::ExitCode;

use gossamer::{Model, par};
use gossamer_contender::{Failure, args, end};
use parallel::Parallel;
use waiting::Options;

struct Par;

impl Parallel for Par {
    #[inline]
    fn join<A, B, RA, RB>(a: A, b: B) -> (RA, RB)
    where
        A: FnOnce() -> RA + Send,
        B: FnOnce() -> RB + Send,
        RA: Send,
        RB: Send,
    {
        par::join(a, b)
    }

    #[inline]
    fn map<R: Send>(count: u64, each: impl Fn(u64) -> R + Sync + Send) -> Vec<R> {
        par::map(0..count, each)
    }
}

fn run() -> Result<u64, Failure> {
    let options = Options::read()?;
    let workers = parallel::threads(&options)?;
    let runtime = args::runtime(Model::Pool { workers })?;
    Ok(runtime
        .enter(|| par::join(|| parallel::run::<Par>(&options), || ()))
        .0?)
}

fn main() -> ExitCode {
    end(run())
}
