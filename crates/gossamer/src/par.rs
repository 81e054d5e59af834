//! Computing in parallel, on the workers that run the tasks.
//!
//! ```
//! use gossamer::{Runtime, par};
//!
//! let rt = Runtime::new()?;
//! let words = ["to", "be", "or", "not"];
//! let lengths = rt.enter(|| par::map(&words, |word| word.len()));
//! assert_eq!(lengths, [2, 2, 2, 3]);
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! | | |
//! | --- | --- |
//! | [`join`] | two closures: all else is made of it |
//! | [`map`], [`for_each`], [`reduce`] | what can be split ([`Items`]): slices, vectors, ranges, [`chunks`], [`chunks_mut`] |
//! | [`sort`], [`sort_by`], [`sort_by_key`], and `sort_unstable…` | slices |
//! | [`compute`] | all of these, without holding a task's worker |
//!
//! # Blocking
//! All but [`compute`] block, and so may borrow. They may be called:
//!
//! * in a thread: inside [`Runtime::enter`](crate::Runtime::enter), [`block_on`](crate::Runtime::block_on) or a
//!   [`blocking`](crate::blocking()) call. The thread computes, and with it as many workers as make up the runtime's number
//!   of workers; under [`Model::Threads`](crate::Model::Threads) as many threads as there are processors, and under
//!   [`Model::Single`](crate::Model::Single) that thread alone;
//! * in a fiber, which stands still while workers compute (while it unwinds it computes itself, in order);
//! * in a task, which holds its worker meanwhile, as any long poll does: for more than some ten microseconds use [`compute`];
//! * elsewhere, where there is no runtime: that thread computes alone, in order.
//!
//! Workers that compute run no other tasks until they have no more jobs, or for a millisecond and are between two; a job
//! may be half of the whole computation. As for any long poll, the monitor has spare workers run the tasks that wait.
//!
//! They follow a [`resize`](crate::Runtime::resize): new workers help with what is split from then on and with what nobody
//! has begun, surplus ones leave after the job they are at.
//!
//! A *part* of a computation (a closure given to these functions, for some of the items) computes, and does not wait: on a
//! worker [`.wait()`](crate::Wait::wait) panics, as in a task. A part that waits for another part by other means may
//! wait for ever, as both may be the same thread's. A part may start a computation, which belongs to the same one, also in
//! `enter` of another runtime.
//!
//! While a thread waits for a part that another one has, it runs other parts, of other computations too. So nothing that
//! they lock may be locked around a call of these functions.
//!
//! # Cancellation
//! A computation runs to its end. A fiber that is aborted before a worker has begun unwinds at once; later when the
//! computation has ended, which must not need that fiber or another of its thread.
//!
//! # Panics
//! As the parts do. If several panic, the payload is that of the first one in order; the others' are dropped. When it
//! comes, all parts have ended, and those that had not begun may never begin.
//!
//! # Source
//! Work stealing with stack jobs: Frigo, Leiserson, Randall, *The Implementation of the Cilk-5 Multithreaded Language*
//! (1998). The deques are crossbeam's (Chase and Lev, 2005).

use std::cmp::Ordering;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use gossamer_par::Handed;
pub use gossamer_par::{Chunks, ChunksMut, IntoItems, Items, chunks, chunks_mut};

use crate::shared::Shared;

/// Runs `body` as part of the computation that this is in, or as one of its own.
#[inline]
fn inside<R: Send>(body: impl FnOnce() -> R + Send) -> R {
    gossamer_par::inside(Shared::current_team, body)
}

/// Calls both closures, perhaps at the same time, and returns what they return.
///
/// The second one is a *job* that a thread with nothing to do may steal; otherwise the caller runs it after the first.
/// It costs about as much as a function call through a pointer, so that a recursion may call it at each step; the outermost
/// call takes two locks, and allocates tasks for those that help; a thread whose last one was not in the same runtime also its deque.
///
/// # Blocking
/// Until both have ended: [the module](self#blocking).
///
/// # Panics
/// As the first does, or else as the second does.
///
/// # Examples
/// ```
/// use gossamer::par;
///
/// fn fibonacci(n: u64) -> u64 {
///     if n < 2 {
///         return n;
///     }
///     let (a, b) = par::join(|| fibonacci(n - 1), || fibonacci(n - 2));
///     a + b
/// }
///
/// #[gossamer::main]
/// async fn main() {
///     assert_eq!(fibonacci(20), 6765);
/// }
/// ```
#[inline]
pub fn join<A, B, RA, RB>(a: A, b: B) -> (RA, RB)
where
    A: FnOnce() -> RA + Send,
    B: FnOnce() -> RB + Send,
    RA: Send,
    RB: Send,
{
    inside(|| gossamer_par::join(a, b))
}

