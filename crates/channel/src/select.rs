//! Waiting for whichever of several operations comes first.
//!
//! All are polled with one waker, until one is ready; the others are dropped then, and an operation that is dropped
//! loses nothing, and has sent nothing: **at most one branch takes effect**. In which order they are asked is a matter
//! of chance, at each poll, so that none is passed for ever by others that are always ready; and of two that are, each
//! is asked first as often as the other. A poll asks each of them: what it costs grows with their number, and for many
//! receivers there is the [port set](crate::port_set).
//!
//! # What is a branch
//!
//! An operation takes effect in its own poll, but for one: the receiver of a rendezvous takes the message out of the
//! `send` that waits. So such sends are members of the select's group, and who wants to take the message of one claims
//! the group (as in Concurrent ML, and in Go). That holds for a `send` or `send_from` that is a branch itself, of a
//! `SharedSender` too, for one in a `timeout`, for a branch of `select!` that is a pinned reference to one or a pinned box,
//! and for the operations of `select::any`. What lies deeper is foreign to the select: an `async` block that does more than
//! to await one operation, a future of another library, a reference in a `timeout` or in the list of `select::any`. A
//! rendezvous in there may have taken place when another branch is taken.
//!
//! * A select does not match itself: its `send` never meets its own `recv` over the same rendezvous channel.
//! * The receiver of a rendezvous does not find the `send` of a select that is being polled at this moment: `try_recv`
//!   then says that there is no message, and `recv` waits until the poll has ended.
//! * A set that receives in a select which sends to one of its ports finds what others send; but while that select waits,
//!   another receiver of the set is not told of what it sends.
//! * `try_send` finds a select that waits to receive, at each of its rendezvous channels until it is polled. It receives
//!   one of the messages; another one that was sent so waits for the next receiver.
//! * A branch by reference goes on after the select that did not take it. When that ends, the branch leaves its queue and
//!   passes on what was reserved for it (see [`Leave`]); nobody takes its message, or has one for it, before it is polled
//!   again.
//! * What is foreign, a fiber too, and receives what the select itself sends does not get it; and the select asks again and
//!   again instead of sleeping.
//! * A branch whose pattern did not match has taken effect.
//! * If a receiver has taken the message of a branch, and the select is dropped before its next poll (its task is
//!   aborted), then the rendezvous has taken place.

use std::marker::PhantomData;
use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll};

#[doc(hidden)]
pub use gossamer_core::context::poll_branch_at;
use gossamer_core::context::{
    self, MemoryRange, SchedulingPoint, Selecting, poll_branch, range_of,
};
use gossamer_core::wait_queue::Leave;

/// The result of polling one branch; for the macro.
#[doc(hidden)]
#[derive(Debug)]
pub enum Turn<T> {
    /// The branch is ready.
    Ready(T),
    /// The branch waits.
    Waits,
    /// The branch takes no part, or no longer does.
    Out,
}

/// Asks branches until one is ready, or all are out: then there is no output. For the macro, which has the branches in
/// a closure.
#[doc(hidden)]
#[must_use = "operations do nothing until they are awaited or waited for"]
#[derive(Debug)]
pub struct Select<T, F: Ask<T>> {
    point: SchedulingPoint,
    branches: usize,
    places: usize,
    ask: F,
    selecting: Selecting,
    _output: PhantomData<fn() -> T>,
}

