//! The steps of sending and receiving, once an operation can go on. They all run under the lock: they move messages and
//! run no user code.

use std::pin::Pin;
use std::task::Poll;

use gossamer_core::context;
use gossamer_core::policy::{LockPolicy, Shared};
use gossamer_core::wait_queue::{Action, Operation, ParkInline};
use gossamer_core::waiter::{Could, State, WaitList};

use super::buffer::Buffer;
use super::chan::{Chan, Held, Locked, NO_RECEIVERS};
use super::claiming::Select;
use super::offer::{Offer, Stage};
use crate::error::{Closed, SendError};

/// An operation on a channel.
pub(crate) type Op<'a, T, P, A> = Operation<'a, Chan<T, P>, A>;

/// What an operation does to its channel when it completes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Effect {
    /// Puts one message.
    Puts,
    /// Takes one message.
    Takes,
    /// Takes any number of messages.
    TakesMany,
    /// Neither: it reserves, or watches.
    Other,
}

/// Attempts an operation. If it is complete, wakes the waiters that can go on and gives the lock up. `attempt` runs no
/// user code.
///
/// # Errors
/// The operation has to wait. The lock is held.
#[inline(always)]
pub(super) fn attempt<'a, T, P: LockPolicy, R>(
    mut locked: Locked<'a, T, P>,
    effect: Effect,
    attempt: impl FnOnce(&mut Locked<'a, T, P>) -> Option<R>,
) -> Result<R, Locked<'a, T, P>> {
    let Some(output) = attempt(&mut locked) else {
        return Err(locked);
    };
    if matches!(effect, Effect::Takes | Effect::TakesMany) {
        locked.shrink();
    }
    match effect {
        Effect::Puts | Effect::Takes => locked.settle_one(),
        Effect::TakesMany | Effect::Other => locked.settle(),
    }
    Ok(output)
}

/// Puts the message into the buffer, if there is room for one more. `take` gives the message.
#[inline(always)]
fn push<T, P: LockPolicy>(
    locked: &mut Locked<'_, T, P>,
    take: impl FnOnce() -> T,
) -> Option<Result<(), SendError<T>>> {
    if locked.has(NO_RECEIVERS) {
        return Some(Err(SendError(take())));
    }
    let has_waiters = !locked.chan().sending().is_empty();
    // Nobody is passed, also while the lock was given up in the midst of waking senders.
    if !locked.has_room() || has_waiters && !gossamer_core::mutant!("channel_passes_senders") {
        return None;
    }
    locked.push(take());
    Some(Ok(()))
}

/// Puts the message without waiting. A rendezvous channel, too, takes one for which a receiver waits.
pub(super) fn try_push<T, P: LockPolicy>(
    locked: &mut Locked<'_, T, P>,
    take: impl FnOnce() -> T,
) -> Option<Result<(), SendError<T>>> {
    if locked.has(NO_RECEIVERS) || !locked.is_awaited() {
        return push(locked, take);
    }
    locked.push(take());
    Some(Ok(()))
}

impl<T, P: LockPolicy> Locked<'_, T, P> {
    /// Whether a rendezvous channel has a receiver in its queue for which no message is on its way.
    pub(super) fn is_awaited(&self) -> bool {
        let messages = self.buffer.len();
        let waits = |_: &_, select: &Select| self.messages_for(select) == messages;
        self.chan().is_rendezvous()
            && messages <= self.called
            && self.held_ref().find::<Receives<One>>(waits).is_some()
    }
}

impl<T> Offer<T> {
    #[cold]
    #[inline(never)]
    fn resume_rendezvous<'a, P: LockPolicy>(
        &mut self,
        locked: Locked<'a, T, P>,
    ) -> Result<Result<(), SendError<T>>, Held<'a, T, P>> {
        // If no receiver is left, and the group is not held, one may have taken another branch's message before.
        if !self.is_taken() && context::asks_members() {
            return Err(locked.into_held());
        }
        self.leave_group();
        locked.unlock();
        // SAFETY: it has left its queue, and only here is its message taken from now on.
        let unsent = unsafe { self.take_unsent() };
        Ok(unsent.map_or(Ok(()), |message| Err(SendError(message))))
    }
}

impl<T: Copy> Chan<T, Shared> {
    /// Puts a copy of a message, if nobody waits and the memory is there.
    ///
    /// # Errors
    /// Nothing was done. The lock is held.
    #[inline(always)]
    pub(crate) fn push_copy(&self, message: T) -> Result<(), Locked<'_, T, Shared>> {
        // SAFETY: a thread that has a `Locked` does not use its channel otherwise; copying is no user code.
        unsafe { self.push_quickly(|| message) }
    }
}

