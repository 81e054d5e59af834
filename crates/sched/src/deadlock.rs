//! Finds that all threads of the process sleep for good, and says who waits for what.
//!
//! The thread that falls asleep last looks, some 50 ms later, whether it and all others still sleep, and are all threads
//! that the process has ([`sleepers::all_asleep`]). Then nobody runs, and nobody will: neither timers (who has one sleeps
//! until it is due) nor I/O (who waits for it is no thread that sleeps for good). It calls the roll ([`roll_call`]): all
//! wake, say what they wait for, and fall asleep again. Whoever falls asleep last then has the answers, and tells one
//! thread, which fails.

use std::collections::HashMap;
use std::panic::Location;
use std::time::{Duration, Instant};

use gossamer_core::context::simulated::Wanted;
use gossamer_core::dump::{Deadlock, Dump, Holder, Waiter, WaiterKind, WaitsFor};
use gossamer_core::platform::Mutex;
use gossamer_core::roll_call::{self, Answer, Living};
use gossamer_core::sleepers::{self, Asleep};
use gossamer_task::locals::name_at;

/// From when all sleep until the first look: who wakes somebody may be a thread that is not known, and in a hurry.
const FIRST_LOOK: Duration = Duration::from_millis(50);
/// Between two looks, at most: other threads may end, and then it is found that nobody is left.
const LOOK_EVERY: Duration = Duration::from_secs(10);
/// A roll call that has not ended by then has woken somebody who goes on.
const ROLL_CALL_LASTS: Duration = Duration::from_secs(1);

/// When the roll call that goes on began.
static BEGAN: Mutex<Option<Instant>> = Mutex::new(None);

/// Looks for deadlocks from now on.
pub fn look_for_deadlocks() {
    sleepers::when_all_sleep(all_sleep);
}

/// All threads that are known sleep, this one since just now (`looks` is zero) or for longer.
fn all_sleep(looks: u32) -> Duration {
    let mut began = BEGAN.lock();
    if began.is_some_and(|began| began.elapsed() > ROLL_CALL_LASTS) {
        *began = None;
        let _late = roll_call::end();
    }
    if looks == 0 && began.is_none() {
        return FIRST_LOOK;
    }
    let later = (FIRST_LOOK * 2_u32.saturating_pow(looks.min(16))).min(LOOK_EVERY);
    let Some(asleep) = sleepers::all_asleep() else {
        return later;
    };
    if began.take().is_none() {
        *began = Some(Instant::now());
        // SAFETY: all threads sleep.
        unsafe { roll_call::begin() };
        sleepers::wake_all();
        return later;
    }
    drop(began);
    // SAFETY: all threads sleep.
    let living = unsafe { roll_call::living() };
    let deadlock = Deadlock::new(dump(&living, &asleep, &roll_call::end()));
    if !sleepers::fail_one(&deadlock) {
        eprintln!("gossamer: {deadlock}");
        std::process::abort();
    }
    later
}

/// What these have answered.
fn dump(living: &[Living], asleep: &[Asleep], answers: &[Answer]) -> Dump {
    let waiting = || asleep.iter().filter(|thread| thread.waits);
    let joins = living.iter().map(|task| task.join);
    let mut telling = Telling {
        joins: joins.enumerate().map(|(at, join)| (join, at)).collect(),
        objects: Vec::new(),
        answers,
    };
    let tasks = living.iter().map(|task| Told {
        kind: match task.is_fiber {
            true => WaiterKind::Fiber,
            false => WaiterKind::Task,
        },
        who: task.address,
        name: name_at(task.address),
        spawned: Some(task.spawned),
    });
    let threads = waiting().map(|thread| Told {
        kind: WaiterKind::Thread,
        who: thread.context,
        name: thread.thread.name().map(str::to_owned),
        spawned: None,
    });
    Dump::new(
        tasks
            .chain(threads)
            .map(|told| telling.waiter(told))
            .collect(),
    )
}

/// One of those that a dump is to have.
struct Told {
    kind: WaiterKind,
    who: usize,
    name: Option<String>,
    spawned: Option<&'static Location<'static>>,
}

/// Makes a dump of addresses.
struct Telling<'a> {
    /// The indices of tasks, by the addresses of their joins.
    joins: HashMap<usize, usize>,
    /// By number, less one.
    objects: Vec<usize>,
    answers: &'a [Answer],
}

impl Telling<'_> {
    fn waiter(&mut self, told: Told) -> Waiter {
        let answers = self.answers.iter().filter(|answer| answer.who == told.who);
        let wants: Vec<_> = answers.map(|answer| answer.wants).collect();
        let waits_for = wants.iter().map(|wanted| self.wait(*wanted));
        let mut waits_for: Vec<_> = waits_for.collect();
        if waits_for
            .iter()
            .any(|waits| *waits != WaitsFor::EndElsewhere)
        {
            // Of what says its name beside: a one-shot, a join set.
            waits_for.retain(|waits| *waits != WaitsFor::EndElsewhere);
        }
        Waiter::new(told.kind, told.name, told.spawned, waits_for)
    }

    fn wait(&mut self, wanted: Wanted) -> WaitsFor {
        match wanted {
            Wanted::Operation {
                name,
                object,
                called,
            } => WaitsFor::Operation {
                name,
                object: self.number(object),
                called,
                holder: Holder::NotRecorded,
            },
            Wanted::Task(join) | Wanted::Join(join) => match self.joins.get(&join) {
                Some(at) => WaitsFor::End(*at),
                None => WaitsFor::EndElsewhere,
            },
        }
    }

    fn number(&mut self, object: usize) -> usize {
        let known = self.objects.iter().position(|other| *other == object);
        1 + known.unwrap_or_else(|| {
            self.objects.push(object);
            self.objects.len() - 1
        })
    }
}
