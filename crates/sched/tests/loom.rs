//! Models of the runtime `Single` between threads: wake against poll and park, the inbox, and the end.
//!
//! Run by `cargo xtask loom`; what loom cannot see is told in `crates/core/tests/loom.rs`. Beyond that: a
//! task's memory is no loom object, so task cells are counted; and so are shards, which are given back to the table
//! exactly when their last task has left ([`ends_clean`]).
#![cfg(loom)]

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize as Count;
use std::task::{Poll, Waker};

use gossamer_core::parker::Parker;
use gossamer_core::platform::atomic::{AtomicBool, Ordering};
use gossamer_core::platform::model::{explore, no_cell_is_left};
use gossamer_core::platform::{Condvar, Mutex, thread};
use gossamer_core::wait::{RunWhileWaiting, Turned, Wait};
use gossamer_sched::{Single, SingleRuntime};
use gossamer_task::JoinHandle;

fn runtime() -> Arc<Single> {
    Single::new().expect("no other runtime exists")
}

/// Ends the runtime, whose shard must then be free to be used again: once, and not twice.
fn ends_clean(runtime: Arc<Single>) {
    let shard = runtime.shard().index();
    drop(runtime);
    no_cell_is_left();
    let again = [self::runtime(), self::runtime()];
    assert_eq!(again[0].shard().index(), shard, "a shard is missing");
    assert_ne!(
        again[1].shard().index(),
        shard,
        "a shard was given back twice"
    );
}

/// Counts how often it is dropped.
#[derive(Clone, Default)]
struct Drops(Arc<Count>);

impl Drops {
    fn guard(&self) -> Guard {
        Guard(self.0.clone())
    }