/// Polls the branch of this number; or, if there is no context, lets it [leave](Leaving).
#[doc(hidden)]
pub trait Ask<T>: FnMut(usize, Option<&mut Context<'_>>) -> Turn<T> {}

impl<T, F: FnMut(usize, Option<&mut Context<'_>>) -> Turn<T>> Ask<T> for F {}

impl<T, F: Ask<T>> Unpin for Select<T, F> {}

impl<T, F: FnMut(usize, Option<&mut Context<'_>>) -> Turn<T>> Select<T, F> {
    /// Makes a select of `branches` branches, which are asked in their order if `places` is zero; else in one of chance,
    /// and `places` is [theirs](places).
    pub fn new(branches: usize, places: usize, ask: F) -> Self {
        Self {
            point: SchedulingPoint::new(),
            branches,
            places,
            ask,
            selecting: Selecting::default(),
            _output: PhantomData,
        }
    }
}

impl<T, F: Ask<T>> Drop for Select<T, F> {
    /// Branches by reference pass on what they were promised.
    fn drop(&mut self) {
        for branch in 0..self.branches {
            let _out = (self.ask)(branch, None);
        }
    }
}

impl<T, F: Ask<T>> Future for Select<T, F> {
    type Output = Option<T>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<T>> {
        let range = range_of(&*self);
        let this = &mut *self;
        this.point.pass_with(cx.waker(), || {
            let mut waits = false;
            let turns = || Walk::new(this.branches, this.places);
            let ask = |branch| {
                match (this.ask)(branch, Some(&mut *cx)) {
                    Turn::Ready(output) => return Poll::Ready(output),
                    Turn::Waits => waits = true,
                    Turn::Out => {}
                }
                Poll::Pending
            };
            let selecting = &mut this.selecting;
            let polled = selecting.poll(range, turns, ask);
            match polled {
                Poll::Pending if waits => Poll::Pending,
                Poll::Pending => Poll::Ready(None),
                Poll::Ready(output) => Poll::Ready(Some(output)),
            }
        })
    }
}

/// Where a branch is in memory: if it is a reference, what that refers to. For the macro, which has `&Branch(&it)` and so
/// finds the [reference's](RangeOfReference) function before [this one](RangeOfValue).
#[doc(hidden)]
#[derive(Debug)]
pub struct Branch<'a, F>(pub &'a F);

#[doc(hidden)]
pub trait RangeOfReference {
    fn range(&self) -> MemoryRange;
}

/// Each of: a type, and how to get from `&` it to what it refers to.
macro_rules! references {
    ($($reference:ty: $it:ident => $range:expr;)*) => {
        $(impl<F> RangeOfReference for Branch<'_, $reference> {
            fn range(&self) -> MemoryRange {
                let $it = self.0;
                range_of::<F>($range)
            }
        })*
    };
}

references! {
    Pin<&mut F>: it => it;
    &mut Pin<&mut F>: it => it;
    Pin<Box<F>>: it => it;
    &mut Pin<Box<F>>: it => it;
}

#[doc(hidden)]
pub trait RangeOfValue {
    fn range(&self) -> MemoryRange;
}

impl<F> RangeOfValue for &Branch<'_, F> {
    fn range(&self) -> MemoryRange {
        range_of(self.0)
    }
}

/// A branch of a select that ends. For the macro, which has `(&mut Leaving(it)).leave()` and so finds the function for
/// [our operations](Leave) before the one that [does nothing](StayOfOthers).
#[doc(hidden)]
#[derive(Debug)]
pub struct Leaving<'a, F>(pub Pin<&'a mut F>);

#[doc(hidden)]
pub trait LeaveOfOurs {
    fn leave(&mut self);
}

impl<F: Leave> LeaveOfOurs for Leaving<'_, F> {
    #[inline(always)]
    fn leave(&mut self) {
        if F::BY_REFERENCE {
            self.0.as_mut().leave();
        }
    }
}

#[doc(hidden)]
pub trait StayOfOthers {
    fn leave(&mut self);
}

impl<F> StayOfOthers for &mut Leaving<'_, F> {
    #[inline(always)]
    fn leave(&mut self) {}
}

/// All branches, in their order; or in one of chance, in which of any two each comes first as often as the other.
/// (Their order with a first one of chance is not that: the first of some that are ready would mostly be the one behind
/// those that are not.)
///
/// The order is a walk round a prime number of places in equal steps: with a random start and step, a random pair of
/// places is at any two moments of the walk.
///
/// Start and step are those of one [number of 32 bits](context::walk). So that holds for far fewer than 65,536 branches; with
/// more, each is still asked in each walk, but some are hardly ever first.
///
/// In a simulation that chooses among operations the order is one of its choices.
struct Walk {
    place: usize,
    step: usize,
    places: usize,
    left: usize,
    branches: usize,
}

