//! The thread of a worker: its loop, and how it sleeps, drains and retires.

use std::sync::Arc;
use std::time::{Duration, Instant};

use gossamer_core::context;
use gossamer_core::mutant;
use gossamer_core::parker::Parker;
use gossamer_core::platform::atomic::Ordering;
use gossamer_core::platform::{heavy_fence, spin_loop, thread};
use gossamer_core::poller::Seat;
use gossamer_core::shard::{Shard, ShardGuard};
use gossamer_time::timers::runner;

use super::idle::{Idle, Sleeper};
use super::queue::{Queue, TAKE_MAX, take_share};
use super::shared::Shared;
use super::watch::watch;
use super::worker_shard::WorkerShard;
use crate::runnable::Runnable;
use crate::scheduler::{Reason, Scheduler};
use crate::single::{Ran, hand_over, run, shut_down};

/// Polls between two looks at the injector and the timers; one that used up what its operations may take is the last.
const POLLS: u32 = if cfg!(shuttle) { 4 } else { 128 };

/// How long a worker looks for work before it joins the idle. Not in models.
const LOOK_FOR: Duration = Duration::from_micros(if cfg!(any(loom, shuttle)) { 0 } else { 20 });

/// How many tasks in a queue a thief leaves to its owner at first.
const LEAVES: usize = 32;

/// How often it yields the processor meanwhile, in which the owner may be waiting to run. Not in models.
const LEAVING_YIELDS: u32 = if cfg!(any(loom, shuttle)) { 0 } else { 16 };

/// How often a worker tries to search while another one does: that one may have found something just now. Not in
/// models.
const SEARCH_TRIES: u32 = if cfg!(any(loom, shuttle)) { 1 } else { 32 };

/// Number of looks for work per look at the clock, which costs more.
const LOOKS_PER_CLOCK: u32 = 8;

/// Runs tasks until the pool shuts down, or has fewer workers than this one's number.
pub(super) fn work(shared: &Arc<Shared>, number: usize, shard: &'static WorkerShard) {
    let _tasks_of = shared.environment.enter_early();
    shared.monitor.works_here(number);
    let mut queue = Queue::new(shared.clone(), shard);
    let mut guard = shard.acquire_again();
    let mut ended = Ended { shared, number };
    while !shared.is_closing() {
        if shared.workers.is_surplus(number) || queue.drains() {
            let stays = guard.runner().pinned() > 0 && !mutant!("leaves_its_fibers");
            if !stays {
                guard = match retire(&mut ended, guard, &mut queue) {
                    Some(guard) => guard,
                    None => return,
                };
            }
            drain_or_not(shared, number, &guard, &mut queue);
        }
        let ran = run(&guard, &mut queue, POLLS, None);
        let fired = runner::serve(shard) | (ran == Ran::Budget && look_at_sockets(shared));
        if shard.has_returned() {
            shared.dismiss_spares();
        }
        if queue.drains() {
            if fired {
                continue;
            }
            if ran == Ran::Idle {
                let has_pinned = guard.runner().pinned() > 0;
                drop(guard);
                park_drained(shared, number, shard, has_pinned);
                guard = shard.acquire_again();
                shared.monitor.call();
            }
            continue;
        }
        if ran == Ran::Budget {
            shared.watch.call(&shared.idle);
        }
        let unowned = steal_from_unowned(shared, &guard, &mut queue);
        let more = take_share(shared, &guard) || unowned || fired || ran == Ran::Budget;
        if more || steal(shared, &guard, &mut queue) {
            continue;
        }
        guard = sleep_and_take(shared, number, guard, &mut queue);
    }
    queue.close();
    guard.seal();
    shut_down(&guard, &mut queue);
    runner::end(shard);
}

/// Leaves the workers; gives the guard again if the workers has grown meanwhile, or is closed. The tasks stay at the
/// shard, for the others: the runnable ones in its steal queue, and whoever wakes one of the others takes it along. The
/// timers go to the first worker, who never retires.
///
/// The worker gives its guard up before it leaves: so nobody runs a free shard, and the thread that shuts the pool
/// down can end the tasks there.
pub(super) fn retire(
    ended: &mut Ended<'_>,
    guard: ShardGuard,
    queue: &mut Queue,
) -> Option<ShardGuard> {
    let shard = queue.shard;
    shard.set_fallback_waker(Some(ended.shared.caller()));
    context::with(|context| hand_over(context, queue));
    queue.leave();
    ended.shared.take_over_timers(shard);
    let _kept = mutant!("retires_with_its_claim").then_some(guard);
    if !ended.shared.workers.retire(ended.number) {
        shard.set_fallback_waker(None);
        return Some(shard.acquire_again());
    }
    ended.number = usize::MAX;
    // A task that was pushed before the fallback waker was set has called nobody.
    if !mutant!("retire_calls_nobody") {
        ended.shared.idle.call_one();
    }
    None
}