/// Gives a sending operation up. Its message goes into `from`, unless the operation was complete or a receiver has taken
/// it, and before the operation's waker is dropped, which may panic.
pub(super) fn withdraw<T, P: LockPolicy>(
    op: Pin<&mut Op<'_, T, P, Offer<T>>>,
    from: &mut Option<T>,
) {
    op.withdraw(|offer, _| {
        // SAFETY: the operation was not complete and has left its queue, and only here is its message taken from now on.
        *from = unsafe { offer.take_unsent() };
    });
}

// SAFETY: only offers wait in this queue, and none inline; whoever takes the lock of a channel spills first.
unsafe impl<T, P: LockPolicy> Action<Chan<T, P>> for Offer<T> {
    type Output = Result<(), SendError<T>>;
    type Shown = Self;
    const NAME: &'static str = "Sender::send";
    const TRIES_INLINE: bool = P::THREAD_BOUND;

    #[inline(always)]
    fn queue(chan: &Chan<T, P>) -> &WaitList {
        chan.sending()
    }

    /// An offer may be what a receiver of a rendezvous channel waits for.
    #[inline(always)]
    fn wakes_when_parked(chan: &Chan<T, P>) -> bool {
        chan.is_rendezvous()
    }

    #[inline(always)]
    fn try_quickly<'a>(
        &mut self,
        chan: &'a Chan<T, P>,
    ) -> Result<Self::Output, Option<Held<'a, T, P>>> {
        // SAFETY: the operation has not taken effect, so the message is there; it is taken once at most.
        let take = || unsafe { self.take() };
        // SAFETY: operations are polled without the lock.
        match unsafe { chan.push_quickly(take) } {
            Ok(()) => Ok(Ok(())),
            Err(locked) => Err(locked.into_held_if_shared()),
        }
    }

    #[inline(always)]
    fn try_inline(&mut self, chan: &Chan<T, P>, _: ParkInline<'_>) -> Option<Poll<Self::Output>> {
        // SAFETY: the action has not taken effect, so the message is there; it is taken when it does.
        let take = || unsafe { self.take() };
        // SAFETY: operations are polled without the lock, and only those of one thread try this.
        unsafe { chan.call_inline(take) }.then_some(Poll::Ready(Ok(())))
    }

    #[inline(always)]
    fn attempt<'a>(&mut self, held: Held<'a, T, P>) -> Result<Self::Output, Held<'a, T, P>> {
        let locked = Locked::from(held);
        // SAFETY: the action has not taken effect, so the message is there; it is taken when it does.
        let take = || unsafe { self.take() };
        attempt(locked, Effect::Puts, |locked| push(locked, take)).map_err(Locked::into_held)
    }

    #[inline(always)]
    fn park(&mut self, held: &mut Held<'_, T, P>) {
        if held.object().is_rendezvous() {
            self.note_parked();
            Locked::of_held(held).note_arrival(1);
        }
    }

    #[inline(always)]
    fn polled_again(&mut self, held: &mut Held<'_, T, P>) -> bool {
        held.object().is_rendezvous() && self.note_polled(Locked::of_held(held))
    }

    #[inline(always)]
    fn resume<'a>(
        &mut self,
        held: Held<'a, T, P>,
        _: State,
    ) -> Result<Self::Output, Held<'a, T, P>> {
        let mut locked = Locked::from(held);
        if locked.chan().is_rendezvous() {
            if !self.is_plainly(Stage::Taken) {
                return self.resume_rendezvous(locked);
            }
            locked.unlock();
            return Ok(Ok(()));
        }
        if locked.has(NO_RECEIVERS) {
            locked.unlock();
            // SAFETY: only the receiver of a rendezvous channel takes the message from here.
            return Ok(Err(SendError(unsafe { self.take() })));
        }
        locked.reserved -= 1;
        // SAFETY: as above.
        locked.push(unsafe { self.take() });
        locked.settle_one();
        Ok(Ok(()))
    }

    /// A receiver has taken the message of a rendezvous, or none is left.
    fn is_done(chan: &Chan<T, P>, state: State) -> bool {
        chan.is_rendezvous() && state == State::Released
    }

    fn cancel(&mut self, held: &mut Held<'_, T, P>, state: State) {
        let is_rendezvous = held.object().is_rendezvous();
        let locked = Locked::of_held(held);
        if is_rendezvous {
            self.leave_group();
            locked.offering -= usize::from(self.silence());
        } else if state != State::Parked && !locked.has(NO_RECEIVERS) {
            locked.reserved -= 1;
        }
    }

    #[inline(always)]
    fn abandon(&mut self, _: State) {
        // SAFETY: the operation has ended, and the message is not used again.
        drop(unsafe { self.take_unsent() });
    }

    fn could_complete(&self, held: &Held<'_, T, P>) -> Could {
        let locked = Locked::seen(held);
        (locked.has(NO_RECEIVERS) || locked.has_room()).into()
    }
}

