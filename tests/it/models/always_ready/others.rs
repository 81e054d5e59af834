//! Time, tasks, and structure.

use std::future::{pending, ready};
use std::thread;
use std::time::{Duration, Instant};

use gossamer::time::{MissedTickBehavior, interval, sleep as rest, sleep_until, timeout};
use gossamer::{
    CancellationToken, JoinSet, TimeoutExt, blocking, limit::ConcurrencyLimit, par, sync::Event,
    yield_now,
};

use super::{Case, Turn, cases};

/// Longer than any test.
const FAR: Duration = Duration::from_secs(3_000);

pub(super) fn of_time(turn: &Turn) -> Vec<Case> {
    cases! { turn;
        "time::interval::Tick": {
            let mut ticks = interval(Duration::from_nanos(1)).missed(MissedTickBehavior::Burst);
        } ticks.tick().await;
        "time::sleep::Sleep": {} rest(Duration::ZERO).await;
        "time::sleep::Sleep, until it was": { let past = Instant::now(); } sleep_until(past).await;
        "time::timeout::Timeout": { let set = Event::new(); set.set(); } set.ready().timeout(FAR).await;
        "time::timeout::Timeout, of another library's": {} ready(1).timeout(FAR).await;
        "time::timeout::Timeout, of what never comes": {} timeout(Duration::ZERO, pending::<()>()).await;
    }
}

pub(super) fn of_tasks(turn: &Turn) -> Vec<Case> {
    cases! { turn;
        "gossamer::blocking::Blocking": {} blocking(|| ()).await;
        "gossamer::par::Compute": {} par::compute(|| ()).await;
        "gossamer::resize::Resize": {} {
            let workers = turn.rt.metrics().map_or(1, |metrics| metrics.workers);
            turn.rt.resize(workers).await
        };
        "gossamer::yielding::YieldNow": {} yield_now().await;
        "task::handle::JoinHandle": {} {
            let ended = turn.rt.spawn_blocking(|| ());
            while !ended.is_finished() {
                thread::yield_now();
            }
            ended.await
        };
        "structure::scope::handle::ScopedHandle": {} {
            turn.rt.async_scope((), async |scope, ()| scope.spawn(async {}).await).await
        };
        "structure::scope::owned::RunScope": {} turn.rt.async_scope((), async |_, ()| {}).await;
    }
}

pub(super) fn of_structure(turn: &Turn) -> Vec<Case> {
    cases! { turn;
        "structure::concurrency_limit::LimitedSpawn": { let handle = turn.rt.limited(9); }
            handle.spawn(async {}).await.await;
        "structure::concurrency_limit::AcquirePermit": { let limit = ConcurrencyLimit::new(1); } drop(limit.acquire().await);
        "structure::cancel::WaitForCancel": { let token = CancellationToken::new(); token.cancel(); }
            token.cancelled().await;
        "structure::cancel::WaitForCancelOwned": { let token = CancellationToken::new(); token.cancel(); }
            token.clone().cancelled_owned().await;
        "structure::cancel::RunUntilCancelled": { let token = CancellationToken::new(); token.cancel(); }
            token.run_until_cancelled(pending::<()>()).await;
        "structure::cancel::RunUntilCancelled, not cancelled": { let token = CancellationToken::new(); }
            token.run_until_cancelled(ready(1)).await;
        "structure::join_set::JoinNext": { let mut set = JoinSet::<()>::new(); } set.join_next().await;
        "structure::join_set::JoinNextWithId": { let mut set = JoinSet::<()>::new(); } set.join_next_with_id().await;
        "structure::join_set::JoinAll": {} JoinSet::<()>::new().join_all().await;
        "structure::join_set::Shutdown": { let mut set = JoinSet::<()>::new(); } set.shutdown().await;
    }
}