/// Leaves the workers, if this worker is surplus, but stays for the tasks that stay with this thread; or comes back, if
/// it has been started again. Asked each time: it may have been started and be surplus again before it noticed.
fn drain_or_not(shared: &Shared, number: usize, guard: &ShardGuard, queue: &mut Queue) {
    if guard.runner().pinned() > 0 {
        shared.workers.begin_drain(number);
    }
    let drains = shared.workers.drains(number);
    if drains != queue.drains() {
        queue.begin_drain(drains);
        // A worker that begins to drain leaves the tasks of its steal queue to the other workers.
        shared.idle.call_one();
    }
}

/// Sleeps until one of the tasks that stay with this thread is woken, or the workers wants it again, or not even so:
/// `has_pinned` says whether there are such tasks. The guard has been given up.
fn park_drained(shared: &Shared, number: usize, shard: &'static WorkerShard, has_pinned: bool) {
    Parker::with(|parker| {
        let stays = || {
            let workers = &shared.workers;
            workers.drains(number)
                && !shared.is_closing()
                && (has_pinned || !workers.is_surplus(number))
        };
        // From here on, a call finds the parker.
        if shard.park(parker.waker()) && stays() {
            let until = runner::next_deadline(shard);
            parker.park_until(until, &mut || shard.waiting() > 0 || !stays());
        }
    });
}

/// Takes over what is runnable at the shards of workers that have retired, or was woken there from outside. After
/// each so many polls, not only by idle workers: nobody else would run it. `true` if there was something.
pub(super) fn steal_from_unowned(shared: &Shared, guard: &ShardGuard, queue: &mut Queue) -> bool {
    let mut any = false;
    if !shared.workers.has_retired() || mutant!("unowned_forgotten") {
        return any;
    }
    for (number, shard) in shared.numbered_shards() {
        if !shared.workers.is_free(number) {
            continue;
        }
        if shard.has_pending() && !shard.drain_unowned() {
            // Its worker is just leaving, and we would look again and again until it has.
            thread::yield_now();
        }
        if shard.steal_len() > 0 {
            any |= steal_from(shared, guard, queue, shard) > 0;
        }
    }
    any
}

/// Takes half of another worker's steal queue; `false` if all are empty. Short ones are left to their owners at first: for
/// a task to move takes longer than a short poll, and so does all that it wakes where it was.
pub(super) fn steal(shared: &Shared, guard: &ShardGuard, queue: &mut Queue) -> bool {
    // Each worker begins with its neighbour, so that not all ask the same one first.
    let here = guard.shard().index();
    let after = shared.shards().filter(|shard| shard.index() > here);
    let before = shared.shards().filter(|shard| shard.index() < here);
    let mut yields = LEAVING_YIELDS;
    for from in after.chain(before) {
        leave_to_owner(guard.shard(), from, &mut yields);
        if from.steal_len() == 0 {
            continue;
        }
        if steal_from(shared, guard, queue, from) > 0 {
            return true;
        }
    }
    false
}

/// Leaves a short queue to its owner for a moment, but one that is known to be stuck; and while there is nothing for
/// this worker itself.
fn leave_to_owner(own: &Shard, from: &WorkerShard, yields: &mut u32) {
    let is_short = || (1..=LEAVES).contains(&from.steal_len());
    while *yields > 0 && is_short() && !from.is_open() && !own.has_pending() {
        *yields -= 1;
        thread::yield_now();
    }
}

fn steal_from(shared: &Shared, guard: &ShardGuard, queue: &mut Queue, from: &WorkerShard) -> usize {
    let take = |task| queue.push(Runnable(task), Reason::Woken);
    let taken = from.steal(guard, TAKE_MAX, take);
    // Relaxed: statistics.
    shared
        .counts
        .stolen
        .fetch_add(taken as u64, Ordering::Relaxed);
    taken
}

/// Wakes those that wait for what the system tells by now, unless another worker sees to that.
fn look_at_sockets(shared: &Shared) -> bool {
    let seat = shared.environment.poller().sit();
    let seat = seat.filter(|_| !mutant!("busy_worker_never_polls"));
    seat.is_some_and(|seat| seat.look())
}

/// Sleeps until there is something to do. A worker that has searched takes what it found elsewhere before it ends its
/// search, so that nobody else is called for that.
pub(super) fn sleep_and_take(
    shared: &Shared,
    number: usize,
    guard: ShardGuard,
    queue: &mut Queue,
) -> ShardGuard {
    let seat = shared.environment.poller().sit();
    // Before others are told that it is idle, which costs them more.
    if seat.as_ref().is_some_and(Seat::look) {
        return guard;
    }
    drop(guard);
    let searches = sleep(shared, number, queue.shard, seat.as_ref());
    let guard = queue.shard.acquire_again();
    if let Some(seat) = seat {
        seat.deliver();
    }
    if searches {
        if shared.is_closing() || shared.workers.is_surplus(number) {
            // It was called to leave, and takes nothing along.
            shared.idle.end_search(|| shared.has_work_for_idle());
        } else {
            take_and_end_search(shared, &guard, queue);
        }
    }
    guard
}

