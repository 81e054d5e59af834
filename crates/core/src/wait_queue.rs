//! Waiting for an object: one operation, one way to wake, for every primitive.
//!
//! An object that can be waited for is [`Waitable`]: it has a lock, some bits under that lock, and one or more queues
//! ([`WaitList`](crate::waiter::WaitList)) of the operations that wait. A [`Locked`] proves that the lock is held. The
//! object itself writes only its rule, [`Waitable::wake_next`]: which waiter may go on now, and what becomes of the bits.
//! An [`Action`] says what an operation does when its turn comes. Everything else is here, once: parking, waking in
//! batches, cancelling, forgetting, and the question whether a parked operation could complete.
//!
//! # Protocol
//!
//! * No user code runs under the lock. A foreign waker is cloned before the lock is taken; it is called and dropped
//!   after the lock is released.
//! * A value never moves into an operation that waits. The one who changes the object either *reserves* something for
//!   the first waiter, which stays first in its queue ([`State::Notified`](crate::waiter::State::Notified)), or
//!   *grants* it, and the waiter leaves its queue ([`State::Released`](crate::waiter::State::Released)). Either way the
//!   waiter's task is woken, and the waiter takes effect in its own poll. (One exception: the receiver of a rendezvous
//!   takes the message out of the sender that waits.)
//! * An operation that is dropped first gives back what it had been promised, and the next waiter is woken.
//! * One that leaves its queue without ending does the same, and begins anew when it is polled again ([`Leave`]).
//! * An operation that was woken and finds nothing waits again, first in its queue.

mod action;
mod inline;
mod leave;
mod operation;

pub use self::action::{Action, Key, Locked, ParkInline, Waitable, forget_waiters};
pub use self::leave::Leave;
pub use self::operation::Operation;
