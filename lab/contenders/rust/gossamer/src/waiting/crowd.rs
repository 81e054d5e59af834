//! Many tasks at one lock, semaphore or channel of one.

use gossamer::channel::bounded;
use gossamer::{JoinHandle, Model, Runtime, Wait, raw, sync};
use waiting::crowd::{Crowd, Inside, Measured, PERMITS};

use gossamer_contender::Failure;
use gossamer_contender::args::{Args, runtime, said};
use gossamer_contender::mvars::leak;

/// How many tasks there were.
pub(crate) fn run(args: &Args) -> Result<u64, Failure> {
    args.only(&["--kind", "--object", "--workers", "--tasks", "--ms"])?;
    let crowd = Crowd::of(args.number("--tasks", 10_000)?, args.number("--ms", 5_000)?);
    let is_fair = match args.kind() {
        "pool" => false,
        "pool-fair" => true,
        other => return Err(format!("--kind {other}: expected pool, pool-fair").into()),
    };
    let rt = runtime(Model::Pool {
        workers: args.count("--workers", 8)?,
    })?;
    let ran = match args.text("--object", "mutex") {
        "mutex" if is_fair => mutex(rt, crowd, &leak([sync::FairMutex::new(0)])[0]),
        "mutex" => mutex(rt, crowd, &leak([sync::Mutex::new(0)])[0]),
        "rwlock" => rwlock(rt, crowd),
        "semaphore" => semaphore(rt, crowd),
        "bounded" => channel(rt, crowd),
        other => {
            let expected = "mutex, rwlock, semaphore, bounded";
            return Err(format!("--object {other}: expected {expected}").into());
        }
    };
    let writes = args.text("--object", "") == "rwlock";
    let (measured, turns, counted) = ran?;
    let answer = crowd.answer(&measured, turns, counted, writes);
    answer.map_err(Failure::Ran)
}

/// What the clocks said, the turns of each task, and what the object has counted.
type Ran = Result<(Measured, Vec<u64>, u64), Failure>;

/// Starts the tasks, measures, and waits for them.
fn turns<F>(
    rt: &Runtime,
    crowd: &'static Crowd,
    task: impl Fn(u64) -> F,
    open: impl FnOnce(),
) -> Result<(Measured, Vec<u64>), Failure>
where
    F: Future<Output = u64> + Send + 'static,
{
    let tasks: Vec<JoinHandle<u64>> = (0..crowd.tasks)
        .map(|number| rt.spawn(task(number)))
        .collect();
    let measured = crowd.measure(open).map_err(Failure::Ran)?;
    let turns = tasks.into_iter().map(|task| task.wait().map_err(said));
    Ok((measured, turns.collect::<Result<_, Failure>>()?))
}

fn mutex<O: raw::Order + Send + Sync + 'static>(
    rt: &Runtime,
    crowd: &'static Crowd,
    guarded: &'static raw::Mutex<u64, raw::Shared, O>,
) -> Ran {
    let pass = move |_| async move { *guarded.lock().await += 1 };
    let closed = guarded.lock().wait();
    let task = |number| crowd.turns(number, pass);
    let (measured, turns) = turns(rt, crowd, task, || drop(closed))?;
    Ok((measured, turns, *guarded.lock().wait()))
}

fn rwlock(rt: &Runtime, crowd: &'static Crowd) -> Ran {
    let guarded = &leak([sync::RwLock::new(0_u64)])[0];
    let pass = move |pass| async move {
        if Crowd::writes(pass) {
            *guarded.write().await += 1;
        } else {
            std::hint::black_box(*guarded.read().await);
        }
    };
    let closed = guarded.write().wait();
    let task = |number| crowd.turns(number, pass);
    let (measured, turns) = turns(rt, crowd, task, || drop(closed))?;
    Ok((measured, turns, *guarded.read().wait()))
}

fn semaphore(rt: &Runtime, crowd: &'static Crowd) -> Ran {
    let permits = &leak([sync::Semaphore::new(PERMITS as usize)])[0];
    let guarded = &leak([Inside::default()])[0];
    let pass = move |_| async move {
        let _permit = permits.acquire().await;
        guarded.pass();
    };
    let closed = permits.acquire_many(PERMITS as usize).wait();
    let task = |number| crowd.turns(number, pass);
    let (measured, turns) = turns(rt, crowd, task, || drop(closed))?;
    Ok((measured, turns, guarded.passes()))
}

/// The tasks send; one more receives, from when the clock runs.
fn channel(rt: &Runtime, crowd: &'static Crowd) -> Ran {
    let (tx, rx) = bounded::<u64>(1);
    let task = move |number| {
        let tx = tx.clone();
        async move {
            // The receiver ends after the last sender, so a message is never refused.
            crowd
                .turns(number, |_| async {
                    let _ = tx.send(1).await;
                })
                .await
        }
    };
    let mut counting = None;
    let open = || {
        counting = Some(rt.spawn(async move {
            let mut counted = 0;
            while let Ok(message) = rx.recv().await {
                counted += message;
            }
            counted
        }));
    };
    let (measured, turns) = turns(rt, crowd, task, open)?;
    let counted = counting.map_or(Ok(0), Wait::wait).map_err(said)?;
    Ok((measured, turns, counted))
}
