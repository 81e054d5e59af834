//! The set itself: ports come and go, and a look at one.

use std::error::Error;
use std::fmt;
use std::mem;
use std::sync::Arc;

use gossamer_core::policy::{Local, LocalWord, Shared, SharedWord};

use super::port::{IntoPort, Placed, Port, Rest};
use super::ready::Ready;
use super::table::{Event, Key, Table};
use crate::spsc::raw::RingPolicy;

/// A set of receiving ends that are waited for as one.
///
/// Sending into a channel whose receiver is in a set costs the same however large the set is, and so does receiving:
/// what counts is how many ports have something, not how many there are. The ports take turns, a message each. Messages
/// of one port come in their order; between ports there is none, also if one message was sent because of the other
/// (a shared channel keeps that order).
///
/// An end of a pipe, in a state in which it receives, is used up by its message: the event has that and the next
/// endpoint, which is *served* outside the set, and [added](PortSet::add) again when it is its turn to listen. Meanwhile
/// the set keeps its place and its key: it counts as a port, so others that receive wait for it to come back. The place
/// is given up when the endpoint goes, because it is dropped, its session ends, or it comes into another set. So who
/// keeps such endpoints elsewhere must not wait for `None`. (To go on without the set, add the endpoint when it
/// listens, and [remove](PortSet::remove) it.)
///
/// What a pipe's end receives is made a `T` by `Into`, so that pipes of several protocols and other channels can be in
/// one set. That may wait for another receiver of the set: no port is kept from it meanwhile.
///
/// An event names its port by the key that [`add`](PortSet::add) gave. A port may have a name of the user's as well, its
/// tag ([`add_tagged`](PortSet::add_tagged), in a set made by `PortSet::tagged`), any type that is `Copy`: it comes with
/// each event, as the key's `tag`, and stays when a pipe's end comes back.
///
/// All methods take `&self`: ports come and go at any time, from anywhere, also while others receive from the set.
///
/// # Examples
/// ```
/// use gossamer::channel::{Closed, PortSet, oneshot, unbounded};
/// use gossamer::Wait;
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
/// # Ok::<(), gossamer::channel::port_set::AddError<i32, _>>(())
/// ```
pub struct PortSet<T, P: RingPolicy = Shared, Tag: Copy = ()> {
    pub(super) table: Table<T, P, Tag>,
    pub(super) ready: Arc<Ready>,
}

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

impl<T, Tag: Copy> PortSet<T, Shared, Tag> {
    /// A set whose ports have tags, without ports.
    pub fn tagged() -> Self {
        Self::with(SharedWord::new(0))
    }
}

impl<T, Tag: Copy> PortSet<T, Local, Tag> {
    /// A set whose ports have tags, without ports.
    pub fn tagged() -> Self {
        Self::with(LocalWord::new(0))
    }
}

impl<T, P: RingPolicy, Tag: Copy> PortSet<T, P, Tag> {
    fn with(word: P::Word) -> Self {
        Self {
            table: Table::new(word),
            ready: Arc::new(Ready::new()),
        }
    }

    /// Puts a receiving end into the set. What waits in its channel comes as if it had just been sent. A pipe's end that
    /// this set has served comes back to its place: it has the key that it had, and the tag. (A new port of a set with
    /// tags has the tag that is `Default`.)
    ///
    /// A rendezvous channel's `try_send` finds no receiver while that is in a set; `send` works as ever.
    ///
    /// # Errors
    /// The channel has other receivers: gives this one back. (They would take messages of which the set has been told.)
    pub fn add(&self, port: impl IntoPort<T, P>) -> Result<Key<Tag>, AddError<T, P>>
    where
        Tag: Default,
    {
        self.put(port.into(), Tag::default(), true)
    }

