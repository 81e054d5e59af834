//! Which polls are taken for stuck, and what is told of them.

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use gossamer::{
    JoinError, JoinHandle, Model, Runtime, Wait, runtime::Hold, runtime::Stuck, yield_now,
};
use gossamer_core::panics;

use super::monitor::{pool, settles};
use super::watched;

/// A pool of one worker whose reports go to the one who holds the other end.
fn reporting() -> (Arc<Runtime>, mpsc::Receiver<Stuck>) {
    let (told, tells) = mpsc::channel();
    let rt = Runtime::builder()
        .model(Model::Pool { workers: 1 })
        .on_stuck(move |stuck| told.send(stuck.clone()).unwrap_or_default())
        .build()
        .expect("a runtime can be built");
    (Arc::new(rt), tells)
}

/// Has the one worker begin a poll that lasts as long as `hold`, which is given what the sender sends.
fn hold_up<T: Send + 'static>(
    rt: &Runtime,
    hold: impl FnOnce(mpsc::Receiver<()>) -> T + Send + 'static,
) -> (mpsc::Sender<()>, JoinHandle<T>) {
    let (open, opened) = mpsc::channel();
    let (begun, begins) = mpsc::channel();
    let stuck = rt.spawn(async move {
        begun.send(()).expect("somebody listens");
        hold(opened)
    });
    begins.recv().expect("it begins");
    (open, stuck)
}

/// Holds the one worker by `hold`, until a spare has run what waits.
fn held<T: Send + 'static>(
    rt: &Runtime,
    hold: impl FnOnce(mpsc::Receiver<()>) -> T + Send + 'static,
) -> Result<T, JoinError> {
    let (open, stuck) = hold_up(rt, hold);
    let free = rt.spawn(async move { open.send(()).expect("it waits") });
    free.wait().expect("no panic");
    let ended = stuck.wait();
    settles(rt, 1);
    ended
}

#[test]
fn of_one_spawn_site_one_is_told_and_then_their_number() {
    watched("told by site", || {
        let began = Instant::now();
        let (rt, tells) = reporting();
        for _ in 0..5 {
            held(&rt, |opened| opened.recv().expect("it is opened")).expect("no panic");
        }
        drop(rt);
        let told: Vec<_> = tells.iter().collect();
        let periods = began.elapsed().as_secs() / 10;
        assert!(told.len() as u64 <= 2 + periods, "{told:?}");
        assert_eq!(told[0].hold, Hold::Blocked);
        assert_eq!(told.iter().map(|told| 1 + told.more).sum::<u64>(), 5);
    });
}

#[test]
fn who_is_blocked_again_and_again_in_one_poll_is_found() {
    watched("short calls", || {
        let (rt, tells) = reporting();
        let wait = Duration::from_millis(1);
        held(
            &rt,
            move |opened| while opened.recv_timeout(wait).is_err() {},
        )
        .expect("no panic");
        drop(rt);
        assert_eq!(tells.iter().count(), 1);
    });
}

/// What takes long may have been the hook that reports it, say with a backtrace: to the runtime that is all the same.
#[test]
fn a_poll_that_ends_with_a_panic_is_not_told() {
    watched("panics", || {
        let (rt, tells) = reporting();
        let ended: Result<(), _> = held(&rt, |opened| {
            opened.recv().expect("it is opened");
            resume_unwind(Box::new("planned"))
        });
        assert!(ended.is_err_and(|error| error.is_panic()));
        // One that is caught in the midst of it, as that of a scope's child.
        held(&rt, |opened| {
            opened.recv().expect("it is opened");
            panics::swallow(Box::new("planned"));
        })
        .expect("no panic");
        drop(rt);
        assert_eq!(
            tells
                .iter()
                .map(|told| told.to_string())
                .collect::<Vec<_>>(),
            [""; 0]
        );
    });
}

/// Shutting down waits for such a poll, perhaps for ever, and then only the report says why; also if nothing else
/// waited.
#[test]
fn a_poll_that_the_end_waits_for_is_told_before() {
    watched("at the end", || {
        let (rt, tells) = reporting();
        let (open, stuck) = hold_up(&rt, |opened| opened.recv().expect("it is opened"));
        let end = thread::spawn(move || drop(rt));
        let told = tells.recv().expect("it is told");
        assert_eq!((told.worker, told.more), (0, 0));
        assert!(
            told.to_string().contains(": the runtime is shutting down"),
            "{told}"
        );
        open.send(()).expect("it waits");
        end.join().expect("no panic");
        stuck.wait().expect("no panic");
        assert!(tells.recv().is_err(), "it is told twice");
    });
}

