//! Does many things, several at a time.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use anyhow::Result;

/// How many processors the machine grants.
pub fn processors() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

/// Does `work` with each item, `width` of them at a time and begun in their order; gives the results in that order.
///
/// # Errors
/// Those of `work`; what else was begun is done first.
///
/// # Panics
/// If `work` panics.
pub fn each<T: Sync, R: Send>(
    items: &[T],
    width: usize,
    work: impl Fn(&T) -> Result<R> + Sync,
) -> Result<Vec<R>> {
    let next = AtomicUsize::new(0);
    let worker = || {
        let mut done = Vec::new();
        loop {
            // Relaxed: only the number counts.
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(at) else {
                return done;
            };
            done.push((at, work(item)));
        }
    };
    let mut done: Vec<(usize, Result<R>)> = thread::scope(|scope| {
        let workers: Vec<_> = (0..width.max(1)).map(|_| scope.spawn(worker)).collect();
        let joined = workers.into_iter().map(|worker| worker.join());
        joined
            .flat_map(|done| done.expect("the work does not panic"))
            .collect()
    });
    done.sort_by_key(|(at, _)| *at);
    done.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests;
