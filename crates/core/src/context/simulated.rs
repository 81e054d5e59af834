//! What operations tell a simulation, beside what the headers of its tasks and their nodes say: the second operation that
//! a task waits for, operations without a node, and who holds a lock. Where no simulation runs, they tell nothing; and in
//! a build without debug assertions neither, so that production pays for nothing.
//!
//! A note is a copy, so that nobody looks into an operation that is gone. A task's notes last until its next turn.

use core::cell::RefCell;
use core::mem;
use core::panic::Location;
use core::ptr::NonNull;
use core::task::Waker;

use alloc::vec::Vec;

use super::held_back::HeldBack;
use super::is_watched;
use crate::platform::atomic::Ordering;
use crate::platform::{UnmodelledI64, thread_local};
use crate::waiter::{Begins, Kind, Node, RawWakerParts};

/// Something that a task waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Wanted {
    /// An operation: its name, its object's address, and where it was called, if it knows.
    Operation {
        /// `"JoinSet::join_next"` and the like.
        name: &'static str,
        /// The address.
        object: usize,
        /// The place.
        called: Option<&'static Location<'static>>,
    },
    /// The end of the task at this address.
    Task(usize),
    /// The output of a task, or something like it, whose [`Join`](crate::header::Join) is at this address: what a roll call
    /// is told.
    Join(usize),
}

/// What the operations have told. They go with a [`Baton`](super::Baton).
#[derive(Debug)]
pub(super) struct Notes {
    /// The address of the task whose turn it is, also on a thread that runs for it; and its number.
    turn: usize,
    number: usize,
    /// By the addresses of the task and of what it waits for.
    wanted: Vec<(usize, usize, Wanted)>,
    /// Locks, by address, and the task that holds each; 0: it has ended.
    held: Vec<(usize, usize)>,
    /// Operations that are to begin when their task is chosen; none, where each task that is woken is.
    held_back: Option<HeldBack>,
    /// The task whose turn it is has come to an operation.
    comes: bool,
    /// Objects of which each is part of another one, by address.
    wholes: Vec<(usize, usize)>,
}

impl Notes {
    pub(super) const fn new() -> Self {
        Self {
            turn: 0,
            number: 0,
            wanted: Vec::new(),
            held: Vec::new(),
            held_back: None,
            comes: false,
            wholes: Vec::new(),
        }
    }

    /// The object that this one is part of, or itself.
    fn whole(&self, object: usize) -> usize {
        let found = self.wholes.iter().rfind(|(part, _)| *part == object);
        found.map_or(object, |(_, whole)| *whole)
    }

    /// What a task waits for is not so any more.
    fn forget_wanted(&mut self, task: usize) {
        self.wanted.retain(|(other, ..)| *other != task);
    }
}

/// The simulations that hold operations back. Whoever drops or polls such an operation has it from one that counts, or is
/// after that one's end. (Then it does not matter, but nobody can tell the two apart while another one runs.)
static HOLDING: UnmodelledI64 = UnmodelledI64::new(0);

thread_local! {
    static NOTES: RefCell<Notes> = const { RefCell::new(Notes::new()) };
}

fn notes<R>(use_them: impl FnOnce(&mut Notes) -> R) -> R {
    NOTES.with(|notes| use_them(&mut notes.borrow_mut()))
}

/// Has this thread's notes be these, and these be the thread's.
pub(super) fn exchange(others: &mut Notes) {
    notes(|notes| mem::swap(notes, others));
}

/// A simulation begins, or has ended: what there was is forgotten.
pub fn forget_all() {
    let old = notes(|notes| mem::replace(notes, Notes::new()));
    if old.held_back.is_some() {
        // Relaxed: see `HOLDING`.
        HOLDING.fetch_sub(1, Ordering::Relaxed);
    }
    // The drop of a waker is user code.
    drop(old);
}

/// This simulation chooses among operations alone: each is held back until its task is chosen. By `choose` it chooses one
/// of so many orders in which a task may ask its operations.
pub fn hold_back_operations(choose: fn(usize) -> usize) {
    // Relaxed: see `HOLDING`.
    HOLDING.fetch_add(1, Ordering::Relaxed);
    notes(|notes| notes.held_back = Some(HeldBack::new(choose)));
}

