//! What can be in a set: receivers whose channels announce their entries themselves, and others that call a waker.

use std::panic::Location;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Poll, Waker};

use gossamer_core::waiter::Deferred;

use super::pipe_end::{Holds, PipeEnd};
use super::signal::Signal;
use crate::error::TryRecvError;
use crate::mpmc::{Found, Ready, Receiver, Unsettled};
use crate::oneshot;
use crate::pipe::Hears;
use crate::spsc::ParkedReceiver;
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
    /// Of a pipe: what it receives has the next endpoint, so that this one is no longer in the set.
    Pipe(PipeEnd<T, P>),
}

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
    end: End<T, P>,
}

enum End<T, P: RingPolicy> {
    Oneshot(oneshot::Receiver<T>),
    /// What waits goes before the receiver does.
    Spsc(Pin<Box<ParkedReceiver<T, P>>>, spsc::Receiver<T, P>),
    Pipe(PipeEnd<T, P>),
}

/// What a look has found, and what is left to do without any lock.
pub(super) enum Looked<T, P: RingPolicy> {
    Channel(Found<T>, Unsettled<T, P>),
    Signalled(Found<T>),
    /// A message; and the sender waits for its entry.
    Awaited(Found<T>),
    /// The pipe's turn, which has a message.
    Turn,
}

impl<T, P: RingPolicy> Placed<T, P> {
    /// Gets a port ready for its entry, without any lock: a waker that it has from before is dropped here.
    pub(super) fn new(
        port: Port<T, P>,
        ready: &Arc<Ready>,
        index: u32,
        location: &'static Location<'static>,
    ) -> Self {
        let end = match port {
            Port::Channel(receiver) => return Self::Channel(receiver),
            Port::Oneshot(receiver) => End::Oneshot(receiver),
            Port::Spsc(receiver) => {
                // SAFETY: it is dropped first.
                let has_waiters = unsafe { ParkedReceiver::new(&receiver, location) };
                End::Spsc(Box::pin(has_waiters), receiver)
            }
            Port::Pipe(pipe) => End::Pipe(pipe),
        };
        let signal = Signal::new(ready.clone(), index);
        let mut signalled = Box::new(Signalled { signal, end });
        let waker = signalled.waker();
        match &mut signalled.end {
            End::Oneshot(receiver) => receiver.listen(&waker),
            // What has waited before has left its line.
            End::Spsc(..) | End::Pipe(_) => {}
        }
        Self::Signalled(signalled)
    }

    /// It is in its place; `announced`: the set is going to look at it anyway.
    ///
    /// # Returns
    /// What is to be done without any lock, and whether the set has to announce the entry itself.
    ///
    /// # Safety
    /// The port is unique.
    pub(super) unsafe fn enter(
        &self,
        ready: &Arc<Ready>,
        index: u32,
        announced: bool,
    ) -> (Unsettled<T, P>, bool) {
        match self {
            // SAFETY: unique, and now in a set; the set takes the entry back before it lets go of the queue.
            Self::Channel(receiver) => unsafe {
                (receiver.enter(Arc::as_ptr(ready), index, announced), false)
            },
            Self::Signalled(_) => (Unsettled::nothing(), !announced),
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

    /// The port, which has left its entry; no lock is held.
    pub(super) fn into_port(self) -> Port<T, P> {
        let signalled = match self {
            Self::Channel(receiver) => return Port::Channel(receiver),
            Self::Signalled(signalled) => *signalled,
        };
        match signalled.end {
            End::Oneshot(receiver) => Port::Oneshot(receiver),
            End::Spsc(has_waiters, receiver) => {
                drop(has_waiters);
                // Of which a look has told, whose caller does not find the port any more.
                receiver.tell();
                Port::Spsc(receiver)
            }
            End::Pipe(mut pipe) => {
                pipe.forget_waker();
                Port::Pipe(pipe)
            }
        }
    }

    /// What has come with the turn of a pipe that has left its entry; no lock is held.
    ///
    /// # Safety
    /// [`find`](Placed::find) has said that it is the turn.
    pub(super) unsafe fn hear(self) -> Option<T> {
        let Self::Signalled(signalled) = self else {
            return None;
        };
        let End::Pipe(pipe) = signalled.end else {
            return None;
        };
        // SAFETY: passed on to the caller.
        Some(unsafe { pipe.hear() })
    }

    /// A sender that waits for what a look has taken.
    pub(super) fn let_sender_go(&self) -> Option<(Deferred, bool)> {
        let Self::Signalled(signalled) = self else {
            return None;
        };
        let End::Spsc(_, receiver) = &signalled.end else {
            return None;
        };
        receiver.let_sender_go()
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

    /// Has the processor fetch what it looks at, as it is its turn soon.
    #[inline(always)]
    pub(super) fn fetch(&self) {
        if let Self::Channel(receiver) = self {
            receiver.fetch();
        }
    }

    /// Looks at it; its entry has been announced.
    #[inline(never)]
    pub(super) fn find(&mut self) -> Looked<T, P> {
        match self {
            Self::Channel(receiver) => {
                let (found, unsettled) = receiver.find();
                Looked::Channel(found, unsettled)
            }
            Self::Signalled(signalled) => signalled.find(),
        }
    }
}

impl<T, P: RingPolicy> Signalled<T, P> {
    fn waker(&self) -> Waker {
        self.signal.clone().into()
    }

    #[inline(never)]
    fn find(&mut self) -> Looked<T, P> {
        self.signal.begin();
        let waker = self.waker();
        let Self { signal, end } = self;
        match end {
            End::Oneshot(receiver) => {
                let found = receiver.find(&waker);
                Looked::Signalled(found.map_or(Found::Nothing, Found::End))
            }
            End::Spsc(has_waiters, receiver) => {
                look_at_ring(signal, has_waiters.as_mut(), receiver, &waker)
            }
            End::Pipe(_) if gossamer_core::mutant!("port_of_pipe_does_not_wait") => {
                Looked::Signalled(Found::Nothing)
            }
            End::Pipe(pipe) => match pipe.poll(&waker) {
                Poll::Pending => Looked::Signalled(Found::Nothing),
                Poll::Ready(Ok(())) => Looked::Turn,
                Poll::Ready(Err(closed)) => Looked::Signalled(Found::End(Err(closed))),
            },
        }
    }
}

/// A message of a ring; it gets in line only when there is none, as that may need a system-wide barrier. So after a
/// message there is always a look more.
fn look_at_ring<T, P: RingPolicy>(
    signal: &Signal,
    mut has_waiters: Pin<&mut ParkedReceiver<T, P>>,
    receiver: &mut spsc::Receiver<T, P>,
    waker: &Waker,
) -> Looked<T, P> {
    loop {
        match receiver.take_for_set() {
            Ok((message, more, is_awaited)) => {
                // It may be in line from a look before: then it has perhaps been announced just now.
                let found = if signal.end() {
                    Found::One(message)
                } else {
                    Found::OneOfMore(message, more.max(1))
                };
                return if is_awaited {
                    Looked::Awaited(found)
                } else {
                    Looked::Signalled(found)
                };
            }
            Err(TryRecvError::Closed) => {
                return Looked::Signalled(Found::End(Err(crate::Closed)));
            }
            Err(TryRecvError::Empty) => {
                let could_go = has_waiters.as_mut().waits(waker);
                if !could_go || gossamer_core::mutant!("port_of_ring_looks_once") {
                    return Looked::Signalled(Found::Nothing);
                }
            }
        }
    }
}
