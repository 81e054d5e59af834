//! Many tasks at one lock, semaphore or channel of one: tokio's own, or async-channel on tokio.

use peer_ring::Failure;
use tokio::runtime::Runtime;
use tokio::sync::{Mutex, RwLock, Semaphore, mpsc};
use tokio::task::JoinHandle;
use waiting::Options;
use waiting::crowd::{Crowd, Inside, Measured, PERMITS};

use super::{multi, number, unknown};

/// How many tasks there were.
pub(super) fn run(options: &Options) -> Result<u64, Failure> {
    options
        .only(&["--kind", "--object", "--workers", "--tasks", "--ms"])
        .map_err(Failure::Asked)?;
    let tasks = number(options, "--tasks", 10_000)?;
    let crowd = Crowd::of(tasks, number(options, "--ms", 5_000)?);
    let runtime = multi(number(options, "--workers", 8)?)?.build()?;
    let object = options.text("--object", "mutex");
    let ran = match (options.text("--kind", "multi"), object) {
        ("multi", "mutex") => mutex(&runtime, crowd),
        ("multi", "rwlock") => rwlock(&runtime, crowd),
        ("multi", "semaphore") => semaphore(&runtime, crowd),
        ("multi", "bounded") => bounded(&runtime, crowd),
        ("async-channel", "bounded") => async_bounded(&runtime, crowd),
        ("multi", other) => Err(unknown(
            "--object",
            other,
            "mutex, rwlock, semaphore, bounded",
        )),
        ("async-channel", other) => Err(unknown("--object", other, "bounded")),
        (other, _) => Err(unknown("--kind", other, "multi, async-channel")),
    };
    let (measured, turns, counted) = ran?;
    let answer = crowd.answer(&measured, turns, counted, object == "rwlock");
    answer.map_err(Failure::Ran)
}

/// What the clocks said, the turns of each task, and what the object has counted.
type Ran = Result<(Measured, Vec<u64>, u64), Failure>;

/// Starts the tasks, measures, and waits for them.
fn turns<F>(
    runtime: &Runtime,
    crowd: &'static Crowd,
    task: impl Fn(u64) -> F,
    open: impl FnOnce(),
) -> Result<(Measured, Vec<u64>), Failure>
where
    F: Future<Output = u64> + Send + 'static,
{
    let start = |number| runtime.spawn(task(number));
    let tasks: Vec<JoinHandle<u64>> = (0..crowd.tasks).map(start).collect();
    let measured = crowd.measure(open).map_err(Failure::Ran)?;
    let turns = tasks.into_iter().map(|task| runtime.block_on(task));
    Ok((measured, turns.collect::<Result<_, _>>()?))
}

/// As in the other rows the object lives as long as the process.
fn leak<T>(object: T) -> &'static T {
    Box::leak(Box::new(object))
}

fn mutex(runtime: &Runtime, crowd: &'static Crowd) -> Ran {
    let guarded = leak(Mutex::new(0_u64));
    let pass = move |_| async move { *guarded.lock().await += 1 };
    let closed = guarded.blocking_lock();
    let task = |number| crowd.turns(number, pass);
    let (measured, turns) = turns(runtime, crowd, task, || drop(closed))?;
    Ok((measured, turns, *guarded.blocking_lock()))
}

fn rwlock(runtime: &Runtime, crowd: &'static Crowd) -> Ran {
    let guarded = leak(RwLock::new(0_u64));
    let pass = move |pass| async move {
        if Crowd::writes(pass) {
            *guarded.write().await += 1;
        } else {
            std::hint::black_box(*guarded.read().await);
        }
    };
    let closed = guarded.blocking_write();
    let task = |number| crowd.turns(number, pass);
    let (measured, turns) = turns(runtime, crowd, task, || drop(closed))?;
    Ok((measured, turns, *guarded.blocking_read()))
}

fn semaphore(runtime: &Runtime, crowd: &'static Crowd) -> Ran {
    let permits = leak(Semaphore::new(PERMITS as usize));
    let guarded = leak(Inside::default());
    let pass = move |_| async move {
        let _permit = permits.acquire().await;
        guarded.pass();
    };
    let closed = permits.try_acquire_many(PERMITS)?;
    let task = |number| crowd.turns(number, pass);
    let (measured, turns) = turns(runtime, crowd, task, || drop(closed))?;
    Ok((measured, turns, guarded.passes()))
}

/// The tasks send; one more receives, from when the clock runs.
fn bounded(runtime: &Runtime, crowd: &'static Crowd) -> Ran {
    let (tx, mut rx) = mpsc::channel::<u64>(1);
    let task = move |number| {
        let tx = tx.clone();
        async move {
            // The receiver ends after the last sender, so a message is never refused.
            let pass = |_| async {
                let _ = tx.send(1).await;
            };
            crowd.turns(number, pass).await
        }
    };
    let receive = async move {
        let mut counted = 0;
        while let Some(message) = rx.recv().await {
            counted += message;
        }
        counted
    };
    received(runtime, crowd, task, receive)
}

fn async_bounded(runtime: &Runtime, crowd: &'static Crowd) -> Ran {
    let (tx, rx) = async_channel::bounded::<u64>(1);
    let task = move |number| {
        let tx = tx.clone();
        async move {
            let pass = |_| async {
                let _ = tx.send(1).await;
            };
            crowd.turns(number, pass).await
        }
    };
    let receive = async move {
        let mut counted = 0;
        while let Ok(message) = rx.recv().await {
            counted += message;
        }
        counted
    };
    received(runtime, crowd, task, receive)
}

fn received<F>(
    runtime: &Runtime,
    crowd: &'static Crowd,
    task: impl Fn(u64) -> F,
    receive: impl Future<Output = u64> + Send + 'static,
) -> Ran
where
    F: Future<Output = u64> + Send + 'static,
{
    let mut receiver = None;
    let open = || receiver = Some(runtime.spawn(receive));
    let (measured, turns) = turns(runtime, crowd, task, open)?;
    let receiver = receiver.ok_or(Failure::Ran(String::from("nobody has received")))?;
    Ok((measured, turns, runtime.block_on(receiver)?))
}
