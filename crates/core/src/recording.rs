//! What is recorded for dumps, where a runtime's builder asks for it: since when each task and thread waits, and who holds
//! which lock. For the whole process, from then on.
//!
//! * A task's last poll is marked in its header, in a word that nobody uses while it is parked: its runner exists twice,
//!   with that and without, so that nobody pays who has not asked.
//! * Who takes a lock is noted. That a mutex is left is not: who waits for it strikes out what its word says is over.
//!
//! A [roll call](crate::roll_call) polls all that wait; who says then that it waits still has waited since it did before.

use alloc::boxed::Box;
use core::cell::Cell;
use core::mem;
use core::time::Duration;
use std::collections::HashMap;
use std::sync::OnceLock;

use crate::context;
use crate::moment::Moment;
use crate::platform::atomic::Ordering;
use crate::platform::{Mutex, UnmodelledU32, UnmodelledU64, counter, per_process, thread_local};

/// Not zero: it is recorded.
static IS_ON: UnmodelledU32 = UnmodelledU32::new(0);

/// When it began, by both clocks: what the processor counts in a second is not known.
static BEGAN: OnceLock<(Moment, u64)> = OnceLock::new();

/// So many parts has each map, so that two threads seldom want the same.
const PARTS: usize = 64;

/// A task or a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Who {
    /// The address of the task; or of the context of the thread, which polled none.
    address: usize,
    /// No other one has it, though it may be where this one was.
    number: u64,
}

type Spread<T> = Box<[Mutex<T>]>;

/// How many have taken a lock, or have been others since.
static NAMED: UnmodelledU64 = UnmodelledU64::new(0);

per_process! {
    /// Locks, by address: who took each last, and what the lock's word said then.
    fn taken() -> Spread<HashMap<usize, (Who, u32)>> = parts()
}

per_process! {
    /// The numbers of those who have taken a lock, by address.
    fn named() -> Spread<HashMap<usize, u64>> = parts()
}

/// A thread that has taken a lock outside of all tasks.
struct Named;

impl Drop for Named {
    fn drop(&mut self) {
        ends(context::address().addr());
    }
}

thread_local! {
    static THREAD: Named = const { Named };
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

/// Seconds for each count, as far as is known. `None`: nothing has been recorded.
fn per_count() -> Option<f64> {
    let (began, from) = *BEGAN.get()?;
    let counted = count().saturating_sub(from).max(1);
    Some(Moment::real_now().since(began).as_secs_f64() / counted as f64)
}

/// How long ago that was. `None`: nothing has been recorded.
pub fn ago(then: u64) -> Option<Duration> {
    let counts = count().saturating_sub(then);
    Some(Duration::from_secs_f64(counts as f64 * per_count()?))
}

/// How many a roll call has woken, that have not been polled since.
static CALLED: UnmodelledU32 = UnmodelledU32::new(0);

per_process! {
    /// When they were polled before, by address.
    fn called() -> Spread<HashMap<usize, u64>> = parts()
}

thread_local! {
    /// The one that is polled here, in the poll of this number, and when it was polled before.
    static POLLED: Cell<(usize, u16, u64)> = const { Cell::new((0, 0, 0)) };
}

/// A roll call is about to wake these tasks, which were polled then.
pub(crate) fn call(tasks: impl Iterator<Item = (usize, u64)>) {
    for (task, polled) in tasks {
        if part(called(), task).lock().insert(task, polled).is_none() {
            CALLED.fetch_add(1, Ordering::Relaxed); // Relaxed: they are woken afterwards
        }
    }
}

/// The roll call is over: who has not been polled begins anew.
pub(crate) fn end_call() {
    for part in called() {
        let forgotten = mem::take(&mut *part.lock()).len();
        CALLED.fetch_sub(forgotten as u32, Ordering::Relaxed); // Relaxed: as above
    }
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
    let before = part(called(), task).lock().remove(&task);
    if let Some(before) = before {
        CALLED.fetch_sub(1, Ordering::Relaxed); // Relaxed: as above
        let poll = context::stamp().wrapping_add(1);
        POLLED.with(|polled| polled.set((task, poll, before)));
    }
}

/// The task at this address says in this poll that it waits still: since then, if it was only called.
pub(crate) fn waits_on(task: usize, poll: u16) -> Option<u64> {
    let (polled, its_poll, before) = POLLED.with(Cell::take);
    let is_it = (polled, its_poll) == (task, poll) && !crate::mutant!("call_begins_anew");
    is_it.then_some(before)
}

/// The part that has what is at this address.
fn part<T>(parts: &Spread<T>, address: usize) -> &Mutex<T> {
    // Knuth's multiplicative hash: what lies at equal distances is not in few parts.
    let hash = (address as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    &parts[(hash >> 32) as usize % PARTS]
}

fn parts<T: Default>() -> Spread<T> {
    (0..PARTS).map(|_| Mutex::default()).collect()
}

/// Who runs on this thread.
fn who() -> Who {
    let task = context::with(|context| context.polling());
    let address = match task {
        Some(task) => task.addr().get(),
        None => {
            let _known = THREAD.try_with(|_| ());
            context::address().addr()
        }
    };
    let mut names = part(named(), address).lock();
    // Relaxed: only the number counts.
    let number = names
        .entry(address)
        .or_insert_with(|| NAMED.fetch_add(1, Ordering::Relaxed));
    Who {
        address,
        number: *number,
    }
}

/// Who is at this address now, if it has ever taken a lock.
pub fn who_at(address: usize) -> Option<Who> {
    let number = *part(named(), address).lock().get(&address)?;
    Some(Who { address, number })
}

/// The task, or thread, at this address has ended: the next one there is another.
pub fn ends(address: usize) {
    // Relaxed: one that was named here is seen here.
    if NAMED.load(Ordering::Relaxed) != 0 && !crate::mutant!("dead_keep_their_names") {
        part(named(), address).lock().remove(&address);
    }
}

/// This lock has been taken here; `word` tells one who has it from others, mostly.
pub fn takes(lock: usize, word: u32) {
    if !crate::mutant!("holder_unrecorded") {
        let who = who();
        part(taken(), lock).lock().insert(lock, (who, word));
    }
}

/// Nobody has this lock alone any more, or it is gone.
pub fn leaves(lock: usize) {
    part(taken(), lock).lock().remove(&lock);
}

/// Somebody has to wait for this lock, and sees this in its word, or that nobody has it: strikes out who does not have it any
/// more.
pub fn waits(lock: usize, word: Option<u32>) {
    let mut taken = part(taken(), lock).lock();
    let has = |(_, then): &(Who, u32)| Some(*then) == word;
    if !taken.get(&lock).is_some_and(has) && !crate::mutant!("former_holder_stays") {
        taken.remove(&lock);
    }
}

/// Who holds this lock, if that is recorded.
pub fn holder_of(lock: usize) -> Option<Who> {
    part(taken(), lock).lock().get(&lock).map(|(who, _)| *who)
}
