//! A set of receiving ends that are waited for as one.
//!
//! # Protocol
//!
//! Each port has a *entry* in the set's table. When its channel gets a message (or loses its last sender), it puts the
//! index of the entry into the set's queue, unless it is there already; that is all that sending costs more, and it
//! does not depend on how many ports there are. Who receives from the set takes the first index from the queue, takes
//! a message of that port, and puts the index back at the end if there is more: so the ports take turns, and those that
//! have nothing cost nothing. (The ready list of `epoll(7)` works so.)
//!
//! The queue is itself a channel, of indices, whose senders are the ports (`mpmc/ready.rs`): so several tasks may
//! receive from one set, and one that is dropped in the midst of it loses nothing. When the last port has gone, they
//! are told as the receivers of a closed channel are.
//!
//! A one-shot, a ring and a pipe do not know of sets: they have the waker of their entry (`port_set/signal.rs`), which
//! puts the index into the queue. The set registers it whenever it looks there and finds nothing; before, it says that
//! the waker announces from now on, so that what comes meanwhile is looked at once more. A pipe's end is used up by
//! what it receives: then the entry is free, and the protocol's code runs without any lock; also, who receives from
//! many ports at once has no other entry then.
//!
//! Locks are taken in this order: the table's, a channel's, the queue's. Wakers are called without any.

mod pipe_end;
mod port;
mod recv;
mod signal;
mod table;

use std::error::Error;
use std::fmt;
use std::mem;
use std::panic::Location;
use std::sync::Arc;

use gossamer_core::policy::{Local, LocalWord, Shared, SharedWord};

use crate::error::Closed;
use crate::mpmc::{Found, Ready};
use crate::spsc::raw::RingPolicy;
use port::{Looked, Placed};
use recv::Taken;
use table::Table;

pub use pipe_end::{Holds, PipeEnd};
pub use port::Port;
pub use recv::{PortReceiving, PortsReceiving};

/// Which port of a set: no two ports of one set have the same, unless four thousand million others have come and gone
/// in the one's entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Key {
    index: u32,
    generation: u32,
}

/// What a port had: a message; or that it is closed, which is reported once, and then it is no longer in the set.
pub type Event<T> = (Key, Result<T, Closed>);

/// A set of receiving ends that are waited for as one.
///
/// Sending into a channel whose receiver is in a set costs the same however large the set is, and so does receiving:
/// what counts is how many ports have something, not how many there are. The ports take turns, a message each. Messages
/// of one port come in their order; between ports there is none, also if one message was sent because of the other
/// (a shared channel keeps that order).
///
/// An end of a pipe, in a state in which it receives, is used up by its message: the event has that and the next
/// endpoint, and the port is no longer in the set; the endpoint is put in again when it is its turn to listen. What it
/// receives is made a `T` by `Into`, so that pipes of several protocols and other channels can be in one set. That
/// may wait for another receiver of the set: no port is kept from it meanwhile.
///
/// All methods take `&self`: ports come and go at any time, from anywhere, also while others receive from the set.
///
/// # Examples
/// ```
/// use gossamer_channel::{Closed, PortSet, oneshot, unbounded};
/// use gossamer_core::wait::Wait;
///
/// let set = PortSet::new();
/// let (tx, rx) = unbounded();
/// let (answer, answered) = oneshot();
/// let numbers = set.add(rx)?;
/// let other = set.add(answered)?;
///
/// answer.send(42).unwrap();
/// assert_eq!(set.recv().wait(), Some((other, Ok(42))));
/// tx.send(1).wait().unwrap();
/// drop(tx);
/// assert_eq!(set.recv().wait(), Some((numbers, Ok(1))));
/// assert_eq!(set.recv().wait(), Some((numbers, Err(Closed))));
/// assert_eq!(set.recv().wait(), None);
/// # Ok::<(), gossamer_channel::AddError<i32, _>>(())
/// ```
pub struct PortSet<T, P: RingPolicy = Shared> {
    table: Table<T, P>,
    ready: Arc<Ready>,
}

// SAFETY: the table is touched under its lock, which is atomic; only messages move between threads.
unsafe impl<T: Send, P: RingPolicy> Send for PortSet<T, P> where P::Word: Sync {}
// SAFETY: as above.
unsafe impl<T: Send, P: RingPolicy> Sync for PortSet<T, P> where P::Word: Sync {}

