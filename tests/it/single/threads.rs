//! OS threads: they wake tasks, spawn them, wait for them, and run them.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Barrier};
use std::thread;

use gossamer::{Runtime, Wait, sync::MVar, yield_now};

use super::{panic_of, runtime};

const HOPS: u32 = 100_000;

type Pair = (Arc<MVar<u32>>, Arc<MVar<u32>>);

fn pair() -> Pair {
    (Arc::new(MVar::empty()), Arc::new(MVar::empty()))
}

async fn pong((ping, pong): Pair) {
    for _ in 0..HOPS {
        let token = ping.take().await;
        pong.put(token + 1).await;
    }
}

fn ping((ping, pong): &Pair) {
    for hop in 0..HOPS {
        ping.put(hop).wait();
        assert_eq!(pong.take().wait(), hop + 1);
    }
}

#[test]
fn a_thread_and_a_task_play_ping_pong() {
    let (rt, pair) = (runtime(), pair());
    let task = rt.spawn(pong(pair.clone()));
    let thread = thread::spawn(move || ping(&pair));
    task.wait().unwrap();
    thread.join().unwrap();
}

#[test]
fn two_threads_play_ping_pong_without_a_runtime() {
    let pair = pair();
    let thread = thread::spawn({
        let pair = pair.clone();
        move || pong(pair).wait()
    });
    ping(&pair);
    thread.join().unwrap();
}

/// The owner waits, and thereby runs, on both sides of the exchange.
#[test]
fn the_owner_plays_with_its_own_task() {
    let (rt, pair) = (runtime(), pair());
    let task = rt.spawn(pong(pair.clone()));
    ping(&pair);
    task.wait().unwrap();
}

#[test]
fn waiting_on_the_owning_thread_runs() {
    let rt = runtime();
    let (first, second) = (Arc::new(MVar::empty()), Arc::new(MVar::new(1)));
    let task = rt.spawn({
        let (first, second) = (first.clone(), second.clone());
        async move {
            let value = first.take().await;
            second.put(value).await;
            value
        }
    });
    first.put(7).wait();
    // The task runs because this thread waits; for what, does not matter.
    assert_eq!(second.take().wait(), 1);
    assert_eq!(second.take().wait(), 7);
    assert_eq!(task.wait().unwrap(), 7);
}

/// A thread that waits for what another runtime's task brings, runs all that it owns.
#[test]
fn several_runtimes_on_one_thread() {
    let runtimes: Vec<Runtime> = (0..5).map(|_| runtime()).collect();
    let mvars: Vec<_> = (0..6).map(|_| Arc::new(MVar::empty())).collect();
    let tasks: Vec<_> = runtimes
        .iter()
        .enumerate()
        .map(|(number, rt)| {
            let (from, to) = (mvars[number].clone(), mvars[number + 1].clone());
            rt.spawn(async move {
                for _ in 0..100 {
                    let value: u32 = from.take().await;
                    to.put(value + 1).await;
                }
            })
        })
        .collect();
    for round in 0..100 {
        mvars[0].put(round).wait();
        assert_eq!(mvars[5].take().wait(), round + 5);
    }
    for task in tasks {
        task.wait().unwrap();
    }
    // And inside one another: the task of one is woken by the task of another, run by block_on.
    let mvar = Arc::new(MVar::empty());
    let other = runtimes[1].spawn({
        let mvar = mvar.clone();
        async move { mvar.take().await }
    });
    runtimes[0].block_on(async { mvar.put(3).await });
    assert_eq!(runtimes[1].block_on(other).unwrap(), 3);
}

/// The thread that parked for the runtime is woken by a spawn, not only by a wake.
#[test]
fn spawned_from_another_thread_while_parked() {
    let (rt, done) = (Arc::new(runtime()), Arc::new(MVar::empty()));
    let barrier = Arc::new(Barrier::new(2));
    let handle = thread::spawn({
        let (rt, done, barrier) = (rt.clone(), done.clone(), barrier.clone());
        move || {
            barrier.wait();
            for round in 0..1000_u32 {
                let done = done.clone();
                drop(rt.spawn(async move { done.put(round).await }));
                if round % 10 == 0 {
                    thread::yield_now();
                }
            }
        }
    });
    rt.block_on(async {
        barrier.wait();
        let mut sum = 0;
        for _ in 0..1000 {
            sum += done.take().await;
        }
        assert_eq!(sum, 499_500);
    });
    handle.join().unwrap();
}

