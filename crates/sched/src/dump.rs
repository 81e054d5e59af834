//! Who waits for what in this process, now.

use std::collections::HashMap;
use std::panic::Location;
use std::time::{Duration, Instant};

use gossamer_core::context::simulated::Wanted;
use gossamer_core::dump::{Dump, LockHolder, Waiter, WaiterKind, WaitsFor};
use gossamer_core::platform::atomic::{AtomicBool, Ordering};
use gossamer_core::platform::thread::sleep;
use gossamer_core::roll_call::{self, Answer, RollCall};
use gossamer_core::sleepers::{self, Asleep};
use gossamer_task::locals::name_at;

/// A dump waits so long at most.
const PATIENCE: Duration = Duration::from_millis(100);
/// Between two looks at what has come.
const LOOK_EVERY: Duration = Duration::from_millis(1);
/// When nothing has come in so many looks, everything has.
const QUIET_LOOKS: u32 = 5;

/// The right to call the roll: one at a time.
pub(crate) struct Caller(());

static CALLS: AtomicBool = AtomicBool::new(false);

impl Caller {
    /// `None`: another one does.
    pub(crate) fn new() -> Option<Self> {
        // Acquire pairs with the release in `drop`.
        let before = CALLS.swap(true, Ordering::Acquire);
        (!before).then_some(Self(()))
    }

    /// Calls: from now on all say what they wait for.
    pub(crate) fn call(&self) {
        roll_call::begin();
        sleepers::wake_all();
    }
}

impl Drop for Caller {
    fn drop(&mut self) {
        // Release pairs with the acquire in `new`.
        CALLS.store(false, Ordering::Release);
    }
}

/// Who waits for what in this process.
pub fn dump() -> Dump {
    let caller = loop {
        match Caller::new() {
            Some(caller) => break caller,
            None => sleep(LOOK_EVERY),
        }
    };
    caller.call();
    let began = Instant::now();
    let (mut before, mut quiet) = (0, 0);
    while began.elapsed() < PATIENCE && quiet < QUIET_LOOKS {
        sleep(LOOK_EVERY);
        let (now, any_unheard) = roll_call::progress();
        quiet = if now == before && !any_unheard {
            quiet + 1
        } else {
            0
        };
        before = now;
    }
    let called = roll_call::end();
    drop(caller);
    tell(&called, &sleepers::asleep_now())
}

/// What has come of a roll call, and the threads that sleep.
pub(crate) fn tell(called: &RollCall, asleep: &[Asleep]) -> Dump {
    let living = &called.living;
    let waiting = || asleep.iter().filter(|thread| thread.waits);
    let joins = living.iter().map(|task| task.join);
    let mut telling = Telling {
        joins: joins.enumerate().map(|(at, join)| (join, at)).collect(),
        objects: Vec::new(),
        answers: &called.answers,
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
    let all = tasks.chain(threads).map(|told| telling.waiter(told));
    Dump::new(all.collect(), called.unheard.len())
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
                holder: LockHolder::NotRecorded,
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
