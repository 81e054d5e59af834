//! The receiver in a port set: between two looks of the set it waits in its line, as an operation would, with the
//! waker of its place.

use std::marker::PhantomData;
use std::mem;
use std::panic::Location;
use std::pin::Pin;
use std::ptr::NonNull;
use std::task::Waker;

use gossamer_core::waiter::{Could, Deferred, Kind, Node, PollWaker, State};

use super::chan::{Chan, End, RECEIVER_WAITS, SENDER_GONE, SENDER_WAITS};
use super::flavour::RingPolicy;
use super::receiver::Receiver;
use crate::error::TryRecvError;

/// A place in the line of a receiver; dropped, it leaves that.
pub(crate) struct ParkedReceiver<T, P: RingPolicy> {
    node: Node,
    is_queued: bool,
    _chan: PhantomData<Chan<T, P>>,
}

impl<T, P: RingPolicy> ParkedReceiver<T, P> {
    const KIND: &'static Kind = &Kind {
        name: "a port of a PortSet",
        could_complete: Self::could_complete,
    };

    /// Of this receiver, and not in line.
    ///
    /// # Safety
    /// The receiver is dropped after it.
    pub(crate) unsafe fn new(
        receiver: &Receiver<T, P>,
        location: &'static Location<'static>,
    ) -> Self {
        Self {
            node: Node::new(receiver.chan().as_ptr().cast_const().cast(), location),
            is_queued: false,
            _chan: PhantomData,
        }
    }

    fn chan(&self) -> &Chan<T, P> {
        // SAFETY: the receiver has not left the channel.
        unsafe { &*self.node.object().cast() }
    }

    fn node(&self) -> NonNull<Node> {
        NonNull::from_ref(&self.node)
    }

    /// Gets in line, if it is not there; whether the receiver has something to do instead.
    ///
    /// The waker is known to wake the same as the one before, and to run no code of a user when it is cloned or
    /// dropped.
    pub(crate) fn waits(self: Pin<&mut Self>, waker: &Waker) -> bool {
        // SAFETY: nothing is moved out; the node stays where it is.
        let this = unsafe { self.get_unchecked_mut() };
        let mut kept = PollWaker::new(waker);
        kept.prepare();
        let chan = this.chan();
        let bits = chan.lock();
        // SAFETY: under the lock; the node has been parked in this line.
        let stays = this.is_queued && unsafe { this.node.state() } != State::Released;
        if !stays && bits & SENDER_GONE == 0 {
            // SAFETY: under the lock, and pinned: the node stays until `drop` or its turn has taken it out.
            unsafe {
                chan.receiving
                    .park(this.node(), Self::KIND, &mut kept, P::THREAD_BOUND);
            }
            chan.unlock(bits | RECEIVER_WAITS);
            chan.reach(Receiver::other_at(chan));
            this.is_queued = true;
        } else {
            chan.unlock(bits);
        }
        // The sender may have gone on without having seen the bit: pairs with the fence after each message.
        Receiver::could_go(this.chan())
    }

    /// # Safety
    /// See [`Kind::could_complete`].
    unsafe fn could_complete(node: NonNull<Node>) -> Could {
        // SAFETY: the node is alive, and so is its object; the kind says which type it is.
        Receiver::could_go(unsafe { &*node.as_ref().object().cast::<Chan<T, P>>() }).into()
    }
}

impl<T, P: RingPolicy> Drop for ParkedReceiver<T, P> {
    fn drop(&mut self) {
        if !mem::take(&mut self.is_queued) {
            return;
        }
        let chan = self.chan();
        // SAFETY: it has been parked in this line.
        drop(unsafe { chan.leave_queue(&chan.receiving, self.node(), RECEIVER_WAITS) });
    }
}

impl<T, P: RingPolicy> Receiver<T, P> {
    /// The next message, and how many more there are, while locks are held; whether the sender
    /// [is to be let go](Receiver::let_sender_go).
    pub(crate) fn take_for_set(&mut self) -> Result<(T, usize, bool), TryRecvError> {
        let message = self.take_and_publish()?;
        let more = self.counts().0.wrapping_sub(self.counts().1);
        Ok((message, more, self.sender_waits()))
    }

    /// Lets a sender go that waits for a place: it is woken without any lock. And whether there are more, which
    /// are those that were forgotten while they waited. One that comes later has looked, and waits for another place.
    pub(crate) fn let_sender_go(&self) -> Option<(Deferred, bool)> {
        let chan = self.shared();
        let first = chan.let_first_go(chan.lock(), &chan.sending, SENDER_WAITS);
        first.map(|(deferred, is_last)| (deferred, !is_last))
    }
}
