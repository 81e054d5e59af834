//! Finds that all threads of the process sleep for good, and says who waits for what.
//!
//! The thread that falls asleep last looks, some 50 ms later, whether it and all others still sleep, and are all threads
//! that the process has ([`sleepers::all_asleep`]). Then nobody runs, and nobody will: neither timers (who has one sleeps
//! until it is due) nor I/O (who waits for it is no thread that sleeps for good). It calls the roll ([`roll_call`]): all
//! wake, say what they wait for, and fall asleep again. Whoever falls asleep last then has the answers, and tells one
//! thread, which fails.

use std::time::{Duration, Instant};

use gossamer_core::dump::Deadlock;
use gossamer_core::platform::Mutex;
use gossamer_core::roll_call;
use gossamer_core::sleepers;

use crate::dump::{Caller, tell};

/// From when all sleep until the first look: who wakes somebody may be a thread that is not known, and in a hurry.
const FIRST_LOOK: Duration = Duration::from_millis(50);
/// Between two looks, at most: other threads may end, and then it is found that nobody is left.
const LOOK_EVERY: Duration = Duration::from_secs(10);
/// A roll call that has not ended by then has woken somebody who goes on.
const ROLL_CALL_LASTS: Duration = Duration::from_secs(1);

/// The roll call that goes on, and when it began.
static CALL: Mutex<Option<(Caller, Instant)>> = Mutex::new(None);

/// Looks for deadlocks from now on.
pub fn look_for_deadlocks() {
    sleepers::when_all_sleep(all_sleep);
}

/// All threads that are known sleep, this one since just now (`looks` is zero) or for longer.
fn all_sleep(looks: u32) -> Duration {
    let called = CALL.lock().take();
    if looks == 0 && called.is_none() {
        return FIRST_LOOK;
    }
    let later = (FIRST_LOOK * 2_u32.saturating_pow(looks.min(16))).min(LOOK_EVERY);
    let asleep = sleepers::all_asleep();
    match (called, asleep) {
        (Some((caller, _)), Some(asleep)) => {
            let deadlock = Deadlock::new(tell(&roll_call::end(), &asleep));
            drop(caller);
            if !sleepers::fail_one(&deadlock) {
                eprintln!("gossamer: {deadlock}");
                std::process::abort();
            }
        }
        // Somebody goes on.
        (Some((_caller, began)), None) if began.elapsed() > ROLL_CALL_LASTS => {
            let _unsaid = roll_call::end();
        }
        (called @ Some(_), None) => *CALL.lock() = called,
        (None, Some(_)) => {
            if let Some(caller) = Caller::new() {
                let mut call = CALL.lock();
                let (caller, _) = call.insert((caller, Instant::now()));
                caller.call();
            }
        }
        (None, None) => {}
    }
    later
}
