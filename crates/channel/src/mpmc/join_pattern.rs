//! Join patterns: receiving from several channels at once, or from none (Fournet and Gonthier, The reflexive chemical
//! abstract machine and the join-calculus, 1996; JoCaml).
//!
//! # Protocol
//!
//! An attempt locks all channels, in one order for all, and takes a message from each if each has one. Else
//! it waits in the lines of all that have none, as a receiver does; when it is called in one, it does not take the
//! message, but passes the call on and attempts anew. So it never has some of the messages and waits for others. At
//! those that have one it waits for their end, as others may take that message (`mpmc/awaiting.rs`).

use std::fmt;
use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use gossamer_core::context::SchedulingPoint;
use gossamer_core::policy::LockPolicy;
use gossamer_core::wait_queue::Waitable;

use super::awaiting::Awaiting;
use super::ends::Receiver;
use crate::error::Closed;

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
/// use gossamer_channel::{join_pattern, unbounded};
/// use gossamer_core::wait::Wait;
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

/// [`join_pattern`].
#[must_use = "operations do nothing until they are awaited or waited for"]
pub struct JoinPattern<G: Group> {
    channels: G,
    waits: Option<G::Waits>,
    point: SchedulingPoint,
    done: bool,
    location: &'static Location<'static>,
}

impl<G: Group> fmt::Debug for JoinPattern<G> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "join at {}", self.location)
    }
}

impl<G: Group> Future for JoinPattern<G> {
    type Output = Result<G::Messages, Closed>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        // SAFETY: what waits is not moved: it is replaced in its place.
        let this = unsafe { self.get_unchecked_mut() };
        ready!(this.point.pass(cx.waker()));
        assert!(!this.done, "{this:?} was polled after it was complete");
        // SAFETY: pinned as its owner is.
        let mut waits = unsafe { Pin::new_unchecked(&mut this.waits) };
        loop {
            if let Some(waits) = waits.as_mut().as_pin_mut() {
                ready!(G::poll(waits, cx));
            }
            waits.set(None);
            let result = match this.channels.attempt() {
                Attempt::Done(messages) => Ok(messages),
                Attempt::Closed => Err(Closed),
                Attempt::Missing(missing) => {
                    waits.set(Some(this.channels.wait_for(missing, this.location)));
                    continue;
                }
            };
            this.done = true;
            return Poll::Ready(result);
        }
    }
}

/// How an attempt ends.
#[doc(hidden)]
#[derive(Debug)]
pub enum Attempt<M> {
    Done(M),
    Closed,
    /// These channels have no message, a bit each.
    Missing(u8),
}

/// Receivers that can be joined: tuples of two to four `&Receiver`.
pub trait Group: sealed::Sealed {
    /// A message of each.
    type Messages;
    #[doc(hidden)]
    type Waits;
    #[doc(hidden)]
    fn are_different(&self) -> bool;
    #[doc(hidden)]
    fn attempt(&self) -> Attempt<Self::Messages>;
    #[doc(hidden)]
    fn wait_for(&self, missing: u8, location: &'static Location<'static>) -> Self::Waits;
    #[doc(hidden)]
    fn poll(waits: Pin<&mut Self::Waits>, cx: &mut Context<'_>) -> Poll<()>;
}

mod sealed {
    /// Keeps [`super::Group`] to this module.
    pub trait Sealed {}
}

/// How many receivers, and of each a lifetime, the type of its messages, the name of one, and
/// its place. (With one lifetime for all, a task's future that joins would not be known to be `Send`.)
macro_rules! group {
    ($count:literal: $($life:lifetime $T:ident $message:ident $at:tt)*) => {
        impl<P: LockPolicy, $($T),*> sealed::Sealed for ($(&Receiver<$T, P>,)*) {}

        impl<$($life,)* P: LockPolicy, $($T),*> Group for ($(&$life Receiver<$T, P>,)*) {
            type Messages = ($($T,)*);
            type Waits = ($(Awaiting<$life, $T, P>,)*);

            fn are_different(&self) -> bool {
                let mut all = [$(self.$at.0.chan().order()),*];
                all.sort_unstable();
                all.windows(2).all(|two| two[0] != two[1])
            }

            fn attempt(&self) -> Attempt<Self::Messages> {
                let mut order = [$((self.$at.0.chan().order(), $at)),*];
                order.sort_unstable();
                let mut bits = [0; $count];
                // All in one order: two that lock the same ones do not wait for each other.
                for (_, channel) in order {
                    bits[channel] = match channel {
                        $($at => self.$at.0.chan().lock(),)*
                        _ => unreachable!(),
                    };
                }
                // SAFETY: under the locks of all.
                let (is_over, has) = unsafe {
                    (
                        [$(self.$at.0.chan().is_over(bits[$at])),*],
                        [$(self.$at.0.chan().has_any()),*],
                    )
                };
                let is_over = is_over.contains(&true);
                let missing = 0 $(| (u8::from(!has[$at]) << $at))*;
                let takes = missing == 0 || gossamer_core::mutant!("join_takes_what_is_there");
                if is_over || !takes {
                    $(self.$at.0.chan().unlock(bits[$at]);)*
                    return if is_over { Attempt::Closed } else { Attempt::Missing(missing) };
                }
                // SAFETY: as above. A sender whose message is taken goes on before its channel's lock is given up.
                let (taken, unsettled) = unsafe {
                    (
                        ($(self.$at.0.chan().pop(),)*),
                        ($(self.$at.settle_in_part(bits[$at]),)*),
                    )
                };
                // Wakers of other runtimes are called without any lock.
                $(unsettled.$at.settle();)*
                match taken {
                    ($(Some($message),)*) => Attempt::Done(($($message,)*)),
                    _ => Attempt::Missing(missing),
                }
            }

            fn wait_for(&self, missing: u8, location: &'static Location<'static>) -> Self::Waits {
                ($(Awaiting::new(self.$at.0.chan(), missing >> $at & 1 == 1, location),)*)
            }

            fn poll(waits: Pin<&mut Self::Waits>, cx: &mut Context<'_>) -> Poll<()> {
                // SAFETY: the operations are pinned as the tuple is, and not moved.
                let waits = unsafe { waits.get_unchecked_mut() };
                $(
                    // SAFETY: as above.
                    if unsafe { Pin::new_unchecked(&mut waits.$at) }.poll(cx).is_ready() {
                        return Poll::Ready(());
                    }
                )*
                Poll::Pending
            }
        }
    };
}

group! { 2: 'a A a 0 'b B b 1 }
group! { 3: 'a A a 0 'b B b 1 'c C c 2 }
group! { 4: 'a A a 0 'b B b 1 'c C c 2 'd D d 3 }
