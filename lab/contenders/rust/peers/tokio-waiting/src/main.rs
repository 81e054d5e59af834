//! tokio's workloads about waiting: `tokio-waiting WORKLOAD --kind KIND …`. Kinds: `current`, `multi-N` for N
//! workers, `multi` for as many as `--hostages` or `--workers` says; `std-mutex-` before it for the standard library's
//! lock.

mod crowd;

use std::future::poll_fn;
use std::pin::Pin;
use std::process::ExitCode;
use std::sync::{Arc, Mutex as Lock, PoisonError};
use std::task::Poll;
use std::time::Duration;

use peer_ring::{Failure, end};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::{Mutex, oneshot};
use tokio::task::yield_now;
use tokio::time::{Instant, sleep};
use waiting::park::{self, AT_ONCE};
use waiting::{Hostages, Options, part};

fn main() -> ExitCode {
    end(run())
}

fn run() -> Result<u64, Failure> {
    let options = Options::read().map_err(Failure::Asked)?;
    match options.workload.as_str() {
        "park" => parked(&options),
        "mutex" => mutex(&options),
        "timers" => timers(&options),
        "crowd" => crowd::run(&options),
        "hostage" => hostage(&options),
        other => Err(Failure::Asked(format!("unknown workload '{other}'"))),
    }
}

/// Before the kind: the standard library's lock instead of tokio's.
const STD_MUTEX: &str = "std-mutex-";

/// The runtime of the kind, which lives as long as the process.
fn runtime(options: &Options, workers: u64, time: bool) -> Result<&'static Runtime, Failure> {
    let kind = options.text("--kind", "current");
    let kind = kind.strip_prefix(STD_MUTEX).unwrap_or(kind);
    let mut builder = match kind.strip_prefix("multi") {
        None if kind == "current" => Builder::new_current_thread(),
        Some("") => multi(workers)?,
        Some(given) => {
            let given = given.strip_prefix('-').and_then(|text| text.parse().ok());
            multi(given.ok_or_else(|| unknown("--kind", kind, "current, multi-N, multi"))?)?
        }
        None => return Err(unknown("--kind", kind, "current, multi-N, multi")),
    };
    if time {
        builder.enable_time();
    }
    Ok(Box::leak(Box::new(builder.build()?)))
}

fn multi(workers: u64) -> Result<Builder, Failure> {
    let mut builder = Builder::new_multi_thread();
    builder.worker_threads(usize::try_from(workers)?);
    Ok(builder)
}

fn number(options: &Options, name: &str, usual: u64) -> Result<u64, Failure> {
    options.number(name, usual).map_err(Failure::Asked)
}

fn unknown(option: &str, given: &str, expected: &str) -> Failure {
    Failure::Asked(format!("{option} {given}: expected {expected}"))
}

/// Runs a future as a task of the runtime, not on the thread that waits for it.
fn as_task<F>(runtime: &Runtime, future: F) -> Result<F::Output, Failure>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    Ok(runtime.block_on(async { tokio::spawn(future).await })?)
}

/// Whom the last of all threads tells.
struct Last(Lock<Option<oneshot::Sender<u64>>>);

static PARKED: Last = Last(Lock::new(None));
static WOKEN: Last = Last(Lock::new(None));

impl Last {
    fn receiver(&self) -> oneshot::Receiver<u64> {
        let (sender, receiver) = oneshot::channel();
        if let Ok(mut place) = self.0.lock() {
            *place = Some(sender);
        }
        receiver
    }

    fn tells(&self) {
        if let Some(sender) = self.0.lock().ok().and_then(|mut sender| sender.take()) {
            let _ = sender.send(0);
        }
    }
}

/// One thread. An `async` block would have two places for the receiver, and a note of having begun.
fn parking(mut receiver: oneshot::Receiver<u64>) -> impl Future<Output = ()> {
    poll_fn(move |context| {
        // A number that got lost would make the sum wrong, which the lab sees.
        let polled = Pin::new(&mut receiver)
            .poll(context)
            .map(Result::unwrap_or_default);
        let (place, is_last) = match polled {
            Poll::Pending => (&PARKED, park::parks()),
            Poll::Ready(number) => (&WOKEN, park::woke(number)),
        };
        if is_last {
            place.tells();
        }
        polled.map(drop)
    })
}

