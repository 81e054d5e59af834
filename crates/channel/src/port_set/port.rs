//! The ports of a set: receivers whose channels announce their entries themselves, and others that call a waker.

use std::sync::Arc;
use std::task::Poll;

use gossamer_core::waiter::Deferred;

use super::channel::Found;
use super::pipe_end::{Holds, PipeEnd};
use super::ready::Ready;
use super::signal::{Lease, Signal};
use crate::error::{Closed, TryRecvError};
use crate::mpmc::{Receiver, Unsettled};
use crate::oneshot;
use crate::pipe::Hears;
use crate::spsc::raw::{self as spsc, RingPolicy};

/// A receiving end that can be in a [`PortSet`](super::PortSet).
#[derive(Debug)]
#[non_exhaustive]
pub enum Port<T, P: RingPolicy> {
    /// Of a bounded, unbounded or rendezvous channel.
    Channel(Receiver<T, P>),
    /// Of a one-shot channel: its message is also its end.
    Oneshot(oneshot::Receiver<T>),
    /// Of a channel for one sender and one receiver.
    Spsc(spsc::Receiver<T, P>),
    /// Of a pipe: what it receives has the next endpoint, for which the set keeps the place.
    Pipe(PipeEnd<T, P>),
}

/// What [`PortSet::add`](super::PortSet::add) takes: whatever can be made a [`Port`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be in a set of ports for `{T}`",
    label = "this receives no `{T}`",
    note = "a `PortSet<{T}>` takes receivers of channels, one-shots and rings whose messages are `{T}`",
    note = "it takes a pipe's end whose turn it is to receive, if `{T}` implements `From` for what that receives",
    note = "for messages of several types, make `{T}` an `enum` of them"
)]
pub trait IntoPort<T, P: RingPolicy>: Into<Port<T, P>> {}

impl<T, P: RingPolicy, R: Into<Port<T, P>>> IntoPort<T, P> for R {}

impl<T, P: RingPolicy> From<Receiver<T, P>> for Port<T, P> {
    fn from(receiver: Receiver<T, P>) -> Self {
        Self::Channel(receiver)
    }
}

impl<T, P: RingPolicy> From<oneshot::Receiver<T>> for Port<T, P> {
    fn from(receiver: oneshot::Receiver<T>) -> Self {
        Self::Oneshot(receiver)
    }
}

impl<T, P: RingPolicy> From<spsc::Receiver<T, P>> for Port<T, P> {
    fn from(receiver: spsc::Receiver<T, P>) -> Self {
        Self::Spsc(receiver)
    }
}

impl<T, P, E> From<E> for Port<T, P>
where
    P: RingPolicy + Holds<E>,
    E: Hears<Heard: Into<T>> + 'static,
{
    fn from(endpoint: E) -> Self {
        Self::Pipe(PipeEnd::new(endpoint))
    }
}

impl<T, P: RingPolicy> Port<T, P> {
    pub(super) fn is_unique(&self) -> bool {
        match self {
            Self::Channel(receiver) => receiver.is_unique(),
            Self::Oneshot(_) | Self::Spsc(_) | Self::Pipe(_) => true,
        }
    }

    /// The lease of a pipe's end that has been served.
    pub(super) fn take_lease(&mut self) -> Lease {
        match self {
            Self::Pipe(pipe) => pipe.take_lease(),
            _ => Lease::NONE,
        }
    }
}

/// A port in its place.
pub(super) enum Placed<T, P: RingPolicy> {
    Channel(Receiver<T, P>),
    /// Boxed, so that entries are small.
    Signalled(Box<Signalled<T, P>>),
}

/// One that calls a waker.
pub(super) struct Signalled<T, P: RingPolicy> {
    signal: Arc<Signal>,
    source: Source<T, P>,
}

/// The receiving end of a port that calls a waker.
enum Source<T, P: RingPolicy> {
    Oneshot(oneshot::Receiver<T>),
    Ring(spsc::Receiver<T, P>),
    Pipe(PipeEnd<T, P>),
}

/// The work that a look leaves for when no lock is held.
pub(super) enum Rest<T, P: RingPolicy> {
    Nothing,
    Unsettled(Unsettled<T, P>),
    /// The sender waits for the message's place.
    SenderWaits,
    /// The pipe's turn has come, with a message.
    Turn,
}

impl<T, P: RingPolicy> Placed<T, P> {
    /// Gets a port ready for its entry, without any lock: a waker that it has from before is dropped here. `kept`: the
    /// entry was kept for it, and this is its signal.
    pub(super) fn new(
        port: Port<T, P>,
        ready: &Arc<Ready>,
        index: u32,
        kept: Option<Arc<Signal>>,
    ) -> Self {
        let source = match port {
            Port::Channel(receiver) => {
                ready.has(&*receiver.0);
                return Self::Channel(receiver);
            }
            Port::Oneshot(receiver) => Source::Oneshot(receiver),
            Port::Spsc(receiver) => {
                ready.has(receiver.chan());
                Source::Ring(receiver)
            }
            Port::Pipe(pipe) => Source::Pipe(pipe),
        };
        let mut signalled = Signalled {
            signal: kept.unwrap_or_else(|| Signal::new(ready.clone(), index)),
            source,
        };
        // A waiter from before has already left its ring or its pipe.
        if let Source::Oneshot(receiver) = &mut signalled.source {
            receiver.listen(&signalled.signal.waker());
        }
        Self::Signalled(Box::new(signalled))
    }

