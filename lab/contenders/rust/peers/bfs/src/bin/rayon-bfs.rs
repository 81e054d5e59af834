//! `rayon-bfs`: the app `graph500` with rayon as what computes in parallel. Its options are the app's, of which only
//! `--how par` makes sense here; `--workers` is the size of rayon's pool.

#![forbid(unsafe_code)]

use std::process::ExitCode;

use clap::Parser;
use graph500::benchmark::{Failure, prepare};
use graph500::cli::{How, Options, report};
use graph500::parallel::Parallel;
use graph500::report::Report;
use graph500::workers::Workers;
use rayon::iter::{IntoParallelRefMutIterator, ParallelIterator};

/// The pool that the thread is in.
struct Rayon;

impl Workers for Rayon {
    fn count(&self) -> usize {
        rayon::current_num_threads()
    }

    fn each<T: Send, R: Send>(&self, items: &mut [T], work: impl Fn(&mut T) -> R + Sync) -> Vec<R> {
        items.par_iter_mut().map(&work).collect()
    }
}

fn run(options: &Options) -> Result<Report, Failure> {
    if options.how != How::Par || options.model.is_some() {
        let message = "rayon searches with --how par, and has no models";
        return Err(Failure::Input(message.into()));
    }
    let direction = options.direction()?;
    let workers = options.workers.unwrap_or(0) as usize;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(workers).build();
    let pool = pool.map_err(|error| Failure::Input(format!("--workers {workers}: {error}")))?;
    pool.install(|| {
        let prepared = prepare(&options.asked(), &Rayon)?;
        let mut search = Parallel::new(&prepared.graph, direction, &Rayon);
        report(&prepared, &mut search, &Rayon)
    })
}

fn main() -> ExitCode {
    match run(&Options::parse()) {
        Ok(report) => {
            let (valid, figures) = report.lab();
            eprintln!("{figures}");
            println!("{valid}");
            ExitCode::SUCCESS
        }
        Err(Failure::Input(message) | Failure::Invalid(message)) => {
            eprintln!("{message}");
            ExitCode::from(2)
        }
    }
}
