//! The name and the values that belong to a task. Few tasks have any, so a table keeps them, not the header.
//!
//! One table, keyed by who has it: a task (the address of its header) or a thread that polls none (the address of its
//! context). A bit of the task's [`TaskState`](gossamer_core::header::TaskState) says that it is in the table, so a task
//! that is not costs nothing; what is in the table goes when the task has ended, before its output is published; unless
//! the stack of its fiber stays, and may use it.
//!
//! The values live in boxes of their own, so that they stay where they are while the table changes; only their owner,
//! which is one thread at a time, looks at them, and they go when it has ended. Neither the making of a value, nor its
//! use, nor its destructor runs under a lock. What a destructor makes anew is destroyed after it; what has been
//! destroyed is not made again. So an end comes to an end.

use std::any::Any;
use std::collections::HashMap;
use std::fmt;
use std::hash::{BuildHasherDefault, DefaultHasher};
use std::ptr::NonNull;
use std::sync::Arc;

use gossamer_core::context::{self, Context};
use gossamer_core::header::Header;
use gossamer_core::panics;
use gossamer_core::platform::{Mutex, MutexGuard, per_process, thread_local};

/// Parts of the table, each with its lock, so that workers seldom meet. One in models.
const STRIPES: usize = if cfg!(any(loom, shuttle)) { 1 } else { 32 };

type Stripe = HashMap<usize, TaskLocals, BuildHasherDefault<DefaultHasher>>;

per_process! {
    /// All that tasks and threads have beside.
    fn stripes() -> Vec<Mutex<Stripe>> = (0..STRIPES).map(|_| Mutex::new(Stripe::default())).collect()
}

/// The name and values of one task or thread.
#[derive(Default)]
struct TaskLocals {
    name: Option<Arc<str>>,
    /// In the order in which they were made; none, where it has been destroyed.
    values: Vec<(usize, Option<Box<dyn Any + Send>>)>,
}

/// The value has been destroyed, because the task or thread is ending.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Over;

gossamer_core::impl_debug_as_display!([] Over[]);

impl fmt::Display for Over {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the task or thread is ending, and its value has been destroyed")
    }
}

impl std::error::Error for Over {}

/// The owner of an entry in the table.
#[derive(Clone, Copy)]
enum Owner {
    Task(NonNull<Header>),
    Thread(usize),
}

impl Owner {
    /// The task that is polled, or the thread.
    fn here() -> Self {
        match context::with(Context::polling) {
            Some(task) => Self::Task(task),
            None => Self::Thread(context::address().addr()),
        }
    }

    fn address(self) -> usize {
        match self {
            Self::Task(task) => task.as_ptr().addr(),
            Self::Thread(address) => address,
        }
    }

    /// Calls `use_it`, which uses a value of this owner's.
    fn using<R>(self, use_it: impl FnOnce() -> R) -> R {
        match self {
            Self::Task(_) => use_it(),
            Self::Thread(_) => ends::using(use_it),
        }
    }

    /// Whether it may get something: it is not over, and what it gets will be freed. Marks it.
    fn may_have(self) -> bool {
        match self {
            Self::Task(_) => context::with(Context::mark_polled_has_locals),
            Self::Thread(_) => ends::watch(),
        }
    }
}

fn stripe(address: usize) -> MutexGuard<'static, Stripe> {
    // The lowest bits say nothing: headers are aligned.
    stripes()[(address >> 6) % STRIPES].lock()
}

/// The result of a look for a value.
enum Found<T> {
    Value(NonNull<T>),
    Nothing,
    Over,
}

fn find<T: 'static>(owner: Owner, key: usize) -> Found<T> {
    let stripe = stripe(owner.address());
    let values = stripe.get(&owner.address()).map(|locals| &locals.values);
    match values.and_then(|values| values.iter().find(|(other, _)| *other == key)) {
        None => Found::Nothing,
        Some((_, None)) => Found::Over,
        Some((_, Some(value))) => match value.downcast_ref() {
            Some(value) => Found::Value(NonNull::from_ref(value)),
            None => unreachable!("a key has one type of value"),
        },
    }
}

/// Calls `use_it` with the value that the task which is polled, or else the thread, has for this key; `make` makes it
/// if there is none. A key is the address of something that has one type of value, and lives for ever.
///
/// # Errors
/// The value has been destroyed.
pub fn with<T: Send + 'static, R>(
    key: usize,
    make: impl FnOnce() -> T,
    use_it: impl FnOnce(&T) -> R,
) -> Result<R, Over> {
    let owner = Owner::here();
    let mut found = find(owner, key);
    if let Found::Nothing = found {
        if !owner.may_have() && !has_entry(owner) {
            return Err(Over);
        }
        let value: Box<dyn Any + Send> = Box::new(make());
        if let Some(unwanted) = keep(owner, key, value) {
            // Its making has made another one.
            drop(unwanted);
        }
        found = find(owner, key);
    }
    match found {
        // SAFETY: in a box that goes when its owner has ended. The owner is the task that this thread polls, or this
        // thread, and we are in the midst of it; its end takes the value out of the table first, and its destructor
        // finds nothing. Nobody else has the address, and nobody changes the value but through this reference.
        Found::Value(value) => Ok(owner.using(|| use_it(unsafe { value.as_ref() }))),
        Found::Nothing | Found::Over => Err(Over),
    }
}

