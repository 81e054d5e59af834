//! Who waits for what, and since when: what a test says that hangs.
//!
//! Noted once [parks are watched](crate::parker::watch_parks): every thread that sleeps without a limit of time; and in a
//! build with debug assertions whatever a thread or a fiber waits for, and every operation that has a node in a line. What
//! a task awaits without one is not here: a join, a pipe, a one-shot, a lone operation of a `local` primitive.

use core::fmt;
use core::panic::Location;
use std::collections::BTreeMap;
use std::time::Instant;
use std::vec::Vec;

use crate::door::Mutex;
use crate::door::thread::{self, Thread};
#[cfg(debug_assertions)]
use crate::{context, parker};

/// Something that waits: [`Display`](fmt::Display) says all there is.
#[derive(Debug, Clone)]
pub struct Waits {
    what: What,
    /// Where it began to.
    thread: Thread,
    since: Instant,
}

#[derive(Debug, Clone, Copy)]
enum What {
    /// The thread itself.
    Sleep,
    #[cfg_attr(
        not(debug_assertions),
        expect(dead_code, reason = "noted with debug assertions only")
    )]
    Operation {
        name: &'static str,
        /// The primitive's address; `None`: the operation is known by its type only.
        object: Option<usize>,
        called: &'static Location<'static>,
        /// Where the task was spawned that waits; `None`: a thread, or a foreign executor's task.
        task: Option<&'static Location<'static>>,
    },
}

/// By the addresses of nodes and parkers. Taken under a primitive's lock, and takes none itself.
static NOTED: Mutex<BTreeMap<usize, Waits>> = Mutex::new(BTreeMap::new());

/// All that waits, longest first.
#[must_use]
pub fn all() -> Vec<Waits> {
    let mut all: Vec<_> = NOTED.lock().values().cloned().collect();
    all.sort_by_key(|waits| waits.since);
    all
}

fn note(at: usize, what: What) {
    if crate::mutant!("waits_unnoted") {
        return;
    }
    let (thread, since) = (thread::current(), Instant::now());
    let waits = Waits {
        what,
        thread,
        since,
    };
    NOTED.lock().insert(at, waits);
}

/// An operation waits in a line: its node's address, and what it is.
#[cfg(debug_assertions)]
pub(crate) fn begins(
    node: usize,
    name: &'static str,
    object: usize,
    called: &'static Location<'static>,
) {
    if !parker::is_watched() {
        return;
    }
    let what = What::Operation {
        name,
        object: Some(object),
        called,
        task: context::with(context::Context::polled_from),
    };
    note(node, what);
}

/// It does no more.
#[cfg(debug_assertions)]
pub(crate) fn ends(node: usize) {
    if parker::is_watched() {
        NOTED.lock().remove(&node);
    }
}

/// A thread or a fiber waits, until this is dropped.
#[cfg(debug_assertions)]
pub(crate) struct Blocks(usize);

#[cfg(debug_assertions)]
impl Blocks {
    /// It waits for this, which stays in its place.
    #[track_caller]
    pub(crate) fn begin<F>(future: &F) -> Option<Self> {
        if !parker::is_watched() {
            return None;
        }
        let what = What::Operation {
            name: core::any::type_name::<F>(),
            object: None,
            called: Location::caller(),
            task: context::with(context::Context::polled_from),
        };
        // A node of its own may be where it begins, at a multiple of eight.
        let at = core::ptr::from_ref(future).addr() | 1;
        note(at, what);
        Some(Self(at))
    }
}

#[cfg(debug_assertions)]
impl Drop for Blocks {
    fn drop(&mut self) {
        NOTED.lock().remove(&self.0);
    }
}

/// A thread sleeps, until this is dropped.
pub(crate) struct Sleeps(usize);

impl Sleeps {
    pub(crate) fn begin(parker: usize) -> Self {
        note(parker, What::Sleep);
        Self(parker)
    }
}

impl Drop for Sleeps {
    fn drop(&mut self) {
        NOTED.lock().remove(&self.0);
    }
}

impl fmt::Display for Waits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.since.elapsed().as_secs_f64();
        let thread = self.thread.name().unwrap_or("unnamed");
        write!(f, "for {seconds:.1} s: ")?;
        match self.what {
            What::Sleep => write!(f, "thread `{thread}` sleeps"),
            What::Operation {
                name,
                object,
                called,
                task,
            } => {
                f.write_str(name)?;
                if let Some(object) = object {
                    write!(f, " on {object:#x}")?;
                }
                write!(f, ", called at {called}, ")?;
                match task {
                    Some(task) => write!(f, "by a task spawned at {task}"),
                    None => write!(f, "by thread `{thread}`"),
                }
            }
        }
    }
}
