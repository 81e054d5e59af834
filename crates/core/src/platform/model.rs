//! How a model is explored under loom; every crate's models begin here.

use core::pin::Pin;
use core::task::{Context, Poll, Waker};
use std::println;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicUsize as Count, Ordering};

use super::process_global;
use super::thread::JoinHandle;

/// How many times a thread may be preempted in one execution, unless the environment says otherwise.
const PREEMPTIONS_MAX: usize = 2;

/// How many steps an execution may have; one that needs more goes in circles.
const STEPS_MAX: usize = 20_000;

process_global! {
    /// How many task cells there are, in this execution: loom does not know of their memory.
    fn cells() -> AtomicI64 = AtomicI64::new(0)
}

/// A task cell was made.
pub(crate) fn task_created() {
    // Relaxed: loom runs one thread at a time.
    cells().fetch_add(1, Ordering::Relaxed);
}

/// A task cell is about to be freed.
pub(crate) fn task_freed() {
    // Relaxed: as above.
    cells().fetch_sub(1, Ordering::Relaxed);
}

/// Panics if a task cell has leaked, or was freed twice: now that all tasks, handles and wakers are gone.
#[track_caller]
pub fn no_cell_is_left() {
    // Relaxed: as above.
    let left = cells().load(Ordering::Relaxed);
    assert_eq!(left, 0, "task cells have leaked, or were freed twice");
}

/// Explores `model`, and prints how many executions that took.
pub fn explore(name: &str, model: impl Fn() + Send + Sync + 'static) {
    explore_within(usize::MAX, name, model);
}

/// Like [`explore`], for a model that is too large for more than `preemptions_max` preemptions.
pub fn explore_within(
    preemptions_max: usize,
    name: &str,
    model: impl Fn() + Send + Sync + 'static,
) {
    let runs = Arc::new(Count::new(0));
    let counted = runs.clone();
    let mut builder = loom::model::Builder::new();
    let preemptions = builder.preemption_bound.unwrap_or(PREEMPTIONS_MAX);
    builder.preemption_bound = Some(preemptions.min(preemptions_max));
    builder.max_branches = STEPS_MAX;
    let start = std::time::Instant::now();
    builder.check(move || {
        // Relaxed: one execution runs at a time.
        counted.fetch_add(1, Ordering::Relaxed);
        model();
    });
    // Relaxed: they are over.
    let (runs, seconds) = (runs.load(Ordering::Relaxed), start.elapsed().as_secs_f64());
    println!("{name}: {runs} executions, {seconds:.1} s");
}

/// Runs `work` on a thread of its own, with a handle on the place.
pub fn beside<P: 'static, T: 'static>(
    place: &Arc<P>,
    work: impl FnOnce(&P) -> T + 'static,
) -> JoinHandle<T> {
    let place = place.clone();
    super::thread::spawn(move || work(&place))
}

/// Joins the other thread and returns its result.
///
/// # Panics
/// It has panicked.
pub fn joined<T>(thread: JoinHandle<T>) -> T {
    thread.join().expect("the other thread does not panic")
}

/// Another number at each call, larger than those before: for what has to be alike in each execution, as addresses are
/// not.
pub fn number() -> usize {
    static NEXT: Count = Count::new(0);
    // Relaxed: only the number counts.
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// Polls once, with a waker that wakes nobody.
pub fn poll_once<F: Future>(operation: Pin<&mut F>) -> Poll<F::Output> {
    operation.poll(&mut Context::from_waker(Waker::noop()))
}
