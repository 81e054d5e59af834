//! Programs that deadlock, and some that look as if they did.

use std::sync::Arc;
use std::thread::sleep as rest;
use std::time::Duration;

use gossamer::runtime::Stopped;
use gossamer::sync::{Barrier, Condvar, Event, MVar, Mutex, RwLock, Semaphore};
use gossamer::time::sleep as later;
use gossamer::{JoinSet, Runtime, Wait, blocking, channel, select, spawn};

/// A program, and how it is to end.
pub(crate) struct Program {
    pub(crate) name: &'static str,
    pub(crate) ends: Ends,
    pub(crate) run: fn(&Runtime) -> Result<(), Stopped>,
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Ends {
    /// It deadlocks, and the report has these words.
    Deadlock(&'static [&'static str]),
    Returns,
    /// It returns, and has said these words.
    Says(&'static [&'static str]),
}
use Ends::{Deadlock, Returns, Says};

/// Longer than it takes to find a deadlock.
pub(crate) const A_WHILE: Duration = Duration::from_millis(400);

/// Declares a list of programs.
macro_rules! programs {
    ($vis:vis $list:ident $($name:ident: $ends:expr, $run:expr;)*) => {
        $vis const $list: &[Program] = &[$(Program {
            name: stringify!($name),
            ends: $ends,
            run: $run,
        }),*];
    };
}
pub(crate) use programs;

/// Two tasks take two locks, each in its own order.
pub(crate) fn cross_locks(rt: &Runtime) -> Result<(), Stopped> {
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
}

/// A task takes a lock that it has.
pub(crate) fn lock_twice(rt: &Runtime) -> Result<(), Stopped> {
    rt.try_block_on(async {
        let lock = Mutex::new(());
        let _first = lock.lock().await;
        let _second = lock.lock().await;
    })
}