/// Only five seconds count when the runtime ends: shutting down waits for each poll, and tasks that wait are dropped.
#[test]
fn a_short_poll_that_the_end_waits_for_is_not_told() {
    watched("a short poll at the end", || {
        let (rt, tells) = reporting();
        // One that has retired: whoever looks at its shard finds that it was called.
        rt.resize(2).wait().expect("two workers");
        rt.resize(1).wait().expect("one of them retires");
        let (open, stuck) = hold_up(&rt, |opened| opened.recv().expect("it is opened"));
        let end = thread::spawn(move || drop(rt));
        // So long the monitor needs to find it, a few times over.
        assert!(tells.recv_timeout(Duration::from_millis(500)).is_err());
        open.send(()).expect("it waits");
        end.join().expect("no panic");
        stuck.wait().expect("no panic");
        assert!(tells.recv().is_err(), "a short poll is told");
    });
}

/// A panic may be what takes long: that is known only when the poll has ended, which the monitor waits for.
#[test]
fn a_panic_is_not_told_when_the_runtime_ends_meanwhile() {
    watched("a panic at the end", || {
        let (rt, tells) = reporting();
        let (open, stuck) = hold_up(&rt, |opened| {
            opened.recv().expect("it is opened");
            resume_unwind(Box::new("planned"))
        });
        // Work has waited.
        rt.spawn(async {}).wait().expect("no panic");
        let rt = Arc::into_inner(rt).expect("nobody else has it");
        assert!(
            !rt.shutdown_timeout(Duration::ZERO),
            "it waits for the poll"
        );
        open.send(()).expect("it waits");
        let ended: Result<(), _> = stuck.wait();
        assert!(ended.is_err_and(|error| error.is_panic()));
        assert!(tells.recv().is_err(), "a panic is told as a stuck poll");
    });
}

/// CPU time that the calling thread has used.
fn cpu() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    let seconds = u64::try_from(time.tv_sec).expect("since it began");
    Duration::from_secs(seconds) + Duration::from_nanos(time.tv_nsec.unsigned_abs())
}

/// Eight workers that share one processor wait most of the time in the midst of a poll. Each is short, but longer than
/// a turn of a thread.
#[test]
fn workers_that_are_preempted_are_not_stuck() {
    watched("preempted", || {
        // What this thread starts inherits it.
        let allowed = rustix::thread::sched_getaffinity(None).expect("it can be asked");
        let first = (0..rustix::thread::CpuSet::MAX_CPU).find(|cpu| allowed.is_set(*cpu));
        let mut one = rustix::thread::CpuSet::new();
        one.set(first.expect("it runs somewhere"));
        rustix::thread::sched_setaffinity(None, &one).expect("it is allowed there");
        let (rt, tells) = pool(8);
        // A virtual machine that is itself preempted may count that as CPU time of the thread.
        let overran = Arc::new(AtomicU64::new(0));
        let tasks: Vec<_> = (0..16)
            .map(|_| {
                let overran = overran.clone();
                rt.spawn(async move {
                    for _ in 0..20 {
                        let began = cpu();
                        while cpu() - began < Duration::from_millis(5) {
                            std::hint::spin_loop();
                        }
                        if cpu() - began >= Duration::from_millis(8) {
                            overran.fetch_add(1, Ordering::Relaxed);
                        }
                        yield_now().await;
                    }
                })
            })
            .collect();
        for task in tasks {
            task.wait().expect("no panic");
        }
        let metrics = rt.metrics().expect("a pool");
        drop(rt);
        let told = tells.iter().count();
        let overran = overran.load(Ordering::Relaxed);
        let most = usize::try_from(overran).expect("few polls");
        assert!(metrics.stuck <= overran, "{metrics:?}: {overran} overran");
        assert!(told <= most, "{told} were told, {most} overran");
        assert!(metrics.spares + metrics.leaving <= most, "{metrics:?}");
    });
}