/// What `map` makes of each item, in their order.
///
/// The items are split into more parts than there are threads, at most twice as many, and a thread goes over a part in eighths of what is
/// left. Between two of them, if others have taken its other parts, it splits the rest. Where a few items take much longer
/// than others, [`join`] splits them better.
///
/// # Blocking
/// Until all are mapped: [the module](self#blocking).
///
/// # Panics
/// As `map` does; results that were there are dropped.
///
/// # Examples
/// ```
/// use gossamer::par;
///
/// #[gossamer::main]
/// async fn main() {
///     assert_eq!(par::map(0..5u64, |n| n * n), [0, 1, 4, 9, 16]);
/// }
/// ```
pub fn map<I, R>(items: I, map: impl Fn(<I::Items as Items>::Item) -> R + Sync) -> Vec<R>
where
    I: IntoItems,
    R: Send,
{
    let (items, map) = (items.into_items(), &map);
    inside(|| gossamer_par::map(items, map))
}

/// Calls `each` with every item; items that are far from each other perhaps at the same time.
///
/// # Blocking
/// Until all calls have returned: [the module](self#blocking).
///
/// # Panics
/// As `each` does.
///
/// # Examples
/// ```
/// use gossamer::par;
///
/// #[gossamer::main]
/// async fn main() {
///     let mut image = vec![10u8; 64 * 64];
///     par::for_each(par::chunks_mut(&mut image, 64), |row| row.fill(255));
///     assert!(image.iter().all(|&pixel| pixel == 255));
/// }
/// ```
pub fn for_each<I: IntoItems>(items: I, each: impl Fn(<I::Items as Items>::Item) + Sync) {
    let (items, each) = (items.into_items(), &each);
    inside(|| gossamer_par::for_each(items, each));
}

/// Folds the items of each part, beginning with `identity()`, and combines what comes of the parts, in order.
///
/// What comes out does not depend on how the items are split if `combine` is associative, `identity()` changes nothing
/// in it, and folding an item is combining with what comes of that item alone. (The sum of floating-point numbers is not
/// so: its last digits depend on the split.)
///
/// # Blocking
/// Until all is combined: [the module](self#blocking).
///
/// # Panics
/// As the closures do.
///
/// # Examples
/// ```
/// use gossamer::par;
///
/// #[gossamer::main]
/// async fn main() {
///     let words = vec!["one", "two", "three"];
///     let letters = par::reduce(&words, || 0, |sum, word| sum + word.len(), |a, b| a + b);
///     assert_eq!(letters, 11);
/// }
/// ```
pub fn reduce<I, R>(
    items: I,
    identity: impl Fn() -> R + Sync,
    fold: impl Fn(R, <I::Items as Items>::Item) -> R + Sync,
    combine: impl Fn(R, R) -> R + Sync,
) -> R
where
    I: IntoItems,
    R: Send,
{
    let items = items.into_items();
    let (identity, fold, combine) = (&identity, &fold, &combine);
    inside(|| gossamer_par::reduce(items, identity, fold, combine))
}

/// Sorts, and keeps equal items in order: as the slice's own method, by several threads.
///
/// Allocates as that does. Halves are sorted at the same time, down to a part for each thread, and one thread
/// merges two of them.
///
/// # Blocking
/// Until all is sorted: [the module](self#blocking).
///
/// # Panics
/// As comparing does; the items are in some order then.
///
/// # Examples
/// ```
/// use gossamer::par;
///
/// #[gossamer::main]
/// async fn main() {
///     let mut numbers = [3, 1, 2];
///     par::sort(&mut numbers);
///     assert_eq!(numbers, [1, 2, 3]);
/// }
/// ```
pub fn sort<T: Ord + Send>(items: &mut [T]) {
    sort_by(items, T::cmp);
}