impl<T> PortSet<T, Shared> {
    /// A set without ports.
    #[allow(clippy::new_without_default)]
    pub fn new() -> Self {
        Self::with(SharedWord::new(0))
    }
}

impl<T> PortSet<T, Local> {
    /// A set without ports.
    #[allow(clippy::new_without_default)]
    pub fn new() -> Self {
        Self::with(LocalWord::new(0))
    }
}

impl<T, P: RingPolicy> PortSet<T, P> {
    fn with(word: P::Word) -> Self {
        Self {
            table: Table::new(word),
            ready: Arc::new(Ready::new()),
        }
    }

    /// Puts a receiving end into the set. What waits in its channel comes as if it had just been sent.
    ///
    /// A rendezvous channel's `try_send` finds no receiver while that is in a set; `send` works as ever.
    ///
    /// # Errors
    /// The channel has other receivers: gives this one back. (They would take messages of which the set has been told.)
    #[track_caller]
    pub fn add(&self, port: impl Into<Port<T, P>>) -> Result<Key, AddError<T, P>> {
        let port = port.into();
        if !port.is_unique() {
            return Err(AddError(port));
        }
        self.ready.count_in();
        let index = self.table.reserve();
        self.ready.reserve(index as usize + 1);
        let placed = Placed::new(port, &self.ready, index, Location::caller());
        let (key, (unsettled, announce)) = self.table.with(|entries| {
            let (key, placed, announced) = entries.fill(index, placed);
            // SAFETY: unique.
            (key, unsafe { placed.enter(&self.ready, index, announced) })
        });
        unsettled.settle();
        if announce {
            self.ready.announce(index).run();
        }
        Ok(key)
    }

    /// Takes a receiving end out of the set, with all that waits in it. `None`: it is not there, or no longer.
    pub fn remove(&self, key: Key) -> Option<Port<T, P>> {
        let placed = self.table.with(|entries| {
            let is_there = entries.has(key);
            is_there.then(|| entries.take(key.index, false))
        })?;
        self.ready.count_out();
        Some(placed.into_port())
    }

    /// Whether the port is in the set.
    pub fn contains(&self, key: Key) -> bool {
        self.table.with(|entries| entries.has(key))
    }

    /// How many ports are in the set.
    pub fn len(&self) -> usize {
        self.ready.ports()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Receives from any port: waits until one has something. `None`: there is no port in the set, or, while it waits,
    /// none is left.
    ///
    /// # Blocking
    /// `.await` it in a task, `.wait()` for it in a fiber or a thread.
    ///
    /// # Cancellation
    /// Dropped unfinished, it has received nothing. One that has been woken and is neither polled nor dropped keeps its
    /// entry from those who wait behind it.
    #[track_caller]
    pub fn recv(&self) -> PortReceiving<'_, T, P> {
        PortReceiving::new(self, Location::caller())
    }

