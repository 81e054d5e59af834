//! The monitor: a thread that finds workers that are stuck in a poll, and puts spares in their place.
//!
//! "Green threads considered harmful": whatever holds the worker's thread (a computation, `read(2)`, a page fault, a
//! foreign function) holds all tasks of the worker hostage. So every few milliseconds the monitor pokes each worker that
//! is not idle; who has not answered by the next looks is in one poll since then. After [`STUCK_AFTER`] its home is
//! opened, and its tasks are adopted (`home/adopting.rs` of `core`); if work waits and nobody is idle (one that still looks
//! for work is not), a *spare* is hired:
//! a worker with a number above those that were asked for. (Go's sysmon takes the processor away from a thread in the
//! same way; here it is the tasks that go.) A worker whose poll has ended closes its home, and as many spares are surplus
//! as there are fewer stuck workers: they retire as after a [`resize`](super::resize). As long as a worker is stuck, the
//! monitor fires its timers.
//!
//! # Going to sleep
//!
//! When no worker has been busy for a while, the monitor says that it sleeps, has a (heavy) fence, looks once more whether
//! all are idle, and parks. A worker that is idle no more leaves the list of the idle, has a (light) fence, and calls the
//! monitor if it sleeps; one that lingers does so when it has claimed its home. So a machine without work has no monitor that wakes it.

use std::fmt;
use std::io;
use std::panic::Location;
use std::sync::{Arc, Weak};
use std::task::{Wake, Waker};
use std::time::{Duration, Instant};

use gossamer_core::door::atomic::{AtomicBool, Ordering};
use gossamer_core::door::{Condvar, Mutex, heavy_fence, light_fence, start_thread, thread};
use gossamer_core::home::Home;
use gossamer_core::panics;
use gossamer_core::parker::Parker;
use gossamer_core::timers::Moment;

use super::Shared;
use super::crew::spares_max;

/// Who has been in one poll for so long is stuck, unless the builder says otherwise.
const STUCK_AFTER: Duration = Duration::from_millis(10);

/// What the builder may say.
const STUCK_AFTER_MIN: Duration = Duration::from_micros(100);
const STUCK_AFTER_MAX: Duration = Duration::from_secs(3600);

/// Between two looks, at least.
const LEAST: Duration = Duration::from_micros(100);

/// So many looks in that time.
const LOOKS: u32 = 2;

/// So many looks in a row at idle workers end the looking.
const IDLE_LOOKS: u32 = 20;

/// No monitor in models: they know no time.
const IS_THERE: bool = !cfg!(any(loom, shuttle));

/// A worker was found stuck in a poll while work waited.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Stuck {
    /// The worker's number.
    pub worker: usize,
    /// What its task is called, if it was given a name.
    pub name: Option<String>,
    /// Where its task was spawned.
    pub spawned: &'static Location<'static>,
    /// For how long it had been in the poll by then, at least.
    pub since: Duration,
}

impl fmt::Display for Stuck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (worker, since) = (self.worker, self.since);
        write!(f, "worker {worker} has been in one poll for {since:?}, of ")?;
        match &self.name {
            Some(name) => write!(f, "the task {name:?} spawned at {}", self.spawned)?,
            None => write!(f, "a task spawned at {}", self.spawned)?,
        }
        f.write_str(
            ": others take its tasks over; use blocking() for what blocks, and yield_now() in long computations",
        )
    }
}

/// What is told of stuck polls.
type Report = Box<dyn Fn(&Stuck) + Send + Sync>;

/// When a worker is stuck, and who is told.
pub struct Watching {
    stuck_after: Duration,
    report: Option<Report>,
}

impl Watching {
    /// After 10 ms; a line to the standard error.
    #[must_use]
    pub fn new() -> Self {
        Self {
            stuck_after: STUCK_AFTER,
            report: None,
        }
    }

    /// Who has been in one poll for so long is stuck.
    pub fn set_stuck_after(&mut self, stuck_after: Duration) {
        self.stuck_after = stuck_after;
    }

    /// Has `report` be told of each poll that a worker was stuck in while work waited, once, by the monitor's thread.
    pub fn set_report(&mut self, report: impl Fn(&Stuck) + Send + Sync + 'static) {
        self.report = Some(Box::new(report));
    }

    /// # Errors
    /// The time is too short, or too long for a clock.
    pub(super) fn check(&self) -> io::Result<()> {
        if (STUCK_AFTER_MIN..=STUCK_AFTER_MAX).contains(&self.stuck_after) {
            return Ok(());
        }
        let text = format!(
            "a worker is to be stuck after {:?}: expected {STUCK_AFTER_MIN:?} to {STUCK_AFTER_MAX:?}",
            self.stuck_after
        );
        Err(io::Error::new(io::ErrorKind::InvalidInput, text))
    }
}

impl Default for Watching {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Watching {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watching")
            .field("stuck_after", &self.stuck_after)
            .finish_non_exhaustive()
    }
}

