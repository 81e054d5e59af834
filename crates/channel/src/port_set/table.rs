//! The entries of a set, and the ports in them.
//!
//! An entry is *announced* when its port may have something. Then its index is in the queue, once, or a receiver has taken
//! it from there and is about to look. An entry whose port has gone may still be announced, and so may the
//! next port in it: looking at one that has nothing does no harm.
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

use std::cmp::Ordering;
use std::hash::{Hash, Hasher};
use std::mem;
use std::sync::Arc;

use gossamer_core::platform::prefetch;
use gossamer_core::waiter::Deferred;

use super::port::Placed;
use super::signal::{Lease, Signal};
use crate::error::Closed;
use crate::shared_state::{self, SharedState};
use crate::spsc::raw::RingPolicy;

/// Identifies a port of a set. No two ports of one set have the same key, unless four thousand million others have come
/// and gone in the one's entry.
///
/// It has the tag of the port, if the ports of the set have tags; which does not count when keys are compared.
#[derive(Debug, Clone, Copy)]
pub struct Key<Tag = ()> {
    pub(super) index: u32,
    generation: u32,
    /// What the user calls the port.
    pub tag: Tag,
}

impl<Tag> Key<Tag> {
    fn number(&self) -> (u32, u32) {
        (self.index, self.generation)
    }
}

impl<Tag> PartialEq for Key<Tag> {
    fn eq(&self, other: &Self) -> bool {
        self.number() == other.number()
    }
}

impl<Tag> Eq for Key<Tag> {}

impl<Tag> PartialOrd for Key<Tag> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<Tag> Ord for Key<Tag> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.number().cmp(&other.number())
    }
}

impl<Tag> Hash for Key<Tag> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.number().hash(state);
    }
}

/// A port's key, with a message or `Closed`. A closed port is reported once, and is no longer in the set then.
pub type Event<T, Tag = ()> = (Key<Tag>, Result<T, Closed>);

/// The entries, under a lock of their own. The locks of the ports' channels are taken inside it. Nobody waits for it to
/// change: that is what the queue is for.
pub(super) struct Table<T, P: RingPolicy, Tag>(SharedState<Entries<T, P, Tag>, P>);

/// The entries.
pub(super) struct Entries<T, P: RingPolicy, Tag> {
    all: Vec<Entry<T, P, Tag>>,
    /// The first one that is free, or [`NONE`].
    free: u32,
}

struct Entry<T, P: RingPolicy, Tag> {
    /// How many ports it has had before.
    generation: u32,
    content: Content<T, P, Tag>,
}

enum Content<T, P: RingPolicy, Tag> {
    Port(Placed<T, P>, Tag),
    /// For a pipe's end that is being served, which has the lease.
    Served(Arc<Signal>, Tag),
    Free {
        next: u32,
        announced: bool,
    },
}

/// No entry.
const NONE: u32 = u32::MAX;

impl<T, P: RingPolicy, Tag: Copy> Table<T, P, Tag> {
    pub(super) fn new(word: P::Word) -> Self {
        let entries = Entries {
            all: Vec::new(),
            free: NONE,
        };
        Self(SharedState::new(word, entries))
    }

    /// Does something under the lock; no user code.
    #[inline(always)]
    pub(super) fn with<R>(&self, act: impl FnOnce(&mut Entries<T, P, Tag>) -> R) -> R {
        self.0.look(act)
    }

    /// A free entry, taken for a port.
    pub(super) fn reserve(&self) -> u32 {
        let index = self.with(Entries::take_free);
        index.expect("a set has fewer than four thousand million ports")
    }
}

impl<T, P: RingPolicy, Tag> shared_state::Content for Entries<T, P, Tag> {
    const NAMES: &'static [&'static str] = &["PortSet"];

    fn goes(&self, _: u64) -> bool {
        false
    }
}

impl<T, P: RingPolicy, Tag: Copy> Entries<T, P, Tag> {
    /// A free entry, taken; none: there are as many as there can be.
    fn take_free(&mut self) -> Option<u32> {
        if let Some(entry) = self.all.get(self.free as usize) {
            let index = self.free;
            if let Content::Free { next, .. } = entry.content {
                self.free = next;
            }
            return Some(index);
        }
        let index = u32::try_from(self.all.len()).ok();
        let index = index.filter(|index| *index != NONE)?;
        self.all.push(Entry {
            generation: 0,
            content: Content::Free {
                next: NONE,
                announced: false,
            },
        });
        Some(index)
    }