/// Makes an operation's output of a message and those behind it.
pub(crate) type Quickly<T, R> = fn(&mut R, T, &Buffer<T>) -> <R as Receive<T>>::Output;

/// An operation that waits for a message.
pub(crate) trait Receive<T>: Sized {
    /// The operation's output.
    type Output;
    /// Name of the operation in dumps.
    const NAME: &'static str;
    /// What the operation does.
    const EFFECT: Effect;

    /// Allocates what it needs. Not under the lock.
    #[inline(always)]
    fn prepare<P: LockPolicy>(&mut self, _chan: &Chan<T, P>) {}

    /// Makes the output of one message; `None`: it may not wait inline. Only [`One`] may.
    const OF_ONE: Option<fn(T) -> Self::Output> = None;

    /// Makes the output in the simple case, in which there is a message and nobody waits, of that message and those
    /// behind it. Runs under the lock. `None`: there is no simple case.
    const QUICKLY: Option<Quickly<T, Self>> = None;

    /// Completes the operation if it can; `None`: it has to wait. Afterwards the caller [settles](Locked::settle) the
    /// channel.
    fn attempt<P: LockPolicy>(&mut self, locked: &mut Locked<'_, T, P>) -> Option<Self::Output>;
}

/// Waiting for a message. When it is woken it has been *called*: there is a message, or none will come.
#[repr(C)]
pub(crate) struct Receives<R> {
    select: Select,
    pub(crate) receive: R,
}

impl<R> Receives<R> {
    #[inline(always)]
    pub(crate) fn new(receive: R) -> Self {
        Self {
            select: Select::default(),
            receive,
        }
    }

    /// Notes what polls it; gives whether that is something else than before.
    #[inline(always)]
    fn note_select<T, P: LockPolicy>(&self, chan: &Chan<T, P>) -> bool {
        chan.is_rendezvous() && self.select.note()
    }
}

// SAFETY: an action in this queue begins with the select. One parks inline where the word is nothing, so nobody waits, in
// a channel of one thread; whoever takes the lock spills first.
unsafe impl<T, P: LockPolicy, R: Receive<T>> Action<Chan<T, P>> for Receives<R> {
    type Output = R::Output;
    type Shown = Select;
    const NAME: &'static str = R::NAME;
    const PREPARES: bool = true;
    const TRIES_INLINE: bool = P::THREAD_BOUND && R::OF_ONE.is_some();

    #[inline(always)]
    fn queue(chan: &Chan<T, P>) -> &WaitList {
        chan.receiving()
    }

    #[inline(always)]
    fn has_to_yield() -> bool {
        context::receiver_must_yield()
    }
    fn counts_when_waiting(chan: &Chan<T, P>) -> bool {
        chan.is_rendezvous() // Who tries to send finds those that wait.
    }

    #[inline(always)]
    fn prepare(&mut self, chan: &Chan<T, P>) {
        self.receive.prepare(chan);
    }

