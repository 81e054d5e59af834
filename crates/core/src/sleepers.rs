//! The threads that sleep in a [`Parker`](crate::parker::Parker), and whether all threads of the process do.

use alloc::sync::{Arc, Weak};
use alloc::task::Wake;
use alloc::vec::Vec;
use core::time::Duration;
use std::sync::OnceLock;

use crate::context;
use crate::dump::Deadlock;
use crate::platform::atomic::{AtomicU8, AtomicU64, Ordering};
use crate::platform::thread::{self, Thread};
use crate::platform::{self, Mutex, asleep, per_process, thread_local};
use crate::recording;

/// One thread's permit, and what is known of the thread.
#[derive(Debug)]
pub(crate) struct Sleeper {
    pub(crate) permit: platform::Permit,
    thread: Thread,
    /// The address of its context.
    context: usize,
    /// [`FAILS`] and [`WAITS`], while it sleeps so; and [`CALLED`].
    can: AtomicU8,
    /// When it began to wait, if that is [recorded](recording); or zero.
    since: AtomicU64,
    deadlock: Mutex<Option<Deadlock>>,
}

impl Wake for Sleeper {
    fn wake(self: Arc<Self>) {
        self.permit.give();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.permit.give();
    }
}

/// It can be told that nobody will wake it.
const FAILS: u8 = 1;
/// It waits for one thing, and runs no runtime for its caller.
const WAITS: u8 = 2;
/// It was woken to no purpose of its own, and waits on.
const CALLED: u8 = 4;

/// A thread that sleeps for good, as [`all_asleep`] tells.
#[derive(Debug, Clone)]
pub struct Asleep {
    /// The thread.
    pub thread: Thread,
    /// The address of its context.
    pub context: usize,
    /// Whether it waits for one thing, and runs no runtime for its caller.
    pub waits: bool,
    /// When it began to wait, if that is [recorded](recording).
    pub since: Option<u64>,
}

/// What is called when all threads that are known sleep for good: at once, with zero, and again and again, after the time
/// that it gives; or once, with the largest number, by one that wakes by itself to look. It runs on one of these, which does
/// not count as running.
pub type AllSleep = fn(looks: u32) -> Duration;

static ALL_SLEEP: OnceLock<AllSleep> = OnceLock::new();

per_process! {
    fn sleepers() -> Mutex<Vec<Weak<Sleeper>>> = Mutex::new(Vec::new())
}

/// This thread has slept.
struct Known;

impl Known {
    fn new() -> Self {
        asleep::know();
        Self
    }
}

impl Drop for Known {
    fn drop(&mut self) {
        // This thread was the last one that ran, perhaps: then somebody is to look.
        if asleep::unknow() && !crate::mutant!("thread_ends_unnoticed") {
            wake_one();
        }
    }
}

thread_local! {
    static KNOWN: Known = Known::new();
}

/// Has this be called when all threads sleep. Only the first counts.
pub fn when_all_sleep(call: AllSleep) {
    let _first = ALL_SLEEP.set(call);
}

/// For a permit.
pub(crate) fn all_sleep(looks: u32) -> Duration {
    // Nobody asks: as good as never.
    ALL_SLEEP.get().map_or(Duration::MAX, |call| call(looks))
}

impl Sleeper {
    /// For the current thread.
    pub(crate) fn here() -> Arc<Self> {
        let sleeper = Arc::new(Self {
            permit: platform::Permit::new(),
            thread: thread::current(),
            context: context::address().addr(),
            can: AtomicU8::new(0),
            since: AtomicU64::new(0),
            deadlock: Mutex::new(None),
        });
        recording::here();
        // While the thread's thread-locals go, it is known no more.
        if KNOWN.try_with(|_| ()).is_ok() {
            let mut all = sleepers().lock();
            if all.len() == all.capacity() {
                all.retain(|other| other.strong_count() > 0);
            }
            all.push(Arc::downgrade(&sleeper));
        }
        sleeper
    }

    /// Sleeps until the permit is given; or until it is known that nobody will give it, if it can be told.
    ///
    /// # Errors
    /// Nobody will.
    pub(crate) fn sleep_or_fail(&self, waits: bool) -> Result<(), Deadlock> {
        let sleep = || {
            self.permit.take_for_good(all_sleep);
            true
        };
        self.while_it_can(waits, sleep).map(drop)
    }

    /// The same for a thread that waits, but so long at most, to look around; whether the permit was given.
    ///
    /// # Errors
    /// As there.
    pub(crate) fn look_or_fail(&self, limit: Duration) -> Result<bool, Deadlock> {
        self.while_it_can(true, || self.permit.take_or_look(limit, all_sleep))
    }

    /// The same by `sleep`, where nobody can know that nobody will.
    pub(crate) fn while_waiting(&self, sleep: impl FnOnce()) {
        let slept = || {
            sleep();
            false
        };
        let _never = self.while_it_can(true, slept);
    }

