//! A sender that does not keep its channel open.

use std::fmt;

use gossamer_core::policy::LockPolicy;

use super::ends::{Receiver, Sender};
use super::handle::Handle;

/// A sender that does not count: the receivers are told of the end though it is there. It sends by a [`Sender`], which
/// it [becomes](WeakSender::upgrade) as long as there is another one.
pub struct WeakSender<T, P: LockPolicy>(Handle<T, P>);

impl<T, P: LockPolicy> Sender<T, P> {
    /// Returns a sender that does not keep the channel open.
    ///
    /// # Examples
    /// ```
    /// use gossamer::channel::unbounded;
    ///
    /// let (tx, rx) = unbounded();
    /// let weak = tx.downgrade();
    /// weak.upgrade().unwrap().try_send(1).unwrap();
    /// drop(tx);
    /// assert!(weak.upgrade().is_none());
    /// assert_eq!(rx.into_iter().collect::<Vec<_>>(), [1]);
    /// ```
    pub fn downgrade(&self) -> WeakSender<T, P> {
        WeakSender::new(&self.0)
    }
}

impl<T, P: LockPolicy> WeakSender<T, P> {
    fn new(of: &Handle<T, P>) -> Self {
        let mut locked = of.locked();
        let handle = of.counted(&mut locked);
        locked.weak += 1;
        locked.unlock();
        Self(handle)
    }

    /// A sender, if any is left. (In a channel that was closed it cannot send.)
    pub fn upgrade(&self) -> Option<Sender<T, P>> {
        let mut locked = self.0.locked();
        if locked.senders == 0 && !gossamer_core::mutant!("weak_sender_revives") {
            locked.unlock();
            return None;
        }
        let handle = self.0.counted(&mut locked);
        locked.senders += 1;
        locked.unlock();
        Some(Sender(handle))
    }

    /// Whether both are of the same channel.
    pub fn same_channel(&self, other: &Self) -> bool {
        self.0.is_same(&other.0)
    }
}

impl<T, P: LockPolicy> Clone for WeakSender<T, P> {
    fn clone(&self) -> Self {
        Self::new(&self.0)
    }
}

impl<T, P: LockPolicy> Drop for WeakSender<T, P> {
    fn drop(&mut self) {
        let mut locked = self.0.locked();
        locked.weak -= 1;
        locked.unlock();
    }
}

impl<T, P: LockPolicy> fmt::Debug for WeakSender<T, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WeakSender").finish_non_exhaustive()
    }
}

impl<T, P: LockPolicy> WeakSender<T, P> {
    /// How many senders there are at this moment, weak ones not included.
    #[doc(alias = "strong_count")]
    pub fn sender_count(&self) -> usize {
        self.0.read(|state| state.senders)
    }
}

macro_rules! weak_count {
    ($($name:ident)*) => {$(
        impl<T, P: LockPolicy> $name<T, P> {
            /// How many [weak senders](Sender::downgrade) there are at this moment.
            #[doc(alias = "sender_weak_count")]
            pub fn weak_count(&self) -> usize {
                self.0.read(|state| state.weak)
            }
        }
    )*};
}

weak_count! { Sender WeakSender Receiver }
