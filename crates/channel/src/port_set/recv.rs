//! Receiving from a set: the operations.

use std::mem;
use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use gossamer_core::context::SchedulingPoint;

use crate::spsc::raw::RingPolicy;

use super::{Event, PortSet};
use crate::mpmc::{PopReady, Ready};

/// Entries taken from the queue at once.
const BATCH: usize = if cfg!(any(loom, shuttle)) { 2 } else { 64 };
/// So many of them are fetched before it is their turn.
const AHEAD: usize = if cfg!(any(loom, shuttle)) { 1 } else { 8 };

/// Waiting for an entry that has been announced; pinned in the operation.
#[derive(Debug)]
struct Waiting<'a, T, P: RingPolicy> {
    set: &'a PortSet<T, P>,
    picking: PopReady<'a>,
    location: &'static Location<'static>,
}

impl<'a, T, P: RingPolicy> Waiting<'a, T, P> {
    fn new(set: &'a PortSet<T, P>, location: &'static Location<'static>) -> Self {
        let picking = PopReady::new(&set.ready, location);
        Self {
            set,
            picking,
            location,
        }
    }

    /// The next event; `None`: there is no port.
    #[inline(always)]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Event<T>>> {
        // SAFETY: the field that is pinned is not moved: it is replaced in its place.
        let this = unsafe { self.get_unchecked_mut() };
        loop {
            // SAFETY: pinned as its owner is.
            let mut picking = unsafe { Pin::new_unchecked(&mut this.picking) };
            let Ok(index) = ready!(picking.as_mut().poll(cx)) else {
                return Poll::Ready(None);
            };
            if let Some(ahead) = picking.as_mut().ahead() {
                this.set.table.with(|entries| entries.fetch_entry(ahead));
            }
            if let Some(event) = this.set.find(index) {
                return Poll::Ready(Some(event));
            }
            // There was nothing after all.
            let again = PopReady::new(&this.set.ready, this.location);
            // SAFETY: as above.
            unsafe { Pin::new_unchecked(&mut this.picking) }.set(again);
        }
    }
}

/// [`PortSet::recv`].
#[must_use = "operations do nothing until they are awaited or waited for"]
#[derive(Debug)]
pub struct PortReceiving<'a, T, P: RingPolicy>(Waiting<'a, T, P>);

impl<'a, T, P: RingPolicy> PortReceiving<'a, T, P> {
    pub(super) fn new(set: &'a PortSet<T, P>, location: &'static Location<'static>) -> Self {
        Self(Waiting::new(set, location))
    }
}

impl<T, P: RingPolicy> Future for PortReceiving<'_, T, P> {
    type Output = Option<Event<T>>;

    #[inline(always)]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        // SAFETY: the field is pinned as its owner is.
        unsafe { self.map_unchecked_mut(|this| &mut this.0) }.poll(cx)
    }
}

/// [`PortSet::recv_many`].
#[must_use = "operations do nothing until they are awaited or waited for"]
#[derive(Debug)]
pub struct PortsReceiving<'a, T, P: RingPolicy> {
    waiting: Waiting<'a, T, P>,
    /// Of one that is to receive nothing.
    point: SchedulingPoint,
    into: &'a mut Vec<Event<T>>,
    most: usize,
}

impl<'a, T, P: RingPolicy> PortsReceiving<'a, T, P> {
    pub(super) fn new(
        set: &'a PortSet<T, P>,
        into: &'a mut Vec<Event<T>>,
        most: usize,
        location: &'static Location<'static>,
    ) -> Self {
        let waiting = Waiting::new(set, location);
        Self {
            waiting,
            point: SchedulingPoint::new(),
            into,
            most,
        }
    }
}

