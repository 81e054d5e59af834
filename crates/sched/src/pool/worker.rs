//! What a worker's thread does.

use std::sync::Arc;
use std::time::{Duration, Instant};

use gossamer_core::context;
use gossamer_core::door::atomic::Ordering;
use gossamer_core::door::{heavy_fence, spin_loop, thread};
use gossamer_core::home::{Claim, Home};
use gossamer_core::parker::Parker;
use gossamer_core::waiter::Deferred;
use gossamer_time::timers::driver;

use super::Shared;
use super::idle::Sleeper;
use super::queue::Queue;
use super::watch::watch;
use crate::scheduler::{Reason, Runnable, Scheduler};
use crate::single::{Ran, claim_again, hand_over, run, shut_down};

/// Polls between two looks at the injector and the timers; one that used up what its operations may take is the last.
const POLLS: u32 = if cfg!(shuttle) { 4 } else { 128 };

/// The most tasks taken from the injector at once.
const TAKE_MAX: usize = if cfg!(any(loom, shuttle)) { 2 } else { 64 };

/// How long a worker looks for work before it joins the idle. Not in models.
const LOOK_FOR: Duration = Duration::from_micros(if cfg!(any(loom, shuttle)) { 0 } else { 20 });

/// So many looks for one at the clock, which costs more.
const LOOKS_PER_CLOCK: u32 = 8;

/// Runs tasks until the pool shuts down, or has fewer workers than this one's number.
pub(super) fn work(shared: &Arc<Shared>, number: usize, home: &'static Home) {
    let _tasks_of = shared.environment.enter_early();
    shared.monitor.works_here(number);
    let mut queue = Queue::new(shared.clone(), home);
    let mut claim = claim_again(home);
    let mut ended = Ended { shared, number };
    while !shared.is_closing() {
        if shared.crew.is_surplus(number) || queue.lingers() {
            let stays = home.driver.pinned() > 0 && !gossamer_core::mutant!("leaves_its_fibers");
            if !stays {
                claim = match retire(&mut ended, claim, &mut queue) {
                    Some(claim) => claim,
                    None => return,
                };
            }
            linger_or_not(shared, number, home, &mut queue);
        }
        let ran = run(&claim, &mut queue, POLLS, None);
        let fired = driver::serve(home);
        if home.driver.returned.take() {
            shared.dismiss_spares();
        }
        if queue.lingers() {
            if fired {
                continue;
            }
            if ran == Ran::Idle {
                let has_pinned = home.driver.pinned() > 0;
                drop(claim);
                doze(shared, number, home, has_pinned);
                claim = claim_again(home);
                shared.monitor.call();
            }
            continue;
        }
        if ran == Ran::Budget {
            shared.watch.call(shared);
        }
        let orphans = look_after_orphans(shared, &claim, &mut queue);
        let more = take_share(shared, &claim) || orphans || fired || ran == Ran::Budget;
        if more || steal(shared, &claim, &mut queue) {
            continue;
        }
        drop(claim);
        sleep(shared, number, home);
        claim = claim_again(home);
    }
    queue.close();
    claim.seal();
    shut_down(&claim, &mut queue);
    driver::end(home);
}

/// Leaves the crew; gives the claim again if the crew has grown meanwhile, or is closed. The tasks stay at the home, for
/// the others: the runnable ones in its open queue, and whoever wakes one of the others takes it along. The timers go to
/// the first worker, who never retires.
///
/// The worker gives its claim up before it leaves: so nobody drives a vacant home, and the thread that shuts the pool
/// down can end the tasks there.
pub(super) fn retire(ended: &mut Ended<'_>, claim: Claim, queue: &mut Queue) -> Option<Claim> {
    let home = claim.home();
    home.set_keeper(Some(ended.shared.caller()));
    context::with(|context| hand_over(context, queue));
    queue.leave();
    ended.shared.take_over_timers(home);
    let _kept = gossamer_core::mutant!("retires_with_its_claim").then_some(claim);
    let Some(waiting) = ended.shared.crew.retire(ended.number) else {
        home.set_keeper(None);
        return Some(claim_again(home));
    };
    ended.number = usize::MAX;
    for waker in waiting {
        Deferred::new(waker).run();
    }
    // What was pushed before the keeper was there has called nobody.
    if !gossamer_core::mutant!("retire_calls_nobody") {
        ended.shared.idle.call_one();
    }
    None
}

/// Leaves the crew, if this worker is surplus, but stays for the tasks that stay with this thread; or comes back, if
/// it has been hired again. Asked each time: it may have been hired and be surplus again before it noticed.
fn linger_or_not(shared: &Shared, number: usize, home: &Home, queue: &mut Queue) {
    if home.driver.pinned() > 0
        && let Some(waiting) = shared.crew.linger(number)
    {
        for waker in waiting {
            Deferred::new(waker).run();
        }
    }
    let lingers = shared.crew.lingers(number);
    if lingers != queue.lingers() {
        queue.linger(lingers);
        // What is in the open queue is the others' now.
        shared.idle.call_one();
    }
}

