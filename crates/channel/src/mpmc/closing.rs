//! Closing a channel, and waiting until no message comes, or nobody receives any more.

use std::panic::Location;

use gossamer_core::context;
use gossamer_core::policy::LockPolicy;
use gossamer_core::wait_queue::Action;
use gossamer_core::waiter::{Could, State, WaitList};

use super::action::Op;
use super::chan::{Chan, Held, Locked, NO_RECEIVERS, NO_SENDERS};
use super::ends::{Receiver, Sender};
use crate::operations::operations;

impl<T, P: LockPolicy> Locked<'_, T, P> {
    /// No receiver is left, or the channel is closed, as these bits say: tells those that wait, and gives the lock up.
    pub(super) fn close(mut self, bits: u32) {
        self.mark(bits, true);
        // Senders that were woken are told instead. Permits keep their places.
        self.reserved = self.permits;
        while let Some(deferred) = self.held().release_first::<WaitsForClose>() {
            if gossamer_core::mutant!("close_tells_one") {
                return self.into_held().run(deferred);
            }
            let chan = self.chan();
            self.into_held().run(deferred);
            self = chan.locked();
        }
        self.settle();
    }
}

/// Waiting for the end, at a channel of a join pattern that has a message: what is there is not enough.
pub(crate) struct WatchesEnd {
    /// What there is at all channels cannot be had together: the arrivals so far, after which it is to be tried again.
    pub(crate) seen: Option<usize>,
}

impl WatchesEnd {
    /// Whether it is to go on.
    pub(super) fn is_due<T, P: LockPolicy>(&self, locked: &Locked<'_, T, P>) -> bool {
        locked.is_over() || self.seen.is_some_and(|seen| seen != locked.arrivals)
    }
}

// SAFETY: only such actions are in this queue.
unsafe impl<T, P: LockPolicy> Action<Chan<T, P>> for WatchesEnd {
    type Output = ();
    type Shown = Self;
    const NAME: &'static str = "join";

    fn queue(chan: &Chan<T, P>) -> &WaitList {
        chan.ending()
    }

    fn has_to_yield() -> bool {
        context::receiver_must_yield()
    }

    fn attempt<'a>(&mut self, held: Held<'a, T, P>) -> Result<(), Held<'a, T, P>> {
        if !self.is_due(Locked::seen(&held)) {
            return Err(held);
        }
        held.wake_ready();
        Ok(())
    }

    /// What was due stays so.
    fn resume<'a>(&mut self, held: Held<'a, T, P>, _: State) -> Result<(), Held<'a, T, P>> {
        held.wake_ready();
        Ok(())
    }

    fn cancel(&mut self, _: &mut Held<'_, T, P>, _: State) {}

    fn could_complete(&self, held: &Held<'_, T, P>) -> Could {
        self.is_due(Locked::seen(held)).into()
    }
}

/// Waits until sending fails.
pub(crate) struct WaitsForClose;

// SAFETY: only such actions are in this queue.
unsafe impl<T, P: LockPolicy> Action<Chan<T, P>> for WaitsForClose {
    type Output = ();
    type Shown = Self;
    const NAME: &'static str = "Sender::closed";

    fn queue(chan: &Chan<T, P>) -> &WaitList {
        chan.closing()
    }

    fn attempt<'a>(&mut self, held: Held<'a, T, P>) -> Result<(), Held<'a, T, P>> {
        if !Locked::seen(&held).has(NO_RECEIVERS) {
            return Err(held);
        }
        held.unlock();
        Ok(())
    }

    fn resume<'a>(&mut self, held: Held<'a, T, P>, _: State) -> Result<(), Held<'a, T, P>> {
        held.unlock();
        Ok(())
    }

    fn cancel(&mut self, _: &mut Held<'_, T, P>, _: State) {}

    fn could_complete(&self, held: &Held<'_, T, P>) -> Could {
        Locked::seen(held).has(NO_RECEIVERS).into()
    }
}

operations! { LockPolicy;
    /// [`Sender::closed`](super::Sender::closed).
    WaitForClose<T>: WaitsForClose => ();
}

impl<T, P: LockPolicy> Sender<T, P> {
    /// Waits until sending fails: no receiver is left, or the channel was [closed](Sender::close). A sender may so end
    /// what nobody would receive.
    ///
    /// # Blocking
    /// `.await` it in a task, `.wait()` for it in a fiber or a thread.
    ///
    /// # Cancellation
    /// Dropped unfinished, it has no effect.
    ///
    /// # Examples
    /// ```
    /// use gossamer::channel::bounded;
    /// use gossamer::{Runtime, Wait, select};
    ///
    /// let rt = Runtime::builder().build()?;
    /// let (tx, rx) = bounded(1);
    /// let task = rt.spawn(async move {
    ///     let mut sent = 0;
    ///     loop {
    ///         select! {
    ///             () = tx.closed() => return sent,
    ///             permit = tx.reserve() => if let Ok(permit) = permit {
    ///                 permit.send(sent);
    ///                 sent += 1;
    ///             },
    ///         }
    ///     }
    /// });
    /// assert_eq!(rx.recv().wait(), Ok(0));
    /// drop(rx);
    /// assert!(task.wait()? >= 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn closed(&self) -> WaitForClose<'_, T, P> {
        let op = Op::new(&self.0, WaitsForClose, Location::caller());
        WaitForClose { op }
    }
}

macro_rules! close {
    ($($name:ident)*) => {$(
        impl<T, P: LockPolicy> $name<T, P> {
            /// Closes the channel, which both sides may do: from now on sending fails, also for senders that wait, which
            /// get their messages back. What was sent before can still be received, and then receiving fails. Returns
            /// `false` if it was closed before, by whomever, or because all ends of a side were dropped.
            ///
            /// A permit that was given before may still send; receivers wait until there is none.
            ///
            /// # Examples
            /// ```
            /// use gossamer::channel::{TryRecvError, TrySendError, unbounded};
            ///
            /// let (tx, rx) = unbounded();
            /// tx.try_send(1).unwrap();
            /// assert!(rx.close());
            /// assert_eq!(tx.try_send(2), Err(TrySendError::Closed(2)));
            /// assert_eq!(rx.try_recv(), Ok(1));
            /// assert_eq!(rx.try_recv(), Err(TryRecvError::Closed));
            /// ```
            pub fn close(&self) -> bool {
                let locked = self.0.locked();
                let is_first = !locked.has(NO_SENDERS | NO_RECEIVERS);
                locked.close(NO_SENDERS | NO_RECEIVERS);
                is_first
            }
        }
    )*};
}

close! { Sender Receiver }
