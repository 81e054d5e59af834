//! Tasks that are held up, and a ticker that is a fiber beside them.

use gossamer::time::sleep;
use gossamer::{Fibers, Model, Runtime, Wait};

use gossamer_contender::args::{Args, said};
use gossamer_contender::{Failure, hostages};

/// How many tasks came back.
///
/// Of kind `pool-unstarted` each tick begins a fiber, which any worker may take; of kind `pool-started` the ticker is one
/// fiber, which stays with its worker, and of kind `pool-blocking` besides those that are held up say so first.
pub(crate) fn run(args: &Args, fibers: Fibers) -> Result<u64, Failure> {
    let hostages = hostages::asked(args)?;
    let workers = args.count("--hostages", 2)?;
    let built = Runtime::builder()
        .model(Model::Pool { workers })
        .fibers(fibers)
        .build();
    let rt: &'static Runtime = Box::leak(Box::new(built.map_err(said)?));
    let says_so = args.kind() == "pool-blocking";
    let begin = move || hostages::begin(rt, hostages, says_so);
    let ticker = match args.kind() {
        "pool-unstarted" => {
            let begins = move |time| async move {
                sleep(time).await;
                // One that were lost would be as late as it took to see that.
                let _ticked = rt.spawn_fiber(|| ()).await;
            };
            rt.spawn(hostages.tick(begins, begin))
        }
        "pool-started" | "pool-blocking" => {
            rt.spawn_fiber(move || hostages.tick(sleep, begin).wait())
        }
        other => return Err(format!("--kind {other}: hostage has none").into()),
    };
    hostages
        .answer(ticker.wait().map_err(said)?)
        .map_err(Failure::Ran)
}
