//! Channels between tasks, fibers and threads.
//!
//! * [`oneshot()`]: one message, once; the smallest there can be.
//! * [`pipe`]: two ends that speak by turns, as a protocol says.
//! * [`bounded`], [`unbounded`], [`rendezvous`]: many senders, many receivers, first in, first out.
//! * [`spsc()`]: one sender, one receiver, a ring without a lock.
//! * [`broadcast()`]: every receiver gets every message.
//! * [`watch()`]: the latest value.
//! * [`SharedSender`]: one sending end for many senders.
//! * [`PortSet`]: a set of receiving ends that are waited for as one.
//! * [`join_pattern`]: a message of each of several channels, or none.
//! * [`select!`](crate::select!) and [`select::any`](crate::select::any): waiting for whichever of several operations comes first.
//!
//! # Many senders, one receiver: which of them
//!
//! | | messages of one sender | of several senders | who is served when many send | what is contended |
//! | --- | --- | --- | --- | --- |
//! | a channel, with a clone of [`Sender`] each | in their order | in causal order: what was sent before something that led to another message comes before that | places go to the first that waits, and nobody else may use them; those that have one enter in the order of their polls | one lock, by senders and receiver alike |
//! | [`SharedSender`] | in their order | in causal order | strictly in turn | the turn, by the senders; the receiver meets one sender at a time |
//! | [`PortSet`], with a channel each | in their order | none: the ports take turns, so a message may overtake one that led to it | each port in turn, however much others send | nothing but the moment when an idle port gets its first message |
//!
//! A channel is what most programs want. A port set is for ends of different kinds or lifetimes, for many senders of
//! which few are active, and where a sender must not be able to crowd out the others. A shared sender is for an end
//! that exists only once. Where the order between senders matters with a port set, wait for the ends: a server that
//! answers when all of them are closed has seen all that was sent before.
//!
//! # Room that is reserved
//!
//! A receiver that makes room in a full channel reserves a place for the first sender that waits, as a count; the sender
//! puts its message there in its own poll. So a send that is dropped has not sent, and passes its place on; and
//! `try_send` says *full* while messages and reserved places together are as many as the capacity. (A ring has one
//! sender, and reserves nothing.)
//!
//! One that has a place and is neither polled nor dropped keeps it from all others. A task that waits for another place
//! meanwhile may wait for ever: a *futurelock* (Oxide's RFD 609). So poll what you keep, or drop it. (A `select!` that
//! ends does that for its branches, also for those by reference: they pass their places on, but for a shared sender that
//! has its turn.)
//!
//! # The end
//!
//! A channel ends when all [senders](Sender) have gone, or all [receivers](Receiver), or when somebody
//! [closes](Receiver::close) it. Then sending fails and gives the message back; what was sent before is still received,
//! and then receiving fails. [`Sender::closed`] waits until nobody receives any more. A [`WeakSender`] does not keep the
//! channel open. A [permit](Sender::reserve) that was given before may still send.
//!
//! # Coming from other channels
//!
//! | there | here |
//! | --- | --- |
//! | tokio's `blocking_send`, `blocking_recv`; async-channel's `send_blocking` | `tx.send(message).wait()`, `rx.recv().wait()`: each operation is awaited in a task, and waited for in a thread |
//! | flume's `send_async`, `recv_async` | `tx.send(message).await`, `rx.recv().await` |
//! | crossbeam's `send_timeout`, `recv_timeout`, `recv_deadline` | `.timeout(duration)`, `.timeout_at(instant)` of any operation ([`TimeoutExt`](crate::TimeoutExt)) |
//! | tokio's `Permit`, `OwnedPermit` | [`SendPermit`], [`OwnedSendPermit`] |
//! | tokio's `ReceiverStream` | [`Receiver::stream`], [`Receiver::into_stream`] |
//! | tokio's `watch::Receiver::borrow`, `borrow_and_update` | [`snapshot`](watch::Receiver::snapshot), [`snapshot_and_update`](watch::Receiver::snapshot_and_update), which lock nothing |
//! | tokio's `capacity`, `max_capacity` | [`room`](Sender::room), [`capacity`](Sender::capacity) |
//! | crossbeam's `Disconnected` | [`Closed`], [`TrySendError::Closed`], [`TryRecvError::Closed`] |
//! | `bounded(0)`, std's `sync_channel(0)` | [`rendezvous`], or `bounded(0)` |
//!
//! # Flavours
//!
//! All but the one-shot come in two flavours from one implementation, which is generic over its lock policy ([`raw::channel`](crate::raw::channel)):
//! for any thread, here, and for one thread, without atomics, in [`local::channel`](crate::local::channel). (A pipe has the flavour of the constructor
//! that its protocol was begun with.)
//!
//! # Allocators
//!
//! A channel may ask for memory, or give it back, while it holds its lock. A global allocator, and what it calls, must
//! therefore not use these channels.
//!
//! # Examples
//! ```
//! use gossamer::{Runtime, Wait, channel};
//!
//! let rt = Runtime::builder().build()?;
//! let (tx, rx) = channel::bounded(8);
//! let task = rt.spawn(async move {
//!     let mut sum = 0;
//!     while let Ok(number) = rx.recv().await {
//!         sum += number;
//!     }
//!     sum
//! });
//! for number in 1..=3 {
//!     tx.send(number).wait()?;
//! }
//! drop(tx); // the task receives what is left, and then that no sender is there
//! assert_eq!(task.wait()?, 6);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub use gossamer_channel::{
    Closed, OwnedSendPermit, SendError, SendPermit, TryRecvError, TrySendError, UniqueSender,
    WeakSender, bounded, broadcast, join_pattern, oneshot, pipe, port_set, rendezvous, spsc,
    unbounded, watch,
};

