//! When a worker stops publishing.

use std::future::poll_fn;
use std::panic::Location;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Poll, Waker};

use gossamer_core::context::{self, Context};
use gossamer_task::spawn;

use super::super::Watching;
use super::super::queue::Queue;
use super::super::shared::Shared;
use crate::single::{run, shut_down};
use crate::thread_options::ThreadOptions;

/// No other worker could take a task that stays with its thread, so to publish it is of no use.
#[test]
fn a_worker_whose_tasks_all_stay_stops_publishing() {
    let shared = Shared::new(1, Watching::new(), ThreadOptions::default());
    let shared = shared.expect("few shards are in use");
    let shard = shared.shard_for(0).expect("few shards are in use");
    shard.set_monitored();
    let guard = shard.acquire_again();
    let mut queue = Queue::new(shared.clone(), shard);
    let publishes = || context::with(Context::publishes);

    let waker = Arc::new(Mutex::new(Waker::noop().clone()));
    let woken = waker.clone();
    let stays = poll_fn(move |cx| -> Poll<()> {
        context::with(Context::pin_polled);
        waker
            .lock()
            .expect("nobody panicked")
            .clone_from(cx.waker());
        Poll::Pending
    });
    drop(spawn(shard, stays, Location::caller()));
    run(&guard, &mut queue, u32::MAX, None);

    shard.want_publishing();
    let has_published = Arc::new(AtomicBool::new(false));
    let (first, mut wakes) = (has_published.clone(), 0);
    let wakes_it = poll_fn(move |cx| {
        first.fetch_or(publishes(), Ordering::Relaxed); // Relaxed: one thread
        woken.lock().expect("nobody panicked").wake_by_ref();
        wakes += 1;
        if wakes == 1_000 {
            return Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    });
    drop(spawn(shard, wakes_it, Location::caller()));
    run(&guard, &mut queue, u32::MAX, None);
    // Relaxed: one thread
    assert!(has_published.load(Ordering::Relaxed), "it was asked to");
    assert!(!publishes(), "it publishes what nobody may take");
    queue.close();
    guard.seal();
    shut_down(&guard, &mut queue);
}