/// Sleeps until one of the tasks that stay with this thread is woken, or the crew wants it again, or not even so:
/// `has_pinned` says whether there are such tasks. The claim has been given up.
fn doze(shared: &Shared, number: usize, home: &'static Home, has_pinned: bool) {
    Parker::with(|parker| {
        let stays = || {
            let crew = &shared.crew;
            crew.lingers(number) && !shared.is_closing() && (has_pinned || !crew.is_surplus(number))
        };
        // Whoever calls from here on finds the parker.
        if home.park(parker.waker()) && stays() {
            let until = driver::next_deadline(home);
            parker.park_until(until, || home.waiting() > 0 || !stays());
        }
    });
}

/// Takes over what is runnable at the homes of workers that have retired, or was woken there from outside. After
/// each so many polls, not only by idle workers: nobody else would run it. `true` if there was something.
pub(super) fn look_after_orphans(shared: &Shared, claim: &Claim, queue: &mut Queue) -> bool {
    let mut any = false;
    if !shared.crew.has_retired() || gossamer_core::mutant!("orphans_forgotten") {
        return any;
    }
    for (number, home) in shared.numbered_homes() {
        if !shared.crew.is_vacant(number) {
            continue;
        }
        if home.has_pending() && !claim.drain_for(home) {
            // Its worker is just leaving, and we would look again and again until it has.
            thread::yield_now();
        }
        if home.open_len() > 0 {
            any |= steal_from(shared, claim, queue, home) > 0;
        }
    }
    any
}

/// Takes this worker's share of what waits in the injector; `false` if there was nothing.
pub(super) fn take_share(shared: &Shared, claim: &Claim) -> bool {
    if !shared.injector.has_pending() {
        return false;
    }
    let waiting = shared.injector.waiting();
    let share = waiting.div_ceil(shared.crew.target()).clamp(1, TAKE_MAX);
    claim.take_from(shared.injector, share) > 0
}

/// Takes half of another worker's open queue; `false` if all are empty.
pub(super) fn steal(shared: &Shared, claim: &Claim, queue: &mut Queue) -> bool {
    // Each worker begins with its neighbour, so that not all ask the same one first.
    let here = claim.home().index();
    let after = shared.homes().filter(|home| home.index() > here);
    let before = shared.homes().filter(|home| home.index() < here);
    for from in after.chain(before) {
        if from.open_len() == 0 {
            continue;
        }
        if steal_from(shared, claim, queue, from) > 0 {
            return true;
        }
    }
    false
}

fn steal_from(shared: &Shared, claim: &Claim, queue: &mut Queue, from: &Home) -> usize {
    let taken = claim.steal(from, TAKE_MAX, |task| {
        // SAFETY: scheduled, of our home by now, and in no queue.
        queue.push(unsafe { Runnable::new(task) }, Reason::Woken);
    });
    // Relaxed: statistics.
    shared
        .counts
        .stolen
        .fetch_add(taken as u64, Ordering::Relaxed);
    taken
}

/// Looks for work a while, then sleeps until somebody calls. The claim has been given up.
pub(super) fn sleep(shared: &Shared, number: usize, home: &'static Home) {
    let is_called =
        || shared.injector.has_pending() || shared.is_closing() || shared.crew.is_surplus(number);
    let has_something = || home.has_pending() || is_called() || shared.has_work_elsewhere();
    // Not among the idle so far: the fence below interrupts all other workers, and who finds us there calls us.
    if looks_until(has_something) {
        return;
    }
    let mut watches = shared.watch.begin();
    Parker::with(|parker| {
        shared.idle.enter(Sleeper {
            home,
            waker: parker.waker().clone(),
        });
        // Whoever makes a task runnable from here on either sees that we are idle, or we see the task.
        heavy_fence(); // pairs with the light one in `Home::push_open`
        if !has_something() && home.park(parker.waker()) && !has_something() {
            // Relaxed: statistics.
            shared.counts.parks.fetch_add(1, Ordering::Relaxed);
            let until = driver::next_deadline(home);
            if !(watches && watch(shared, home, parker, until)) {
                if std::mem::take(&mut watches) {
                    shared.watch.end();
                }
                // A lone task in the queue of a worker that is long in a poll calls nobody, and a poke nobody either.
                parker.park_until(until, || home.waiting() > 0 || is_called());
            }
        }
        shared.idle.leave(home);
    });
    shared.monitor.call();
    if watches {
        shared.watch.end();
    } else {
        shared.watch.was_called();
    }
}

/// Whether there is something before [`LOOK_FOR`] has passed.
fn looks_until(has_something: impl Fn() -> bool) -> bool {
    let began = Instant::now();
    while began.elapsed() < LOOK_FOR {
        for _ in 0..LOOKS_PER_CLOCK {
            if has_something() {
                return true;
            }
            spin_loop();
        }
    }
    false
}

/// Says, when dropped, that a worker has ended with its pool.
pub(super) struct Ended<'a> {
    pub(super) shared: &'a Arc<Shared>,
    /// Nobody's, if it has retired.
    pub(super) number: usize,
}

impl Drop for Ended<'_> {
    fn drop(&mut self) {
        self.shared.crew.end(self.number);
    }
}
