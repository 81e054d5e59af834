//! Tasks that are held up, and a ticker beside them.

use gossamer::time::sleep;
use gossamer::{Model, Runtime, Wait, yield_now};
use waiting::Hostages;

use gossamer_contender::Failure;
use gossamer_contender::args::{Args, runtime, said};

/// How many tasks came back.
pub(crate) fn run(args: &Args) -> Result<u64, Failure> {
    args.only(&["--kind", "--by", "--hostages", "--stuck-ms", "--times"])?;
    let hostages = Hostages::of(
        args.text("--by", "read"),
        args.number("--hostages", 2)?,
        args.number("--stuck-ms", 1_000)?,
        args.number("--times", 1)?,
    )?;
    let rt: &'static Runtime = match args.kind() {
        "pool" => runtime(Model::Pool {
            workers: args.count("--hostages", 2)?,
        })?,
        _ => args.runtime()?,
    };
    let begin = move || {
        for _ in 0..hostages.count {
            drop(rt.spawn(async move {
                for _ in 0..hostages.times {
                    hostages.hold();
                    yield_now().await;
                }
                hostages.is_back();
            }));
        }
    };
    let ticker = rt.spawn(hostages.tick(sleep, begin));
    hostages
        .answer(ticker.wait().map_err(said)?)
        .map_err(Failure::Ran)
}
