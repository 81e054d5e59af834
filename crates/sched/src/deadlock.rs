//! Finds that all threads of the process sleep for good, and says who waits for what.
//!
//! The thread that falls asleep last looks, some 50 ms later, whether it and all others still sleep, and are all threads
//! that the process has ([`sleepers::all_asleep`]). Then nobody runs, and nobody will: neither timers (who has one sleeps
//! until it is due) nor I/O (who waits for it is no thread that sleeps for good). It calls the roll
//! ([`gossamer_core::roll_call`]): all wake, say what they wait for, and fall asleep again. So once more, as a future may be
//! ready only when it is polled without a cause: if nothing has changed, whoever falls asleep last tells one thread, which
//! fails.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::Duration;

use gossamer_core::dump::Deadlock;
use gossamer_core::moment::Moment;
use gossamer_core::mutant;
use gossamer_core::platform::atomic::Ordering;
use gossamer_core::platform::{Mutex, UnmodelledU32, per_process};
use gossamer_core::roll_call::RollCall;
use gossamer_core::sleepers::{self, Asleep};

use crate::dump::{Caller, tell};

/// From when all sleep until the first look: who wakes somebody may be a thread that is not known, and in a hurry.
const FIRST_LOOK: Duration = Duration::from_millis(50);
/// Between two looks, at most, while threads that are not known go on: they may end, and then it is found that nobody is
/// left. A known one that is awake looks by itself when it falls asleep.
const LOOK_EVERY: Duration = Duration::from_secs(10);
/// So many calls in a row of which each gives something else: being polled makes somebody go on.
const CALLS_MAX: u32 = 4;

/// A roll call that goes on.
struct Call {
    caller: Caller,
    calls: u32,
    /// What came of the one before.
    before: Option<u64>,
}

per_process! {
    fn call() -> Mutex<Option<Call>> = Mutex::default()
}

/// Whether nobody wants to be told.
static IS_OFF: UnmodelledU32 = UnmodelledU32::new(0);

/// Looks for deadlocks from now on.
pub fn look_for_deadlocks() {
    sleepers::when_all_sleep(all_sleep);
}

/// Never looks for deadlocks in this process any more.
pub fn stop_looking_for_deadlocks() {
    IS_OFF.store(1, Ordering::Relaxed); // Relaxed: nothing is published
}

/// All threads that are known sleep, this one since just now (`looks` is zero) or for longer.
fn all_sleep(looks: u32) -> Duration {
    // Relaxed: nothing is published.
    if IS_OFF.load(Ordering::Relaxed) != 0 {
        return Duration::MAX;
    }
    let mut call = call().lock();
    if looks == 0 && call.is_none() {
        return FIRST_LOOK;
    }
    let later = (FIRST_LOOK * 2_u32.saturating_pow(looks.min(16))).min(LOOK_EVERY);
    let Some(asleep) = sleepers::all_asleep() else {
        // Somebody goes on.
        if let Some(last) = call.take_if(|call| call.caller.is_over()) {
            let _unsaid = last.caller.end();
        }
        let looks_anew = sleepers::any_is_awake() && !mutant!("looks_while_others_run");
        return if looks_anew { Duration::MAX } else { later };
    };
    let (caller, calls, before) = match call.take() {
        None => match Caller::new() {
            Some(caller) => (caller, 0, None),
            None => return later,
        },
        Some(last) => {
            let is_over = last.caller.is_over();
            let Some(called) = last.caller.end() else {
                return later;
            };
            let now = summary(&called);
            if !is_over && last.before == Some(now) {
                fail(last.caller, &called, &asleep);
                return later;
            }
            if last.calls == CALLS_MAX {
                return later;
            }
            (last.caller, last.calls, (!is_over).then_some(now))
        }
    };
    let calls = calls + 1;
    let next = Call {
        caller,
        calls,
        before,
    };
    call.insert(next).caller.call();
    later
}

/// Tells one thread.
fn fail(caller: Caller, called: &RollCall, asleep: &[Asleep]) {
    let deadlock = Deadlock::new(tell(called, asleep, Moment::real_now()));
    let is_told = sleepers::fail_one(&deadlock);
    drop(caller);
    if !is_told && sleepers::all_asleep().is_some() {
        eprintln!("gossamer: {deadlock}");
        std::process::abort();
    }
}

/// A number for what was answered, in whatever order.
fn summary(called: &RollCall) -> u64 {
    let hash = |of: &dyn Fn(&mut DefaultHasher)| {
        let mut hasher = DefaultHasher::new();
        of(&mut hasher);
        hasher.finish()
    };
    let tasks = called
        .living
        .iter()
        .map(|task| hash(&|hasher| task.address.hash(hasher)));
    let answers = called.answers.iter().flat_map(|(who, answer)| {
        let wants = answer.wants.iter();
        wants.map(move |wants| hash(&|hasher| (who, wants).hash(hasher)))
    });
    tasks.chain(answers).fold(0, u64::wrapping_add)
}
