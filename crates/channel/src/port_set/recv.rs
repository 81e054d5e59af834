//! Receiving from a set: the operations.

use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use gossamer_core::policy::Policy;

use super::{Event, PortSet};
use crate::mpmc::Picking;

/// Places taken from the queue at once.
const BATCH: usize = 64;

/// Waiting for a place that has been announced; pinned in the operation.
#[derive(Debug)]
struct Waiting<'a, T, P: Policy> {
    set: &'a PortSet<T, P>,
    picking: Picking<'a>,
    location: &'static Location<'static>,
}

impl<'a, T, P: Policy> Waiting<'a, T, P> {
    fn new(set: &'a PortSet<T, P>, location: &'static Location<'static>) -> Self {
        let picking = Picking::new(&set.ready, location);
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
            let picking = unsafe { Pin::new_unchecked(&mut this.picking) };
            let Ok(index) = ready!(picking.poll(cx)) else {
                return Poll::Ready(None);
            };
            if let Some(event) = this.set.find(index) {
                return Poll::Ready(Some(event));
            }
            // There was nothing after all.
            let again = Picking::new(&this.set.ready, this.location);
            // SAFETY: as above.
            unsafe { Pin::new_unchecked(&mut this.picking) }.set(again);
        }
    }
}

/// [`PortSet::recv`].
#[must_use = "operations do nothing until they are awaited or waited for"]
#[derive(Debug)]
pub struct PortReceiving<'a, T, P: Policy>(Waiting<'a, T, P>);

impl<'a, T, P: Policy> PortReceiving<'a, T, P> {
    pub(super) fn new(set: &'a PortSet<T, P>, location: &'static Location<'static>) -> Self {
        Self(Waiting::new(set, location))
    }
}

impl<T, P: Policy> Future for PortReceiving<'_, T, P> {
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
pub struct PortsReceiving<'a, T, P: Policy> {
    waiting: Waiting<'a, T, P>,
    into: &'a mut Vec<Event<T>>,
    most: usize,
}

impl<'a, T, P: Policy> PortsReceiving<'a, T, P> {
    pub(super) fn new(
        set: &'a PortSet<T, P>,
        into: &'a mut Vec<Event<T>>,
        most: usize,
        location: &'static Location<'static>,
    ) -> Self {
        let waiting = Waiting::new(set, location);
        Self {
            waiting,
            into,
            most,
        }
    }
}

impl<T, P: Policy> Future for PortsReceiving<'_, T, P> {
    type Output = usize;

    #[inline(always)]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<usize> {
        // SAFETY: only the field that is pinned is not moved.
        let this = unsafe { self.get_unchecked_mut() };
        if this.most == 0 {
            return Poll::Ready(0);
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

impl<T, P: Policy> PortSet<T, P> {
    /// Receives from all places that are in the queue at this moment, in their order, and gives the number of events.
    /// What is announced meanwhile is left for the next call, so that senders that are faster do not keep it here.
    fn take_ready(&self, into: &mut Vec<Event<T>>, most: usize) -> usize {
        let mut received = 0;
        let mut left = self.ready.len().min(most);
        let mut places = [0; BATCH];
        while left > 0 {
            let taken = self.ready.take(&mut places[..left.min(BATCH)]);
            if taken.is_empty() {
                break;
            }
            left -= taken.len();
            for index in taken {
                received += self.drain(*index, into, most - received);
            }
        }
        received
    }

    /// Receives what the port has at this moment, but at most so much, and puts its place back if there is more.
    fn drain(&self, index: u32, into: &mut Vec<Event<T>>, most: usize) -> usize {
        let mut received = 0;
        let mut looks = 1;
        while received < most {
            let (event, more) = self.look(index);
            received += usize::from(event.is_some());
            into.extend(event);
            if more == 0 {
                return received;
            }
            if received == 1 {
                looks += more;
            }
            if received == looks {
                break;
            }
        }
        self.ready.announce(index).run();
        received
    }
}
