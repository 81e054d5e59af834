//! What can be in a set: receivers whose channels announce their places themselves, and others that call a waker.

use std::sync::Arc;

use gossamer_core::policy::Policy;

use super::signal::Signal;
use crate::mpmc::{Found, Ready, Receiver, Unsettled};
use crate::oneshot;

/// A receiving end that can be in a [`PortSet`](super::PortSet).
#[derive(Debug)]
#[non_exhaustive]
pub enum Port<T, P: Policy> {
    /// Of a bounded, unbounded or rendezvous channel.
    Channel(Receiver<T, P>),
    /// Of a one-shot channel: its message is also its end.
    Oneshot(oneshot::Receiver<T>),
}

impl<T, P: Policy> From<Receiver<T, P>> for Port<T, P> {
    fn from(receiver: Receiver<T, P>) -> Self {
        Self::Channel(receiver)
    }
}

impl<T, P: Policy> From<oneshot::Receiver<T>> for Port<T, P> {
    fn from(receiver: oneshot::Receiver<T>) -> Self {
        Self::Oneshot(receiver)
    }
}

impl<T, P: Policy> Port<T, P> {
    pub(super) fn is_unique(&self) -> bool {
        match self {
            Self::Channel(receiver) => receiver.is_unique(),
            Self::Oneshot(_) => true,
        }
    }
}

/// A port in its place.
pub(super) enum Placed<T, P: Policy> {
    Channel(Receiver<T, P>),
    Oneshot(oneshot::Receiver<T>, Arc<Signal>),
}

impl<T, P: Policy> Placed<T, P> {
    /// Gets a port ready for its place, without any lock: a waker that it has from before is dropped here.
    pub(super) fn new(port: Port<T, P>, ready: &Arc<Ready>, index: u32) -> Self {
        match port {
            Port::Channel(receiver) => Self::Channel(receiver),
            Port::Oneshot(mut receiver) => {
                let signal = Signal::new(ready.clone(), index);
                receiver.listen(&signal.clone().into());
                Self::Oneshot(receiver, signal)
            }
        }
    }

    /// It is in its place; `announced`: the set is going to look at it anyway.
    ///
    /// # Returns
    /// What is to be done without any lock, and whether the set has to announce the place itself.
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
            // SAFETY: unique, and now in a set; the set takes the place back before it lets go of the queue.
            Self::Channel(receiver) => unsafe {
                (receiver.enter(Arc::as_ptr(ready), index, announced), false)
            },
            Self::Oneshot(..) => (Unsettled::nothing(), !announced),
        }
    }

    /// Takes the port's place back.
    ///
    /// # Returns
    /// Whether it has been announced.
    pub(super) fn leave(&self) -> bool {
        match self {
            Self::Channel(receiver) => receiver.leave(),
            Self::Oneshot(_, signal) => signal.end(),
        }
    }

    /// Takes the port out; `looked`: the caller has taken the place from the queue.
    ///
    /// # Returns
    /// Also whether the place has been announced, apart from that.
    pub(super) fn into_port(self, looked: bool) -> (Port<T, P>, bool) {
        let announced = self.leave();
        match self {
            Self::Channel(receiver) => (Port::Channel(receiver), announced && !looked),
            // It announces anew from the moment when it is looked at.
            Self::Oneshot(receiver, _) => (Port::Oneshot(receiver), announced),
        }
    }

    /// Looks at it; its place has been announced.
    #[inline(always)]
    pub(super) fn find(&mut self) -> (Found<T>, Unsettled<T, P>) {
        match self {
            Self::Channel(receiver) => receiver.find(),
            Self::Oneshot(receiver, signal) => {
                signal.begin();
                let found = receiver.find(&signal.clone().into());
                let found = found.map_or(Found::Nothing, Found::End);
                (found, Unsettled::nothing())
            }
        }
    }
}