/// The monitor, as the others see it.
pub(super) struct Monitor {
    /// Whether it sleeps until it is called.
    asleep: AtomicBool,
    thread: Mutex<Thread>,
    ended: Condvar,
    stuck_after: Duration,
    report: Option<Report>,
}

#[derive(Default)]
struct Thread {
    waker: Option<Waker>,
    runs: bool,
    id: Option<thread::ThreadId>,
}

impl Monitor {
    pub(super) fn new(watching: Watching) -> Self {
        Self {
            asleep: AtomicBool::new(false),
            thread: Mutex::default(),
            ended: Condvar::new(),
            stuck_after: watching.stuck_after,
            report: watching.report,
        }
    }

    /// Starts the thread.
    ///
    /// # Errors
    /// The system grants none.
    pub(super) fn start(shared: &Arc<Shared>) -> io::Result<()> {
        if !IS_THERE {
            return Ok(());
        }
        shared.monitor.thread.lock().runs = true;
        let watched = shared.clone();
        let started = start_thread("gossamer-monitor", move || {
            let _ended = Ended(&watched.monitor);
            watched.monitor.run(&watched);
        });
        if started.is_err() {
            shared.monitor.thread.lock().runs = false;
        }
        started
    }

    /// Has the polls of this home's driver be watched.
    pub(super) fn watches(&self, home: &Home) {
        if IS_THERE {
            home.set_monitored();
        }
    }

    /// Calls the monitor, if it sleeps: a worker is idle no more.
    #[inline]
    pub(super) fn call(&self) {
        if !IS_THERE {
            return;
        }
        light_fence(); // pairs with the heavy one in `sleep`
        // Relaxed: the fences order it.
        if self.asleep.load(Ordering::Relaxed) && !gossamer_core::mutant!("monitor_sleeps_on") {
            self.wake();
        }
    }

    #[cold]
    fn wake(&self) {
        let waker = self.thread.lock().waker.clone();
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// Wakes the monitor to find that the pool is closing, and waits for its end; `false` if that has not come by the
    /// deadline.
    pub(super) fn end(&self, deadline: Option<Instant>) -> bool {
        self.wake();
        let mut thread = self.thread.lock();
        if thread.id == Some(thread::current().id()) {
            // In a report: it ends when that has.
            return true;
        }
        while thread.runs {
            thread = match deadline {
                None => self.ended.wait(thread),
                Some(deadline) => {
                    let left = deadline.saturating_duration_since(Instant::now());
                    if left.is_zero() {
                        return false;
                    }
                    self.ended.wait_for(thread, left)
                }
            };
        }
        true
    }

    fn run(&self, shared: &Arc<Shared>) {
        Parker::with(|parker| {
            {
                let mut thread = self.thread.lock();
                thread.waker = Some(parker.waker().clone());
                thread.id = Some(thread::current().id());
            }
            let keeper = Waker::from(Arc::new(Keeper(Arc::downgrade(shared))));
            let mut look = Look {
                shared,
                keeper,
                stuck_after: self.stuck_after,
                watched: Vec::new(),
            };
            let mut idle_looks = 0;
            while !shared.is_closing() {
                look.look();
                idle_looks = if shared.is_busy() { 0 } else { idle_looks + 1 };
                if idle_looks < IDLE_LOOKS {
                    parker.park_for(shared.until_next_timer(self.stuck_after / LOOKS));
                } else {
                    self.sleep(shared, parker);
                    idle_looks = 0;
                }
            }
        });
    }

    fn sleep(&self, shared: &Shared, parker: &Parker) {
        // Relaxed: the fence orders it.
        self.asleep.store(true, Ordering::Relaxed);
        heavy_fence(); // pairs with the light one in `call`
        if !shared.is_busy() && !shared.is_closing() {
            parker.park(|| shared.is_busy() || shared.is_closing());
        }
        // Relaxed: whoever calls once more does no harm.
        self.asleep.store(false, Ordering::Relaxed);
    }

    fn tell(&self, stuck: &Stuck) {
        let tell = || match &self.report {
            Some(report) => report(stuck),
            None => eprintln!("gossamer: warning: {stuck}"),
        };
        panics::end(tell);
    }
}

/// Says, when dropped, that the thread has ended.
struct Ended<'a>(&'a Monitor);

impl Drop for Ended<'_> {
    fn drop(&mut self) {
        let mut thread = self.0.thread.lock();
        thread.runs = false;
        drop(thread);
        self.0.ended.notify_all();
    }
}

/// What the monitor knows of one worker.
#[derive(Debug, Clone)]
struct Watched {
    /// When it was poked first and has not answered since.
    poked: Instant,
    /// The poll that it is stuck in, until it is told.
    untold: Option<Stuck>,
    /// Whether it has been told, or will be when there is work.
    is_told: bool,
}

impl Watched {
    fn new() -> Self {
        Self {
            poked: Instant::now(),
            untold: None,
            is_told: false,
        }
    }
}

/// The monitor's own memory.
struct Look<'a> {
    shared: &'a Arc<Shared>,
    keeper: Waker,
    stuck_after: Duration,
    watched: Vec<Watched>,
}

