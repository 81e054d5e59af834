//! What is recorded for dumps, where a runtime's builder asks for it: since when each task and thread waits, and who holds
//! which lock. For the whole process, from then on.
//!
//! * A task's last poll is marked in its header, in a word that nobody uses while it is parked: its runner exists twice,
//!   with that and without, so that nobody pays who has not asked.
//! * Who takes a lock is noted. That it is left is not: who waits for it strikes out what the lock's word says is over.
//!
//! A [roll call](crate::roll_call) polls all that wait; who says then that it waits still has waited since it did before.

use alloc::boxed::Box;
use core::cell::Cell;
use core::panic::Location;
use core::time::Duration;
use std::collections::HashMap;
use std::sync::OnceLock;

use crate::context;
use crate::moment::Moment;
use crate::platform::atomic::Ordering;
use crate::platform::{Mutex, UnmodelledU32, counter, per_process, thread_local};

/// Not zero: it is recorded.
static IS_ON: UnmodelledU32 = UnmodelledU32::new(0);

/// When it began, by both clocks: what the processor counts in a second is not known.
static BEGAN: OnceLock<(Moment, u64)> = OnceLock::new();

/// So many parts has the record of locks, so that two threads seldom want the same.
const PARTS: usize = 64;

/// A task or a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Who {
    /// The address of the task; or of the context of the thread, which polled none.
    pub address: usize,
    /// Where the task was spawned.
    pub spawned: Option<&'static Location<'static>>,
}

/// Locks, by address: who took each last, and what the lock's word said then.
type Taken = HashMap<usize, (Who, u32)>;

per_process! {
    fn taken() -> Box<[Mutex<Taken>]> = (0..PARTS).map(|_| Mutex::default()).collect()
}

/// Records from now on.
pub fn begin() {
    BEGAN.get_or_init(|| (Moment::real_now(), count()));
    IS_ON.store(1, Ordering::Relaxed); // Relaxed: who sees it late records later
    here();
}

/// Whether it is recorded.
#[inline(always)]
pub fn is_on() -> bool {
    IS_ON.load(Ordering::Relaxed) != 0 // Relaxed: as above
}

/// This thread records, if it is recorded: who takes a lock here. Each thread says so before it polls tasks, and when it has
/// slept.
#[inline(always)]
pub fn here() {
    if is_on() {
        context::record();
    }
}

/// This moment, for [`ago`].
#[inline(always)]
pub(crate) fn count() -> u64 {
    counter().unwrap_or_else(|| Moment::real_now().nanos())
}

/// How long ago that was. `None`: nothing has been recorded.
pub fn ago(then: u64) -> Option<Duration> {
    let (began, from) = *BEGAN.get()?;
    let (since, counted) = (
        Moment::real_now().since(began),
        count().saturating_sub(from),
    );
    let per_count = since.as_secs_f64() / counted.max(1) as f64;
    let counts = count().saturating_sub(then);
    Some(Duration::from_secs_f64(counts as f64 * per_count))
}

/// How many a roll call has woken, that have not been polled since.
static CALLED: UnmodelledU32 = UnmodelledU32::new(0);

/// Tasks of a runtime that nobody runs are waited for no longer than this: meanwhile all polls of the process are slow.
const CALLED_FOR: Duration = Duration::from_secs(5);

/// The tasks that were called.
#[derive(Default)]
struct Called {
    /// When they were polled before, by address.
    before: HashMap<usize, u64>,
    /// When they were called.
    at: Option<Moment>,
}

per_process! {
    fn called() -> Mutex<Called> = Mutex::default()
}

thread_local! {
    /// The one that is polled here, in the poll of this number, and when it was polled before.
    static POLLED: Cell<(usize, u16, u64)> = const { Cell::new((0, 0, 0)) };
}

/// A roll call is about to wake these tasks, which were polled then.
pub(crate) fn call(tasks: impl Iterator<Item = (usize, u64)>) {
    let mut called = called().lock();
    called.before.extend(tasks);
    called.at = Some(Moment::real_now());
    CALLED.store(called.before.len() as u32, Ordering::Relaxed); // Relaxed: they are woken afterwards
}

/// The task at this address is about to be polled, or ends without: it is no longer one that was called. If it says in this
/// poll that it waits still, it has waited since it did before.
#[inline(always)]
pub fn comes(task: usize) {
    // Relaxed: as above.
    if CALLED.load(Ordering::Relaxed) != 0 {
        strike_off(task);
    }
}

#[cold]
#[inline(never)]
fn strike_off(task: usize) {
    let mut called = called().lock();
    let is_over = |at: Moment| Moment::real_now().since(at) > CALLED_FOR;
    if called.at.is_none_or(is_over) {
        *called = Called::default();
    }
    let before = called.before.remove(&task);
    CALLED.store(called.before.len() as u32, Ordering::Relaxed); // Relaxed: as above
    drop(called);
    if let Some(before) = before {
        context::answer_next_poll(|poll| POLLED.with(|polled| polled.set((task, poll, before))));
    }
}

/// The task at this address says in this poll that it waits still: since then, if it was only called.
pub(crate) fn waits_on(task: usize, poll: u16) -> Option<u64> {
    let (polled, its_poll, before) = POLLED.with(Cell::take);
    let is_it = (polled, its_poll) == (task, poll) && !crate::mutant!("call_begins_anew");
    is_it.then_some(before)
}

fn part(lock: usize) -> &'static Mutex<Taken> {
    // Locks lie some words apart.
    &taken()[(lock >> 4) % PARTS]
}

/// Who runs on this thread.
fn who() -> Who {
    context::with(|context| {
        let task = context.with_polled(|task| Who {
            address: task.pointer().addr().get(),
            spawned: Some(task.spawned),
        });
        task.unwrap_or_else(|| Who {
            address: core::ptr::from_ref(context).addr(),
            spawned: None,
        })
    })
}

/// This lock has been taken here; `word` tells one who has it from others, mostly.
pub fn takes(lock: usize, word: u32) {
    if !crate::mutant!("holder_unrecorded") {
        part(lock).lock().insert(lock, (who(), word));
    }
}

/// Somebody has to wait for this lock, and sees this in its word, or that nobody has it: strikes out who does not have it any
/// more.
pub fn waits(lock: usize, word: Option<u32>) {
    let mut taken = part(lock).lock();
    let has = |(_, then): &(Who, u32)| Some(*then) == word;
    if !taken.get(&lock).is_some_and(has) && !crate::mutant!("former_holder_stays") {
        taken.remove(&lock);
    }
}

/// Who holds this lock, if that is recorded.
pub fn holder_of(lock: usize) -> Option<Who> {
    part(lock).lock().get(&lock).map(|(who, _)| *who)
}
