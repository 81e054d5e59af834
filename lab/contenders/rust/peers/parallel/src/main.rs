//! rayon in the workloads that compute: `rayon-contender WORKLOAD --kind par-N …`.
#![forbid(unsafe_code)]

use std::process::ExitCode;

use parallel::Parallel;
use peer_ring::{Failure, end};
use rayon::ThreadPoolBuilder;
use rayon::iter::{IntoParallelIterator, ParallelIterator};
use waiting::Options;

struct Rayon;

impl Parallel for Rayon {
    #[inline]
    fn join<A, B, RA, RB>(a: A, b: B) -> (RA, RB)
    where
        A: FnOnce() -> RA + Send,
        B: FnOnce() -> RB + Send,
        RA: Send,
        RB: Send,
    {
        rayon::join(a, b)
    }

    // An indexed range, as of usize, is collected into its places; one of u64 would be put together from lists.
    #[inline]
    fn map<R: Send>(count: u64, each: impl Fn(u64) -> R + Sync + Send) -> Vec<R> {
        let children = (0..count as usize).into_par_iter();
        children.map(|child| each(child as u64)).collect()
    }
}

fn run() -> Result<u64, Failure> {
    let options = Options::read().map_err(Failure::Asked)?;
    let threads = parallel::threads(&options).map_err(Failure::Asked)?;
    let pool = ThreadPoolBuilder::new().num_threads(threads).build()?;
    pool.install(|| parallel::run::<Rayon>(&options))
        .map_err(Failure::Asked)
}

fn main() -> ExitCode {
    end(run())
}