#[test]
fn a_runtime_moves_between_threads() {
    let rt = runtime();
    let mvar = Arc::new(MVar::empty());
    let task = rt.spawn({
        let mvar = mvar.clone();
        async move {
            let mut threads = vec![thread::current().id()];
            for _ in 0..4 {
                mvar.take().await;
                threads.push(thread::current().id());
            }
            threads
        }
    });
    let mut rt = Some(rt);
    for _ in 0..3 {
        let (moved, mvar) = (rt.take().unwrap(), mvar.clone());
        let back = thread::spawn(move || {
            moved.block_on(async {
                mvar.put(()).await;
                yield_now().await;
                yield_now().await;
            });
            moved
        });
        rt = Some(back.join().unwrap());
    }
    let rt = rt.unwrap();
    let threads = rt.block_on(async {
        mvar.put(()).await;
        task.await.unwrap()
    });
    assert_eq!(threads.len(), 5);
    let others = threads
        .iter()
        .filter(|id| **id != thread::current().id())
        .count();
    assert!(others >= 3, "{threads:?}");
}

/// Two threads cannot run at once: the second is told so, or waits without running.
#[test]
fn one_thread_runs_at_a_time() {
    let rt = Arc::new(runtime());
    let (barrier, stop) = (Arc::new(Barrier::new(2)), Arc::new(AtomicBool::new(false)));
    let runner = thread::spawn({
        let (rt, barrier, stop) = (rt.clone(), barrier.clone(), stop.clone());
        move || {
            rt.block_on(async {
                barrier.wait();
                while !stop.load(Ordering::SeqCst) {
                    yield_now().await;
                }
            });
        }
    });
    barrier.wait();
    let (message, mvar) = panic_of(|| rt.block_on(async {}));
    assert!(message.contains("another thread is running"), "{message}");
    assert!(mvar.contains("threads.rs"), "the caller is named: {mvar}");
    // A task still gets done for this thread, by the other one.
    assert_eq!(rt.spawn(async { 5 }).wait().unwrap(), 5);
    stop.store(true, Ordering::SeqCst);
    runner.join().unwrap();
    assert_eq!(rt.block_on(async { 6 }), 6);
}

/// What a thread waits for is woken although the runner stops running just then.
#[test]
fn the_runner_leaves_while_others_wait() {
    for round in 0..300 {
        let rt = Arc::new(runtime());
        let barrier = Arc::new(Barrier::new(2));
        let waiter = thread::spawn({
            let (rt, barrier) = (rt.clone(), barrier.clone());
            move || {
                barrier.wait();
                rt.spawn(async move { round }).wait().unwrap()
            }
        });
        rt.block_on(async {
            barrier.wait();
            for _ in 0..round % 7 {
                yield_now().await;
            }
        });
        // The owner waits for the thread by way of a mvar, so it runs until the thread is done.
        let done = Arc::new(MVar::empty());
        let joiner = thread::spawn({
            let done = done.clone();
            move || done.put(waiter.join().unwrap()).wait()
        });
        assert_eq!(done.take().wait(), round);
        joiner.join().unwrap();
    }
}

/// Many threads wake, spawn, join and abort at once.
#[test]
fn many_threads_at_once() {
    const THREADS: usize = 8;
    let (rt, sum) = (Arc::new(runtime()), Arc::new(AtomicUsize::new(0)));
    let left = Arc::new(AtomicUsize::new(THREADS));
    let mvar = Arc::new(MVar::new(0_usize));
    let over = Arc::new(MVar::empty());
    for thread in 0..THREADS {
        let (rt, sum, mvar) = (rt.clone(), sum.clone(), mvar.clone());
        let (left, over) = (left.clone(), over.clone());
        thread::spawn(move || {
            for round in 0..200 {
                let (sum, mvar) = (sum.clone(), mvar.clone());
                let task = rt.spawn(async move {
                    let value = mvar.take().await;
                    mvar.put(value + 1).await;
                    sum.fetch_add(1, Ordering::SeqCst);
                });
                match (thread + round) % 4 {
                    0 => drop(task),
                    1 => {
                        rt.spawn(std::future::pending::<()>()).abort();
                        task.wait().unwrap();
                    }
                    _ => task.wait().unwrap(),
                }
            }
            drop(rt);
            if left.fetch_sub(1, Ordering::SeqCst) == 1 {
                over.put(()).wait();
            }
        });
    }
    over.take().wait();
    // The detached ones come to their end too.
    while sum.load(Ordering::SeqCst) < THREADS * 200 {
        rt.block_on(yield_now());
    }
    assert_eq!(mvar.try_take(), Some(THREADS * 200));
}

