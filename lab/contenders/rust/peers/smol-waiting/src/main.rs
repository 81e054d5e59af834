//! smol's workloads about waiting: `smol-waiting WORKLOAD --kind KIND …`. Kinds: `local` for the main
//! thread alone, `multi-N` for N threads beside it, `multi` for as many as `--hostages` says.

use std::future::poll_fn;
use std::pin::Pin;
use std::process::ExitCode;
use std::sync::{Arc, LazyLock};
use std::task::Poll;
use std::time::Duration;

use async_channel::{Receiver, Sender, bounded};
use async_executor::{Executor, StaticExecutor, Task};
use async_io::Timer;
use async_lock::Mutex;
use futures_channel::oneshot;
use futures_lite::future::{block_on, pending, yield_now};
use peer_ring::{Failure, end};
use waiting::park::{self, AT_ONCE};
use waiting::{Hostages, Options, part, timers};

fn main() -> ExitCode {
    end(run())
}

fn run() -> Result<u64, Failure> {
    let options = Options::read().map_err(Failure::Asked)?;
    match options.workload.as_str() {
        "park" => parked(&options),
        "mutex" => mutex(&options),
        "timers" => set_and_cancel(&options),
        "hostage" => hostage(&options),
        other => Err(Failure::Asked(format!("unknown workload '{other}'"))),
    }
}

/// Where tasks run. (`LocalExecutor` is an `Executor` in a wrapper that keeps it on its thread.)
#[derive(Clone, Copy)]
struct Place {
    executor: &'static StaticExecutor,
    /// The main thread drives it; otherwise threads of its own do, and the main one only waits.
    is_local: bool,
}

impl Place {
    fn of(options: &Options, usual: u64) -> Result<Place, Failure> {
        let kind = options.text("--kind", "local");
        let threads = match kind.strip_prefix("multi") {
            None if kind == "local" => Some(0),
            Some("") => Some(usual),
            Some(given) => given.strip_prefix('-').and_then(|text| text.parse().ok()),
            None => None,
        };
        let threads = threads.ok_or_else(|| unknown("--kind", kind, "local, multi-N, multi"))?;
        // It lives as long as the process: then a task that is spawned need not be entered in a list.
        let executor = Executor::new().leak();
        for _ in 0..threads {
            std::thread::Builder::new().spawn(|| {
                // The main thread ends the process.
                async_io::block_on(executor.run(pending::<()>()));
            })?;
        }
        Ok(Place {
            executor,
            is_local: threads == 0,
        })
    }

    fn spawn<T: Send + 'static>(self, task: impl Future<Output = T> + Send + 'static) -> Task<T> {
        self.executor.spawn(task)
    }

    /// Runs a task to its end; with the reactor if it needs timers.
    fn run<T: Send + 'static>(
        self,
        time: bool,
        task: impl Future<Output = T> + Send + 'static,
    ) -> T {
        let task = self.spawn(task);
        let all = async move {
            match self.is_local {
                true => self.executor.run(task).await,
                false => task.await,
            }
        };
        match time {
            true => async_io::block_on(all),
            false => block_on(all),
        }
    }
}

fn number(options: &Options, name: &str, usual: u64) -> Result<u64, Failure> {
    options.number(name, usual).map_err(Failure::Asked)
}

fn unknown(option: &str, given: &str, expected: &str) -> Failure {
    Failure::Asked(format!("{option} {given}: expected {expected}"))
}

/// Whom the last of all threads tells.
static PARKED: LazyLock<(Sender<()>, Receiver<()>)> = LazyLock::new(|| bounded(1));
static WOKEN: LazyLock<(Sender<()>, Receiver<()>)> = LazyLock::new(|| bounded(1));

/// One thread. An `async` block would have two places for the receiver, and a note of having begun.
fn parking(mut receiver: oneshot::Receiver<u64>) -> impl Future<Output = ()> {
    poll_fn(move |context| {
        // A number that got lost would make the sum wrong, which the lab sees.
        let polled = Pin::new(&mut receiver)
            .poll(context)
            .map(Result::unwrap_or_default);
        let (told, is_last) = match polled {
            Poll::Pending => (&PARKED, park::parks()),
            Poll::Ready(number) => (&WOKEN, park::woke(number)),
        };
        if is_last {
            let _ = told.0.try_send(());
        }
        polled.map(drop)
    })
}

/// The sum of what all threads are sent. smol has no channel for one value alone, so it is that of futures.
fn parked(options: &Options) -> Result<u64, Failure> {
    options
        .only(&["--kind", "--threads"])
        .map_err(Failure::Asked)?;
    let threads = number(options, "--threads", 1_000)?;
    park::expect(threads);
    let place = Place::of(options, 1)?;
    Ok(place.run(false, async move {
        let mut senders = Vec::with_capacity(threads as usize);
        for number in 0..threads {
            let (sender, receiver) = oneshot::channel();
            senders.push(sender);
            place.spawn(parking(receiver)).detach();
            if number % AT_ONCE == 0 {
                yield_now().await;
            }
        }
        let _ = PARKED.1.recv().await;
        for (number, sender) in (0..).zip(senders) {
            let _ = sender.send(number);
            if number % AT_ONCE == 0 {
                yield_now().await;
            }
        }
        let _ = WOKEN.1.recv().await;
        park::sum()
    }))
}

/// What the lock guards in the end.
fn mutex(options: &Options) -> Result<u64, Failure> {
    options
        .only(&["--kind", "--section", "--sections", "--tasks"])
        .map_err(Failure::Asked)?;
    let sections = number(options, "--sections", 1_000)?;
    let tasks = number(options, "--tasks", 4)?;
    let yields = match options.text("--section", "short") {
        "short" => false,
        "yield" => true,
        other => return Err(unknown("--section", other, "short, yield")),
    };
    let place = Place::of(options, 1)?;
    let guarded = Arc::new(Mutex::new(0_u64));
    Ok(place.run(false, async move {
        let tasks: Vec<Task<()>> = (0..tasks)
            .map(|task| {
                let (guarded, times) = (guarded.clone(), part(sections, tasks, task));
                match yields {
                    false => place.spawn(short(guarded, times)),
                    true => place.spawn(yielding(guarded, times)),
                }
            })
            .collect();
        for task in tasks {
            task.await;
        }
        *guarded.lock().await
    }))
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
fn set_and_cancel(options: &Options) -> Result<u64, Failure> {
    options
        .only(&["--kind", "--timers", "--live", "--idle-ms"])
        .map_err(Failure::Asked)?;
    let count = number(options, "--timers", 1_000)?;
    let live = usize::try_from(number(options, "--live", 1_000)?)?;
    let idle = Duration::from_millis(number(options, "--idle-ms", 1)?);
    let place = Place::of(options, 1)?;
    let timers = timers(count, live, idle, Timer::after, |timer, ahead| {
        timer.get_mut().set_after(ahead);
    });
    Ok(place.run(true, timers))
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
    let place = Place::of(options, hostages.count)?;
    let begin = move || {
        for _ in 0..hostages.count {
            let task = place.spawn(async move {
                for _ in 0..hostages.times {
                    hostages.hold();
                    yield_now().await;
                }
                hostages.is_back();
            });
            task.detach();
        }
    };
    let lateness = place.run(true, hostages.tick(Timer::after, begin));
    hostages.answer(lateness).map_err(Failure::Ran)
}
