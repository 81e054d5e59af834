//! The process's own timers, for who polls one where nobody drives: a foreign executor. One thread serves them,
//! started when the first is registered; a forked child starts its own.
//!
//! The race to fear: one registers just as the thread goes to sleep. The thread finds out how long it may sleep under
//! the timers' lock; who registers one that comes before all others, under that lock, gives it its permit. So it
//! either knows of the timer, or the permit keeps it from sleeping.

use core::ptr;
use core::task::Waker;
use std::io;

use alloc::boxed::Box;

use super::wheel::Cursor;
use super::{Kind, Locked, Timer, Timers};
use crate::context;
use crate::door::atomic::{AtomicPtr, Ordering};
use crate::door::{Mutex, MutexGuard, QuietU32, process_global, start_thread};
use crate::fork::Origin;
use crate::parker::Parker;
use crate::waiter::Deferred;

#[derive(Debug)]
struct Alarm {
    /// Others in a forked child; never freed.
    timers: AtomicPtr<Timers>,
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
        timers: AtomicPtr::new(new()),
        runs: QuietU32::new(0),
        thread: Mutex::default(),
    }
}

/// Makes them.
pub(super) fn begin() {
    let _made = alarm();
}

fn new() -> &'static mut Timers {
    Box::leak(Box::new(Timers::of_kind(Kind::Alarm)))
}

/// The timers; perhaps nobody serves them.
pub(super) fn timers() -> &'static Timers {
    // Relaxed: changes only in a forked child, while that has one thread.
    let timers = alarm().timers.load(Ordering::Relaxed);
    // SAFETY: made by `new`, and shared since then.
    unsafe { &*timers }
}

/// A number for this thread; another one may have it after its end.
pub(super) fn this_thread() -> u32 {
    (context::address().addr() >> 6) as u32
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
pub(super) fn starts() -> bool {
    start().is_ok()
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

/// In a forked child: of the timers, which are locked, those that this thread has registered stay.
pub(super) fn lose(locked: &mut Locked<'static>) {
    let Some(wheel) = locked.leak() else {
        return;
    };
    let new: &'static Timers = new();
    // Nobody knows of them so far, so nobody has their lock; and giving it up would look after others who sleep.
    let mut unlocked = core::mem::ManuallyDrop::new(Locked(new));
    let mut cursor = Cursor::new();
    while let Some(timer) = wheel.find(&mut cursor, |links| links.thread == this_thread()) {
        // SAFETY: the wheel is no more, so the timer is in none; its thread, which is here, keeps it alive.
        unsafe {
            let deadline = unlocked.insert(timer);
            Timer::set_owner(timer, new);
            unlocked.lower_next(deadline);
        }
    }
    // Relaxed: the child has one thread.
    alarm()
        .timers
        .store(ptr::from_ref(new).cast_mut(), Ordering::Relaxed);
}

/// The same, when nothing is locked any more: starts the thread, if it is needed.
pub(crate) fn go_on() {
    if timers().may_have_any() {
        let _starts = starts();
    }
}
