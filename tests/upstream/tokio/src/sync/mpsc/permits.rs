//! Places that are reserved.

use std::vec;

use gossamer::raw::Shared;
use gossamer::raw::channel as ours;

use super::error::{SendError, TrySendError};
use super::{Sender, debug_of_any};

/// A place for a message.
pub struct Permit<'a, T>(ours::SendPermit<'a, T, Shared>);

/// A place for a message, with its sender.
pub struct OwnedPermit<T>(ours::OwnedSendPermit<T, Shared>);

/// Places for messages.
pub struct PermitIterator<'a, T>(vec::IntoIter<Permit<'a, T>>);

debug_of_any! { OwnedPermit[T] Permit['a, T] PermitIterator['a, T] }

impl<T> Sender<T> {
    /// Waits for a place.
    pub async fn reserve(&self) -> Result<Permit<'_, T>, SendError<()>> {
        self.0.reserve().await.map(Permit)
    }

    /// A place, if there is one.
    pub fn try_reserve(&self) -> Result<Permit<'_, T>, TrySendError<()>> {
        self.0.try_reserve().map(Permit)
    }

    /// Waits for a place, and has the sender with it.
    pub async fn reserve_owned(self) -> Result<OwnedPermit<T>, SendError<()>>
    where
        T: 'static,
    {
        let reserved = self.0.reserve_owned().await;
        reserved.map(OwnedPermit).map_err(|_| SendError(()))
    }

    /// A place, if there is one, and the sender with it.
    pub fn try_reserve_owned(self) -> Result<OwnedPermit<T>, TrySendError<Self>> {
        let reserved = self.0.try_reserve_owned();
        reserved.map(OwnedPermit).map_err(|error| match error {
            TrySendError::Full(sender) => TrySendError::Full(Self(sender)),
            TrySendError::Closed(sender) => TrySendError::Closed(Self(sender)),
        })
    }

    /// Waits for so many places, one after the other.
    pub async fn reserve_many(&self, n: usize) -> Result<PermitIterator<'_, T>, SendError<()>> {
        if self.is_closed() || n > self.max_capacity() {
            return Err(SendError(()));
        }
        let mut permits = Vec::with_capacity(n);
        while permits.len() < n {
            permits.push(match self.try_reserve() {
                Ok(permit) => permit,
                Err(_) => self.reserve().await?,
            });
        }
        Ok(PermitIterator(permits.into_iter()))
    }

    /// So many places, if there are.
    pub fn try_reserve_many(&self, n: usize) -> Result<PermitIterator<'_, T>, TrySendError<()>> {
        if self.is_closed() {
            return Err(TrySendError::Closed(()));
        }
        if n > self.max_capacity() {
            return Err(TrySendError::Full(()));
        }
        let permits: Result<Vec<_>, _> = (0..n).map(|_| self.try_reserve()).collect();
        permits.map(|permits| PermitIterator(permits.into_iter()))
    }

    /// How many places there are.
    pub fn capacity(&self) -> usize {
        self.0.room().expect("it is bounded")
    }
}

impl<T> Permit<'_, T> {
    /// Sends.
    pub fn send(self, value: T) {
        self.0.send(value);
    }
}

impl<T> OwnedPermit<T> {
    /// Sends.
    pub fn send(self, value: T) -> Sender<T> {
        Sender(self.0.send(value))
    }

    /// Gives the place back.
    pub fn release(self) -> Sender<T> {
        Sender(self.0.release())
    }
}

impl<'a, T> Iterator for PermitIterator<'a, T> {
    type Item = Permit<'a, T>;

    fn next(&mut self) -> Option<Self::Item> {
        self.0.next()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }
}

impl<T> ExactSizeIterator for PermitIterator<'_, T> {}
