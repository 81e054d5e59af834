//! Join patterns: receiving from several channels at once, or from none (Fournet and Gonthier, The reflexive chemical
//! abstract machine and the join-calculus, 1996; JoCaml).
//!
//! # Protocol
//!
//! An attempt locks all channels, in one order for all, and takes a message from each if each has one. (It claims the
//! messages of senders first that are members of a select's [group](gossamer_core::group), and gives them back if it
//! cannot have all.) Else
//! it waits in the lines of all that have none, as a receiver does; when it is called in one, it does not take the
//! message, but passes the call on and attempts anew. So it never has some of the messages and waits for others. At
//! those that have one it waits for their end, as others may take that message (`join_pattern/awaiting.rs`).

mod awaiting;

use std::fmt;
use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use gossamer_core::context::SchedulingPoint;
use gossamer_core::policy::LockPolicy;
use gossamer_core::wait_queue::Leave;
use gossamer_core::waiter::Deferred;
use pin_project_lite::pin_project;

use self::awaiting::{Awaiting, First};
use crate::error::Closed;
use crate::mpmc::{Claimed, Receiver, Unsettled};

/// Receives a message from each of two to four channels at once, when each has one: `join_pattern((&one, &two))`.
///
/// Other receivers may take from the same channels meanwhile; a message is taken by the join only together with the
/// others. Of several joins that share channels none can have a part of what another one needs.
///
/// # Blocking
/// `.await` it in a task, `.wait()` for it in a fiber or a thread.
///
/// # Cancellation
/// Dropped unfinished, it has received nothing.
///
/// # Errors
/// [`Closed`]: one of the channels has no sender left, and no message; perhaps because another receiver has taken it.
/// Nothing is taken from the others.
///
/// # Panics
/// A channel is there twice.
///
/// # Examples
/// ```
/// use gossamer::channel::{join_pattern, unbounded};
/// use gossamer::Wait;
///
/// let ((fruit, fruits), (cake, cakes)) = (unbounded(), unbounded());
/// fruit.try_send("apple").unwrap();
/// fruit.try_send("raspberry").unwrap();
/// cake.try_send("pie").unwrap();
/// assert_eq!(join_pattern((&fruits, &cakes)).wait(), Ok(("apple", "pie")));
/// assert_eq!(fruits.try_recv(), Ok("raspberry"));
/// ```
#[track_caller]
pub fn join_pattern<G: Group>(channels: G) -> JoinPattern<G> {
    assert!(
        channels.are_different(),
        "a join takes one message from each channel; one of them is there twice"
    );
    JoinPattern {
        channels,
        waits: None,
        point: SchedulingPoint::new(),
        done: false,
        location: Location::caller(),
    }
}

pin_project! {
    /// [`join_pattern`].
    #[must_use = "operations do nothing until they are awaited or waited for"]
    pub struct JoinPattern<G: Group> {
        channels: G,
        #[pin]
        waits: Option<G::Waits>,
        point: SchedulingPoint,
        done: bool,
        location: &'static Location<'static>,
    }
}

impl<G: Group> fmt::Debug for JoinPattern<G> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "join at {}", self.location)
    }
}

impl<G: Group> Future for JoinPattern<G> {
    type Output = Result<G::Messages, Closed>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut this = self.project();
        ready!(this.point.pass(cx.waker()));
        assert!(
            !*this.done,
            "join at {} was polled after it was complete",
            this.location
        );
        loop {
            if let Some(waits) = this.waits.as_mut().as_pin_mut() {
                ready!(waits.poll(cx));
            }
            this.waits.set(None);
            let result = match this.channels.attempt(this.location) {
                Attempt::Done(messages) => Ok(messages),
                Attempt::Closed => Err(Closed),
                Attempt::Waits(waits) => {
                    this.waits.set(Some(waits));
                    continue;
                }
            };
            *this.done = true;
            return Poll::Ready(result);
        }
    }
}

impl<G: Group> Leave for JoinPattern<G> {
    fn leave(self: Pin<&mut Self>) {
        self.project().waits.set(None);
    }
}

/// How an attempt ends.
#[doc(hidden)]
#[derive(Debug)]
pub enum Attempt<M, W> {
    Done(M),
    Closed,
    /// Until one of the channels has something new.
    Waits(W),
}

