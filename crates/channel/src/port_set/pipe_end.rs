//! The end of a pipe in a set, whatever its protocol.

use std::any::{Any, TypeId, type_name};
use std::marker::PhantomData;
use std::task::{Poll, Waker};

use gossamer_core::policy::{Local, LockPolicy, Shared};

use super::signal::Lease;
use crate::error::Closed;
use crate::pipe::{Hears, ReceivingEnd};

/// An endpoint that receives, which gives what it hears as a `T`.
pub struct PipeEnd<T, P: LockPolicy> {
    end: Box<dyn Heard<T>>,
    _policy: PhantomData<fn() -> P>,
}

// SAFETY: `PipeEnd::new` requires that the endpoint may be where a set of this policy may be ([`Holds`]).
unsafe impl<T: Send, P: LockPolicy> Send for PipeEnd<T, P> where P::Word: Sync {}
// SAFETY: `&PipeEnd` gives access to nothing.
unsafe impl<T: Send, P: LockPolicy> Sync for PipeEnd<T, P> where P::Word: Sync {}

/// A policy whose sets may hold such an endpoint: a set for any thread needs one whose pipe may be used there. (Its
/// type says nothing about that: anybody may write an endpoint of his own.)
///
/// # Safety
/// The end with which the endpoint [listens](Hears::into_receiving_end) may go where a set of this policy may.
#[doc(hidden)]
pub unsafe trait Holds<E>: LockPolicy {}

// SAFETY: the bound says that the end with which the endpoint listens may be sent to any thread.
unsafe impl<E: Hears> Holds<E> for Shared where ReceivingEnd<E::Message, E::Flavour, E::Side>: Send {}
// SAFETY: neither of them leaves its thread.
unsafe impl<E> Holds<E> for Local {}

/// The calls that a set makes on an endpoint of any type.
trait Heard<T> {
    /// Whether its turn has come; if not, the waker is called when it has, or when the other end has gone.
    fn poll(&mut self, waker: &Waker) -> Poll<Result<(), Closed>>;

    /// Returns the message that came with the turn, and the next endpoint, which has the lease. Runs the protocol's
    /// code.
    ///
    /// # Panics
    /// The turn has not come.
    fn hear(self: Box<Self>, lease: Lease) -> T;

    /// The lease that the endpoint has.
    fn take_lease(&mut self) -> Lease;

    /// Forgets the waker: it is not called any more.
    fn forget_waker(&mut self);

    /// Returns the type of the endpoint, and its name.
    fn endpoint(&self) -> (TypeId, &'static str);

    /// Itself, of whatever type.
    fn into_any(self: Box<Self>) -> Box<dyn Any>;
}

/// Of an endpoint of that type.
struct Of<E: Hears>(ReceivingEnd<E::Message, E::Flavour, E::Side>);

impl<T, E: Hears<Heard: Into<T>> + 'static> Heard<T> for Of<E> {
    fn poll(&mut self, waker: &Waker) -> Poll<Result<(), Closed>> {
        self.0.poll(waker)
    }

    fn hear(self: Box<Self>, lease: Lease) -> T {
        let (message, mut speaking) = self.0.turned().expect("the turn has come");
        if !gossamer_core::mutant!("port_place_is_not_kept") {
            speaking.keep(lease);
        }
        E::hear(message, speaking).into()
    }

    fn take_lease(&mut self) -> Lease {
        self.0.take_lease()
    }

    fn forget_waker(&mut self) {
        self.0.forget_waker();
    }

    fn endpoint(&self) -> (TypeId, &'static str) {
        (TypeId::of::<E>(), type_name::<E>())
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

impl<T, P: LockPolicy> PipeEnd<T, P> {
    pub(super) fn new<E>(endpoint: E) -> Self
    where
        E: Hears<Heard: Into<T>> + 'static,
        P: Holds<E>,
    {
        Self {
            end: Box::new(Of::<E>(endpoint.into_receiving_end())),
            _policy: PhantomData,
        }
    }

    /// The endpoint.
    ///
    /// # Errors
    /// It has another type, which `Debug` of this tells: gives this back.
    pub fn into_endpoint<E: Hears + 'static>(self) -> Result<E, Self> {
        if self.end.endpoint().0 != TypeId::of::<E>() {
            return Err(self);
        }
        let end = self.end.into_any().downcast::<Of<E>>();
        Ok(E::of_receiving_end(end.expect("of that type").0))
    }

    pub(super) fn poll(&mut self, waker: &Waker) -> Poll<Result<(), Closed>> {
        self.end.poll(waker)
    }

    /// Returns the message that came with the turn, and the next endpoint, which has the lease.
    ///
    /// # Panics
    /// The turn has not come.
    pub(super) fn hear(self, lease: Lease) -> T {
        self.end.hear(lease)
    }

    pub(super) fn take_lease(&mut self) -> Lease {
        self.end.take_lease()
    }

    pub(super) fn forget_waker(&mut self) {
        self.end.forget_waker();
    }
}

gossamer_core::impl_debug!([T, P: LockPolicy] PipeEnd[T, P], this => endpoint: this.end.endpoint().1);