    #[inline(always)]
    fn try_quickly<'a>(
        &mut self,
        chan: &'a Chan<T, P>,
    ) -> Result<R::Output, Option<Held<'a, T, P>>> {
        let Some(quickly) = R::QUICKLY else {
            return Err(None);
        };
        // SAFETY: operations are polled without the lock. No `QUICKLY` runs user code.
        let received =
            unsafe { chan.pop_quickly(|message, rest| quickly(&mut self.receive, message, rest)) };
        received.map_err(Locked::into_held_if_shared)
    }

    #[inline(always)]
    fn try_inline(&mut self, chan: &Chan<T, P>, park: ParkInline<'_>) -> Option<Poll<R::Output>> {
        // A branch of a select would be made a proper list of as soon as that ends.
        if context::is_in_select() {
            return None;
        }
        // SAFETY: operations are polled without the lock, and only those of one thread try this.
        unsafe { chan.park_inline(park) }.then_some(Poll::Pending)
    }

    #[inline(always)]
    fn resume_quickly<'a>(
        &mut self,
        chan: &'a Chan<T, P>,
        state: impl FnOnce() -> State,
    ) -> Result<R::Output, Option<Held<'a, T, P>>> {
        if P::THREAD_BOUND
            && let Some(of_one) = R::OF_ONE
        {
            // SAFETY: operations are polled without the lock; this one waits, and so no other one does inline.
            if let Some(message) = unsafe { chan.pop_inline() } {
                return Ok(of_one(message));
            }
        }
        let Some(quickly) = R::QUICKLY else {
            return Err(None);
        };
        let was_called = || state() == State::Released;
        let receive = &mut self.receive;
        // SAFETY: as in `try_quickly`.
        let received =
            unsafe { chan.pop_called(was_called, |message, rest| quickly(receive, message, rest)) };
        received.map_err(Locked::into_held_if_shared)
    }

    #[inline(always)]
    fn attempt<'a>(&mut self, held: Held<'a, T, P>) -> Result<R::Output, Held<'a, T, P>> {
        let locked = Locked::from(held);
        attempt(locked, R::EFFECT, |locked| self.receive.attempt(locked)).map_err(Locked::into_held)
    }

    #[inline(always)]
    fn resume<'a>(&mut self, held: Held<'a, T, P>, _: State) -> Result<R::Output, Held<'a, T, P>> {
        let mut locked = Locked::from(held);
        locked.called -= 1;
        let attempted = attempt(locked, R::EFFECT, |locked| self.receive.attempt(locked));
        attempted.map_err(|locked| {
            self.note_select(locked.chan());
            locked.into_held()
        })
    }

    #[inline(always)]
    fn park(&mut self, held: &mut Held<'_, T, P>) {
        self.note_select(held.object());
    }

    #[inline(always)]
    fn polled_again(&mut self, held: &mut Held<'_, T, P>) -> bool {
        self.note_select(held.object())
    }

    fn cancel(&mut self, held: &mut Held<'_, T, P>, state: State) {
        if state == State::Released {
            let locked = Locked::of_held(held);
            locked.called -= 1;
            // It was called for a message, perhaps for one from which those behind it were turned away.
            if locked.chan().is_rendezvous() {
                locked.announce_all();
            }
        }
    }

    /// A receiver could go on whenever there is a message: if one that was called is kept from polling, those behind it
    /// are told of by a simulation as if they had been forgotten.
    fn could_complete(&self, held: &Held<'_, T, P>) -> Could {
        let locked = Locked::seen(held);
        if locked.messages_for(&self.select) == 0 && !locked.is_over() {
            Could::No
        } else if locked.is_promised() {
            Could::IfOthersDoNot
        } else {
            Could::Yes
        }
    }
}

/// Receiving one message.
pub(crate) struct One;

impl<T> Receive<T> for One {
    type Output = Result<T, Closed>;
    const NAME: &'static str = "Receiver::recv";
    const EFFECT: Effect = Effect::Takes;

    const OF_ONE: Option<fn(T) -> Self::Output> = Some(Ok);

    const QUICKLY: Option<Quickly<T, Self>> = Some(|_, message, _| Ok(message));

    #[inline(always)]
    fn attempt<P: LockPolicy>(&mut self, locked: &mut Locked<'_, T, P>) -> Option<Self::Output> {
        match locked.pop() {
            Some(message) => Some(Ok(message)),
            None => locked.is_over().then_some(Err(Closed)),
        }
    }
}

/// Receiving all messages there are, up to a limit.
pub(super) struct Many<'b, T> {
    into: &'b mut Vec<T>,
    most: usize,
}

impl<'b, T> Many<'b, T> {
    pub(super) fn new(into: &'b mut Vec<T>, most: usize) -> Self {
        Self { into, most }
    }
}

impl<T> Receive<T> for Many<'_, T> {
    type Output = Result<usize, Closed>;
    const NAME: &'static str = "Receiver::recv_many";
    const EFFECT: Effect = Effect::TakesMany;

    /// There may be more by the time that they are taken; those come the next time.
    fn prepare<P: LockPolicy>(&mut self, chan: &Chan<T, P>) {
        let messages = chan.read(|state| state.buffer.len());
        let places = messages.max(1).min(self.most);
        self.into.reserve(places);
    }

    fn attempt<P: LockPolicy>(&mut self, locked: &mut Locked<'_, T, P>) -> Option<Self::Output> {
        let mut received = locked.buffer.pop_into(self.into, self.most);
        let has_room = self.into.len() < self.into.capacity();
        // Of the messages that rendezvous senders offer only the first can be taken now; the others come when their
        // senders have gone on.
        if received == 0
            && self.most > 0
            && has_room
            && let Some(message) = locked.pop()
        {
            self.into.push(message);
            received = 1;
        }
        if received > 0 || self.most == 0 {
            Some(Ok(received))
        } else {
            locked.is_over().then_some(Err(Closed))
        }
    }
}