impl Walk {
    /// `places`: [those](places) of an order of chance; zero: in their order.
    #[inline(always)]
    fn new(branches: usize, places: usize) -> Self {
        let (place, step, places) = match places {
            0 => (0, 1, branches),
            _ if gossamer_core::mutant!("select_unfair") => (0, 1, branches),
            _ => context::walk(branches, places),
        };
        let passes_neighbours = gossamer_core::mutant!("select_passes_neighbours");
        let step = if passes_neighbours { 1 } else { step };
        Self {
            place,
            step,
            places,
            left: places,
            branches,
        }
    }
}

impl Iterator for Walk {
    type Item = usize;

    #[inline(always)]
    fn next(&mut self) -> Option<usize> {
        while self.left > 0 {
            self.left -= 1;
            let here = self.place;
            let next = here + self.step;
            self.place = next.checked_sub(self.places).unwrap_or(next);
            if here < self.branches {
                return Some(here);
            }
        }
        None
    }
}

/// How many places so many branches need to be asked in an order of chance: the least prime number from theirs on, and
/// two at least. For the macro.
#[doc(hidden)]
pub const fn places(branches: usize) -> usize {
    let (mut number, mut divisor) = (if branches < 2 { 2 } else { branches }, 2);
    while divisor * divisor <= number {
        if number.is_multiple_of(divisor) {
            (number, divisor) = (number + 1, 2);
        } else {
            divisor += 1;
        }
    }
    number
}

/// Waits for whichever operation of a list comes first, and gives its place in the list and its output.
///
/// The function form of the macro `select!`, for lists whose length is known only when the program runs.
///
/// # Blocking
/// `.await` it in a task, `.wait()` for it in a fiber or a thread.
///
/// # Cancellation
/// Dropped unfinished, it drops all operations. When one is ready, the others are dropped before this one is.
///
/// # Panics
/// The list is empty: nothing would ever come.
///
/// # Examples
/// ```
/// use gossamer::channel::unbounded;
/// use gossamer::select;
/// use gossamer::Wait;
///
/// let channels: Vec<_> = (0..3).map(|_| unbounded()).collect();
/// channels[1].0.try_send("hello").unwrap();
/// let receives = channels.iter().map(|(_, rx)| rx.recv());
/// assert_eq!(select::any(receives).wait(), (1, Ok("hello")));
/// ```
#[track_caller]
pub fn any<I>(operations: I) -> Any<<I::Item as IntoFuture>::IntoFuture>
where
    I: IntoIterator<Item: IntoFuture>,
{
    let operations = operations.into_iter().map(IntoFuture::into_future);
    let operations: Box<[_]> = operations.collect();
    if operations.is_empty() {
        panic!("select::any was called with no operation: nothing would ever come");
    }
    Any {
        places: places(operations.len()),
        operations: operations.into(),
        selecting: Selecting::default(),
        point: SchedulingPoint::new(),
        location: Location::caller(),
    }
}

/// [`any`].
#[must_use = "operations do nothing until they are awaited or waited for"]
#[derive(Debug)]
pub struct Any<F> {
    // None: it is complete.
    operations: Pin<Box<[F]>>,
    places: usize,
    selecting: Selecting,
    point: SchedulingPoint,
    location: &'static Location<'static>,
}

impl<F: Future> Future for Any<F> {
    type Output = (usize, F::Output);

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let count = self.operations.len();
        assert!(
            count > 0,
            "{} was polled after it was complete",
            self.location
        );
        let range = range_of(&*self);
        let this = self.get_mut();
        let operations = &mut this.operations;
        this.point.pass_with(cx.waker(), || {
            let polled = this.selecting.poll(
                range,
                || Walk::new(count, this.places),
                |at| {
                    // SAFETY: the operations are pinned as the list is; none is moved.
                    let operation = unsafe {
                        operations
                            .as_mut()
                            .map_unchecked_mut(|operations| &mut operations[at])
                    };
                    poll_branch(operation, cx).map(|output| (at, output))
                },
            );
            if polled.is_ready() {
                *operations = Pin::from(Box::from([]));
            }
            polled
        })
    }
}
