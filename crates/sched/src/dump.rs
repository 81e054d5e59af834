//! Who waits for what in this process, now.

use std::collections::HashMap;
use std::panic::Location;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use gossamer_core::context::simulated::Wanted;
use gossamer_core::dump::{
    Dump, HeldBy, Interest, OpenSocket, Waiter, WaiterKind, WaitsFor, is_lock,
};
use gossamer_core::moment::Moment;
use gossamer_core::platform::thread::sleep;
use gossamer_core::platform::{Mutex, per_process};
use gossamer_core::recording::{self, Who};
use gossamer_core::roll_call::{self, Answers, ROLL_CALL_LASTS, RollCall};
use gossamer_core::sleepers::{self, Asleep};
use gossamer_task::locals::name_at;

/// A dump waits so long at most.
const PATIENCE: Duration = Duration::from_millis(100);
/// Between two looks at what has come.
const LOOK_EVERY: Duration = Duration::from_millis(1);
/// When nothing has come in so many looks, everything has.
const QUIET_LOOKS: u32 = 5;

/// The right to call the roll, for a while: one at a time.
pub(crate) struct Caller(u64);

/// The last one, and since when it calls, if it does.
#[derive(Default)]
struct Calling {
    last: u64,
    since: Option<Instant>,
}

per_process! {
    fn calling() -> Mutex<Calling> = Mutex::default()
}

impl Calling {
    fn is_over(&self) -> bool {
        self.since
            .is_none_or(|since| since.elapsed() > ROLL_CALL_LASTS)
    }
}

impl Caller {
    /// `None`: another one calls. (One that has for too long has woken somebody who goes on.)
    pub(crate) fn new() -> Option<Self> {
        let mut calling = calling().lock();
        calling.is_over().then(|| {
            calling.last += 1;
            calling.since = Some(Instant::now());
            Self(calling.last)
        })
    }

    /// Calls: from now on all say what they wait for.
    pub(crate) fn call(&self) {
        let mut calling = calling().lock();
        if calling.last == self.0 {
            calling.since = Some(Instant::now());
            drop(calling);
            roll_call::begin();
            sleepers::wake_all();
        }
    }

    /// Whether it has called for too long.
    pub(crate) fn is_over(&self) -> bool {
        let calling = calling().lock();
        calling.last != self.0 || calling.is_over()
    }

    /// Ends the call; `None`: another one calls by now.
    pub(crate) fn end(&self) -> Option<RollCall> {
        let calling = calling().lock();
        (calling.last == self.0).then(roll_call::end)
    }
}

impl Drop for Caller {
    fn drop(&mut self) {
        let mut calling = calling().lock();
        if calling.last == self.0 {
            calling.since = None;
        }
    }
}

/// The sockets of this process, as long as it has any; nothing here knows what they are.
static SOCKETS: OnceLock<fn() -> Vec<ListedSocket>> = OnceLock::new();

/// A socket for a dump.
#[derive(Debug)]
pub struct ListedSocket {
    /// What is told of it.
    pub socket: OpenSocket,
    /// When it was opened.
    pub opened: Moment,
    /// The addresses of what operations wait at that read, and that write.
    pub objects: [usize; 2],
}

/// From now on dumps have these sockets. The first call counts.
pub fn list_sockets(list: fn() -> Vec<ListedSocket>) {
    let _first = SOCKETS.set(list);
}

/// Who waits for what in this process.
pub fn dump() -> Dump {
    let caller = loop {
        match Caller::new() {
            Some(caller) => break caller,
            None => sleep(LOOK_EVERY),
        }
    };
    let called_at = Moment::real_now();
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
    let called = caller.end().unwrap_or_default();
    drop(caller);
    tell(&called, &sleepers::asleep_now(), called_at)
}

