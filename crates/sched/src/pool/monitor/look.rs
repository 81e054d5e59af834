//! The monitor's thread: its loop, and what it does at each look.

use std::io;
use std::sync::{Arc, Weak};
use std::task::{Wake, Waker};
use std::time::{Duration, Instant};

use gossamer_core::mutant;
use gossamer_core::parker::Parker;
use gossamer_core::platform::atomic::Ordering;
use gossamer_core::platform::{ThreadNumber, heavy_fence, start_thread, thread};
use gossamer_time::timers::runner;

use super::super::HELPERS;
use super::super::shared::Shared;
use super::super::worker_shard::WorkerShard;
use super::held::Sample;
use super::report::{Reports, Stuck};
use super::spares::LEAST;
use super::{IS_THERE, Monitor};

/// Looks in the time after which a worker is stuck. From the first at which it has not acknowledged, its time counts.
const LOOKS: u32 = 4;

/// Number of looks in a row at idle workers after which the monitor sleeps.
const IDLE_LOOKS: u32 = 40;

/// A poll that goes on for so long is told of before its end.
const TELL_AFTER: Duration = Duration::from_secs(5);

/// Between two looks while the pool is closing: only what goes on for long is told then.
const AT_END: Duration = Duration::from_millis(100);

impl Shared {
    /// Starts the monitor's thread.
    ///
    /// # Errors
    /// The system grants none.
    pub(in super::super) fn start_monitor(self: &Arc<Self>) -> io::Result<()> {
        if !IS_THERE {
            return Ok(());
        }
        self.monitor.thread.lock().runs = true;
        let watched = self.clone();
        let started = start_thread("gossamer-monitor", None, move || {
            let _ended = Ended(&watched.monitor);
            run(&watched);
        });
        started.map_err(|error| {
            self.monitor.thread.lock().runs = false;
            let text = format!("the monitor's thread could not be started: {error}");
            io::Error::new(error.kind(), text)
        })
    }
}

fn run(shared: &Arc<Shared>) {
    Parker::with(|parker| {
        let monitor = &shared.monitor;
        {
            let mut thread = monitor.thread.lock();
            thread.waker = Some(parker.waker().clone());
            thread.id = Some(thread::current().id());
        }
        let fallback_waker = Waker::from(Arc::new(FallbackWaker(Arc::downgrade(shared))));
        let mut look = Look {
            shared,
            fallback_waker,
            watched: Vec::new(),
            reports: Reports::default(),
            is_unattended: false,
        };
        let mut idle_looks = 0;
        while goes_on(shared) {
            look.look();
            idle_looks = if shared.is_busy() { 0 } else { idle_looks + 1 };
            if shared.is_closing() {
                parker.park_for(shared.until_next_timer(AT_END));
            } else if idle_looks < IDLE_LOOKS {
                let between = (monitor.stuck_after / LOOKS).max(LEAST);
                let limit = shared.until_next_timer(between);
                // Looks change nothing while all workers sleep (one that sleeps in a poll does not count), unless there is
                // something to tell.
                match look.reports.left(Instant::now()) {
                    None => parker.park_or_look(limit),
                    Some(_) => parker.park_for(limit),
                };
            } else {
                sleep(shared, parker, look.reports.left(Instant::now()));
                idle_looks = 0;
            }
        }
        look.tell_rest();
    });
}

/// Until it is called, or there is something to tell.
fn sleep(shared: &Shared, parker: &Parker, limit: Option<Duration>) {
    let asleep = &shared.monitor.asleep;
    // Relaxed: the fence orders it.
    asleep.store(true, Ordering::Relaxed);
    heavy_fence(); // pairs with the light one in `Monitor::call`
    let mut is_called = || shared.is_busy() || shared.is_closing();
    if !is_called() {
        match limit {
            None => parker.park(&mut is_called),
            Some(limit) => {
                parker.park_for(limit);
            }
        }
    }
    // Relaxed: whoever calls once more does no harm.
    asleep.store(false, Ordering::Relaxed);
}