    /// Puts a receiving end into the set, as [`add`](PortSet::add) does, with a tag: each of its events has that, in its
    /// key. A pipe's end that this set has served comes back to its place, and has this tag from now on.
    ///
    /// # Errors
    /// As [`add`](PortSet::add).
    ///
    /// # Examples
    /// ```
    /// use gossamer::Wait;
    /// use gossamer::channel::{PortSet, oneshot, unbounded};
    ///
    /// #[derive(Debug, Clone, Copy, PartialEq)]
    /// enum Source {
    ///     Worker(u32),
    ///     Shutdown,
    /// }
    ///
    /// let set = PortSet::tagged();
    /// let (stop, stopped) = oneshot();
    /// let (tx, rx) = unbounded();
    /// set.add_tagged(rx, Source::Worker(7))?;
    /// set.add_tagged(stopped, Source::Shutdown)?;
    ///
    /// tx.send("done").wait().unwrap();
    /// let (key, message) = set.recv().wait().unwrap();
    /// assert_eq!((key.tag, message), (Source::Worker(7), Ok("done")));
    /// stop.send("now").unwrap();
    /// let (key, _) = set.recv().wait().unwrap();
    /// assert_eq!(key.tag, Source::Shutdown);
    /// # Ok::<(), gossamer::channel::port_set::AddError<&str, _>>(())
    /// ```
    pub fn add_tagged(
        &self,
        port: impl IntoPort<T, P>,
        tag: Tag,
    ) -> Result<Key<Tag>, AddError<T, P>> {
        self.put(port.into(), tag, gossamer_core::mutant!("tag_of_before"))
    }

    /// `stays`: a port that comes back has the tag that it had.
    fn put(&self, mut port: Port<T, P>, tag: Tag, stays: bool) -> Result<Key<Tag>, AddError<T, P>> {
        if !port.is_unique() {
            return Err(AddError(port));
        }
        let (index, kept) = match port.take_lease().into_entry(&self.ready) {
            Some((index, signal)) => (index, Some(signal)),
            None => (self.reserve(), None),
        };
        let placed = Placed::new(port, &self.ready, index, kept);
        let (key, (unsettled, announce)) = self.table.with(|entries| {
            let (key, placed, announced) = entries.fill(index, placed, tag, stays);
            (key, placed.enter(&self.ready, index, announced))
        });
        unsettled.settle();
        if announce {
            self.ready.announce(index).run();
        }
        Ok(key)
    }

    /// A free entry, for a port that is counted from now on.
    fn reserve(&self) -> u32 {
        self.ready.count_in();
        let index = self.table.reserve();
        self.ready.reserve(index as usize + 1);
        index
    }

    /// Takes a receiving end out of the set, with all that waits in it. `None`: it is not there, or no longer; or it is
    /// of a pipe, and is being served.
    pub fn remove(&self, key: Key<Tag>) -> Option<Port<T, P>> {
        let placed = self.table.with(|entries| {
            let is_there = entries.has(key);
            is_there.then(|| entries.take(key.index, false))
        })?;
        self.ready.count_out();
        Some(placed.into_port())
    }

    /// Whether the port is in the set, or its place is kept as it is being served.
    pub fn contains(&self, key: Key<Tag>) -> bool {
        self.table.with(|entries| entries.keeps(key))
    }

