//! Tasks that do nothing but yield, and the same while the number of workers changes.

use std::sync::atomic::{AtomicBool, Ordering};

use gossamer::{JoinHandle, Model, Runtime, Wait, yield_now};

use gossamer_contender::Failure;
use gossamer_contender::args::{Args, runtime, said};

async fn yields(times: u64) -> u64 {
    let mut done = 0;
    while done < times {
        yield_now().await;
        done += 1;
    }
    done
}

/// How many yields there were.
pub(crate) fn run(args: &Args) -> Result<u64, Failure> {
    args.only(&["--kind", "--yields", "--tasks"])?;
    match args.kind() {
        "single-local" => local(args),
        _ => shared(args, args.runtime()?),
    }
}

fn parts(args: &Args) -> Result<impl Iterator<Item = u64>, Failure> {
    let (total, tasks) = (args.number("--yields", 1_000)?, args.number("--tasks", 20)?);
    Ok((0..tasks).map(move |task| waiting::part(total, tasks, task)))
}

fn shared(args: &Args, rt: &Runtime) -> Result<u64, Failure> {
    let tasks: Vec<JoinHandle<u64>> = parts(args)?.map(|times| rt.spawn(yields(times))).collect();
    let mut total = 0;
    for task in tasks {
        total += task.wait().map_err(said)?;
    }
    Ok(total)
}

fn local(args: &Args) -> Result<u64, Failure> {
    let rt = runtime(Model::Single)?;
    let parts = parts(args)?;
    rt.block_on_local(|scope| {
        let tasks: Vec<_> = parts
            .map(|times| scope.spawn_local(yields(times)))
            .collect();
        async {
            let mut total = 0;
            for task in tasks {
                total += task.await.map_err(said)?;
            }
            Ok(total)
        }
    })
}

/// As [`run`], and with the kind `pool-resizing` a thread resizes the pool to 8, 1, 8, … workers
/// meanwhile, each time waiting until it is so; how often stands on stderr.
pub(crate) fn resizing(args: &Args) -> Result<u64, Failure> {
    args.only(&["--kind", "--yields", "--tasks"])?;
    if args.kind() != "pool-resizing" {
        return shared(args, args.runtime()?);
    }
    let rt = runtime(Model::Pool { workers: 1 })?;
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let resizer = scope.spawn(|| resize_until(rt, &done));
        let total = shared(args, rt);
        done.store(true, Ordering::Relaxed);
        let resizes = resizer
            .join()
            .map_err(|_| said("the resizing thread panicked"))?;
        eprintln!("{} resizes", resizes?);
        total
    })
}

fn resize_until(rt: &Runtime, done: &AtomicBool) -> Result<u64, Failure> {
    let mut resizes = 0;
    while !done.load(Ordering::Relaxed) {
        for workers in [8, 1] {
            rt.resize(workers).wait().map_err(said)?;
            resizes += 1;
        }
    }
    Ok(resizes)
}