/// Until the pool is closing, and the last worker has left.
fn goes_on(shared: &Shared) -> bool {
    let is_watched = shared.workers.figures().threads() > 0 && !mutant!("last_polls_untold");
    !shared.is_closing() || is_watched
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

/// The monitor's knowledge of one worker.
#[derive(Debug)]
struct Watched {
    /// When it was pinged first and has not acknowledged since.
    pinged: Instant,
    /// Its thread's CPU time by then.
    cpu: Option<Duration>,
    /// The first look at its thread since then, which costs more.
    first: Option<Sample>,
    /// The poll that it is stuck in, or was.
    poll: Option<LongPoll>,
}

/// A poll that a worker is stuck in.
#[derive(Debug)]
struct LongPoll {
    report: Stuck,
    /// How many panics its shard had seen when it was found.
    panics: u64,
    /// Whether work has waited meanwhile.
    work_waited: bool,
    /// Whether a spare has worked in place of its worker.
    has_spare: bool,
    is_told: bool,
}

impl Watched {
    fn new(thread: Option<ThreadNumber>) -> Self {
        Self {
            pinged: Instant::now(),
            cpu: thread.and_then(ThreadNumber::cpu),
            first: None,
            poll: None,
        }
    }

    /// It is in the same poll as before. Gives the report of that, once, if it is time.
    fn goes_on(&mut self, is_closing: bool) -> Option<Stuck> {
        let poll = self.poll.as_mut()?;
        poll.report.since = self.pinged.elapsed();
        let is_waited_for = poll.work_waited || is_closing;
        if poll.is_told || !is_waited_for || poll.report.since < TELL_AFTER {
            return None;
        }
        poll.is_told = true;
        poll.report.at_end = is_closing && !poll.work_waited;
        Some(poll.report.clone())
    }

    /// The poll is over, and the shard has seen so many panics. Gives its report, unless it has been told, or a panic
    /// was what took long.
    fn ends(&mut self, panics: u64) -> Option<Stuck> {
        let poll = self.poll.take()?;
        let was_panic = poll.panics != panics && !mutant!("panic_is_stuck");
        (poll.work_waited && !poll.is_told && !was_panic).then_some(poll.report)
    }
}

/// The monitor's own memory.
struct Look<'a> {
    shared: &'a Arc<Shared>,
    fallback_waker: Waker,
    watched: Vec<Watched>,
    reports: Reports,
    /// Whether nobody polled at the last look.
    is_unattended: bool,
}