    /// How many ports are in the set, with those whose places are kept.
    pub fn len(&self) -> usize {
        self.ready.ports()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Receives from a port that has something at this moment. (A port that another task or thread is just receiving
    /// from may have more, and is not looked at.)
    pub fn try_recv(&self) -> Option<Event<T, Tag>> {
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
    pub(super) fn find(&self, index: u32) -> Option<Event<T, Tag>> {
        let (event, more) = self.look(index, None);
        if more > 0 {
            self.ready.announce(index).run();
        }
        event
    }

    /// Looks at an entry that has been taken from the queue. Also returns how many further looks will find something;
    /// if any, the caller looks there again, or puts the entry back. `taken` are other entries, which are put back if a
    /// pipe's code is to run: that may wait for a receiver of theirs.
    #[inline(always)]
    pub(super) fn look(
        &self,
        index: u32,
        taken: Option<&mut Taken<'_>>,
    ) -> (Option<Event<T, Tag>>, usize) {
        let mut has_port = false;
        let found = self.table.with(|entries| {
            let (key, placed) = entries.look(index)?;
            has_port = true;
            placed
                .find_quickly()
                .map(|(message, more)| ((key, Ok(message)), more))
        });
        match found {
            Some((event, _)) if gossamer_core::mutant!("port_more_left_behind") => (Some(event), 0),
            Some((event, more)) => (Some(event), more),
            None if has_port => self.look_slowly(index, taken),
            // One that comes from now on is announced anew.
            None => (None, 0),
        }
    }

    #[inline(never)]
    fn look_slowly(
        &self,
        index: u32,
        taken: Option<&mut Taken<'_>>,
    ) -> (Option<Event<T, Tag>>, usize) {
        let looked = self.table.with(|entries| {
            let (key, placed) = entries.look(index)?;
            let (found, rest) = placed.find();
            let served = matches!(rest, Rest::Turn).then(|| entries.keep(index));
            let ended = found.is_end.then(|| entries.take(index, true));
            Some((key, found, rest, served.flatten(), ended))
        });
        let Some((key, found, rest, served, ended)) = looked else {
            return (None, 0);
        };
        if ended.is_some() {
            self.ready.count_out();
        }
        // Others may look again if something panics from here on.
        let left = Taken {
            ready: &self.ready,
            rest: if found.more > 0 { &[index] } else { &[] },
        };
        let mut result = found.result;
        match rest {
            Rest::Nothing => {}
            Rest::Unsettled(unsettled) => unsettled.settle(),
            Rest::SenderWaits => self.let_senders_go(key),
            Rest::Turn => {
                if let Some(taken) = taken
                    && !gossamer_core::mutant!("port_keeps_places_from_others")
                {
                    taken.put_back();
                }
                result = served
                    .and_then(|(placed, lease)| placed.hear(lease))
                    .map(Ok);
            }
        }
        // From here on it is the caller's.
        mem::forget(left);
        (result.map(|result| (key, result)), found.more)
    }

    fn let_senders_go(&self, key: Key<Tag>) {
        let mut goes = true;
        while goes
            && let Some((deferred, more)) = self.table.with(|entries| entries.let_sender_go(key))
        {
            deferred.run();
            goes = more;
        }
    }
}

/// Entries taken from the queue. Others do not find them: those that are left are put back before user code runs that
/// may wait for them, and if some panics.
pub(super) struct Taken<'a> {
    pub(super) ready: &'a Ready,
    pub(super) rest: &'a [u32],
}

impl Taken<'_> {
    pub(super) fn put_back(&mut self) {
        let rest = mem::take(&mut self.rest);
        if !rest.is_empty() {
            self.ready.put_back(rest);
        }
    }
}

impl Drop for Taken<'_> {
    fn drop(&mut self) {
        self.put_back();
    }
}

impl<T, P: RingPolicy, Tag: Copy> Drop for PortSet<T, P, Tag> {
    fn drop(&mut self) {
        // The entries first: a message whose drop panics must not leave one behind.
        let places = self.table.with(|entries| entries.close());
        drop(places);
    }
}

/// The port has not been put into the set, as its channel has other receivers; this is it.
pub struct AddError<T, P: RingPolicy>(pub Port<T, P>);

impl<T, P: RingPolicy> fmt::Display for AddError<T, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "the receiver was not added: its channel has other receivers; a port set needs the only one",
        )
    }
}

gossamer_core::impl_debug_as_display!([T, P: RingPolicy] AddError[T, P]);

impl<T, P: RingPolicy> Error for AddError<T, P> {}

gossamer_core::impl_debug!(
    [T, P: RingPolicy, Tag: Copy] PortSet[T, P, Tag],
    this => ports: this.len(), ready: this.ready.len()
);
