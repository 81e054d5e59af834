//! Tasks that take turns with one lock: `Mutex`, or `FairMutex` with `-fair` behind the kind, or the lock for one
//! thread.

use gossamer::{JoinHandle, Model, Runtime, Wait, local, raw, sync, yield_now};

use gossamer_contender::Failure;
use gossamer_contender::args::{Args, runtime, said};
use gossamer_contender::mvars::leak;
use waiting::part;

/// What the lock guards in the end.
pub(crate) fn run(args: &Args) -> Result<u64, Failure> {
    args.only(&["--kind", "--section", "--sections", "--tasks"])?;
    let sections = args.number("--sections", 1_000)?;
    let tasks = args.number("--tasks", 4)?;
    let times = (0..tasks).map(move |task| part(sections, tasks, task));
    let yields = match args.text("--section", "short") {
        "short" => false,
        "yield" => true,
        other => return Err(format!("--section {other}: expected short, yield").into()),
    };
    match args.kind() {
        "single-local" => on_one_thread(times, yields),
        kind if kind.ends_with("-fair") => {
            let rt = args.runtime_of(kind.trim_end_matches("-fair"))?;
            let guarded = &leak([sync::FairMutex::new(0)])[0];
            shared(rt, guarded, times, yields)
        }
        _ => {
            let guarded = &leak([sync::Mutex::new(0)])[0];
            shared(args.runtime()?, guarded, times, yields)
        }
    }
}

fn shared<O: raw::Order + Send + Sync + 'static>(
    rt: &Runtime,
    guarded: &'static raw::Mutex<u64, raw::Shared, O>,
    times: impl Iterator<Item = u64>,
    yields: bool,
) -> Result<u64, Failure> {
    let tasks: Vec<JoinHandle<()>> = times
        .map(|times| match yields {
            false => rt.spawn(short(guarded, times)),
            true => rt.spawn(yielding(guarded, times)),
        })
        .collect();
    for task in tasks {
        task.wait().map_err(said)?;
    }
    Ok(*guarded.lock().wait())
}

async fn short<P: raw::LockPolicy, O: raw::Order>(guarded: &raw::Mutex<u64, P, O>, times: u64) {
    for _ in 0..times {
        *guarded.lock().await += 1;
    }
}

async fn yielding<P: raw::LockPolicy, O: raw::Order>(guarded: &raw::Mutex<u64, P, O>, times: u64) {
    for _ in 0..times {
        let mut number = guarded.lock().await;
        let read = *number;
        yield_now().await;
        *number = read + 1;
    }
}

fn on_one_thread(times: impl Iterator<Item = u64>, yields: bool) -> Result<u64, Failure> {
    let rt = runtime(Model::Single)?;
    let guarded = &leak([local::Mutex::new(0)])[0];
    rt.block_on_local(|scope| {
        let tasks: Vec<_> = times
            .map(|times| match yields {
                false => scope.spawn_local(short(guarded, times)),
                true => scope.spawn_local(yielding(guarded, times)),
            })
            .collect();
        async {
            for task in tasks {
                task.await.map_err(said)?;
            }
            Ok(*guarded.lock().await)
        }
    })
}