/// As [`sort`], in the order that `compare` says.
pub fn sort_by<T: Send>(items: &mut [T], compare: impl Fn(&T, &T) -> Ordering + Sync) {
    let compare = &compare;
    inside(|| gossamer_par::sort_by(items, compare));
}

/// As [`sort`], in the order of their keys. The key is asked for at each comparison.
pub fn sort_by_key<T: Send, K: Ord>(items: &mut [T], key: impl Fn(&T) -> K + Sync) {
    sort_by(items, |a, b| key(a).cmp(&key(b)));
}

/// Sorts, and may swap equal items: as the slice's own method, by several threads.
///
/// Splits by a pivot, the middle one of a sample, as often as gives each thread some eight parts; those are sorted by the
/// slice's own method. So an unlucky pivot costs time, but never more than that method's `n log n` comparisons and a few
/// `n` more.
///
/// # Blocking
/// Until all is sorted: [the module](self#blocking).
///
/// # Panics
/// As comparing does; the items are in some order then.
pub fn sort_unstable<T: Ord + Send>(items: &mut [T]) {
    sort_unstable_by(items, T::cmp);
}

/// As [`sort_unstable`], in the order that `compare` says.
pub fn sort_unstable_by<T: Send>(items: &mut [T], compare: impl Fn(&T, &T) -> Ordering + Sync) {
    let compare = &compare;
    inside(|| gossamer_par::sort_unstable_by(items, compare));
}

/// As [`sort_unstable`], in the order of their keys. The key is asked for at each comparison.
pub fn sort_unstable_by_key<T: Send, K: Ord>(items: &mut [T], key: impl Fn(&T) -> K + Sync) {
    sort_unstable_by(items, |a, b| key(a).cmp(&key(b)));
}

/// Has workers run `work`, which may call all functions of this module, and gives what it returns: the async form of
/// them. It owns what it uses, as a future cannot borrow what threads still use when it is forgotten.
///
/// In a task or fiber of a runtime its workers compute; the task waits as for any other operation. Elsewhere, and when the
/// runtime has ended, the poll itself computes.
///
/// It is lazy: nothing begins before the first poll. Spawned, it begins at once: `gossamer::spawn(par::compute(…))`.
///
/// # Blocking
/// `.await` in a task, `.wait()` in a fiber or thread.
///
/// # Cancellation
/// Dropped before a worker has begun, `work` is never called. Dropped later, it runs to its end, and what it returns is
/// dropped there.
///
/// # Panics
/// As `work` does, when polled.
///
/// # Examples
/// ```
/// use gossamer::par;
///
/// #[gossamer::main]
/// async fn main() {
///     let numbers: Vec<u64> = (0..1000).rev().collect();
///     let sorted = par::compute(move || {
///         let mut numbers = numbers;
///         par::sort(&mut numbers);
///         numbers
///     });
///     assert_eq!(sorted.await[..3], [0, 1, 2]);
/// }
/// ```
pub fn compute<F, T>(work: F) -> Compute<F, T>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    Compute {
        stage: Stage::New(work),
    }
}

/// [`compute`].
#[must_use = "operations do nothing until they are awaited or waited for"]
pub struct Compute<F, T> {
    stage: Stage<F, T>,
}

enum Stage<F, T> {
    New(F),
    Sent(Handed<T>),
    Over,
}

impl<F, T> Unpin for Compute<F, T> {}

impl<F, T> Future for Compute<F, T>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<T> {
        let this = &mut *self;
        let mut handed = match std::mem::replace(&mut this.stage, Stage::Over) {
            Stage::Sent(handed) => handed,
            Stage::Over => panic!("compute() was polled after it was complete"),
            Stage::New(work) => match Shared::current_team() {
                Some(team) => Handed::new(team, work),
                None => return Poll::Ready(work()),
            },
        };
        let polled = Pin::new(&mut handed).poll(cx);
        if polled.is_pending() {
            this.stage = Stage::Sent(handed);
        }
        Poll::Ready(ready!(polled))
    }
}

gossamer_core::impl_debug!([F, T] Compute[F, T]);