/// In which order a select asks so many branches, if that is the simulation's to say: from the first on, unless two of its
/// task's operations are about to begin. Then any of them may be the first, and the others follow in one direction or the
/// other: so of any two branches each comes first in half of the orders. The first one, and the step from each to the next.
pub(super) fn walk(branches: usize) -> Option<(usize, usize)> {
    let (choose, may_differ) = notes(|notes| {
        let held_back = notes.held_back.as_ref()?;
        let task = (notes.number, notes.turn);
        Some((held_back.choose, held_back.are_several_called(task)))
    })?;
    if branches < 2 || !may_differ || crate::mutant!("select_starts_fixed") {
        return Some((0, 1));
    }
    let directions = if branches == 2 { 1 } else { 2 };
    let chosen = choose(directions * branches);
    let step = if chosen < branches { 1 } else { branches - 1 };
    Some((chosen % branches, step))
}

/// Whether it does.
pub(crate) fn holds_back() -> bool {
    notes(|notes| notes.held_back.is_some())
}

/// Holds the operation that has this node back.
///
/// # Safety
/// The node is of this kind. It stays where it is, alive with its object, until [`may_begin`] or [`is_dropped`] is told of
/// it.
pub(crate) unsafe fn hold_back(node: NonNull<Node>, kind: &'static Kind, waker: RawWakerParts<'_>) {
    let waker = waker.with(Waker::clone);
    notes(|notes| {
        let task = (notes.number, notes.turn);
        if let Some(held_back) = &mut notes.held_back {
            // SAFETY: as the caller says.
            unsafe { held_back.add(task, node, kind, waker) };
        }
    });
}

/// Whether the task whose turn it is has come to an operation, and is on its way to be held back: then its turn goes on, and
/// what it waits for it says once more.
pub fn take_comes() -> bool {
    notes(|notes| {
        let comes = mem::take(&mut notes.comes);
        if comes {
            notes.forget_wanted(notes.turn);
        }
        comes
    })
}

/// An operation yields, to be held back in its next poll.
pub(super) fn comes() {
    notes(|notes| notes.comes = true);
}

/// The operation that has this node was held back, and is polled: whether it begins. If it was not called, it goes on
/// being held back.
#[cold]
pub(crate) fn may_begin(node: NonNull<Node>, waker: RawWakerParts<'_>) -> bool {
    let called = notes(|notes| {
        let held_back = notes.held_back.as_mut();
        held_back.is_some_and(|held_back| held_back.begin_called(node))
    });
    if called {
        return true;
    }
    // The drop of a waker is user code: the former one goes here as well.
    let mut waker = waker.with(Waker::clone);
    let is_held = notes(|notes| {
        let task = (notes.number, notes.turn);
        let held_back = notes.held_back.as_mut();
        held_back.is_some_and(|held_back| held_back.renew(node, task, &mut waker))
    });
    if is_held && !crate::mutant!("held_back_begins_when_polled") {
        return false;
    }
    drop(is_dropped(node));
    true
}

/// The operation that has this node was held back, and is not any more. Its waker is the caller's to drop, which is user
/// code.
///
/// # Aborts
/// Another thread's simulation holds it back, perhaps, and would read freed memory.
#[cold]
pub(crate) fn is_dropped(node: NonNull<Node>) -> Option<Waker> {
    let found = NOTES.try_with(|notes| {
        let held_back = &mut notes.borrow_mut().held_back;
        let own = i64::from(held_back.is_some());
        (own, held_back.as_mut().and_then(|held| held.remove(node)))
    });
    // At the end of a thread there are no notes.
    let (own, removed) = found.unwrap_or((0, None));
    // Relaxed: see `HOLDING`.
    if removed.is_none() && HOLDING.load(Ordering::Relaxed) > own {
        crate::shard::left_elsewhere();
    }
    removed.flatten()
}

/// An object is gone: operations at it that were forgotten are not asked any more. (In a build without debug assertions
/// nobody tells.)
#[cold]
pub(crate) fn forget_object(object: usize) {
    let forgotten = notes(|notes| Some(notes.held_back.as_mut()?.forget_object(object)));
    drop(forgotten);
}

/// The tasks, by number and address, that have operations which are held back and would take effect: sorted, each once.
pub fn able_tasks(into: &mut Vec<(usize, usize)>) {
    notes(|notes| {
        if let Some(held_back) = &notes.held_back {
            held_back.able_tasks(into);
        }
    });
}

/// The objects, by address, of the operations of this task that are held back and would take effect; of a [part](is_part),
/// its whole.
pub fn objects_of(task: usize, into: &mut Vec<usize>) {
    notes(|notes| {
        if let Some(held_back) = &notes.held_back {
            held_back.objects_of(task, into);
        }
        for object in into {
            *object = notes.whole(*object);
        }
    });
}

/// All operations of this task that are held back: their objects, by address, and what comes of it if they begin.
pub fn held_by(task: usize, into: &mut Vec<(usize, Begins)>) {
    notes(|notes| {
        if let Some(held_back) = &notes.held_back {
            held_back.all_of(task, into);
        }
        for (object, _) in into {
            *object = notes.whole(*object);
        }
    });
}