    fn count(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}

struct Guard(Arc<Count>);

impl Drop for Guard {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// Spawns a task, and polls it once so that its waker gets out: it then waits until every flag is set.
fn parked(
    runtime: &Single,
    flags: &Arc<[AtomicBool; 2]>,
    drops: &Drops,
) -> (JoinHandle<()>, Waker) {
    // Not a loom mutex: it must not order what the flags leave open. Nobody else has it at that time.
    let slot = Arc::new(std::sync::Mutex::new(None));
    let (flags, guard, out) = (flags.clone(), drops.guard(), slot.clone());
    let handle = runtime.spawn(async move {
        let _guard = guard;
        poll_fn(|cx| {
            if let Ok(mut slot) = out.try_lock() {
                slot.get_or_insert_with(|| cx.waker().clone());
            }
            // Relaxed: only the wake makes it visible.
            match flags.iter().all(|flag| flag.load(Ordering::Relaxed)) {
                true => Poll::Ready(()),
                false => Poll::Pending,
            }
        })
        .await;
    });
    let _turned = runtime.turn(Waker::noop());
    let waker = slot.lock().expect("nobody panicked").clone();
    (handle, waker.expect("the task was polled"))
}

fn flags(second: bool) -> Arc<[AtomicBool; 2]> {
    Arc::new([AtomicBool::new(false), AtomicBool::new(second)])
}

/// A wake from another thread against the runner's poll, its last look and its park: never lost, and the
/// poll that follows sees what was written before the wake (`RefCount::announce` and `drain`, `Shard::push` and
/// `park`).
#[test]
fn wake_against_park() {
    explore("wake_against_park", || {
        let (runtime, flags, drops) = (runtime(), flags(true), Drops::default());
        let (handle, waker) = parked(&runtime, &flags, &drops);
        let wakes = thread::spawn(move || {
            flags[0].store(true, Ordering::Relaxed);
            waker.wake();
        });
        runtime.block_on_it(handle);
        wakes.join().expect("the waker does not panic");
        assert_eq!(drops.count(), 1);
        ends_clean(runtime);
    });
}

/// Blocks on a handle whose task must complete.
trait BlockOnIt {
    fn block_on_it<T>(&self, handle: JoinHandle<T>) -> T;
}

impl BlockOnIt for Single {
    fn block_on_it<T>(&self, handle: JoinHandle<T>) -> T {
        self.try_block_on(handle)
            .expect("the scheduler never stops")
            .expect("the task completes")
    }
}

/// A task that wakes itself during its poll is polled again, also when another thread wakes it meanwhile:
/// `SCHEDULED` is cleared before the poll.
#[test]
fn wake_during_the_own_poll() {
    explore("wake_during_the_own_poll", || {
        let (runtime, flags, drops) = (runtime(), flags(true), Drops::default());
        let (handle, waker) = parked(&runtime, &flags, &drops);
        let wakes = thread::spawn(move || {
            flags[0].store(true, Ordering::Relaxed);
            waker.wake();
        });
        let mut yielded = false;
        let mut handle = handle;
        let yields_first = poll_fn(|cx| {
            if !std::mem::replace(&mut yielded, true) {
                cx.waker().wake_by_ref();
                return Poll::Pending;
            }
            Pin::new(&mut handle).poll(cx)
        });
        let ended = runtime
            .try_block_on(yields_first)
            .expect("the scheduler never stops");
        ended.expect("the task completes");
        wakes.join().expect("the waker does not panic");
        drop(handle);
        ends_clean(runtime);
    });
}

/// Two tasks that wake each other, by way of the run-next slot, and a third that waits in the queue: it has its
/// turn after a few of theirs (`Fifo`). One thread, so one execution: it stands here because it needs an end.
#[test]
fn run_next_slot_is_bounded() {
    const TURNS: usize = 100;
    explore("run_next_slot_is_bounded", || {
        let (runtime, turns) = (runtime(), Arc::new(Count::new(0)));
        let wakers = Arc::new([const { std::sync::Mutex::new(None::<Waker>) }; 2]);
        for me in 0..2 {
            let (wakers, turns) = (wakers.clone(), turns.clone());
            drop(runtime.spawn(poll_fn(move |cx| {
                let lock = |who: usize| wakers[who].lock().expect("nobody panicked");
                *lock(me) = Some(cx.waker().clone());
                let other = lock(1 - me).take();
                other.into_iter().for_each(Waker::wake);
                match turns.fetch_add(1, Ordering::Relaxed) < TURNS {
                    true => Poll::Pending,
                    false => Poll::Ready(()),
                }
            })));
        }
        let mut polls = 0;
        let third = runtime.spawn(poll_fn(move |cx| {
            polls += 1;
            if polls < 3 {
                cx.waker().wake_by_ref();
                return Poll::Pending;
            }
            Poll::Ready(turns.load(Ordering::Relaxed))
        }));
        let turns_before = third.wait().expect("the task completes");
        assert!(
            turns_before < 10,
            "it waited for {turns_before} turns of the others"
        );
    });
}

/// Two threads wake one task: the second finds it queued already and pushes nothing, and the poll sees what
/// both have written.
#[test]
fn two_wakers_of_one_task() {
    explore("two_wakers_of_one_task", || {
        let (runtime, flags, drops) = (runtime(), flags(false), Drops::default());
        let (handle, waker) = parked(&runtime, &flags, &drops);
        let threads = [0, 1].map(|mvar| {
            let (waker, flags) = (waker.clone(), flags.clone());
            thread::spawn(move || {
                flags[mvar].store(true, Ordering::Relaxed);
                waker.wake_by_ref();
            })
        });
        drop(waker);
        runtime.block_on_it(handle);
        for thread in threads {
            thread.join().expect("the waker does not panic");
        }
        ends_clean(runtime);
    });
}

/// The thread that built the runtime runs it by `.wait()`, turn by turn, and parks as a waiter that
/// announced itself in `Single::turn`; the wake comes from elsewhere.
#[test]
fn wake_against_the_owners_wait() {
    explore("wake_against_the_owners_wait", || {
        let (runtime, flags, drops) = (runtime(), flags(true), Drops::default());
        let (handle, waker) = parked(&runtime, &flags, &drops);
        let wakes = thread::spawn(move || {
            flags[0].store(true, Ordering::Relaxed);
            waker.wake();
        });
        handle.wait().expect("the task completes");
        wakes.join().expect("the waker does not panic");
        ends_clean(runtime);
    });
}

/// A wake of a task that finishes at the same time: nothing is polled twice, and the memory goes once,
/// whether the runner, the inbox or the waker is the last to hold it.
#[test]
fn wake_against_finish() {
    explore("wake_against_finish", || {
        let (runtime, flags, drops) = (runtime(), flags(true), Drops::default());
        let (handle, waker) = parked(&runtime, &flags, &drops);
        // Two wakes: the first lets it finish, the second comes late or in between.
        flags[0].store(true, Ordering::Relaxed);
        let other = waker.clone();
        let wakes = thread::spawn(move || other.wake());
        waker.wake();
        drop(handle);
        let _turned = runtime.turn(Waker::noop());
        wakes.join().expect("the waker does not panic");
        let _turned = runtime.turn(Waker::noop());
        assert_eq!(drops.count(), 1);
        ends_clean(runtime);
    });
}

/// A wake against the end of the runtime: the inbox takes it and the end empties it, or it is turned away;
/// the future is dropped once and the memory goes.
#[test]
fn wake_against_the_end() {
    explore("wake_against_the_end", || {
        let (runtime, flags, drops) = (runtime(), flags(false), Drops::default());
        let (handle, waker) = parked(&runtime, &flags, &drops);
        let wakes = thread::spawn(move || {
            waker.wake_by_ref();
            waker.wake();
        });
        let shard = runtime.shard().index();
        drop(runtime);
        assert_eq!(drops.count(), 1);
        assert!(handle.wait().expect_err("its runtime ended").is_cancelled());
        wakes.join().expect("the waker does not panic");
        no_cell_is_left();
        ends_clean(at_shard(shard));
    });
}

/// The same, and the shard is another runtime's while the wake may be on its way there: that one releases the task.
#[test]
fn wake_against_the_next_runtime() {
    explore("wake_against_the_next_runtime", || {
        let (runtime, flags, drops) = (runtime(), flags(false), Drops::default());
        let (handle, waker) = parked(&runtime, &flags, &drops);
        drop(handle);
        let wakes = thread::spawn(move || waker.wake());
        let shard = runtime.shard().index();
        drop(runtime);
        let again = at_shard(shard);
        let _turned = again.turn(Waker::noop());
        wakes.join().expect("the waker does not panic");
        let _turned = again.turn(Waker::noop());
        ends_clean(again);
    });
}

/// An abort from another thread against the end of the runtime.
#[test]
fn abort_against_the_end() {
    explore("abort_against_the_end", || {
        let (runtime, flags, drops) = (runtime(), flags(false), Drops::default());
        let (handle, waker) = parked(&runtime, &flags, &drops);
        drop(waker);
        let aborts = thread::spawn(move || {
            handle.abort();
            assert!(
                handle
                    .wait()
                    .expect_err("it never completes")
                    .is_cancelled()
            );
        });
        let shard = runtime.shard().index();
        drop(runtime);
        aborts.join().expect("the other thread does not panic");
        assert_eq!(drops.count(), 1);
        ends_clean(at_shard(shard));
    });
}

/// Two threads spawn while the runner looks and parks: both tasks run (`Shard::push` against `Shard::park`,
/// and a drain of more than one).
#[test]
fn two_spawns_against_park() {
    explore("two_spawns_against_park", || {
        let runtime = runtime();
        let left = Arc::new(Mutex::new((2, None::<Waker>)));
        let threads = [0, 1].map(|_| {
            let (runtime, left) = (runtime.clone(), left.clone());
            thread::spawn(move || {
                let done = async move {
                    let waker = {
                        let mut left = left.lock();
                        left.0 -= 1;
                        left.1.clone()
                    };
                    waker.into_iter().for_each(Waker::wake);
                };
                drop(runtime.spawn(done));
            })
        });
        let all = poll_fn(|cx| {
            let mut left = left.lock();
            left.1 = Some(cx.waker().clone());
            if left.0 == 0 {
                Poll::Ready(())
            } else {
                Poll::Pending
            }
        });
        runtime
            .try_block_on(all)
            .expect("the scheduler never stops");
        for thread in threads {
            thread.join().expect("the other thread does not panic");
        }
        left.lock().1 = None;
        ends_clean(runtime);
    });
}

/// A thread spawns onto a runtime and releases it while the other holder lets go as well: whoever is last
/// ends it, and the future is dropped once, having been polled or not.
#[test]
fn spawn_against_the_end() {
    explore("spawn_against_the_end", || {
        let (runtime, drops) = (runtime(), Drops::default());
        let shard = runtime.shard().index();
        let (other, guard) = (runtime.clone(), drops.guard());
        let spawns = thread::spawn(move || {
            let handle = other.spawn(async move { drop(guard) });
            drop(other);
            handle.wait()
        });
        let _turned = runtime.turn(Waker::noop());
        drop(runtime);
        let ended = spawns.join().expect("the other thread does not panic");
        assert!(ended.is_ok() || ended.is_err_and(|error| error.is_cancelled()));
        assert_eq!(drops.count(), 1);
        ends_clean(at_shard(shard));
    });
}

/// A new runtime, which must get this shard.
fn at_shard(shard: u16) -> Arc<Single> {
    let runtime = runtime();
    assert_eq!(runtime.shard().index(), shard, "a shard is missing");
    runtime
}

/// A thread that does not run waits for a task of the one that does, from the spawn on.
#[test]
fn wait_elsewhere_for_a_task() {
    explore("wait_elsewhere_for_a_task", || {
        let runtime = runtime();
        let told = Arc::new(Mutex::new((false, None::<Waker>)));
        let (other, done) = (runtime.clone(), told.clone());
        let asks = thread::spawn(move || {
            let answer = other.spawn(async { 7 }).wait();
            let waker = {
                let mut done = done.lock();
                done.0 = true;
                done.1.take()
            };
            waker.into_iter().for_each(Waker::wake);
            answer.expect("the task completes")
        });
        let until_told = poll_fn(|cx| {
            let mut told = told.lock();
            told.1 = Some(cx.waker().clone());
            if told.0 {
                Poll::Ready(())
            } else {
                Poll::Pending
            }
        });
        runtime
            .try_block_on(until_told)
            .expect("the scheduler never stops");
        assert_eq!(asks.join().expect("the other thread does not panic"), 7);
        told.lock().1 = None;
    });
}

/// Happens once; any thread may wait for it, without running anything.
struct Event(Mutex<bool>, Condvar);

impl Event {
    fn new() -> Self {
        Self(Mutex::new(false), Condvar::new())
    }

