//! The thread ring, once for each kind.
//!
//! The runtime and the `MVar`s live as long as the process, so a task holds two plain references and its number.

use gossamer::{Model, Runtime, Wait, local, sync};

use gossamer_contender::Failure;
use gossamer_contender::args::{Args, runtime};
use gossamer_contender::mvars::leak;
use gossamer_contender::put;

use crate::fixed::{self, Cores};

/// What the ring is to be.
pub(crate) struct Ring {
    /// Tasks in it.
    pub(crate) threads: usize,
    /// What the token begins with.
    pub(crate) hops: u64,
}

/// Runs the ring and gives the number of the task that received the zero.
pub(crate) fn run(args: &Args) -> Result<usize, Failure> {
    args.only(&["--kind", "--threads", "--hops", "--order", "--record-waits"])?;
    match args.text("--record-waits", "no") {
        "no" => {}
        // For the whole process.
        "yes" => {
            let built = Runtime::builder()
                .model(Model::Single)
                .record_waits()
                .build();
            drop(built.map_err(|error| error.to_string())?);
        }
        other => return Err(format!("--record-waits {other}: expected yes or no").into()),
    }
    let ring = Ring {
        threads: args.count("--threads", 503)?,
        hops: args.number("--hops", 1_000)?,
    };
    let order = waiting::order(ring.threads, args.text("--order", "forward"))?;
    match args.kind() {
        "single-local" => single_local(&ring, &order),
        "single-local-replace" => single_local_replace(&ring, &order),
        "single" => shared(&ring, &order, Model::Single),
        "single-second-thread" => with_second_thread(|| shared(&ring, &order, Model::Single)),
        "pool-1" => shared(&ring, &order, Model::Pool { workers: 1 }),
        "pool-2" => shared(&ring, &order, Model::Pool { workers: 2 }),
        "threads" => shared(&ring, &order, Model::Threads),
        "fixed" => Ok(fixed::run(&ring, Cores::Several)?),
        "fixed-one-core" => Ok(fixed::run(&ring, Cores::One)?),
        other => Err(format!(
            "--kind {other}: expected single-local, single-local-replace, single, \
             single-second-thread, pool-1, pool-2, threads, fixed, fixed-one-core"
        )
        .into()),
    }
}

/// The future of one task: takes from its own place, passes one less on with `$put`.
macro_rules! pass_on {
    ($ring:ident, $id:ident, $winner:ident, $put:ident) => {{
        let (own, next) = (&$ring[$id], &$ring[($id + 1) % $ring.len()]);
        async move {
            loop {
                let token = own.take().await;
                if token == 0 {
                    return $winner.put($id + 1).await;
                }
                $put!(next, token - 1);
            }
        }
    }};
}

/// The seed's relaxed put, by which what was there is lost; written as the full one is in `put!`.
macro_rules! replace {
    ($place:ident, $value:expr) => {
        if let Err(value) = $place.try_replace($value) {
            $place.replace(value).await;
        }
    };
}

/// A ring of `!Send` tasks over local `MVar`s.
macro_rules! local_ring {
    ($name:ident, $put:ident) => {
        fn $name(asked: &Ring, order: &[usize]) -> Result<usize, Failure> {
            let rt = runtime(Model::Single)?;
            let ring = leak((0..asked.threads).map(|_| local::MVar::<u64>::empty()));
            let winner = &leak([local::MVar::<usize>::empty()])[0];
            Ok(rt.block_on_local(|scope| {
                for &id in order {
                    drop(scope.spawn_local(pass_on!(ring, id, winner, $put)));
                }
                async {
                    ring[0].put(asked.hops).await;
                    winner.take().await
                }
            }))
        }
    };
}

local_ring!(single_local, put);
local_ring!(single_local_replace, replace);

/// A ring of `Send` tasks over shared `MVar`s, under any model.
fn shared(asked: &Ring, order: &[usize], model: Model) -> Result<usize, Failure> {
    let rt = runtime(model)?;
    let ring = leak((0..asked.threads).map(|_| sync::MVar::<u64>::empty()));
    let winner = &leak([sync::MVar::<usize>::empty()])[0];
    for &id in order {
        drop(rt.spawn(pass_on!(ring, id, winner, put)));
    }
    ring[0].put(asked.hops).wait();
    Ok(winner.take().wait())
}

/// Runs `work` while the process has a second thread, which sleeps.
fn with_second_thread<R>(work: impl FnOnce() -> R) -> R {
    let (tx, rx) = std::sync::mpsc::channel::<()>();
    let second = std::thread::spawn(move || rx.recv());
    let result = work();
    drop(tx);
    // The channel is closed, so the thread ends; what it received does not matter.
    drop(second.join());
    result
}