/// The sum of what all threads are sent.
fn parked(options: &Options) -> Result<u64, Failure> {
    options
        .only(&["--kind", "--threads"])
        .map_err(Failure::Asked)?;
    let threads = number(options, "--threads", 1_000)?;
    park::expect(threads);
    let all = async move {
        let (parked, woken) = (PARKED.receiver(), WOKEN.receiver());
        let mut senders = Vec::with_capacity(threads as usize);
        for number in 0..threads {
            let (sender, receiver) = oneshot::channel::<u64>();
            senders.push(sender);
            tokio::spawn(parking(receiver));
            if number % AT_ONCE == 0 {
                yield_now().await;
            }
        }
        let _ = parked.await;
        for (number, sender) in (0..).zip(senders) {
            let _ = sender.send(number);
            if number % AT_ONCE == 0 {
                yield_now().await;
            }
        }
        let _ = woken.await;
        park::sum()
    };
    as_task(runtime(options, 1, false)?, all)
}

/// What the lock guards in the end.
fn mutex(options: &Options) -> Result<u64, Failure> {
    options
        .only(&["--kind", "--section", "--sections", "--tasks"])
        .map_err(Failure::Asked)?;
    let (sections, tasks) = (
        number(options, "--sections", 1_000)?,
        number(options, "--tasks", 4)?,
    );
    let yields = match options.text("--section", "short") {
        "short" => false,
        "yield" => true,
        other => return Err(unknown("--section", other, "short, yield")),
    };
    let runtime = runtime(options, 1, false)?;
    if options.text("--kind", "").starts_with(STD_MUTEX) {
        return match yields {
            false => runtime.block_on(std_mutex(sections, tasks)),
            true => Err(unknown(
                "--section",
                "yield",
                "short: it is held by a thread",
            )),
        };
    }
    runtime.block_on(async {
        let guarded = Arc::new(Mutex::new(0_u64));
        let tasks: Vec<_> = (0..tasks)
            .map(|task| {
                let (guarded, times) = (guarded.clone(), part(sections, tasks, task));
                match yields {
                    false => tokio::spawn(short(guarded, times)),
                    true => tokio::spawn(yielding(guarded, times)),
                }
            })
            .collect();
        for task in tasks {
            task.await?;
        }
        Ok(*guarded.lock().await)
    })
}

/// What tokio's documentation recommends where nothing is awaited under the lock.
async fn std_mutex(sections: u64, tasks: u64) -> Result<u64, Failure> {
    let guarded = Arc::new(Lock::new(0_u64));
    let tasks: Vec<_> = (0..tasks)
        .map(|task| {
            let (guarded, times) = (guarded.clone(), part(sections, tasks, task));
            tokio::spawn(async move {
                for _ in 0..times {
                    *guarded.lock().unwrap_or_else(PoisonError::into_inner) += 1;
                }
            })
        })
        .collect();
    for task in tasks {
        task.await?;
    }
    let sum = *guarded.lock().unwrap_or_else(PoisonError::into_inner);
    Ok(sum)
}

async fn short(guarded: Arc<Mutex<u64>>, times: u64) {
    for _ in 0..times {
        *guarded.lock().await += 1;
    }
}

async fn yielding(guarded: Arc<Mutex<u64>>, times: u64) {
    for _ in 0..times {
        let mut number = guarded.lock().await;
        let read = *number;
        yield_now().await;
        *number = read + 1;
    }
}

/// How many timers were cancelled before they were due.
fn timers(options: &Options) -> Result<u64, Failure> {
    options
        .only(&["--kind", "--timers", "--live", "--idle-ms"])
        .map_err(Failure::Asked)?;
    let (count, live) = (
        number(options, "--timers", 1_000)?,
        usize::try_from(number(options, "--live", 1_000)?)?,
    );
    let idle = Duration::from_millis(number(options, "--idle-ms", 1)?);
    let runtime = runtime(options, 1, true)?;
    let timers = waiting::timers(count, live, idle, sleep, |timer, ahead| {
        timer.reset(Instant::now() + ahead);
    });
    as_task(runtime, timers)
}

/// How many tasks came back.
fn hostage(options: &Options) -> Result<u64, Failure> {
    options
        .only(&["--kind", "--by", "--hostages", "--stuck-ms", "--times"])
        .map_err(Failure::Asked)?;
    let hostages = Hostages::of(
        options.text("--by", "read"),
        number(options, "--hostages", 2)?,
        number(options, "--stuck-ms", 1_000)?,
        number(options, "--times", 1)?,
    )
    .map_err(Failure::Asked)?;
    let runtime = runtime(options, hostages.count, true)?;
    let begin = move || {
        for _ in 0..hostages.count {
            tokio::spawn(async move {
                for _ in 0..hostages.times {
                    hostages.hold();
                    yield_now().await;
                }
                hostages.is_back();
            });
        }
    };
    let lateness = as_task(runtime, hostages.tick(sleep, begin))?;
    hostages.answer(lateness).map_err(Failure::Ran)
}