impl Look<'_> {
    fn look(&mut self) {
        let shared = self.shared;
        let (mut stuck, mut evacuated, mut told) = (0, 0, Vec::new());
        for (number, shard) in shared.numbered_shards() {
            if self.watched.len() <= number {
                self.watched.resize_with(number + 1, || Watched::new(None));
            }
            if self.is_stuck(number, shard, &mut told) {
                if !mutant!("stuck_timers_wait") {
                    runner::fire_for_runner(shard);
                }
                if stuck == 0 && !mutant!("stuck_sockets_wait") {
                    self.poll_for_runner();
                }
                // Also from one that is no worker any more, but drains.
                evacuated += shard.evacuate();
                stuck += usize::from(shared.workers.works(number));
            }
        }
        self.attend();
        self.relieve(stuck, evacuated > 0);
        // Afterwards: a report may wait for what only that brings about.
        self.tell(told, false);
    }

    /// Wakes those for whom events have come, while the one that would poll may be stuck. An idle worker does so from
    /// then on, if there is one.
    fn poll_for_runner(&self) {
        let shared = self.shared;
        let poller = shared.environment.poller();
        if let Some(seat) = poller.sit() {
            seat.look();
        }
        // Perhaps one found the seat taken just now.
        if poller.is_unattended() {
            shared.idle.call_one();
        }
    }

    /// Has an idle worker poll if nobody did at the last look, nor does now: those that would are busy.
    fn attend(&mut self) {
        let is_unattended = self.shared.environment.poller().is_unattended();
        let was_unattended = std::mem::replace(&mut self.is_unattended, is_unattended);
        if was_unattended && is_unattended && !mutant!("idle_workers_never_poll") {
            self.shared.idle.call_one();
        }
    }

    /// Tells of these polls, and what has waited for its time, or for the end.
    fn tell(&mut self, polls: Vec<Stuck>, is_end: bool) {
        let shared = self.shared;
        for stuck in polls {
            // Relaxed: statistics.
            shared.counts.stuck.fetch_add(1, Ordering::Relaxed);
            if stuck.spawned == HELPERS {
                continue;
            }
            if let Some(stuck) = self.reports.add(stuck, Instant::now()) {
                shared.monitor.tell(&stuck);
            }
        }
        for stuck in self.reports.due(Instant::now(), is_end) {
            shared.monitor.tell(&stuck);
        }
    }

    /// The end: tells what has been kept back, and of the polls that have ended since the last look.
    fn tell_rest(&mut self) {
        let mut told = Vec::new();
        for (number, shard) in self.shared.numbered_shards() {
            if let Some(watched) = self.watched.get_mut(number) {
                told.extend(watched.ends(shard.panics()));
            }
        }
        self.tell(told, true);
    }

    /// Whether the runner of this shard is stuck in a poll; then the shard is open. Adds what is to be told.
    fn is_stuck(
        &mut self,
        number: usize,
        shard: &'static WorkerShard,
        told: &mut Vec<Stuck>,
    ) -> bool {
        let watched = &mut self.watched[number];
        if shard.is_open() {
            told.extend(watched.goes_on(self.shared.is_closing()));
            return true;
        }
        if !shard.is_running() {
            shard.ack();
            told.extend(watched.ends(shard.panics()));
            return false;
        }
        let thread = self.shared.monitor.thread_of(number);
        if shard.ping_again() {
            told.extend(watched.ends(shard.panics()));
            *watched = Watched::new(thread);
            return false;
        }
        let now = Sample::of(thread);
        let Some(first) = &watched.first else {
            watched.first = Some(now.since(watched.cpu));
            return false;
        };
        let (held, hold) = now.held_since(first);
        if held < self.shared.monitor.stuck_after || mutant!("never_stuck") {
            return false;
        }
        let panics = shard.panics();
        let Some(poll) = shard.open_for_evacuation(self.fallback_waker.clone()) else {
            return false;
        };
        // A shard may be closed in the midst of a poll, and opened again.
        watched.poll.get_or_insert_with(|| LongPoll {
            report: Stuck {
                worker: number,
                name: poll.name,
                spawned: poll.spawned,
                since: watched.pinged.elapsed(),
                hold,
                refused: None,
                at_end: false,
                more: 0,
            },
            panics,
            work_waited: false,
            has_spare: false,
            is_told: false,
        });
        true
    }

    /// Sees to it that so many spares work as workers are stuck, if there is work, and that those work who are idle: also
    /// if a worker searches, for its thread may not be running.
    fn relieve(&mut self, stuck: usize, has_evacuated: bool) {
        let shared = self.shared;
        if shared.workers.spares() > stuck {
            shared.dismiss_spares();
        }
        if !shared.has_work_for_idle() {
            return;
        }
        if stuck == 0 && !has_evacuated {
            shared.idle.call_past_search();
            return;
        }
        let started = if shared.idle.len() > 0 {
            shared.idle.call_one();
            Ok(())
        } else {
            shared.start_spares(stuck)
        };
        if shared.is_closing() && !mutant!("end_is_work") {
            // Nobody is started any more, and what waits is about to be dropped.
            return;
        }
        let refused = started.err().filter(|_| !mutant!("refusal_untold"));
        note_wait(
            &mut self.watched,
            shared.workers.spares(),
            refused.as_deref(),
        );
    }
}

/// Notes that work waits while these workers are stuck. A poll without a spare takes one of the `spares` that no other
/// has, or else keeps the first reason why it was `refused` one.
fn note_wait(watched: &mut [Watched], spares: usize, refused: Option<&str>) {
    let polls = || watched.iter().filter_map(|watched| watched.poll.as_ref());
    let mut free = spares.saturating_sub(polls().filter(|poll| poll.has_spare).count());
    for poll in watched
        .iter_mut()
        .filter_map(|watched| watched.poll.as_mut())
    {
        poll.work_waited = true;
        if poll.has_spare && !mutant!("refusal_told_of_all") {
            continue;
        }
        poll.has_spare = free > 0;
        free = free.saturating_sub(1);
        if let Some(why) = refused.filter(|_| !poll.has_spare) {
            poll.report.refused.get_or_insert_with(|| why.to_owned());
        }
    }
}

/// Makes what is woken at an open shard stealable, and calls one who steals it.
struct FallbackWaker(Weak<Shared>);

impl Wake for FallbackWaker {
    fn wake(self: Arc<Self>) {
        if let Some(shared) = self.0.upgrade() {
            let evacuated: usize = shared.shards().map(WorkerShard::evacuate).sum();
            if evacuated > 0 {
                shared.idle.call_one();
            }
        }
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests;
