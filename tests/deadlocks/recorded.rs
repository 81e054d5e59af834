//! The same where it is recorded since when each waits, and who holds a lock.

use std::sync::Arc;
use std::thread::sleep as rest;
use std::time::{Duration, Instant};

use gossamer::runtime::{Dump, Waiter, WaiterKind, WaitsFor};
use gossamer::sync::{Barrier, Mutex, RwLock, RwLockWriteGuard};
use gossamer::time::sleep as later;
use gossamer::{Wait, channel, spawn};

use crate::programs::Ends::{Deadlock, Returns};
use crate::programs::{A_WHILE, Program, programs};

/// The first of that name.
fn named<'a>(dump: &'a Dump, name: &str) -> Option<&'a Waiter> {
    let mut all = dump.waiters().iter();
    all.find(|waiter| waiter.name.as_deref() == Some(name))
}

/// How long it has waited, if it waits.
fn waited(dump: &Dump, name: &str) -> Option<Duration> {
    let waiter = named(dump, name)?;
    waiter.waited.filter(|_| !waiter.waits_for.is_empty())
}

programs! { pub(crate) RECORDED
    locks_crossed_by: Deadlock(&[
        "for Mutex::lock on Mutex #1", "held by task 0", "held by task 1 `other`",
        "\na circle: task 0, which waits for task 1 `other`, which waits for task 0",
    ]), |rt| {
        rt.try_block_on(async {
            let locks = Arc::new([Mutex::new(()), Mutex::new(())]);
            let both = Arc::new(Barrier::new(2));
            let (theirs, they) = (locks.clone(), both.clone());
            let task = rt.task().name("other").spawn(async move {
                let _first = theirs[1].lock().await;
                they.arrive().await;
                let _second = theirs[0].lock().await;
            });
            let _first = locks[0].lock().await;
            both.arrive().await;
            let _second = locks[1].lock().await;
            let _ended = task.await;
        })
    };
    fibers_cross_locks: Deadlock(&["held by fiber", "a circle: fiber"]), |rt| {
        let locks = Arc::new([Mutex::new(()), Mutex::new(())]);
        let both = Arc::new(Barrier::new(2));
        let fibers = [0, 1].map(|first| {
            let (locks, both) = (locks.clone(), both.clone());
            rt.spawn_fiber(move || {
                let _first = locks[first].lock().wait();
                both.arrive().wait();
                let _second = locks[1 - first].lock().wait();
            })
        });
        rt.try_block_on(async {
            for fiber in fibers {
                let _ended = fiber.await;
            }
        })
    };
    lock_taken_twice_by: Deadlock(&["has waited ", "held by task 0", "a circle: task 0, which waits for task 0"]), |rt| {
        rt.try_block_on(async {
            let lock = Mutex::new(());
            let _first = lock.lock().await;
            let _second = lock.lock().await;
        })
    };
    the_last_holder: Deadlock(&["held by task", "`second`\n"]), |rt| {
        // Others have held it before, one of them after it had waited.
        let lock = Arc::new(Mutex::new(()));
        drop(lock.try_lock());
        let (mine, theirs) = (lock.clone(), lock.clone());
        let (tx, rx) = channel::bounded::<()>(1);
        let held = lock.lock().wait();
        let first = rt.task().name("first").spawn(async move { drop(theirs.lock().await) });
        rt.block_on(later(A_WHILE / 40));
        drop(held);
        rt.block_on(async { first.await.expect("it ends") });
        let second = rt.task().name("second").spawn(async move {
            let _held = mine.lock().await;
            let _received = rx.recv().await;
        });
        rt.try_block_on(async move {
            later(A_WHILE / 40).await;
            let _held = lock.lock().await;
            drop(tx);
            let _ended = second.await;
        })
    };
    a_writer_holds_it: Deadlock(&["RwLock::read on RwLock #", "held by task", "`writer`\n"]), |rt| {
        let lock = Arc::new(RwLock::new(()));
        let both = Arc::new(Barrier::new(2));
        let (theirs, they) = (lock.clone(), both.clone());
        let writer = rt.task().name("writer").spawn(async move {
            let _held = theirs.write().await;
            they.arrive().await;
            std::future::pending::<()>().await;
        });
        rt.try_block_on(async move {
            both.arrive().await;
            drop(lock.read().await);
            drop(writer);
        })
    };
    the_writer_reads: Deadlock(&["RwLock::write on RwLock #", "held by whom is not recorded\n"]), |rt| {
        rt.try_block_on(async {
            let lock = Arc::new(RwLock::new(()));
            let reads = RwLockWriteGuard::downgrade(lock.write().await);
            let theirs = lock.clone();
            let _ended = spawn(async move { drop(theirs.write().await) }).await;
            drop(reads);
        })
    };
    how_long: Returns, |rt| {
        let (tx, rx) = channel::unbounded::<u32>();
        let began = Instant::now();
        let task = rt.task().name("reader").spawn(async move { while rx.recv().await.is_ok() {} });
        // A runtime of this thread runs while that waits: so another thread dumps.
        let dump_when = |is_so: &(dyn Fn(Duration) -> bool + Sync)| std::thread::scope(|threads| {
            let dumping = threads.spawn(|| loop {
                rest(A_WHILE / 40);
                if let Some(waited) = waited(&rt.dump(), "reader").filter(|waited| is_so(*waited)) {
                    break waited;
                }
            });
            while !dumping.is_finished() {
                rt.block_on(later(A_WHILE / 400));
            }
            dumping.join().expect("no panic")
        });
        rt.block_on(later(A_WHILE / 4));
        let first = dump_when(&|waited| waited >= A_WHILE / 8);
        // Those who asked did not begin its wait anew.
        let more = dump_when(&|waited| waited > first);
        assert!(more <= began.elapsed() * 11 / 10, "{more:?}");
        // A message does.
        let sent = Instant::now();
        tx.send(1).wait().expect("it lives");
        dump_when(&|waited| waited <= sent.elapsed() * 11 / 10);
        drop(tx);
        rt.block_on(async { task.await.expect("it ends") });
        Ok(())
    };
    asked_before_it_runs: Returns, |rt| {
        // A runtime of this thread does not run in a dump: its task is polled afterwards, and has waited on, or not.
        let (tx, rx) = channel::unbounded::<u32>();
        let task = rt.task().name("reader").spawn(async move { while rx.recv().await.is_ok() {} });
        let since = || rt.dump().waiters().iter().find_map(|waiter| waiter.waited);
        let run = || rt.block_on(later(A_WHILE / 40));
        while since().is_none() {
            run();
        }
        rest(A_WHILE / 8);
        run();
        assert!(since() >= Some(A_WHILE / 8), "{:?}", since());
        let sent = Instant::now();
        tx.send(1).wait().expect("it lives");
        while since() > Some(sent.elapsed() * 11 / 10) {
            run();
        }
        drop(tx);
        rt.block_on(async { task.await.expect("it ends") });
        Ok(())
    };
    how_long_a_thread: Returns, |rt| {
        let (tx, rx) = channel::unbounded::<u32>();
        let thread = std::thread::Builder::new().name("waits".into()).spawn(move || while rx.recv().wait().is_ok() {});
        let first = loop {
            rest(A_WHILE / 8);
            if let Some(waited) = waited(&rt.dump(), "waits") {
                break waited;
            }
        };
        rest(A_WHILE / 8);
        let dump = rt.dump();
        let waiter = named(&dump, "waits").expect("it waits still");
        assert_eq!(waiter.kind, WaiterKind::Thread);
        assert!(matches!(waiter.waits_for[0], WaitsFor::Operation { name: "Receiver::recv", .. }));
        assert!(waiter.waited >= Some(first + A_WHILE / 10), "{first:?}, then {:?}", waiter.waited);
        drop(tx);
        thread.expect("a thread").join().expect("no panic");
        Ok(())
    };
}