    /// Receives all that all ports have, but at most `most` events, and waits until one has something: puts them at the
    /// end of `into`, and gives their number. Zero: `most` is, or there is no port.
    ///
    /// They come port by port; only the first port gives one message at first, and what else it has after the others.
    /// What comes meanwhile is left for the next call. A port of which some is left is behind the others then.
    ///
    /// # Blocking
    /// As [`recv`](PortSet::recv).
    ///
    /// # Cancellation
    /// Dropped unfinished, it has received nothing. One that has been woken and is neither polled nor dropped keeps its
    /// entry from those who wait behind it.
    #[track_caller]
    pub fn recv_many<'a>(
        &'a self,
        into: &'a mut Vec<Event<T>>,
        most: usize,
    ) -> PortsReceiving<'a, T, P> {
        PortsReceiving::new(self, into, most, Location::caller())
    }

    /// Receives from a port that has something at this moment. (One that somebody else is just receiving from may have
    /// more, and is not looked at.)
    pub fn try_recv(&self) -> Option<Event<T>> {
        let mut place = [0];
        loop {
            let [index] = *self.ready.take(&mut place) else {
                return None;
            };
            if let Some(event) = self.find(index) {
                return Some(event);
            }
        }
    }

    /// Looks at an entry that has been taken from the queue; if there is more, puts it back at the end.
    #[inline(always)]
    fn find(&self, index: u32) -> Option<Event<T>> {
        let (event, more) = self.look(index, None);
        if more > 0 {
            self.ready.announce(index).run();
        }
        event
    }

    /// Looks at an entry that has been taken from the queue; how many more looks have something: then it is the
    /// caller's to look there again, or to put it back. `taken` are other entries, put back if a pipe's code is to run:
    /// that may wait for somebody who receives from them.
    #[inline(always)]
    fn look(&self, index: u32, taken: Option<&mut Taken<'_>>) -> (Option<Event<T>>, usize) {
        let found = self.table.with(|entries| {
            let (key, placed) = entries.look(index)?;
            placed
                .find_quickly()
                .map(|(message, more)| ((key, Ok(message)), more))
        });
        match found {
            Some((event, _)) if gossamer_core::mutant!("port_more_left_behind") => (Some(event), 0),
            Some((event, more)) => (Some(event), more),
            None => self.look_slowly(index, taken),
        }
    }

    #[inline(never)]
    fn look_slowly(&self, index: u32, taken: Option<&mut Taken<'_>>) -> (Option<Event<T>>, usize) {
        let looked = self.table.with(|entries| {
            let (key, placed) = entries.look(index)?;
            let looked = placed.find();
            let ends = matches!(
                looked,
                Looked::Channel(Found::End(_), _) | Looked::Signalled(Found::End(_)) | Looked::Turn
            );
            Some((looked, key, ends.then(|| entries.take(index, true))))
        });
        let Some((looked, key, placed)) = looked else {
            return (None, 0);
        };
        if placed.is_some() {
            self.ready.count_out();
        }
        let is_left = matches!(
            looked,
            Looked::Channel(Found::OneOfMore(..), _)
                | Looked::Signalled(Found::OneOfMore(..))
                | Looked::Awaited(Found::OneOfMore(..))
        );
        let rest = if is_left { &[index][..] } else { &[] };
        let ready = &self.ready;
        let left = Taken { ready, rest };
        let found = match looked {
            Looked::Channel(found, unsettled) => {
                unsettled.settle();
                found
            }
            Looked::Signalled(found) => found,
            Looked::Awaited(found) => {
                let mut goes = true;
                while goes
                    && let Some((deferred, more)) =
                        self.table.with(|entries| entries.let_sender_go(key))
                {
                    deferred.run();
                    goes = more;
                }
                found
            }
            Looked::Turn => {
                if let Some(taken) = taken
                    && !gossamer_core::mutant!("port_keeps_places_from_others")
                {
                    taken.put_back();
                }
                // SAFETY: it has just said so.
                let heard = placed.and_then(|placed| unsafe { placed.hear() });
                return (heard.map(|heard| (key, Ok(heard))), 0);
            }
        };
        // From here on it is the caller's.
        mem::forget(left);
        match found {
            Found::Nothing => (None, 0),
            Found::One(message) => (Some((key, Ok(message))), 0),
            Found::OneOfMore(message, more) => (Some((key, Ok(message))), more),
            Found::End(result) => (Some((key, result)), 0),
        }
    }
}

impl<T, P: RingPolicy> Drop for PortSet<T, P> {
    fn drop(&mut self) {
        // The entries first: a message whose drop panics must not leave one behind.
        let places = self.table.with(|entries| entries.close());
        drop(places);
    }
}

/// The port has not been put into the set, as its channel has other receivers; this is it.
pub struct AddError<T, P: RingPolicy>(pub Port<T, P>);

impl<T, P: RingPolicy> fmt::Debug for AddError<T, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AddError(..)")
    }
}

impl<T, P: RingPolicy> fmt::Display for AddError<T, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "the receiver was not added: its channel has other receivers; a port set needs the only one",
        )
    }
}

impl<T, P: RingPolicy> Error for AddError<T, P> {}

impl<T, P: RingPolicy> fmt::Debug for PortSet<T, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PortSet")
            .field("ports", &self.len())
            .field("ready", &self.ready.len())
            .finish()
    }
}
