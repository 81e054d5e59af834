//! The queue of a port set: which of its entries have been announced. It is a channel of their indices, whose senders
//! are the ports; so those who wait for any port are the receivers of a channel. It is for any thread also in a set for
//! one, as a one-shot may be sent from elsewhere.

use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll};

use gossamer_core::context::simulated;
use gossamer_core::policy::{LockPolicy, Shared, SharedWord};
use gossamer_core::wait_queue::{Leave, forget_waiters};
use gossamer_core::waiter::Deferred;
use pin_project_lite::pin_project;

use crate::error::Closed;
use crate::mpmc::{
    Chan, Effect, Locked, NO_SENDERS, Observer, One, Op, Quickly, Receive, Receives,
};

/// The queue.
pub(super) struct Ready(Chan<u32, Shared>);

impl Ready {
    /// Without entries, and without memory.
    pub(super) fn new() -> Self {
        let chan = Chan::new(SharedWord::new(0), usize::MAX);
        let mut locked = chan.locked();
        locked.senders = 0;
        locked.mark(NO_SENDERS, true);
        locked.unlock();
        Self(chan)
    }

    /// What is done at this channel is done at the set as well: tells a simulation.
    pub(super) fn has<C>(&self, chan: &C) {
        simulated::is_part(chan, &self.0);
    }

    /// One port more. From now on receivers wait.
    pub(super) fn count_in(&self) {
        let mut locked = self.0.locked();
        locked.senders += 1;
        locked.mark(NO_SENDERS, false);
        locked.unlock();
    }

    /// One port less: with the last one those who wait are told.
    pub(super) fn count_out(&self) {
        let mut locked = self.0.locked();
        locked.senders -= 1;
        let is_last = locked.senders == 0;
        locked.mark(NO_SENDERS, is_last);
        locked.settle();
    }

    /// How many entries have been announced.
    pub(super) fn len(&self) -> usize {
        self.0.read(|state| state.buffer.len())
    }

    /// Returns the number of ports.
    pub(super) fn ports(&self) -> usize {
        self.0.read(|state| state.senders)
    }

    /// Makes room for `places` entries: each is in the queue once at most, so that announcing asks for no memory.
    pub(super) fn reserve(&self, places: usize) {
        let mut locked = self.0.locked();
        locked.buffer.reserve(places.next_power_of_two());
        locked.unlock();
    }

    /// Puts an entry at the end, and lets one go that waits.
    #[inline(always)]
    pub(super) fn announce(&self, index: u32) -> Deferred {
        match self.0.push_copy(index) {
            Ok(()) => Deferred::NOTHING,
            Err(locked) => announce_slowly(locked, index),
        }
    }

    /// Puts entries that have been taken before the others again, and lets those go that wait.
    pub(super) fn put_back(&self, places: &[u32]) {
        let mut locked = self.0.locked();
        for index in places.iter().rev() {
            locked.buffer.push_front(*index);
        }
        locked.settle();
    }

    /// Takes entries that have been announced, the first ones first, as many as there is room for.
    pub(super) fn take<'b>(&self, into: &'b mut [u32]) -> &'b [u32] {
        let mut locked = self.0.locked();
        let mut taken = 0;
        while taken < into.len()
            && let Some(index) = locked.buffer.pop()
        {
            into[taken] = index;
            taken += 1;
        }
        locked.unlock();
        &into[..taken]
    }
}

#[inline(never)]
fn announce_slowly(mut locked: Locked<'_, u32, Shared>, index: u32) -> Deferred {
    locked.buffer.push(index, usize::MAX);
    let deferred = locked.wake_next();
    locked.unlock();
    deferred.unwrap_or(Deferred::NOTHING)
}

impl Observer for Ready {
    fn notify(&self, token: u32) -> Deferred {
        self.announce(token)
    }
}

impl Drop for Ready {
    fn drop(&mut self) {
        forget_waiters::<_, Receives<PopsReady>>(&mut self.0);
    }
}

pin_project! {
    /// Waiting for the first entry that has been announced; [`Closed`]: there is no port.
    #[derive(Debug)]
    pub(super) struct PopReady<'a> {
        #[pin]
        op: Op<'a, u32, Shared, Receives<PopsReady>>,
    }
}

impl<'a> PopReady<'a> {
    pub(super) fn new(ready: &'a Ready, location: &'static Location<'static>) -> Self {
        let receives = Receives::new(PopsReady { ahead: None });
        Self {
            op: Op::new(&ready.0, receives, location),
        }
    }

    /// An entry whose turn comes soon, if many are announced; it may be free by now.
    #[inline(always)]
    pub(super) fn ahead(self: Pin<&mut Self>) -> Option<u32> {
        self.project().op.action().receive.ahead
    }
}

impl Future for PopReady<'_> {
    type Output = Result<u32, Closed>;

    #[inline(always)]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        self.project().op.poll(cx)
    }
}

impl Leave for PopReady<'_> {
    fn leave(self: Pin<&mut Self>) {
        self.project().op.leave();
    }
}

/// Taking the first entry that has been announced: as receiving, but the queue keeps its memory.
struct PopsReady {
    /// An entry whose turn comes soon.
    ahead: Option<u32>,
}

/// Turns between the hint that an entry is needed and its own. With fewer entries announced, the cache has them anyway.
const AHEAD: usize = 16;

impl Receive<u32> for PopsReady {
    type Output = Result<u32, Closed>;
    const NAME: &'static str = "PortSet::recv";
    const EFFECT: Effect = Effect::Other;

    const QUICKLY: Option<Quickly<u32, Self>> = Some(|this, index, rest| {
        this.ahead = rest.ahead(AHEAD).copied();
        Ok(index)
    });

    #[inline(always)]
    fn attempt<P: LockPolicy>(&mut self, locked: &mut Locked<'_, u32, P>) -> Option<Self::Output> {
        One.attempt(locked)
    }
}
