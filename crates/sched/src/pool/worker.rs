//! What a worker's thread does.

use std::sync::Arc;
use std::time::{Duration, Instant};

use gossamer_core::door::atomic::{Ordering, fence};
use gossamer_core::door::spin_loop;
use gossamer_core::home::{Claim, Home};
use gossamer_core::parker::Parker;

use super::Shared;
use super::idle::Sleeper;
use super::queue::Queue;
use crate::scheduler::{Reason, Runnable, Scheduler};
use crate::single::{Ran, claim_again, run, shut_down};

/// Polls between two looks at the injector.
const POLLS: u32 = 128;

/// The most tasks taken from the injector at once.
const TAKE_MAX: usize = 64;

/// How long an idle worker looks for work before it parks.
const LOOK_FOR: Duration = Duration::from_micros(20);

/// Runs tasks until the pool shuts down.
pub(super) fn work(shared: &Arc<Shared>, home: &'static Home) {
    let _ended = Ended(shared);
    let mut queue = Queue::new(shared.clone(), home);
    let mut claim = claim_again(home);
    while !shared.is_closing() {
        let ran = run(&claim, &mut queue, POLLS, None);
        if take_share(shared, &claim) || ran == Ran::Budget || steal(shared, &claim, &mut queue) {
            continue;
        }
        drop(claim);
        sleep(shared, home);
        claim = claim_again(home);
    }
    queue.close();
    claim.seal();
    shut_down(&claim, &mut queue);
}

/// Takes this worker's share of what waits in the injector; `false` if there was nothing.
fn take_share(shared: &Shared, claim: &Claim) -> bool {
    if !shared.injector.has_pending() {
        return false;
    }
    let waiting = shared.injector.waiting();
    let share = waiting.div_ceil(shared.homes.len()).clamp(1, TAKE_MAX);
    claim.take_from(shared.injector, share) > 0
}

/// Takes half of another worker's open queue; `false` if all are empty.
fn steal(shared: &Shared, claim: &Claim, queue: &mut Queue) -> bool {
    // Each worker begins with its neighbour, so that not all ask the same one first.
    let start = usize::from(claim.home().index());
    let homes = shared
        .homes
        .iter()
        .cycle()
        .skip(start % shared.homes.len() + 1);
    for from in homes.take(shared.homes.len()) {
        if from.index() == claim.home().index() || from.open_len() == 0 {
            continue;
        }
        let taken = claim.steal(from, TAKE_MAX, |task| {
            // SAFETY: scheduled, of our home by now, and in no queue.
            queue.push(unsafe { Runnable::new(task) }, Reason::Woken);
        });
        if taken > 0 {
            // Relaxed: statistics.
            shared
                .counts
                .stolen
                .fetch_add(taken as u64, Ordering::Relaxed);
            return true;
        }
    }
    false
}

/// Looks for work a while, then sleeps until somebody calls. The claim has been given up.
fn sleep(shared: &Shared, home: &'static Home) {
    Parker::with(|parker| {
        shared.idle.enter(Sleeper {
            home,
            waker: parker.waker().clone(),
        });
        // Whoever makes a task runnable from here on either sees that we are idle, or we see the task.
        fence(Ordering::SeqCst); // pairs with the fence in `Home::push_open`
        let has_something = || {
            home.has_pending()
                || shared.injector.has_pending()
                || shared.is_closing()
                || shared.homes.iter().any(|home| home.open_len() > 0)
        };
        let began = Instant::now();
        while !has_something() {
            if began.elapsed() > LOOK_FOR {
                if home.park(parker.waker()) && !has_something() {
                    // Relaxed: statistics.
                    shared.counts.parks.fetch_add(1, Ordering::Relaxed);
                    parker.park();
                }
                break;
            }
            spin_loop();
        }
        shared.idle.leave(home);
    });
}

/// Says, when dropped, that a worker has ended.
struct Ended<'a>(&'a Shared);

impl Drop for Ended<'_> {
    fn drop(&mut self) {
        *self.0.running.lock() -= 1;
        self.0.one_ended.notify_all();
    }
}
