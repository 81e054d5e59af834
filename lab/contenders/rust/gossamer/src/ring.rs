//! The thread ring, once for each kind.
//!
//! The places live as long as the process, so a task holds two plain references and its number.

use gossamer::{Model, Runtime, Wait, local, sync};

use crate::args::{Args, spawn_order};

/// Runs the ring and gives the number of the task that received the zero.
pub(crate) fn run(args: Args) -> Result<usize, String> {
    let order = spawn_order(&args)?;
    match args.kind.as_str() {
        "single-local" => single_local(&args, &order),
        "single-local-replace" => single_local_replace(&args, &order),
        "single" => shared(&args, &order, Model::Single),
        "single-second-thread" => with_second_thread(|| shared(&args, &order, Model::Single)),
        "pool-1" => shared(&args, &order, Model::Pool { workers: 1 }),
        "pool-2" => shared(&args, &order, Model::Pool { workers: 2 }),
        "threads" => shared(&args, &order, Model::Threads),
        "fixed" => crate::fixed::run(&args),
        other => Err(format!(
            "--kind {other}: expected single-local, single-local-replace, single, \
             single-second-thread, pool-1, pool-2, threads, fixed"
        )),
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

/// A full put, which waits only if it must.
macro_rules! put {
    ($place:ident, $value:expr) => {
        if let Err(value) = $place.try_put($value) {
            $place.put(value).await;
        }
    };
}

/// The seed's relaxed put.
macro_rules! replace {
    ($place:ident, $value:expr) => {
        $place.replace($value).await
    };
}

/// A ring of `!Send` tasks over local places.
macro_rules! local_ring {
    ($name:ident, $put:ident) => {
        fn $name(args: &Args, order: &[usize]) -> Result<usize, String> {
            let rt = Runtime::builder()
                .build()
                .map_err(|error| error.to_string())?;
            let ring = leak((0..args.threads).map(|_| local::MVar::<u32>::empty()));
            let winner = &leak([local::MVar::<usize>::empty()])[0];
            Ok(rt.block_on_local(|scope| {
                for &id in order {
                    drop(scope.spawn_local(pass_on!(ring, id, winner, $put)));
                }
                async {
                    ring[0].put(args.hops).await;
                    winner.take().await
                }
            }))
        }
    };
}

local_ring!(single_local, put);
local_ring!(single_local_replace, replace);

/// A ring of `Send` tasks over shared places, under any model.
fn shared(args: &Args, order: &[usize], model: Model) -> Result<usize, String> {
    let rt = Runtime::builder()
        .model(model)
        .build()
        .map_err(|error| error.to_string())?;
    let ring = leak((0..args.threads).map(|_| sync::MVar::<u32>::empty()));
    let winner = &leak([sync::MVar::<usize>::empty()])[0];
    for &id in order {
        drop(rt.spawn(pass_on!(ring, id, winner, put)));
    }
    ring[0].put(args.hops).wait();
    Ok(winner.take().wait())
}

/// Makes things that live as long as the process.
fn leak<T>(things: impl IntoIterator<Item = T>) -> &'static [T] {
    Vec::leak(things.into_iter().collect())
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