/// Receivers that can be joined: tuples of two to four `&Receiver`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be joined",
    label = "no tuple of two to four receivers by reference",
    note = "as in `join_pattern((&one, &other))`, with receivers of bounded, unbounded or rendezvous channels"
)]
pub trait Group: sealed::Sealed {
    /// A message of each.
    type Messages;
    #[doc(hidden)]
    type Waits: Future<Output = ()>;
    #[doc(hidden)]
    fn are_different(&self) -> bool;
    #[doc(hidden)]
    fn attempt(&self, at: &'static Location<'static>) -> Attempt<Self::Messages, Self::Waits>;
}

mod sealed {
    /// Keeps [`super::Group`] to this module.
    pub trait Sealed {}
}

/// The first of the futures that is ready.
macro_rules! first {
    ($one:expr) => { $one };
    ($one:expr, $($more:expr),+) => { First::new($one, first!($($more),+)) };
}

/// The type of that.
macro_rules! first_of {
    ($one:ty) => { $one };
    ($one:ty, $($more:ty),+) => { First<$one, first_of!($($more),+)> };
}

/// Of each receiver: a lifetime, the type of its messages, a name for its lock and what is taken, and its place. (With
/// one lifetime for all, a task's future that joins would not be known to be `Send`.)
macro_rules! group {
    ($($life:lifetime $T:ident $lock:ident $at:tt)*) => {
        impl<P: LockPolicy, $($T),*> sealed::Sealed for ($(&Receiver<$T, P>,)*) {}

        impl<$($life,)* P: LockPolicy, $($T),*> Group for ($(&$life Receiver<$T, P>,)*) {
            type Messages = ($($T,)*);
            type Waits = first_of!($(Awaiting<$life, $T, P>),*);

            fn are_different(&self) -> bool {
                let mut all = [$(self.$at.0.order()),*];
                all.sort_unstable();
                all.windows(2).all(|two| two[0] != two[1])
            }

            fn attempt(&self, at: &'static Location<'static>) -> Attempt<Self::Messages, Self::Waits> {
                let mut order = [$((self.$at.0.order(), $at)),*];
                order.sort_unstable();
                $(let mut $lock = None;)*
                // All in one order: two that lock the same ones do not wait for each other.
                for (_, channel) in order {
                    match channel {
                        $($at => $lock = Some(self.$at.0.locked()),)*
                        _ => unreachable!("there are not so many channels"),
                    }
                }
                let ($(Some(mut $lock),)*) = ($($lock,)*) else {
                    unreachable!("all have been locked");
                };
                let is_over = [$($lock.is_over()),*].contains(&true);
                let may_have_all = $($lock.may_have_message())&&*;
                let mut claimed = Claimed::default();
                let mut roused = Vec::new();
                let mut claim = || loop {
                    if $($lock.claim_message(&mut claimed, $at))&&* {
                        return true;
                    }
                    let tries_again = claimed.again();
                    let given_back = [$($lock.give_back()),*];
                    roused.extend(given_back.into_iter().filter(|waker| !waker.is_nothing()));
                    if !tries_again {
                        return false;
                    }
                };
                let takes = gossamer_core::mutant!("join_takes_what_is_there")
                    || !is_over && may_have_all && claim();
                let taken = (takes && !is_over).then(|| ($($lock.take_message(),)*));
                let waits = (!takes && !is_over).then(|| {
                    let lacks = claimed.has_lacked();
                    first!($(Awaiting::new(&$lock, lacks, at)),*)
                });
                // A sender whose message is taken goes on before its channel's lock is given up; one whose message is given
                // back may be another receiver's.
                let unsettled = ($(Unsettled::new(&self.$at.0, $lock),)*);
                // Wakers of other runtimes are called without any lock.
                roused.into_iter().for_each(Deferred::run);
                $(unsettled.$at.settle();)*
                match (taken, waits) {
                    (_, Some(waits)) => Attempt::Waits(waits),
                    (None, None) => Attempt::Closed,
                    (Some(($(Some($lock),)*)), _) => Attempt::Done(($($lock,)*)),
                    _ => unreachable!("all have been claimed"),
                }
            }
        }
    };
}

group! { 'a A a 0 'b B b 1 }
group! { 'a A a 0 'b B b 1 'c C c 2 }
group! { 'a A a 0 'b B b 1 'c C c 2 'd D d 3 }
