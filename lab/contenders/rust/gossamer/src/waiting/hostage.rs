//! Tasks that are held up, and a ticker beside them.

use gossamer::time::sleep;
use gossamer::{Model, Runtime, Wait};

use gossamer_contender::args::{Args, runtime, said};
use gossamer_contender::{Failure, hostages};

/// How many tasks came back.
pub(crate) fn run(args: &Args) -> Result<u64, Failure> {
    let hostages = hostages::asked(args)?;
    let rt: &'static Runtime = match args.kind() {
        "pool" => runtime(Model::Pool {
            workers: args.count("--hostages", 2)?,
        })?,
        _ => args.runtime()?,
    };
    let begin = move || hostages::begin(rt, hostages, false);
    let ticker = rt.spawn(hostages.tick(sleep, begin));
    hostages
        .answer(ticker.wait().map_err(said)?)
        .map_err(Failure::Ran)
}