    /// Puts a port into an entry that has been taken, or was kept for it; also whether the entry is announced. `stays`:
    /// one for which the entry was kept has the tag that it had.
    pub(super) fn fill(
        &mut self,
        index: u32,
        placed: Placed<T, P>,
        tag: Tag,
        stays: bool,
    ) -> (Key<Tag>, &Placed<T, P>, bool) {
        let entry = &mut self.all[index as usize];
        let (announced, tag) = match &entry.content {
            Content::Free { announced, .. } => (*announced, tag),
            Content::Served(signal, had) if stays => (signal.end(), *had),
            Content::Served(signal, _) => (signal.end(), tag),
            Content::Port(..) => unreachable!("it was not free"),
        };
        entry.content = Content::Port(placed, tag);
        let Content::Port(placed, _) = &entry.content else {
            unreachable!("it has just been put there");
        };
        let generation = entry.generation;
        let key = Key {
            index,
            generation,
            tag,
        };
        (key, placed, announced)
    }

    /// The port whose entry was announced, and its key; none: the entry has no port, and is no longer announced.
    #[inline(always)]
    pub(super) fn look(&mut self, index: u32) -> Option<(Key<Tag>, &mut Placed<T, P>)> {
        if !matches!(self.all[index as usize].content, Content::Port(..)) {
            self.look_without_port(index);
            return None;
        }
        let entry = &mut self.all[index as usize];
        let generation = entry.generation;
        match &mut entry.content {
            Content::Port(placed, tag) => {
                let key = Key {
                    index,
                    generation,
                    tag: *tag,
                };
                Some((key, placed))
            }
            _ => None,
        }
    }

    #[cold]
    fn look_without_port(&mut self, index: u32) {
        match &mut self.all[index as usize].content {
            Content::Free { announced, .. } => *announced = false,
            Content::Served(signal, _) if !signal.begin_kept() => drop(self.release(index)),
            _ => {}
        }
    }

    /// Hints that it is this entry's turn soon.
    #[inline(always)]
    pub(super) fn prefetch_entry(&self, index: u32) {
        if let Some(entry) = self.all.get(index as usize) {
            prefetch(entry);
        }
    }

    /// Hints that it is the turn of this entry's port soon, whose channel is then looked at.
    #[inline(always)]
    pub(super) fn prefetch(&self, index: u32) {
        if let Content::Port(placed, _) = &self.all[index as usize].content {
            placed.prefetch();
        }
    }

    /// Whether the port is there, or its place is kept.
    pub(super) fn keeps(&self, key: Key<Tag>) -> bool {
        let entry = self.all.get(key.index as usize);
        entry.is_some_and(|entry| {
            entry.generation == key.generation
                && match &entry.content {
                    Content::Port(..) => true,
                    Content::Served(signal, _) => signal.is_kept(),
                    Content::Free { .. } => false,
                }
        })
    }

    /// Whether the port is there.
    pub(super) fn has(&self, key: Key<Tag>) -> bool {
        let entry = self.all.get(key.index as usize);
        entry.is_some_and(|entry| {
            entry.generation == key.generation && matches!(entry.content, Content::Port(..))
        })
    }

    /// Takes a port out, which is there; `looked`: the caller has taken the entry from the queue.
    pub(super) fn take(&mut self, index: u32, looked: bool) -> Placed<T, P> {
        let Content::Port(placed, _) = self.release(index) else {
            unreachable!("the caller has seen a port there");
        };
        let is_announced = placed.leave(looked);
        if let Content::Free { announced, .. } = &mut self.all[index as usize].content {
            *announced = is_announced && !gossamer_core::mutant!("port_announced_twice");
        }
        placed
    }

    /// Frees an entry; gives what was in it.
    fn release(&mut self, index: u32) -> Content<T, P, Tag> {
        let entry = &mut self.all[index as usize];
        let free = Content::Free {
            next: self.free,
            announced: false,
        };
        self.free = index;
        entry.generation = entry.generation.wrapping_add(1);
        mem::replace(&mut entry.content, free)
    }

    /// Takes a pipe's end out, whose turn has come, and keeps its entry for it.
    pub(super) fn keep(&mut self, index: u32) -> Option<(Placed<T, P>, Lease)> {
        let content = &mut self.all[index as usize].content;
        let Content::Port(placed, tag) = content else {
            return None;
        };
        let signal = placed.signal()?.clone();
        let lease = Lease::new(signal.clone());
        let served = Content::Served(signal, *tag);
        match mem::replace(content, served) {
            Content::Port(placed, _) => Some((placed, lease)),
            _ => None,
        }
    }

    /// A sender that waits for what a look at this port has taken.
    pub(super) fn let_sender_go(&self, key: Key<Tag>) -> Option<(Deferred, bool)> {
        match &self.all.get(key.index as usize)?.content {
            Content::Port(placed, _) if self.has(key) => placed.let_sender_go(),
            _ => None,
        }
    }

    /// Takes all ports' entries back; gives what is to be dropped without the lock.
    pub(super) fn close(&mut self) -> impl Sized + use<T, P, Tag> {
        for entry in &self.all {
            if let Content::Port(placed, _) = &entry.content {
                placed.leave(false);
            }
        }
        mem::take(&mut self.all)
    }
}