    /// Whether `sleep` was ended by a wake.
    fn while_it_can(&self, waits: bool, sleep: impl FnOnce() -> bool) -> Result<bool, Deadlock> {
        // Relaxed: published by the permit, as this thread sleeps; and read only while it does. So below.
        if recording::is_on() && self.since.load(Ordering::Relaxed) == 0 {
            self.since.store(recording::count(), Ordering::Relaxed); // Relaxed: as above
        }
        // What came too late for the sleep before was about that one.
        drop(self.deadlock.lock().take());
        let can = if waits { FAILS | WAITS } else { FAILS };
        self.can.store(can, Ordering::Relaxed); // Relaxed: as above
        let is_woken = sleep();
        let is_called = self.can.swap(0, Ordering::Relaxed) & CALLED != 0; // Relaxed: as above
        if is_woken && !is_called {
            self.wait_is_over();
        }
        self.deadlock.lock().take().map_or(Ok(is_woken), Err)
    }

    /// What this thread waited for has come, perhaps.
    pub(crate) fn wait_is_over(&self) {
        self.since.store(0, Ordering::Relaxed); // Relaxed: as above
    }

    fn asleep(&self) -> Asleep {
        Asleep {
            thread: self.thread.clone(),
            context: self.context,
            // Relaxed: published by the permit.
            waits: self.can.load(Ordering::Relaxed) & WAITS != 0,
            // Relaxed: as above.
            since: Some(self.since.load(Ordering::Relaxed)).filter(|since| *since != 0),
        }
    }
}

fn all() -> Vec<Arc<Sleeper>> {
    let all = sleepers().lock();
    all.iter().filter_map(Weak::upgrade).collect()
}

fn wake_one() {
    if let Some(sleeper) = all()
        .iter()
        .find(|sleeper| sleeper.permit.sleep().is_some())
    {
        sleeper.permit.give();
    }
}

/// This thread waits for signals of the system from now on, and says something when one comes. It wakes nobody who would
/// go on by that, so it is none of those who could.
pub fn serve() {
    asleep::serve();
}

/// Wakes all that sleep for good, or at a poller, to no purpose of their own.
pub fn wake_all() {
    for sleeper in all() {
        if sleeper.permit.sleep().is_some() {
            // Relaxed: published by the permit.
            sleeper.can.fetch_or(CALLED, Ordering::Relaxed);
            sleeper.permit.give();
        } else if sleeper.permit.is_polling() {
            sleeper.permit.give();
        }
    }
}

/// The threads of the process, if all of them sleep for good; then nobody is left who could wake one of them. The caller,
/// which [`AllSleep`] runs on, counts as one of these.
///
/// Each sleeps for good before the threads of the process are counted, and the same sleep afterwards: so all slept when
/// they were counted, and they are all there are.
pub fn all_asleep() -> Option<Vec<Asleep>> {
    let sleepers: Vec<_> = all()
        .into_iter()
        .filter_map(|sleeper| Some((sleeper.permit.sleep()?, sleeper)))
        .collect();
    let threads = asleep::threads_of_process();
    let still = |(sleep, sleeper): &(u32, Arc<Sleeper>)| sleeper.permit.sleep() == Some(*sleep);
    let counted = threads == Some(sleepers.len()) || crate::mutant!("outside_threads_uncounted");
    let are_all = counted && sleepers.iter().all(still) && !asleep::catches_signals();
    are_all.then(|| {
        sleepers
            .iter()
            .map(|(_, sleeper)| sleeper.asleep())
            .collect()
    })
}

/// Whether a thread that is known does not sleep for good. If all do later, one of them looks anew.
pub fn any_is_awake() -> bool {
    asleep::any_is_awake()
}

/// The threads that sleep for good, or at a poller, at this moment.
pub fn asleep_now() -> Vec<Asleep> {
    let all = all();
    let sleeps = |permit: &platform::Permit| permit.sleep().is_some() || permit.is_polling();
    let asleep = all.iter().filter(|sleeper| sleeps(&sleeper.permit));
    asleep.map(|sleeper| sleeper.asleep()).collect()
}

/// Tells one thread, of all that sleep, that nobody will wake it: the main thread, if it can be told; `false` if none can.
pub fn fail_one(deadlock: &Deadlock) -> bool {
    // Relaxed: the permit has published it.
    let can = |sleeper: &Arc<Sleeper>| {
        sleeper.permit.sleep().is_some() && sleeper.can.load(Ordering::Relaxed) & FAILS != 0 // Relaxed: as above
    };
    let mut candidates: Vec<_> = all().into_iter().filter(can).collect();
    candidates.sort_by_key(|sleeper| sleeper.thread.name() != Some("main"));
    let Some(sleeper) = candidates.first() else {
        return false;
    };
    *sleeper.deadlock.lock() = Some(deadlock.clone());
    sleeper.permit.give();
    true
}