    /// Tells the port that it is in its place. `announced`: the set is going to look at it anyway.
    ///
    /// # Returns
    /// The work to do without any lock, and whether the set has to announce the entry itself.
    pub(super) fn enter(
        &self,
        ready: &Arc<Ready>,
        index: u32,
        announced: bool,
    ) -> (Unsettled<T, P>, bool) {
        match self {
            Self::Channel(receiver) => (receiver.enter(ready, index, announced), false),
            Self::Signalled(_) => (Unsettled::NOTHING, !announced),
        }
    }

    /// Takes the port's entry back; `looked`: the caller has taken the entry from the queue.
    ///
    /// # Returns
    /// Whether the entry has been announced, apart from that.
    pub(super) fn leave(&self, looked: bool) -> bool {
        match self {
            Self::Channel(receiver) => receiver.leave() && !looked,
            // It announces anew from the moment when it is looked at.
            Self::Signalled(signalled) => signalled.signal.end(),
        }
    }

    /// The signal of a port that calls a waker.
    pub(super) fn signal(&self) -> Option<&Arc<Signal>> {
        match self {
            Self::Channel(_) => None,
            Self::Signalled(signalled) => Some(&signalled.signal),
        }
    }

    /// The port, which has left its entry; no lock is held.
    pub(super) fn into_port(self) -> Port<T, P> {
        let signalled = match self {
            Self::Channel(receiver) => return Port::Channel(receiver),
            Self::Signalled(signalled) => *signalled,
        };
        match signalled.source {
            Source::Oneshot(receiver) => Port::Oneshot(receiver),
            Source::Ring(mut receiver) => {
                receiver.leave_set();
                Port::Spsc(receiver)
            }
            Source::Pipe(mut pipe) => {
                pipe.forget_waker();
                Port::Pipe(pipe)
            }
        }
    }

    /// Returns the message that came with the turn of a pipe, and the next endpoint; `None` for any other port.
    /// [`find`](Placed::find) has reported the turn, and the lease is of its entry. No lock is held.
    pub(super) fn hear(self, lease: Lease) -> Option<T> {
        let Self::Signalled(signalled) = self else {
            return None;
        };
        match signalled.source {
            Source::Pipe(pipe) => Some(pipe.hear(lease)),
            _ => None,
        }
    }

    /// Releases a sender that waits for the place of a message that a look has taken.
    pub(super) fn let_sender_go(&self) -> Option<(Deferred, bool)> {
        let Self::Signalled(signalled) = self else {
            return None;
        };
        match &signalled.source {
            Source::Ring(receiver) => receiver.let_sender_go(),
            _ => None,
        }
    }

    /// A message, and how many more there are, if that is simple; its entry has been announced.
    #[inline(always)]
    pub(super) fn find_quickly(&self) -> Option<(T, usize)> {
        match self {
            Self::Channel(receiver) => receiver.find_quickly(),
            Self::Signalled(_) => None,
        }
    }

    /// Puts messages at the end of `into`, each as an `event`, if that is simple and as many as fit, and at most so
    /// many; whether that was all.
    #[inline(always)]
    pub(super) fn drain_quickly<E>(
        &self,
        into: &mut Vec<E>,
        most: usize,
        event: impl Fn(T) -> E,
    ) -> bool {
        match self {
            Self::Channel(receiver) => receiver.drain_quickly(into, most, event),
            Self::Signalled(_) => false,
        }
    }

    /// Hints that it is the port's turn soon.
    #[inline(always)]
    pub(super) fn prefetch(&self) {
        if let Self::Channel(receiver) = self {
            receiver.prefetch();
        }
    }

    /// Looks at it; its entry has been announced.
    #[inline(never)]
    pub(super) fn find(&mut self) -> (Found<T>, Rest<T, P>) {
        match self {
            Self::Channel(receiver) => {
                let (found, unsettled) = receiver.find();
                (found, Rest::Unsettled(unsettled))
            }
            Self::Signalled(signalled) => signalled.find(),
        }
    }
}

impl<T, P: RingPolicy> Signalled<T, P> {
    #[inline(never)]
    fn find(&mut self) -> (Found<T>, Rest<T, P>) {
        self.signal.begin();
        let found = match &mut self.source {
            Source::Ring(receiver) => return look_at_ring(receiver, &self.signal),
            Source::Oneshot(receiver) => receiver.find(&self.signal.waker()).map(Found::end),
            Source::Pipe(_) if gossamer_core::mutant!("port_of_pipe_does_not_wait") => None,
            Source::Pipe(pipe) => match pipe.poll(&self.signal.waker()) {
                Poll::Pending => None,
                Poll::Ready(Ok(())) => return (Found::NOTHING, Rest::Turn),
                Poll::Ready(Err(closed)) => Some(Found::end(Err(closed))),
            },
        };
        (found.unwrap_or(Found::NOTHING), Rest::Nothing)
    }
}

/// A message of a ring; the set's waker is registered only when there is none, as that may need a system-wide barrier.
/// So after a message there is always a look more.
fn look_at_ring<T, P: RingPolicy>(
    receiver: &mut spsc::Receiver<T, P>,
    signal: &Arc<Signal>,
) -> (Found<T>, Rest<T, P>) {
    loop {
        match receiver.take_in_set() {
            Ok((message, more, is_awaited)) => {
                // The waker may be registered from a look before: then it has perhaps been called just now.
                let more = if signal.end() { 0 } else { more.max(1) };
                let rest = if is_awaited {
                    Rest::SenderWaits
                } else {
                    Rest::Nothing
                };
                return (Found::message(message, more), rest);
            }
            Err(TryRecvError::Closed) => {
                return (Found::end(Err(Closed)), Rest::Nothing);
            }
            Err(TryRecvError::Empty) => {
                let waits = receiver.waits_in_set(&signal.waker());
                if waits || gossamer_core::mutant!("port_of_ring_looks_once") {
                    return (Found::NOTHING, Rest::Nothing);
                }
            }
        }
    }
}