/// The waker of a wait's first poll is used by another thread at that moment, and its clones when the wait is over: the
/// next wait of the thread has its own wakes all the same.
#[test]
fn the_waker_of_a_first_poll_goes_elsewhere() {
    use std::future::poll_fn;
    use std::task::Poll;
    for by_clone in [true, false] {
        let mut kept = Vec::new();
        for _ in 0..100 {
            let mut polls = 0;
            poll_fn(|cx| {
                polls += 1;
                if polls > 1 {
                    return Poll::Ready(());
                }
                let waker = cx.waker();
                thread::scope(|scope| {
                    let clones = scope.spawn(|| {
                        if !by_clone {
                            waker.wake_by_ref();
                        }
                        waker.clone()
                    });
                    kept.push(waker.clone());
                    let clone = clones.join().expect("no panic");
                    assert!(clone.will_wake(&kept[kept.len() - 1]));
                    if by_clone {
                        clone.wake();
                    }
                });
                Poll::Pending
            })
            .wait();
            assert_eq!(polls, 2);
        }
        let late = thread::spawn(move || kept.into_iter().for_each(std::task::Waker::wake));
        let (mut tx, mut rx) = gossamer::channel::spsc(1);
        let sends = thread::spawn(move || tx.send(1).wait());
        assert_eq!(rx.recv().wait(), Ok(1));
        assert_eq!(sends.join().expect("no panic"), Ok(()));
        late.join().expect("no panic");
    }
}

/// Another thread is the first to ask for the waker of a wait, in the first poll, and a third one calls it: this thread is
/// woken.
#[test]
fn the_waker_of_a_first_poll_is_taken_elsewhere() {
    use std::future::poll_fn;
    use std::task::{Poll, Waker};
    let (hand, handed) = std::sync::mpsc::channel::<Waker>();
    let wakes = thread::spawn(move || handed.into_iter().for_each(Waker::wake));
    for _ in 0..100 {
        let mut polls = 0;
        poll_fn(|cx| {
            polls += 1;
            if polls > 1 {
                return Poll::Ready(());
            }
            let waker = cx.waker();
            let taken = thread::scope(|scope| scope.spawn(|| waker.clone()).join());
            hand.send(taken.expect("no panic")).expect("it listens");
            Poll::Pending
        })
        .wait();
    }
    drop(hand);
    wakes.join().expect("no panic");
}

/// Nobody runs its tasks any more, unless somebody calls `block_on`.
#[test]
fn a_wait_for_a_task_whose_runtime_lost_its_thread() {
    crate::models::watched("alone", || {
        let rt = thread::spawn(runtime).join().expect("no panic");
        let rt = Arc::new(rt);
        // As long as somebody runs, be it late and rarely, one may wait.
        let (run, alone) = (
            rt.spawn(async { 1 }),
            rt.spawn(std::future::pending::<()>()),
        );
        let waits = thread::spawn(move || run.wait());
        let looks = thread::spawn(move || alone.wait());
        while !waits.is_finished() {
            rt.block_on(yield_now());
        }
        assert_eq!(waits.join().expect("no panic").expect("it has run"), 1);
        let payload = looks.join().map(drop).expect_err("nobody runs it");
        let text = payload.downcast_ref::<String>().expect("a text");
        assert!(text.contains("threads.rs:"), "{text}");
        assert!(text.contains("a task that nobody runs"), "{text}");
        assert!(text.contains("call block_on()"), "{text}");
    });
}