impl Look<'_> {
    fn look(&mut self) {
        let shared = self.shared;
        let (mut stuck, mut adopted) = (0, 0);
        for (number, home) in shared.numbered_homes() {
            if self.watched.len() <= number {
                self.watched.resize(number + 1, Watched::new());
            }
            if self.is_stuck(number, home) {
                if !gossamer_core::mutant!("stuck_timers_wait") {
                    let now = Moment::real_now();
                    if home.timers().earliest() <= now {
                        home.timers().fire_due(now);
                    }
                }
                // Also from one that is no worker any more, but lingers.
                adopted += home.adopt();
                stuck += usize::from(shared.crew.works(number));
            }
        }
        self.relieve(stuck, adopted > 0);
    }

    /// Whether the driver of this home is stuck in a poll; then the home is open.
    fn is_stuck(&mut self, number: usize, home: &'static Home) -> bool {
        if home.is_open() {
            return true;
        }
        let watched = &mut self.watched[number];
        if !home.is_driven() {
            home.forget_poke();
            return false;
        }
        if home.poke_again() {
            *watched = Watched::new();
            return false;
        }
        let since = watched.poked.elapsed();
        if since < self.stuck_after || gossamer_core::mutant!("never_stuck") {
            return false;
        }
        let Some(poll) = home.open_to_adopters(self.keeper.clone()) else {
            return false;
        };
        // A home may be closed in the midst of a poll, and opened again.
        if !watched.is_told {
            watched.is_told = true;
            watched.untold = Some(Stuck {
                worker: number,
                name: poll.name,
                spawned: poll.spawned,
                since,
            });
        }
        true
    }

    /// Sees to it that so many spares work as workers are stuck, if there is work, and that those work who are idle.
    fn relieve(&mut self, stuck: usize, has_adopted: bool) {
        let shared = self.shared;
        if shared.crew.spares() > stuck {
            shared.dismiss_spares();
        }
        let waits = shared.injector.has_pending() || shared.has_work_elsewhere();
        if stuck == 0 && !has_adopted || !waits {
            return;
        }
        if shared.idle.len() > 0 {
            shared.idle.call_one();
        } else {
            shared.hire_spares(stuck);
        }
        // Afterwards: the report may wait for what only that brings about.
        for watched in &mut self.watched {
            if let Some(stuck) = watched.untold.take() {
                // Relaxed: statistics.
                shared.counts.stuck.fetch_add(1, Ordering::Relaxed);
                shared.monitor.tell(&stuck);
            }
        }
    }
}

impl Shared {
    /// So long, or until the next timer of a worker that is stuck.
    fn until_next_timer(&self, most: Duration) -> Duration {
        let stuck = self.homes().filter(|home| home.is_open());
        let next = stuck.map(|home| home.timers().earliest()).min();
        let left = next.and_then(Moment::left);
        // Perhaps now, as what `earliest` says may be too early.
        left.map_or(most, |left| left.clamp(LEAST, most.max(LEAST)))
    }

    /// Whether a worker is not idle.
    fn is_busy(&self) -> bool {
        let lingers =
            |(number, home): (usize, &Home)| home.is_driven() && self.crew.lingers(number);
        self.idle.len() < self.crew.count()
            || self.crew.lingering() > 0 && self.numbered_homes().any(lingers)
    }

    /// Hires a spare for each of so many stuck workers, up to the most there may be; whom the system grants no thread
    /// is done without.
    fn hire_spares(self: &Arc<Self>, stuck: usize) {
        let wanted = stuck.min(spares_max(self.crew.asked()));
        let before = self.crew.spares();
        // So many may have been asked for, and not be there: others dismiss spares at the same time.
        if wanted < before || self.is_closing() {
            return;
        }
        self.crew.set_spares(wanted);
        while let Some(hired) = self.crew.hire() {
            if let Err(_none) = self.take_on(hired) {
                self.crew.set_spares(before);
                self.call_surplus();
                // A resize may have left to us one whom it has asked for.
                if self.crew.is_short() {
                    // It says itself how many there are then.
                    let _short = self.hire();
                }
                return;
            }
        }
    }

    /// As many spares are surplus as there are fewer stuck workers.
    pub(super) fn dismiss_spares(&self) {
        let stuck = self
            .numbered_homes()
            .filter(|(number, home)| home.is_open() && self.crew.works(*number))
            .count();
        if stuck < self.crew.spares() && !gossamer_core::mutant!("spares_stay") {
            self.crew.set_spares(stuck);
            self.call_surplus();
        }
    }
}

/// Makes what is woken at an open home stealable, and calls one who steals it.
struct Keeper(Weak<Shared>);

impl Wake for Keeper {
    fn wake(self: Arc<Self>) {
        if let Some(shared) = self.0.upgrade() {
            let adopted: usize = shared.homes().map(Home::adopt).sum();
            if adopted > 0 {
                shared.idle.call_one();
            }
        }
    }
}
