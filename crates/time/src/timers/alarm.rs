//! The process's own timers, for who polls one where nobody runs: a foreign executor. One thread serves them,
//! started when the first is registered. A forked child has its own timers and its own thread.
//!
//! The race to fear: one registers just as the thread goes to sleep. The thread finds out how long it may sleep under
//! the timers' lock; who registers one that comes before all others, under that lock, gives it its permit. So it
//! either knows of the timer, or the permit keeps it from sleeping.

use std::io;
use std::task::Waker;

use gossamer_core::parker::Parker;
use gossamer_core::platform::atomic::Ordering;
use gossamer_core::platform::{Mutex, UnmodelledU32, per_process, start_thread};
use gossamer_core::waiter::Deferred;
use gossamer_core::{mutant, waker};

use super::Timers;
use super::node::Links;
use super::wheel::{Cursor, Wheel};

#[derive(Debug)]
struct Alarm {
    timers: Timers,
    /// Not zero: there is a thread. A hint.
    runs: UnmodelledU32,
    thread: Mutex<Thread>,
}

/// The thread, or what is known of it.
#[derive(Debug, Default)]
struct Thread {
    started: bool,
    /// Wakes it.
    waker: Option<Waker>,
}

per_process! {
    /// The process's own.
    fn alarm() -> Alarm = Alarm {
        timers: Timers::new(false, Some(ring)),
        runs: UnmodelledU32::new(0),
        thread: Mutex::default(),
    }
}

/// The timers; perhaps nobody serves them.
fn timers() -> &'static Timers {
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

/// Starts the thread; `false` if that cannot be. Then timers wait for the next one who registers, who is told.
fn starts() -> bool {
    start().is_ok()
}

fn start() -> io::Result<()> {
    // Relaxed: a hint.
    if alarm().runs.load(Ordering::Relaxed) != 0 {
        return Ok(());
    }
    let mut thread = alarm().thread.lock();
    if !thread.started {
        start_thread("gossamer-alarm", None, run)?;
        thread.started = true;
    }
    // Relaxed: as above.
    alarm().runs.store(1, Ordering::Relaxed);
    Ok(())
}

/// Has the thread look at the timers anew.
fn ring() {
    let waker = alarm().thread.lock().waker.clone();
    if let Some(waker) = waker {
        Deferred::new(waker).run();
    }
}

impl Timers {
    /// Nobody serves these for a while, perhaps never again. An operation whose waker is no task's, because another
    /// one wraps it, is polled elsewhere only when that waker is called: so such timers go to the process's own; but
    /// for those that wake who has served these, whose operations are polled again wherever they are. If the system
    /// grants no thread, they stay.
    ///
    /// For the runner, when it stops.
    pub fn rest(&'static self, wakes_runner: impl Fn(&Waker) -> bool) {
        // Relaxed: written by the runner.
        let has_foreign = self.has_foreign.load(Ordering::Relaxed) != 0;
        if !has_foreign || self.virtual_now().is_some() || mutant!("rest_keeps_timers") {
            return;
        }
        let is_such = |links: &Links| {
            !links
                .waker
                .as_ref()
                .is_some_and(|waker| waker::task_of(waker).is_some() || wakes_runner(waker))
        };
        let find = |wheel: &mut Wheel| wheel.find(&mut Cursor::new(), is_such);
        let any = self.lock().with(find).flatten().is_some();
        if any {
            if !starts() {
                return;
            }
            self.move_such(timers(), is_such);
            ring();
        }
        self.has_foreign.store(0, Ordering::Relaxed); // Relaxed: as above
    }

    /// The runner has ended. Timers that are left, of operations that have outlived it, go to the process's own; if
    /// the system grants no thread for those, they wait for the next one who needs it.
    pub fn end(&'static self) {
        if self.virtual_now().is_some() {
            self.end_simulation();
        } else if self.move_to(timers()) {
            let _starts = starts();
            ring();
        }
    }
}

fn run() {
    Parker::with(|parker| {
        alarm().thread.lock().waker = Some(parker.waker().clone());
        loop {
            timers().serve();
            parker.park_until(timers().next_deadline(), &mut || false);
        }
    });
}
