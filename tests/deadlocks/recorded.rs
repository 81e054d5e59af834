//! The same where it is recorded since when each waits, and who holds a lock.

use std::future::{pending, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::thread::sleep as rest;
use std::time::{Duration, Instant};

use gossamer::runtime::{Dump, Stopped, Waiter, WaiterKind, WaitsFor};
use gossamer::sync::{Barrier, FairMutex, Mutex, RwLock, RwLockWriteGuard, Semaphore};
use gossamer::time::sleep as later;
use gossamer::{Runtime, Wait, channel, spawn};

use crate::programs::Ends::{Deadlock, Returns};
use crate::programs::{A_WHILE, Program, cross_locks, lock_twice, programs};

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

/// Dumps until `find` finds something.
fn dump_when<T: Send>(rt: &Runtime, find: impl Fn(&Dump) -> Option<T> + Sync) -> T {
    // A runtime of this thread runs while that waits: so another thread dumps.
    std::thread::scope(|threads| {
        let dumping = threads.spawn(|| {
            loop {
                rest(A_WHILE / 40);
                if let Some(found) = find(&rt.dump()) {
                    break found;
                }
            }
        });
        while !dumping.is_finished() {
            rt.block_on(later(A_WHILE / 400));
        }
        dumping.join().expect("no panic")
    })
}

/// Nobody is said to wait for itself.
fn no_circle<T>(ran: Result<T, Stopped>) -> Result<T, Stopped> {
    if let Err(Stopped::Deadlock(deadlock)) = &ran {
        assert_eq!(deadlock.dump().circle(), [0; 0], "{deadlock}");
    }
    ran
}

/// A lock that its holder leaves is granted to a future that nobody polls any more, and others wait for it.
macro_rules! granted_to_nobody {
    ($lock:ident, $take:ident) => {
        |rt| {
            let lock = Arc::new($lock::new(()));
            let (theirs, both) = (lock.clone(), Arc::new(Barrier::new(2)));
            let they = both.clone();
            let former = rt.spawn(async move {
                let held = theirs.$take().await;
                they.arrive().await;
                they.arrive().await;
                drop(held);
                pending::<()>().await;
            });
            let ran = rt.try_block_on(async move {
                both.arrive().await;
                // It is granted to a future that nobody polls any more.
                let mut granted = pin!(lock.$take());
                let polled = poll_fn(|cx| Poll::Ready(granted.as_mut().poll(cx).is_pending()));
                assert!(polled.await, "it has to wait");
                both.arrive().await;
                drop(lock.$take().await);
            });
            drop(former);
            no_circle(ran)
        }
    };
}

programs! { pub(crate) RECORDED
    locks_crossed_by: Deadlock(&[
        "for Mutex::lock on Mutex #1", "held by task 0", "held by task 1 `other`",
        "\na circle: task 0, which waits for task 1 `other`, which waits for task 0",
    ]), cross_locks;
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
    lock_taken_twice_by: Deadlock(&["has waited ", "held by task 0", "a circle: task 0, which waits for task 0"]), lock_twice;
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
            pending::<()>().await;
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
    what_was_a_lock: Deadlock(&["Semaphore::acquire on Semaphore #1"]), |rt| {
        let ran = rt.try_block_on(async {
            let lock = Box::new(Mutex::new(()));
            drop(lock.lock().await);
            drop(lock);
            // In its place.
            let semaphore = Box::new(Semaphore::new(0));
            drop(semaphore.acquire().await);
        });
        no_circle(ran)
    };
    a_guard_was_passed_on: Deadlock(&["Mutex::lock on Mutex #1", "held by one that is not here"]), |rt| {
        // The second task is where the first was, mostly.
        let ran = rt.try_block_on(async {
            let (lock, kept) = (Arc::new(Mutex::new(())), Arc::new(std::sync::Mutex::new(None)));
            for _ in 0..2 {
                let (lock, kept) = (lock.clone(), kept.clone());
                let _ended = spawn(async move {
                    let held = lock.lock_owned().await;
                    *kept.lock().expect("no panic") = Some(held);
                }).await;
            }
        });
        no_circle(ran)
    };
    a_holder_left: Deadlock(&["FairMutex::lock on FairMutex #1", "held by whom is not recorded"]), granted_to_nobody!(FairMutex, lock);
    a_writer_left: Deadlock(&["RwLock::write on RwLock #1", "held by whom is not recorded"]), granted_to_nobody!(RwLock, write);
    a_thread_that_is_not_ours: Returns, |rt| {
        let lock = Arc::new(RwLock::new(()));
        let (theirs, mine) = (lock.clone(), lock.clone());
        let former = rt.task().name("former").spawn(async move {
            drop(mine.write().await);
            pending::<()>().await;
        });
        let (tell, told) = std::sync::mpsc::channel();
        let (end, ended) = std::sync::mpsc::channel::<()>();
        rt.block_on(later(A_WHILE / 40));
        let thread = std::thread::spawn(move || {
            let _held = theirs.write().wait();
            tell.send(()).expect("it is received");
            let _ended = ended.recv();
        });
        told.recv().expect("it is sent");
        let waits = rt.task().name("waits").spawn(async move { drop(lock.write().await) });
        dump_when(rt, |dump| match named(dump, "waits")?.waits_for.first()? {
            WaitsFor::Operation { held_by, .. } => {
                assert_eq!(*held_by, None);
                Some(())
            }
            _ => None,
        });
        drop((end, former));
        thread.join().expect("no panic");
        rt.block_on(async { waits.await.expect("it ends") });
        Ok(())
    };
    a_new_wait_begins: Returns, |rt| {
        // The message comes after it was asked, and before it runs: then it waits for something else.
        let (tx, rx) = channel::unbounded::<u32>();
        let task = rt.task().name("sleeps").spawn(async move {
            let _received = rx.recv().await;
            later(A_WHILE * 100).await;
        });
        rt.block_on(later(A_WHILE / 40));
        rest(A_WHILE / 2);
        drop(rt.dump());
        let sent = Instant::now();
        tx.send(1).wait().expect("it lives");
        let is_sleep = |what: &WaitsFor| matches!(what, WaitsFor::Operation { name: "sleep::ends", .. });
        let waited = dump_when(rt, |dump| {
            let waiter = named(dump, "sleeps")?;
            waiter.waited.filter(|_| waiter.waits_for.iter().any(is_sleep))
        });
        assert!(waited <= sent.elapsed() * 11 / 10, "{waited:?}");
        task.abort();
        Ok(())
    };
    a_thread_that_joins: Returns, |rt| {
        // Such a one looks around every second.
        let (tx, rx) = channel::unbounded::<u32>();
        let task = rt.spawn(async move { while rx.recv().await.is_ok() {} });
        rt.block_on(later(A_WHILE / 40));
        let joins = std::thread::Builder::new().name("joins".into());
        let thread = joins.spawn(move || task.wait()).expect("a thread");
        rest(A_WHILE / 4 * 11);
        let waited = dump_when(rt, |dump| named(dump, "joins")?.waited);
        assert!(waited >= A_WHILE / 4 * 10, "{waited:?}");
        drop(tx);
        while !thread.is_finished() {
            rt.block_on(later(A_WHILE / 40));
        }
        thread.join().expect("no panic").expect("it ends");
        Ok(())
    };
    a_suspicion: Returns, |rt| {
        // While anybody runs, who waits in a circle is only suspected to wait for ever.
        let locks = Arc::new([Mutex::new(()), Mutex::new(())]);
        let both = Arc::new(Barrier::new(2));
        let tasks = [0, 1].map(|first| {
            let (locks, both) = (locks.clone(), both.clone());
            rt.task().name(["left", "right"][first]).spawn(async move {
                let _first = locks[first].lock().await;
                both.arrive().await;
                let _second = locks[1 - first].lock().await;
            })
        });
        dump_when(rt, |dump| {
            let text = dump.to_string();
            let last = text.lines().last().filter(|last| last.contains("suspected deadlock, a circle: task"))?;
            assert!(last.contains("`left`, which waits for ") && last.contains("`right`, which waits for "));
            Some(())
        });
        tasks[0].abort();
        Ok(())
    };
    how_long: Returns, |rt| {
        let (tx, rx) = channel::unbounded::<u32>();
        let began = Instant::now();
        let task = rt.task().name("reader").spawn(async move { while rx.recv().await.is_ok() {} });
        let dump_when = |is_so: &(dyn Fn(Duration) -> bool + Sync)| {
            dump_when(rt, |dump| waited(dump, "reader").filter(|waited| is_so(*waited)))
        };
        rt.block_on(later(A_WHILE / 4));
        let first = dump_when(&|waited| waited >= A_WHILE / 8);
        // Those who asked did not begin its wait anew.
        let more = dump_when(&|_| true);
        assert!(more > first && more <= began.elapsed() * 11 / 10, "{first:?}, then {more:?}");
        // A message does.
        let sent = Instant::now();
        tx.send(1).wait().expect("it lives");
        dump_when(&|waited| waited <= sent.elapsed() * 11 / 10);
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