/// What is done at `part` is done at `whole` as well, from now on: it is a port in a set, say.
#[inline]
pub fn is_part<T, W>(part: &T, whole: &W) {
    if is_watched() && !crate::mutant!("ports_stand_alone") {
        let [part, whole] = [
            core::ptr::from_ref(part).addr(),
            core::ptr::from_ref(whole).addr(),
        ];
        notes(|notes| notes.wholes.push((part, whole)));
    }
}

/// Lets the operations of this task begin that would take effect; or, if `all`, every one.
///
/// # Returns
/// Whether there is one.
pub fn let_begin(task: (usize, usize), all: bool) -> bool {
    let call_next = || notes(|notes| notes.held_back.as_mut()?.call_next(task, all));
    let mut any = false;
    while let Some((waker, others)) = call_next() {
        waker.wake();
        any = true;
        if !others {
            break;
        }
    }
    any
}

/// The tasks that have operations which are held back, by number and address.
pub fn held_back_tasks() -> Vec<(usize, usize)> {
    notes(|notes| notes.held_back.as_ref().map_or(Vec::new(), HeldBack::tasks))
}

/// The turn of the task at this address, with this number, begins.
pub fn begin_turn(task: usize, number: usize) {
    notes(|notes| {
        (notes.turn, notes.number) = (task, number);
        notes.comes = false;
        notes.forget_wanted(task);
    });
}

/// The number of the task whose turn it is, or was last.
pub fn turn() -> usize {
    notes(|notes| notes.number)
}

/// The task at this address has ended.
pub fn ended(task: usize) {
    let wakers = notes(|notes| {
        notes.forget_wanted(task);
        for (_, holder) in &mut notes.held {
            if *holder == task {
                *holder = 0;
            }
        }
        Some(notes.held_back.as_mut()?.disown(task))
    });
    // The drop of a waker is user code.
    drop(wakers);
}

/// What the task at this address waits for beside what its header says.
pub fn wanted_by(task: usize) -> Vec<Wanted> {
    let its = |(other, _, wanted): &(usize, usize, Wanted)| (*other == task).then_some(*wanted);
    notes(|notes| notes.wanted.iter().filter_map(its).collect())
}

/// The addresses of the tasks that hold the lock at this address; 0: of one that has ended.
pub fn holders_of(lock: usize) -> Vec<usize> {
    let its = |(other, task): &(usize, usize)| (*other == lock).then_some(*task);
    notes(|notes| notes.held.iter().filter_map(its).collect())
}

/// A task waits for this too.
#[cold]
pub(crate) fn want(task: usize, key: usize, wanted: Wanted) {
    if crate::mutant!("second_branch_untold") {
        return;
    }
    notes(|notes| {
        if !notes
            .wanted
            .iter()
            .any(|(by, at, _)| (*by, *at) == (task, key))
        {
            notes.wanted.push((task, key, wanted));
        }
    });
}

/// It does not wait for it any more.
#[cold]
pub(crate) fn leave(task: usize, key: usize) {
    notes(|notes| notes.wanted.retain(|(by, at, _)| (*by, *at) != (task, key)));
}

/// The operation that is being polled waits at `object`, and has no node there that says so.
#[inline(always)]
pub fn waits_at<T>(object: *const T, name: &'static str) {
    if cfg!(debug_assertions) && is_watched() {
        let object = object.addr();
        let called = None;
        let wanted = Wanted::Operation {
            name,
            object,
            called,
        };
        want(notes(|notes| notes.turn), object, wanted);
    }
}

/// The task whose turn it is has locked this.
#[inline(always)]
pub fn holds<T>(lock: &T) {
    if cfg!(debug_assertions) && is_watched() && !crate::mutant!("holders_untold") {
        let lock = core::ptr::from_ref(lock).addr();
        notes(|notes| notes.held.push((lock, notes.turn)));
    }
}

/// One that has locked this has unlocked it: the task whose turn it is, if it has.
#[inline(always)]
pub fn lets_go<T>(lock: &T) {
    if cfg!(debug_assertions) && is_watched() {
        let lock = core::ptr::from_ref(lock).addr();
        notes(|notes| {
            let by = |task| notes.held.iter().position(|held| *held == (lock, task));
            // A task that was aborted has ended before what it owns is dropped.
            let known = by(notes.turn).or_else(|| by(0));
            let any = || notes.held.iter().position(|(other, _)| *other == lock);
            if let Some(at) = known.or_else(any) {
                notes.held.swap_remove(at);
            }
        });
    }
}