/// The side that sends. The methods are those of [`raw::channel::Sender`](crate::raw::channel::Sender).
///
/// # Examples
/// ```
/// use gossamer::{Wait, channel};
///
/// let (tx, rx) = channel::bounded(1);
/// tx.send("hello").wait()?; // `.await` in a task
/// let full = tx.try_send("again").unwrap_err();
/// assert_eq!(full.into_inner(), "again");
/// drop(rx);
/// assert_eq!(tx.send("gone").wait().unwrap_err().into_inner(), "gone");
/// # Ok::<(), channel::SendError<&str>>(())
/// ```
#[doc(inline)]
pub use gossamer_channel::Sender;

/// The side that receives. The methods are those of [`raw::channel::Receiver`](crate::raw::channel::Receiver).
///
/// # Examples
/// ```
/// use gossamer::{Wait, channel};
///
/// let (tx, rx) = channel::unbounded();
/// let other = rx.clone(); // each message goes to one of the receivers
/// for number in 1..=3 {
///     tx.send(number).wait()?;
/// }
/// drop(tx);
/// assert_eq!(other.recv().wait(), Ok(1));
/// assert_eq!(rx.iter().collect::<Vec<_>>(), [2, 3]); // until no sender is left
/// assert!(rx.recv().wait().is_err());
/// # Ok::<(), channel::SendError<i32>>(())
/// ```
#[doc(inline)]
pub use gossamer_channel::Receiver;

/// A set of receiving ends that are waited for as one. The methods are those of [`raw::channel::PortSet`](crate::raw::channel::PortSet).
///
/// # Examples
/// ```
/// use gossamer::channel::{self, PortSet};
/// use gossamer::Wait;
///
/// let ports = PortSet::new();
/// let (orders, order) = channel::bounded(4);
/// let (news, headline) = channel::unbounded();
/// let shop = ports.add(order)?;
/// ports.add(headline)?;
/// orders.send("tea").wait()?;
/// assert_eq!(ports.recv().wait(), Some((shop, Ok("tea"))));
/// news.send("rain").wait()?;
/// drop(orders);
/// assert_eq!(ports.recv().wait().map(|(from, _)| from == shop), Some(false));
/// assert_eq!(ports.recv().wait(), Some((shop, Err(channel::Closed)))); // that port has gone
/// drop(news);
/// ports.recv().wait();
/// assert_eq!(ports.recv().wait(), None); // no port is left
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[doc(inline)]
pub use gossamer_channel::PortSet;

/// One sending end for many senders, which take turns. The methods are those of [`raw::channel::SharedSender`](crate::raw::channel::SharedSender).
///
/// # Examples
/// ```
/// use gossamer::{Wait, channel};
///
/// let (tx, rx) = channel::bounded(2);
/// let shared = channel::SharedSender::new(tx);
/// let other = shared.clone();
/// shared.send(1).wait()?;
/// other.send(2).wait()?;
/// assert_eq!((rx.recv().wait(), rx.recv().wait()), (Ok(1), Ok(2)));
/// # Ok::<(), channel::SendError<i32>>(())
/// ```
#[doc(inline)]
pub use gossamer_channel::SharedSender;
