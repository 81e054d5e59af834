//! A record of who waits for what, and since when, for the report of a test that hangs.
//!
//! Noted once [parks are watched](crate::parker::watch_parks): every thread that sleeps without a limit of time; and in
//! a build with debug assertions whatever a thread or a fiber waits for, and every operation that has a node in a line,
//! or was woken with something reserved and has been neither polled nor dropped since: it may keep that from all others.
//! Waits of a task without such a node are not here: joins, pipes, one-shots, inline waiters of `local` primitives.

use core::fmt;
use core::panic::Location;
use std::time::Instant;
use std::vec::Vec;

#[cfg(debug_assertions)]
use crate::context;
use crate::platform::Mutex;
use crate::platform::UnmodelledU32;
use crate::platform::atomic::Ordering;
use crate::platform::thread::{self, Thread};

/// Something that waits: [`Display`](fmt::Display) says all there is.
#[derive(Debug, Clone)]
pub struct Waits {
    what: What,
    /// Where it began to.
    thread: Thread,
    /// Since when; or since when it has a reservation.
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
        /// Whether it was woken, and what it waited for is reserved for it.
        is_promised: bool,
    },
}

/// How many can be noted, and how far from its own place something is put: what finds none is not noted.
const PLACES: usize = 4096;
const NEAR: usize = 8;

/// By the addresses of nodes and parkers; empty until parks are watched. Taken under a primitive's lock, and takes none
/// itself. Noting asks for no memory: there are tests that count.
static NOTED: Mutex<Vec<Option<(usize, Waits)>>> = Mutex::new(Vec::new());

static WATCHED: UnmodelledU32 = UnmodelledU32::new(0);

/// From now on it is noted what waits, and parks are watched.
pub(crate) fn begin() {
    NOTED.lock().resize_with(PLACES, || None);
    // Relaxed: parks before this one is seen are not watched.
    WATCHED.store(1, Ordering::Relaxed);
}

/// Whether [parks are watched](crate::parker::watch_parks).
pub(crate) fn is_watched() -> bool {
    // Relaxed: see `begin`.
    WATCHED.load(Ordering::Relaxed) != 0
}

/// All that waits, longest first.
#[must_use]
pub fn all() -> Vec<Waits> {
    let noted = NOTED.lock();
    let mut all: Vec<_> = noted
        .iter()
        .flatten()
        .map(|(_, waits)| waits.clone())
        .collect();
    all.sort_by_key(|waits| waits.since);
    all
}

/// The places where something of this address may be.
fn near(noted: &mut [Option<(usize, Waits)>], at: usize) -> &mut [Option<(usize, Waits)>] {
    // Fibonacci hashing (Knuth 1973), by the upper half of the product's low word.
    let hash = (at as u32).wrapping_mul(0x9E37_79B9) >> 16;
    let first = hash as usize % (PLACES - NEAR);
    noted.get_mut(first..first + NEAR).unwrap_or_default()
}

fn note(at: usize, what: What) {
    if crate::mutant!("waits_unnoted") {
        return;
    }
    let (thread, since) = (thread::current(), Instant::now());
    let mut noted = NOTED.lock();
    let near = near(&mut noted, at);
    let is_its_own =
        |place: &Option<(usize, Waits)>| matches!(place, Some((other, _)) if *other == at);
    let place = near.iter().position(is_its_own);
    if let Some(place) = place.or_else(|| near.iter().position(Option::is_none)) {
        let waits = Waits {
            what,
            thread,
            since,
        };
        near[place] = Some((at, waits));
    }
}

fn forget(at: usize) {
    let mut noted = NOTED.lock();
    for place in near(&mut noted, at) {
        if matches!(place, Some((other, _)) if *other == at) {
            *place = None;
        }
    }
}

/// An operation waits in a line: its node's address, and what it is.
#[cfg(debug_assertions)]
pub(crate) fn begins(
    node: usize,
    name: &'static str,
    object: usize,
    called: &'static Location<'static>,
) {
    if !is_watched() {
        return;
    }
    let what = What::Operation {
        name,
        object: Some(object),
        called,
        task: context::with(context::Context::polled_from),
        is_promised: false,
    };
    note(node, what);
}

/// An operation that waits in a line is woken with something reserved.
#[cfg(debug_assertions)]
pub(crate) fn is_promised(node: usize) {
    if !is_watched() {
        return;
    }
    if crate::mutant!("waits_forget_the_woken") {
        return forget(node);
    }
    let mut noted = NOTED.lock();
    let near = near(&mut noted, node).iter_mut().flatten();
    for (_, waits) in near.filter(|(at, _)| *at == node) {
        if let What::Operation { is_promised, .. } = &mut waits.what {
            *is_promised = true;
            waits.since = Instant::now();
        }
    }
}

/// It does no more.
#[cfg(debug_assertions)]
pub(crate) fn ends(node: usize) {
    if is_watched() {
        forget(node);
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
        if !is_watched() {
            return None;
        }
        let what = What::Operation {
            name: core::any::type_name::<F>(),
            object: None,
            called: Location::caller(),
            task: context::with(context::Context::polled_from),
            is_promised: false,
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
        forget(self.0);
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
        forget(self.0);
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
                is_promised,
            } => {
                f.write_str(name)?;
                if let Some(object) = object {
                    write!(f, " on {object:#x}")?;
                }
                write!(f, ", called at {called}, ")?;
                match task {
                    Some(task) => write!(f, "by a task spawned at {task}"),
                    None => write!(f, "by thread `{thread}`"),
                }?;
                f.write_str(if is_promised {
                    "; it was woken, holds a reservation, and is not polled"
                } else {
                    ""
                })
            }
        }
    }
}