    fn set(&self) {
        *self.0.lock() = true;
        self.1.notify_all();
    }

    fn wait(&self) {
        let mut happened = self.0.lock();
        while !*happened {
            happened = self.1.wait(happened);
        }
    }
}

/// The owner waits for a task while another thread runs the runtime for something of its own, and stops
/// when that is done: what it leaves runnable is the owner's to run.
#[test]
fn runner_leaves_work_to_the_waiting_owner() {
    explore("runner_leaves_work_to_the_waiting_owner", || {
        let (runtime, begun) = (runtime(), Arc::new(Event::new()));
        let (other, begins) = (runtime.clone(), begun.clone());
        let runs_it = thread::spawn(move || {
            other
                .try_block_on(async move { begins.set() })
                .expect("the scheduler never stops");
        });
        // From here on the other thread has the guard, or had it.
        begun.wait();
        runtime.spawn(async {}).wait().expect("the task completes");
        runs_it.join().expect("the other thread does not panic");
        ends_clean(runtime);
    });
}

/// The owner has parked as the runner when another thread begins to run, wakes a task by itself (so by no
/// push) and stops: the owner is woken to run it (`ShardGuard::displace`, and the end of a guard).
#[test]
fn runner_displaces_the_parked_owner() {
    explore("runner_displaces_the_parked_owner", || {
        let (runtime, flags, drops) = (runtime(), flags(true), Drops::default());
        let (handle, waker) = parked(&runtime, &flags, &drops);
        let parked = Arc::new(Event::new());
        let (other, begin) = (runtime.clone(), parked.clone());
        let runs_it = thread::spawn(move || {
            begin.wait();
            let wakes = async move {
                flags[0].store(true, Ordering::Relaxed);
                waker.wake();
            };
            other
                .try_block_on(wakes)
                .expect("the scheduler never stops");
        });
        Parker::with(|parker| {
            while !handle.is_finished() {
                if runtime.turn(parker.waker()) != Turned::More && !handle.is_finished() {
                    parked.set();
                    parker.park(&mut || false);
                }
            }
        });
        runs_it.join().expect("the other thread does not panic");
        drop(handle);
        assert_eq!(drops.count(), 1);
        ends_clean(runtime);
    });
}
