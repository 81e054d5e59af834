//! Tasks that are held up, and a ticker that is a fiber beside them.

use gossamer::time::sleep;
use gossamer::{Fibers, Model, Runtime, Wait, blocking, yield_now};
use waiting::Hostages;

use gossamer_contender::Failure;
use gossamer_contender::args::{Args, said};

/// How many tasks came back.
///
/// Of kind `pool-unstarted` each tick begins a fiber, which any worker may take; of kind `pool-started` the ticker is one
/// fiber, which stays with its worker, and of kind `pool-blocking` besides those that are held up say so first.
pub(crate) fn run(args: &Args, fibers: Fibers) -> Result<u64, Failure> {
    args.only(&["--kind", "--by", "--hostages", "--stuck-ms", "--times"])?;
    let hostages = Hostages::of(
        args.text("--by", "read"),
        args.number("--hostages", 2)?,
        args.number("--stuck-ms", 1_000)?,
        args.number("--times", 1)?,
    )?;
    let workers = args.count("--hostages", 2)?;
    let built = Runtime::builder()
        .model(Model::Pool { workers })
        .fibers(fibers)
        .build();
    let rt: &'static Runtime = Box::leak(Box::new(built.map_err(said)?));
    let says_so = args.kind() == "pool-blocking";
    let begin = move || {
        for _ in 0..hostages.count {
            drop(rt.spawn(async move {
                for _ in 0..hostages.times {
                    if says_so {
                        blocking(|| hostages.hold()).await;
                    } else {
                        hostages.hold();
                    }
                    yield_now().await;
                }
                hostages.is_back();
            }));
        }
    };
    let ticker = match args.kind() {
        "pool-unstarted" => {
            let begins = move |time| async move {
                sleep(time).await;
                // The one that is lost has not ticked: its tick is as late as it took to see that.
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
