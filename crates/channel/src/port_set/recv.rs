//! Receiving from a set: the operations.

use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use gossamer_core::context::SchedulingPoint;
use gossamer_core::wait_queue::Leave;
use pin_project_lite::pin_project;

use super::ready::PopReady;
use super::set::{PortSet, Taken};
use super::table::Event;
use crate::spsc::raw::RingPolicy;

/// Entries taken from the queue at once.
const BATCH: usize = if cfg!(any(loom, shuttle)) { 2 } else { 64 };
/// Entries prefetched ahead of the one whose turn it is.
const AHEAD: usize = if cfg!(any(loom, shuttle)) { 1 } else { 8 };

pin_project! {
    /// [`PortSet::recv`].
    #[must_use = "operations do nothing until they are awaited or waited for"]
    #[derive(Debug)]
    pub struct PortReceiving<'a, T, P: RingPolicy, Tag: Copy = ()> {
        set: &'a PortSet<T, P, Tag>,
        #[pin]
        pop: PopReady<'a>,
        location: &'static Location<'static>,
    }
}

impl<T, P: RingPolicy, Tag: Copy> Future for PortReceiving<'_, T, P, Tag> {
    type Output = Option<Event<T, Tag>>;

    #[inline(always)]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut this = self.project();
        loop {
            let Ok(index) = ready!(this.pop.as_mut().poll(cx)) else {
                return Poll::Ready(None);
            };
            if let Some(ahead) = this.pop.as_mut().ahead() {
                this.set.table.with(|entries| entries.prefetch_entry(ahead));
            }
            if let Some(event) = this.set.find(index) {
                return Poll::Ready(Some(event));
            }
            // There was nothing after all.
            this.pop.set(PopReady::new(&this.set.ready, this.location));
        }
    }
}

impl<T, P: RingPolicy, Tag: Copy> Leave for PortReceiving<'_, T, P, Tag> {
    fn leave(self: Pin<&mut Self>) {
        self.project().pop.leave();
    }
}

pin_project! {
    /// [`PortSet::recv_many`].
    #[must_use = "operations do nothing until they are awaited or waited for"]
    #[derive(Debug)]
    pub struct PortsReceiving<'a, T, P: RingPolicy, Tag: Copy = ()> {
        #[pin]
        first: PortReceiving<'a, T, P, Tag>,
        // Of one that is to receive nothing.
        point: SchedulingPoint,
        into: &'a mut Vec<Event<T, Tag>>,
        most: usize,
    }
}

impl<T, P: RingPolicy, Tag: Copy> Future for PortsReceiving<'_, T, P, Tag> {
    type Output = usize;

    #[inline(always)]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<usize> {
        let this = self.project();
        if *this.most == 0 {
            return this.point.pass(cx.waker()).map(|()| 0);
        }
        let set = this.first.set;
        let Some(event) = ready!(this.first.poll(cx)) else {
            return Poll::Ready(0);
        };
        this.into.push(event);
        Poll::Ready(1 + set.take_ready(this.into, *this.most - 1))
    }
}

impl<T, P: RingPolicy, Tag: Copy> Leave for PortsReceiving<'_, T, P, Tag> {
    fn leave(self: Pin<&mut Self>) {
        self.project().first.leave();
    }
}

impl<T, P: RingPolicy, Tag: Copy> PortSet<T, P, Tag> {
    /// Receives from any port: waits until one has something. `None`: there is no port in the set, or, while it waits,
    /// none is left. An end of a pipe that is being served counts as a port.
    ///
    /// # Blocking
    /// `.await` it in a task, `.wait()` for it in a fiber or a thread.
    ///
    /// # Cancellation
    /// Dropped unfinished, it has received nothing. One that has been woken and is neither polled nor dropped keeps its
    /// entry from those who wait behind it.
    #[track_caller]
    pub fn recv(&self) -> PortReceiving<'_, T, P, Tag> {
        let location = Location::caller();
        PortReceiving {
            set: self,
            pop: PopReady::new(&self.ready, location),
            location,
        }
    }

    /// Receives all that all ports have, but at most `most` events, and waits until one port has something. Puts the
    /// events at the end of `into`, and returns their number: zero if `most` is zero, or if there is no port.
    ///
    /// The events come port by port; only the first port gives one message at first, and its others after the other
    /// ports. Events that come meanwhile are left for the next call. A port with some left goes behind the others.
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
        into: &'a mut Vec<Event<T, Tag>>,
        most: usize,
    ) -> PortsReceiving<'a, T, P, Tag> {
        PortsReceiving {
            first: self.recv(),
            point: SchedulingPoint::new(),
            into,
            most,
        }
    }

    /// Receives from all entries that are in the queue at this moment, in their order. Returns the number of events.
    /// Entries that are announced meanwhile are left for the next call, so that faster senders do not keep it here.
    fn take_ready(&self, into: &mut Vec<Event<T, Tag>>, most: usize) -> usize {
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
                    let is_of_it = |(key, _): &Event<T, Tag>| key.index == *index;
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

    /// Receives what these entries have, as long as that is simple, and as `into` has fewer than `most` events and has
    /// memory for more. Returns the number of entries that are done.
    ///
    /// Each is another entry in memory. A prefetch a few turns ahead tells the processor of each, so that it loads
    /// several at a time.
    #[inline(always)]
    fn drain_quickly(&self, indices: &[u32], into: &mut Vec<Event<T, Tag>>, most: usize) -> usize {
        self.table.with(|entries| {
            let ahead = indices.len().min(AHEAD);
            for index in &indices[..ahead] {
                entries.prefetch(*index);
            }
            for (done, index) in indices.iter().enumerate() {
                if let Some(next) = indices.get(done + ahead) {
                    entries.prefetch(*next);
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

    /// Receives what the port has at this moment, but at most until `into` has `most` events. Puts the port's entry
    /// back if it has more. `taken` are other entries.
    #[inline(never)]
    fn drain(&self, index: u32, into: &mut Vec<Event<T, Tag>>, most: usize, taken: &mut Taken<'_>) {
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