/// Takes something, if there is anything, and ends this worker's search; if there is more, the next worker is called.
pub(super) fn take_and_end_search(shared: &Shared, guard: &ShardGuard, queue: &mut Queue) {
    let unowned = steal_from_unowned(shared, guard, queue);
    let _any = take_share(shared, guard) || unowned || steal(shared, guard, queue);
    shared.idle.end_search(|| shared.has_work_for_idle());
}

/// Looks for work a while, then sleeps until somebody calls; whether the worker searches. The guard has been given up. With
/// a `seat` it sleeps there, and does not look for work before: what it waits for is mostly an event.
#[must_use]
fn sleep(
    shared: &Shared,
    number: usize,
    shard: &'static WorkerShard,
    seat: Option<&Seat<'_>>,
) -> bool {
    let poller = shared.environment.poller();
    let is_called = || {
        shared.injector.has_pending() || shared.is_closing() || shared.workers.is_surplus(number)
    };
    let has_own = || shard.has_pending() || is_called() || seat.is_none() && poller.is_unattended();
    let has_something = || has_own() || shared.has_work_elsewhere();
    // Not among the idle so far: the fence below interrupts all other workers, and who finds us there calls us. One
    // looks at a time: with more workers than cores, the others would take the time of those that have work.
    let searches = seat.is_none() && begin_search(&shared.idle, has_own);
    if searches && looks_until(has_something) {
        if !shard.has_pending() {
            return true;
        }
        // Before it runs what came: whoever sent that may have nothing to do now, and search.
        shared.idle.end_search(|| shared.has_work_for_idle());
        return false;
    }
    if !searches && has_own() {
        return false;
    }
    let others = || {
        let shards = shared.shards();
        shards.filter(|other| other.index() != shard.index())
    };
    let mut watches = shared.watch.begin();
    let is_called_out = Parker::with(|parker| {
        shared.idle.enter(Sleeper {
            shard,
            waker: parker.waker().clone(),
        });
        if searches {
            shared.idle.search_in_vain();
        }
        // From here on, a thread that makes a task runnable sees that this worker is idle, or the worker sees the task.
        heavy_fence(); // pairs with the light one in `WorkerShard::push_stealable`, and the one in `call_unless_searching`
        if searches && shared.has_work_for_idle() && !mutant!("searched_in_vain_calls_nobody") {
            // Whoever pushed it may have relied on the search. Mostly this worker calls itself.
            shared.idle.call_one();
        }
        if !has_something() && shard.park(parker.waker()) && !has_something() {
            // Relaxed: statistics.
            shared.counts.parks.fetch_add(1, Ordering::Relaxed);
            let until = runner::next_deadline(shard);
            let park_for = |limit| parker.park_at_for(seat, limit);
            if !(watches && watch(others, park_for, until)) {
                if std::mem::take(&mut watches) {
                    shared.watch.end();
                }
                // A lone task in the queue of a worker that is long in a poll calls nobody, and a ping nobody either.
                parker.park_at(seat, until, &mut || shard.waiting() > 0 || is_called());
            }
        }
        shared.idle.leave(shard)
    });
    shared.monitor.call();
    if watches {
        shared.watch.end();
    } else {
        shared.watch.was_called();
    }
    is_called_out
}

/// Begins a search, unless another one goes on, or something has come for this worker itself.
fn begin_search(idle: &Idle, has_own: impl Fn() -> bool) -> bool {
    for _ in 0..SEARCH_TRIES {
        if idle.try_search() {
            return true;
        }
        if has_own() {
            break;
        }
        spin_loop();
    }
    false
}

/// Whether there is something before [`LOOK_FOR`] has passed.
fn looks_until(has_something: impl Fn() -> bool) -> bool {
    let began = Instant::now();
    while began.elapsed() < LOOK_FOR {
        for _ in 0..LOOKS_PER_CLOCK {
            if has_something() {
                return true;
            }
            spin_loop();
        }
    }
    false
}

/// Says, when dropped, that a worker has ended with its pool.
pub(super) struct Ended<'a> {
    pub(super) shared: &'a Arc<Shared>,
    /// Nobody's, if it has retired.
    pub(super) number: usize,
}

impl Drop for Ended<'_> {
    fn drop(&mut self) {
        self.shared.worker_ends(self.number);
    }
}
