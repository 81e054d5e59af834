//! The process's own timers, for who polls one where nobody drives: a foreign executor. One thread serves them,
//! started when the first is registered; a forked child starts its own.
//!
//! The race to fear: one registers just as the thread goes to sleep. The thread finds out how long it may sleep under
//! the timers' lock; who registers one that comes before all others, under that lock, gives it its permit. So it
//! either knows of the timer, or the permit keeps it from sleeping.

use core::task::Waker;
use std::io;

use super::{Kind, Timers};
use crate::door::atomic::Ordering;
use crate::door::{Mutex, MutexGuard, QuietU32, process_global, start_thread};
use crate::fork::Origin;
use crate::parker::Parker;
use crate::waiter::Deferred;

#[derive(Debug)]
struct Alarm {
    timers: Timers,
    /// Not zero: whether there is a thread, a hint; cleared in a forked child.
    runs: QuietU32,
    thread: Mutex<Thread>,
}

/// The thread, or what is known of it.
#[derive(Debug, Default)]
pub(super) struct Thread {
    /// In which process it was started.
    started: Option<Origin>,
    /// Wakes it.
    waker: Option<Waker>,
}

process_global! {
    /// The process's own.
    fn alarm() -> Alarm = Alarm {
        timers: Timers::of_kind(Kind::Alarm),
        runs: QuietU32::new(0),
        thread: Mutex::default(),
    }
}

/// The timers; perhaps nobody serves them.
pub(super) fn timers() -> &'static Timers {
    &alarm().timers
}

/// The timers, which are served.
///
/// # Panics
/// The system grants no thread for that.
pub(super) fn started() -> &'static Timers {
    if let Err(error) = start() {
        panic!(
            "a timer was polled where no runtime of gossamer runs, and the system grants no thread to wake it \
             ({error}): raise the limit, or poll it inside a runtime or by .wait()"
        );
    }
    timers()
}

/// Starts the thread if it can be. If not, the next one who registers is told.
pub(super) fn start_or_leave() {
    // Refused: the timers wait for the next one who registers.
    let _refused = start();
}

fn start() -> io::Result<()> {
    let here = Origin::here();
    // Relaxed: a hint. Who finds it set in a forked child is the only thread there.
    if alarm().runs.load(Ordering::Relaxed) == here.number() {
        return Ok(());
    }
    crate::home::forked::watch();
    let mut thread = alarm().thread.lock();
    if thread.started != Some(here) {
        *thread = Thread::default();
        start_thread("gossamer-alarm", run)?;
        thread.started = Some(here);
    }
    // Relaxed: as above.
    alarm().runs.store(here.number(), Ordering::Relaxed);
    Ok(())
}

/// Has the thread look at the timers anew.
pub(super) fn ring() {
    let waker = alarm().thread.lock().waker.clone();
    if let Some(waker) = waker {
        Deferred::new(waker).run();
    }
}

fn run() {
    Parker::with(|parker| {
        alarm().thread.lock().waker = Some(parker.waker().clone());
        loop {
            timers().serve();
            parker.park_until(timers().next_deadline(), || false);
        }
    });
}

/// What a forked child must not find locked.
pub(super) type Frozen = MutexGuard<'static, Thread>;

pub(super) fn freeze() -> Frozen {
    alarm().thread.lock()
}