/// Whether the owner's end is under way: what its destructors make is destroyed after them.
fn has_entry(owner: Owner) -> bool {
    stripe(owner.address()).contains_key(&owner.address())
}

/// Puts a value in the table; gives it back if there is one, or was one.
fn keep(owner: Owner, key: usize, value: Box<dyn Any + Send>) -> Option<Box<dyn Any + Send>> {
    let mut stripe = stripe(owner.address());
    let values = &mut stripe.entry(owner.address()).or_default().values;
    if values.iter().any(|(other, _)| *other == key) {
        return Some(value);
    }
    values.push((key, Some(value)));
    None
}

/// Names the task that is polled, or else the thread, in the table.
pub fn set_name(name: &str) {
    let owner = Owner::here();
    if owner.may_have() {
        let name = Arc::from(name);
        let before = stripe(owner.address())
            .entry(owner.address())
            .or_default()
            .name
            .replace(name);
        drop(before);
    }
}

/// The name of a task that is alive; for reports.
pub fn name_of(task: NonNull<Header>) -> Option<String> {
    name_at(task.as_ptr().addr())
}

/// The name of the task that is polled, or else the one that the thread was given here.
pub fn name_here() -> Option<String> {
    name_at(Owner::here().address())
}

/// The name of the living task whose header is at this address; for reports.
pub fn name_at(address: usize) -> Option<String> {
    let name = stripe(address).get(&address)?.name.clone()?;
    Some(name.as_ref().to_owned())
}

/// A task is over: what it has beside goes. The panics of destructors end here.
///
/// # Safety
/// See [`Vtable::end_locals`](gossamer_core::header::Vtable::end_locals).
#[cold]
pub(crate) unsafe fn end_task(task: NonNull<Header>) {
    if !gossamer_core::mutant!("locals_never_freed") {
        end(task.as_ptr().addr());
    }
}

/// Leaks the name and values of a task: it goes, but the stack of its fiber does not, and may be in the midst of using a
/// value, or have loaned it.
#[cold]
pub(crate) fn leak_task(task: NonNull<Header>) {
    let address = task.as_ptr().addr();
    let locals = stripe(address).remove(&address);
    std::mem::forget(locals);
}

/// The thread's work is done: what it has beside goes, now and not later. Not what is being used: that goes with the
/// thread.
pub fn end_thread() {
    if !ends::uses() || gossamer_core::mutant!("thread_ends_what_is_used") {
        end(context::address().addr());
    }
}

fn end(address: usize) {
    while let Some(value) = take_last(address) {
        panics::end(|| drop(value));
    }
}

/// Takes the value out that was made last; none is left, and the entry gone, if there is none.
fn take_last(address: usize) -> Option<Box<dyn Any + Send>> {
    let mut stripe = stripe(address);
    let values = &mut stripe.get_mut(&address)?.values;
    let last = values.iter_mut().rev().find_map(|(_, value)| value.take());
    let gone = if last.is_none() {
        stripe.remove(&address)
    } else {
        None
    };
    drop(stripe);
    drop(gone);
    last
}

/// The end of a thread.
mod ends {
    use std::cell::Cell;

    use super::thread_local;

    struct Watched;

    impl Drop for Watched {
        fn drop(&mut self) {
            super::end_thread();
        }
    }

    thread_local! {
        static WATCHED: Watched = const { Watched };
        /// How many uses of a value of the thread's own go on.
        static USES: Cell<u32> = const { Cell::new(0) };
    }

    /// A use of a value of the thread's own.
    struct Use;

    impl Drop for Use {
        fn drop(&mut self) {
            let _over = USES.try_with(|uses| uses.set(uses.get() - 1));
        }
    }

    /// Calls `use_it`, which uses such a value.
    pub(super) fn using<R>(use_it: impl FnOnce() -> R) -> R {
        let _use = USES
            .try_with(|uses| uses.set(uses.get() + 1))
            .ok()
            .map(|()| Use);
        use_it()
    }

    /// Whether such a value is being used.
    pub(super) fn uses() -> bool {
        USES.try_with(Cell::get).is_ok_and(|uses| uses > 0)
    }

    /// Has what this thread has be freed at its end; `false` if that has come.
    pub(super) fn watch() -> bool {
        WATCHED.try_with(|_| ()).is_ok()
    }
}