/// What has come of a roll call, and the threads that sleep. Sockets that have been opened since are nobody's.
pub(crate) fn tell(called: &RollCall, asleep: &[Asleep], called_at: Moment) -> Dump {
    let tasks = called.living.iter().map(|task| Told {
        kind: match task.is_fiber {
            true => WaiterKind::Fiber,
            false => WaiterKind::Task,
        },
        address: task.address,
        name: name_at(task.address),
        spawned: Some(task.spawned),
        since: task.polled,
    });
    let waiting = asleep.iter().filter(|thread| thread.waits);
    let threads = waiting.map(|thread| Told {
        kind: WaiterKind::Thread,
        address: thread.context,
        name: thread.thread.name().map(str::to_owned),
        spawned: None,
        since: thread.since,
    });
    let all: Vec<_> = tasks.chain(threads).collect();
    let joins = called.living.iter().map(|task| task.join);
    let whos = all.iter().map(|told| recording::who_at(told.address));
    let listed = SOCKETS.get().map(|list| list()).unwrap_or_default();
    // What has an answer's address by now may be a socket that was opened since.
    let all_listed = listed.iter().enumerate();
    let objects = all_listed
        .filter(|(_, listed)| listed.opened < called_at)
        .map(|(at, listed)| (at, listed.objects));
    let mut telling = Telling {
        sockets: objects
            .flat_map(|(at, [reads, writes])| {
                [
                    (reads, (at, Interest::Read)),
                    (writes, (at, Interest::Write)),
                ]
            })
            .collect(),
        joins: joins.enumerate().map(|(at, join)| (join, at)).collect(),
        whos: whos
            .enumerate()
            .filter_map(|(at, who)| Some((who?, at)))
            .collect(),
        objects: HashMap::new(),
        answers: &called.answers,
    };
    let waiters = all.into_iter().map(|told| telling.waiter(told));
    let dump = Dump::new(waiters.collect(), called.unheard.len());
    dump.with_sockets(listed.into_iter().map(|listed| listed.socket).collect())
}

/// One of those that a dump is to have.
struct Told {
    kind: WaiterKind,
    address: usize,
    name: Option<String>,
    spawned: Option<&'static Location<'static>>,
    since: Option<u64>,
}

/// Makes a dump of addresses.
struct Telling<'a> {
    /// The indices of tasks, by the addresses of their joins.
    joins: HashMap<usize, usize>,
    /// The indices of all.
    whos: HashMap<Who, usize>,
    /// The indices of sockets, and what for, by the addresses of what is waited at.
    sockets: HashMap<usize, (usize, Interest)>,
    /// The numbers of objects, by address.
    objects: HashMap<usize, usize>,
    answers: &'a Answers,
}

impl Telling<'_> {
    fn waiter(&mut self, told: Told) -> Waiter {
        let wants = self
            .answers
            .get(&told.address)
            .map(|answer| answer.wants.as_slice());
        let waits_for = wants
            .unwrap_or_default()
            .iter()
            .map(|wanted| self.wait(*wanted));
        let waits_for = waits_for.collect();
        let mut waiter = Waiter::new(told.kind, told.name, told.spawned, waits_for);
        if !waiter.waits_for.is_empty() {
            waiter.waited = told.since.and_then(recording::ago);
        }
        waiter
    }

    fn wait(&mut self, wanted: Wanted) -> WaitsFor {
        match wanted {
            Wanted::Operation {
                name,
                object,
                called,
            } => match self.sockets.get(&object) {
                Some(&(socket, interest)) => WaitsFor::Socket {
                    socket,
                    interest,
                    called,
                },
                None => WaitsFor::Operation {
                    name,
                    called,
                    held_by: self.holder_of(name, object),
                    object: self.number(object),
                },
            },
            Wanted::Task(join) | Wanted::Join(join) => match self.joins.get(&join) {
                Some(at) => WaitsFor::End(*at),
                None => WaitsFor::EndElsewhere,
            },
        }
    }

    fn holder_of(&self, operation: &str, object: usize) -> Option<HeldBy> {
        let who = recording::holder_of(object).filter(|_| is_lock(operation))?;
        let at = self.whos.get(&who);
        Some(at.map_or(HeldBy::Elsewhere, |at| HeldBy::Waiter(*at)))
    }

    fn number(&mut self, object: usize) -> usize {
        let next = self.objects.len() + 1;
        *self.objects.entry(object).or_insert(next)
    }
}