impl<T, P: RingPolicy> Future for PortsReceiving<'_, T, P> {
    type Output = usize;

    #[inline(always)]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<usize> {
        // SAFETY: only the field that is pinned is not moved.
        let this = unsafe { self.get_unchecked_mut() };
        if this.most == 0 {
            return this.point.pass(cx.waker()).map(|()| 0);
        }
        // SAFETY: pinned as its owner is.
        let waiting = unsafe { Pin::new_unchecked(&mut this.waiting) };
        let Some(event) = ready!(waiting.poll(cx)) else {
            return Poll::Ready(0);
        };
        this.into.push(event);
        Poll::Ready(1 + this.waiting.set.take_ready(this.into, this.most - 1))
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

impl<T, P: RingPolicy> PortSet<T, P> {
    /// Receives from all entries that are in the queue at this moment, in their order, and gives the number of events.
    /// What is announced meanwhile is left for the next call, so that senders that are faster do not keep it here.
    fn take_ready(&self, into: &mut Vec<Event<T>>, most: usize) -> usize {
        let before = into.len();
        let limit = before.saturating_add(most);
        let mut left = self.ready.len();
        let mut places = [0; BATCH];
        let mut batch = BATCH;
        while left > 0 && into.len() < limit {
            let room = batch.min(left).min(limit - into.len());
            let mut taken = Taken {
                ready: &self.ready,
                rest: self.ready.take(&mut places[..room]),
            };
            if taken.rest.is_empty() {
                break;
            }
            left -= taken.rest.len();
            batch = BATCH.min(2 * batch);
            while !taken.rest.is_empty() {
                into.reserve(BATCH);
                let done = self.drain_quickly(taken.rest, into, limit);
                taken.rest = &taken.rest[done..];
                if let Some((index, rest)) = taken.rest.split_first() {
                    let is_of_it = |(key, _): &Event<T>| key.index == *index;
                    let has_had_a_turn = into.last().is_some_and(is_of_it)
                        || gossamer_core::mutant!("turn_without_room");
                    if into.len() == limit && !has_had_a_turn {
                        // Those that are left are the first ones again, before what has just been announced.
                        break;
                    }
                    taken.rest = rest;
                    self.drain(*index, into, limit, &mut taken);
                    if taken.rest.len() < rest.len() {
                        // As it was the turn of a pipe, and it may be the next one's.
                        left += rest.len();
                        batch = 1;
                    }
                }
            }
        }
        into.len() - before
    }

    /// Receives what these entries have, as long as that is simple, and there are fewer events than so many and than
    /// there is memory for. How many of them.
    ///
    /// Each is another entry in memory: so that they need not be waited for one after the other, the processor is told
    /// a few before.
    #[inline(always)]
    fn drain_quickly(&self, indices: &[u32], into: &mut Vec<Event<T>>, most: usize) -> usize {
        self.table.with(|entries| {
            let ahead = indices.len().min(AHEAD);
            for index in &indices[..ahead] {
                entries.fetch(*index);
            }
            for (done, index) in indices.iter().enumerate() {
                if let Some(next) = indices.get(done + ahead) {
                    entries.fetch(*next);
                }
                if into.len() == most {
                    return done;
                }
                let Some((key, placed)) = entries.look(*index) else {
                    continue;
                };
                if !placed.drain_quickly(into, most - into.len(), |message| (key, Ok(message))) {
                    return done;
                }
            }
            indices.len()
        })
    }

    /// Receives what the port has at this moment, but at most until there are so many events, and puts its entry back
    /// if there is more. `taken` are other entries.
    #[inline(never)]
    fn drain(&self, index: u32, into: &mut Vec<Event<T>>, most: usize, taken: &mut Taken<'_>) {
        let before = into.len();
        let mut looks = 1;
        while into.len() < most {
            let (event, more) = self.look(index, Some(taken));
            into.extend(event);
            if more == 0 {
                return;
            }
            let received = into.len() - before;
            if received == 1 {
                looks += more;
                into.reserve(more.min(most - into.len()));
                if self.drain_quickly(&[index], into, most) == 1 {
                    return;
                }
            }
            if into.len() - before >= looks {
                break;
            }
        }
        self.ready.announce(index).run();
    }
}