programs! { pub(crate) PROGRAMS
    locks_crossed: Deadlock(&["waits for Mutex::lock on Mutex #1", "waits for Mutex::lock on Mutex #2"]), cross_locks;
    lock_taken_twice: Deadlock(&["waits for Mutex::lock"]), lock_twice;
    guard_forgotten: Deadlock(&["waits for Mutex::lock", "waits for the end of task"]), |rt| {
        rt.try_block_on(async {
            let lock = Arc::new(Mutex::new(()));
            std::mem::forget(lock.clone().lock_owned().await);
            let _ended = spawn(async move { drop(lock.lock().await) }).await;
        })
    };
    read_write_read: Deadlock(&["RwLock::read", "RwLock::write"]), |rt| {
        rt.try_block_on(async {
            let lock = Arc::new(RwLock::new(()));
            let first = lock.read().await;
            let theirs = lock.clone();
            let writer = spawn(async move { drop(theirs.write().await) });
            // The writer is in line, and those who read wait behind it.
            while lock.try_read().is_ok() {
                gossamer::yield_now().await;
            }
            let second = lock.read().await;
            drop((first, second));
            let _ended = writer.await;
        })
    };
    send_without_receiver: Deadlock(&["Sender::send"]), |rt| {
        rt.try_block_on(async {
            let (tx, rx) = channel::bounded(1);
            for message in 0..3 {
                let _sent = tx.send(message).await;
            }
            drop(rx);
        })
    };
    sender_lives_on: Deadlock(&["`reader`", "Receiver::recv"]), |rt| {
        let (tx, rx) = channel::bounded::<u32>(4);
        let reader = rt.task().name("reader").spawn(async move { while rx.recv().await.is_ok() {} });
        rt.try_block_on(async move {
            let _sent = tx.send(1).await;
            let _ended = reader.await;
        })
    };
    lock_and_channel: Deadlock(&["Mutex::lock", "Sender::send"]), |rt| {
        rt.try_block_on(async {
            let (tx, rx) = channel::bounded(1);
            let lock = Arc::new(Mutex::new(()));
            let theirs = lock.clone();
            let held = lock.lock().await;
            let reader = spawn(async move {
                let _held = theirs.lock().await;
                rx.recv().await
            });
            for message in 0..3 {
                let _sent = tx.send(message).await;
            }
            drop(held);
            let _ended = reader.await;
        })
    };
    two_channels_crossed: Deadlock(&["Receiver #1", "Receiver #2"]), |rt| {
        rt.try_block_on(async {
            let ((tx, rx), (answer, answered)) = (channel::bounded::<u32>(1), channel::bounded::<u32>(1));
            let task = spawn(async move {
                let _asked = rx.recv().await;
                let _sent = answer.send(2).await;
            });
            let _answered = answered.recv().await;
            let _sent = tx.send(1).await;
            let _ended = task.await;
        })
    };
    signal_missed: Deadlock(&["Condvar::notified"]), |rt| {
        rt.try_block_on(async {
            let (lock, called) = (Mutex::new(false), Condvar::new());
            called.notify_one();
            let _held = called.notified(lock.lock().await).await;
        })
    };
    event_never_set: Deadlock(&["Event::ready", "or for", "Receiver::recv"]), |rt| {
        rt.try_block_on(async {
            let event = Event::new();
            let (tx, rx) = channel::bounded::<u32>(1);
            select! {
                () = event.ready() => {},
                _ = rx.recv() => {},
            }
            drop(tx);
        })
    };
    permits_short: Deadlock(&["Semaphore::acquire"]), |rt| {
        rt.try_block_on(async {
            let permits = Semaphore::new(1);
            let _first = permits.acquire().await;
            let _second = permits.acquire().await;
        })
    };
    one_too_few: Deadlock(&["Barrier::arrive", "JoinSet::join_next"]), |rt| {
        rt.try_block_on(async {
            let barrier = Arc::new(Barrier::new(3));
            let mut members = JoinSet::new();
            for _ in 0..2 {
                let barrier = barrier.clone();
                members.spawn(async move { barrier.arrive().await });
            }
            while members.join_next().await.is_some() {}
        })
    };
    tasks_join_each_other: Deadlock(&["a circle: task", "waits for the end of task"]), |rt| {
        rt.try_block_on(async {
            let place = Arc::new(MVar::empty());
            let from = place.clone();
            let first = spawn(async move {
                let second: gossamer::JoinHandle<()> = from.take().await;
                let _ended = second.await;
            });
            let second = spawn(async move { drop(first.await) });
            place.put(second).await;
            std::future::pending::<()>().await;
        })
    };
    one_shot_kept: Deadlock(&["oneshot::recv"]), |rt| {
        let (tx, rx) = channel::oneshot::<u32>();
        let ran = rt.try_block_on(async move { let _never = rx.await; });
        drop(tx);
        ran
    };
    fiber_waits: Deadlock(&["fiber", "waits for MVar::take"]), |rt| {
        let place = Arc::new(MVar::<u32>::empty());
        let theirs = place.clone();
        let fiber = rt.spawn_fiber(move || theirs.take().wait());
        rt.try_block_on(async move { let _ended = fiber.await; })
    };
    threads_wait: Deadlock(&["thread", "`other`", "waits for MVar::take", "waits for Mutex::lock"]), |rt| {
        let (place, lock) = (Arc::new(MVar::<u32>::empty()), Arc::new(Mutex::new(())));
        let (theirs, locked) = (place.clone(), lock.clone());
        let thread = rt.task().name("other").spawn_thread(move || {
            let _held = locked.lock().wait();
            theirs.take().wait()
        });
        rt.try_block_on(async move {
            while lock.try_lock().is_ok() {
                gossamer::yield_now().await;
            }
            let _held = lock.lock().await;
            place.put(1).await;
            let _ended = thread.await;
        })
    };
    thread_ends_last: Deadlock(&["waits for Receiver::recv"]), |rt| {
        let (tx, rx) = channel::bounded::<u32>(1);
        let thread = std::thread::spawn(move || {
            // It has slept, and so is known.
            later(A_WHILE / 40).wait();
            rest(A_WHILE);
            std::mem::forget(tx);
        });
        let ran = rt.try_block_on(async move { let _received = rx.recv().await; });
        drop(thread);
        ran
    };

    a_timer: Returns, |rt| rt.try_block_on(later(A_WHILE));
    a_timer_of_a_thread: Returns, |rt| {
        let place = Arc::new(MVar::empty());
        let theirs = place.clone();
        let thread = rt.spawn_thread(move || {
            later(A_WHILE).wait();
            theirs.put(1).wait();
        });
        place.take().wait();
        drop(thread);
        Ok(())
    };
    a_foreign_thread: Returns, |rt| {
        let (tx, rx) = channel::bounded(1);
        std::thread::spawn(move || {
            rest(A_WHILE);
            let _sent = tx.send(1).wait();
        });
        rt.try_block_on(async move { let _received = rx.recv().await; })
    };
    a_call_that_blocks: Returns, |rt| {
        rt.try_block_on(async {
            blocking(|| rest(A_WHILE)).await;
        })
    };
    a_computation: Returns, |rt| {
        let place = Arc::new(MVar::empty());
        let theirs = place.clone();
        let task = rt.spawn(async move {
            rest(A_WHILE);
            theirs.put(1).await;
        });
        place.take().wait();
        drop(task);
        Ok(())
    };
    there_and_back: Returns, |rt| {
        let (there, back) = (Arc::new(MVar::empty()), Arc::new(MVar::empty()));
        let (from, to) = (there.clone(), back.clone());
        let thread = rt.spawn_thread(move || {
            for _ in 0..20_000 {
                let number: u32 = from.take().wait();
                to.put(number).wait();
            }
        });
        rt.try_block_on(async move {
            for number in 0..20_000 {
                there.put(number).await;
                assert_eq!(back.take().await, number);
            }
            drop(thread.await);
        })
    };
    a_scope_of_threads: Returns, |rt| {
        rt.try_block_on(async {
            let sum: Vec<_> = (0..4).map(|number| spawn(async move { later(A_WHILE / 4).await; number })).collect();
            for task in sum {
                let _number = task.await;
            }
        })
    };
    a_dump: Returns, |rt| {
        let (place, lock) = (Arc::new(MVar::<u32>::empty()), Arc::new(Mutex::new(())));
        let held = lock.lock().wait();
        let (theirs, locked) = (place.clone(), lock.clone());
        let fiber = rt.task().name("fibre").spawn_fiber(move || theirs.take().wait());
        let task = rt.task().name("locks").spawn(async move {
            let _held = locked.lock().await;
            fiber.await
        });
        let timer = rt.task().name("sleeps").spawn(later(A_WHILE));
        let (ask, asked) = channel::bounded::<u32>(1);
        let dumps = rt.spawn_thread(move || asked.recv().wait());
        // A runtime of this thread runs while it waits; so another thread dumps.
        let dumped = std::thread::scope(|threads| {
            let dumping = threads.spawn(|| {
                loop {
                    let dump = rt.dump();
                    let text = dump.to_string();
                    let whole = [
                        "`fibre`, spawned at", "waits for MVar::take on MVar #",
                        "`locks`, spawned at", "waits for Mutex::lock on Mutex #",
                        "`sleeps`, spawned at", "waits for sleep::ends on sleep #",
                        "waits for Receiver::recv on Receiver #",
                    ];
                    if whole.iter().all(|part| text.contains(part)) {
                        return dump;
                    }
                }
            });
            rt.block_on(later(A_WHILE / 2));
            while !dumping.is_finished() {
                rt.block_on(later(A_WHILE / 40));
            }
            dumping.join().expect("no panic")
        });
        let json = dumped.to_json();
        assert!(json.contains(r#""name":"locks""#) && json.contains(r#""operation":"Mutex::lock""#), "{json}");
        assert_eq!(dumped.circle(), [0; 0]);
        drop((held, ask, dumps, timer));
        place.put(1).wait();
        let _ended = task.wait();
        Ok(())
    };
    a_dump_while_others_compute: Returns, |rt| {
        let going = Arc::new(std::sync::atomic::AtomicBool::new(true));
        let theirs = going.clone();
        let task = rt.spawn(async move {
            // Relaxed: nothing else is read.
            while theirs.load(std::sync::atomic::Ordering::Relaxed) {}
        });
        let thread = {
            let going = going.clone();
            let dump = rt.dump();
            rt.spawn_thread(move || {
                rest(A_WHILE);
                // Relaxed: as above.
                going.store(false, std::sync::atomic::Ordering::Relaxed);
                dump.waiters().len()
            })
        };
        let _ended = task.wait();
        let _ended = thread.wait();
        Ok(())
    };
    quit: Says(&["gossamer: SIGQUIT: who waits for what"]), |_| {
        let this = rustix::process::getpid();
        rustix::process::kill_process(this, rustix::process::Signal::QUIT).expect("a signal for this process");
        rest(A_WHILE);
        Ok(())
    };
    ready_when_polled_once_more: Returns, |rt| {
        // Nobody wakes it, but to be asked.
        let mut polls = 0;
        rt.try_block_on(std::future::poll_fn(move |_| {
            polls += 1;
            if polls > 1 { std::task::Poll::Ready(()) } else { std::task::Poll::Pending }
        }))
    };
    many_tasks: Deadlock(&["Event::ready on Event #"]), |rt| {
        let event = Arc::new(Event::new());
        let tasks: Vec<_> = (0..3_000).map(|_| {
            let event = event.clone();
            rt.spawn(async move { event.ready().await })
        }).collect();
        let ran = rt.try_block_on(async move {
            for task in tasks {
                let _ended = task.await;
            }
        });
        if let Err(Stopped::Deadlock(deadlock)) = &ran {
            let told = deadlock.dump().waiters().iter();
            assert_eq!(told.filter(|waiter| waiter.waits_for.len() == 1).count(), 3_001);
        }
        ran
    };
    a_thread_waits_for_a_task: Deadlock(&["waits for the end of task"]), |rt| {
        let place = Arc::new(MVar::<u32>::empty());
        let theirs = place.clone();
        let task = rt.spawn(async move { theirs.take().await });
        let (tx, rx) = channel::bounded::<u32>(1);
        let thread = rt.spawn_thread(move || {
            let _ended = task.wait();
            tx.send(1).wait()
        });
        let ran = rt.try_block_on(async move { let _received = rx.recv().await; });
        drop(thread);
        ran
    };
    nobody_looks: Returns, |_| {
        let quiet = Runtime::builder().without_deadlock_reports().build().expect("a runtime");
        let never = quiet.spawn(std::future::pending::<()>());
        let limited = gossamer::TimeoutExt::timeout(never, A_WHILE);
        assert!(quiet.block_on(limited).is_err());
        Ok(())
    };
    a_deadlock_is_left: Returns, |rt| {
        // What deadlocks is dropped, and the next goes on.
        let first = rt.try_block_on(std::future::pending::<()>());
        assert!(matches!(first, Err(Stopped::Deadlock(_))));
        let (one, other) = rt.try_block_on(async { (spawn(async { 1 }).await.ok(), spawn(async { 2 }).await.ok()) })?;
        assert_eq!((one, other), (Some(1), Some(2)));
        Ok(())
    };
}
