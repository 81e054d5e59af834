//! A set of receiving ends that are waited for as one.
//!
//! # Protocol
//!
//! Each port has an *entry* in the set's table. When its channel gets a message (or loses its last sender), it puts the
//! index of the entry into the set's queue, unless it is there already; that is all that sending costs more, and it
//! does not depend on how many ports there are. Who receives from the set takes the first index from the queue, takes
//! a message of that port, and puts the index back at the end if there is more: so the ports take turns, and those that
//! have nothing cost nothing. (The ready list of `epoll(7)` works so.)
//!
//! The queue is itself a channel, of indices, whose senders are the ports (`port_set/ready.rs`): so several tasks may
//! receive from one set, and one that is dropped in the midst of it loses nothing. When the last port has gone, they
//! are told as the receivers of a closed channel are.
//!
//! A channel of many senders knows the queue as its observer (`mpmc/observer.rs`). A one-shot, a ring and a pipe do
//! not know of sets: they have the waker of their entry (`port_set/signal.rs`), which
//! puts the index into the queue. The set registers it whenever it looks there and finds nothing; before, it says that
//! the waker announces from now on, so that what comes meanwhile is looked at once more. A pipe's end is used up by
//! what it receives. Its entry is *kept* then, and the protocol's code runs without any lock; also, who receives from
//! many ports at once has no other entry then.
//!
//! A pipe's allocation has a place for each end's *lease* of an entry (`port_set/signal.rs`). As long as the end is
//! there, in whatever state of its protocol, the set counts the entry as a port, so that receivers wait; and the end
//! that comes back has its entry and its key again. An end that goes drops its lease: that counts the port out, and
//! announces the entry, and the next look frees it.
//!
//! Locks are taken in this order: the table's, a channel's, the queue's. Wakers are called without any.

mod channel;
mod pipe_end;
mod port;
mod ready;
mod recv;
mod set;
mod signal;
mod table;

pub use self::pipe_end::{Holds, PipeEnd};
pub use self::port::{IntoPort, Port};
pub use self::recv::{PortReceiving, PortsReceiving};
pub use self::set::{AddError, PortSet};
pub(crate) use self::signal::Lease;
pub use self::table::{Event, Key};
