//! What sending and receiving do once they can. All of it happens under the lock: messages are moved, no user code
//! runs.

use std::cell::Cell;
use std::mem::MaybeUninit;

use gossamer_core::context;
use gossamer_core::platform::UnsafeCell;
use gossamer_core::policy::LockPolicy;
use gossamer_core::wait_queue::{Action, Operation, Waitable, action_of};
use gossamer_core::waiter::{Could, State, WaitList};

use super::buffer;
use super::chan::{Chan, NO_RECEIVERS};
use crate::error::{Closed, SendError};

/// An operation on a channel.
pub(super) type Op<'a, T, P, A> = Operation<'a, Chan<T, P>, A>;

/// How an attempt ends.
pub(super) enum Try<R> {
    /// It is done.
    Done(R),
    /// It has to wait.
    Wait,
    /// First of all the buffer has to have so many places.
    Grow(usize),
}

/// Attempts until it is done, and then wakes those that can go on and gives the lock up. `receives`: memory may be
/// given back.
///
/// # Errors
/// It has to wait. The lock is held, with these bits.
///
/// # Safety
/// Under the lock, with these bits; `attempt` runs no user code.
#[inline(always)]
pub(super) unsafe fn attempt<T, P: LockPolicy, R>(
    chan: &Chan<T, P>,
    mut bits: u32,
    receives: bool,
    mut attempt: impl FnMut(u32) -> Try<R>,
) -> Result<R, u32> {
    // Memory is given back after the lock is.
    let mut memory = buffer::memory(0);
    loop {
        match attempt(bits) {
            Try::Done(output) => {
                // SAFETY: passed on to the caller.
                unsafe { chan.give_back(&mut memory, receives) };
                chan.settle(bits);
                return Ok(output);
            }
            Try::Wait if memory.is_empty() => return Err(bits),
            Try::Wait => {
                chan.unlock(bits);
                memory = buffer::memory(0);
                bits = chan.lock();
            }
            Try::Grow(places) => bits = chan.grow(bits, places, &mut memory),
        }
    }
}

/// Sending one message.
pub(super) struct Sends<T> {
    /// In a rendezvous channel it is taken by the receiver, under the lock.
    message: UnsafeCell<MaybeUninit<T>>,
    /// Whether that has been done. Written by parking.
    is_taken: Cell<MaybeUninit<bool>>,
}

impl<T> Sends<T> {
    #[inline(always)]
    pub(super) fn new(message: T) -> Self {
        Self {
            message: UnsafeCell::new(MaybeUninit::new(message)),
            is_taken: Cell::new(MaybeUninit::uninit()),
        }
    }

    /// The message, taken out.
    ///
    /// # Safety
    /// Once. Under the lock, or by the owner while it is not in line.
    #[inline(always)]
    pub(super) unsafe fn take(&self) -> T {
        // SAFETY: passed on to the caller.
        self.message
            .with(|message| unsafe { (*message).assume_init_read() })
    }

    /// The message that waits in a rendezvous channel, taken out by its receiver.
    ///
    /// # Safety
    /// Once. Under the lock; the operation is parked.
    pub(super) unsafe fn take_offer(&self) -> T {
        self.is_taken.set(MaybeUninit::new(true));
        // SAFETY: passed on to the caller.
        unsafe { self.take() }
    }

    /// Whether the receiver has taken the message.
    ///
    /// # Safety
    /// Under the lock, or by the owner while it is not in line; the operation has been parked.
    pub(super) unsafe fn is_taken(&self) -> bool {
        // SAFETY: written by parking.
        unsafe { self.is_taken.get().assume_init() }
    }

    /// Takes the message of an operation that has ended as `state` says, if it still has it.
    ///
    /// # Safety
    /// Once; the operation is not in line.
    pub(super) unsafe fn take_unsent(&self, state: State) -> Option<T> {
        // SAFETY: passed on to the caller; one that was released has been parked.
        unsafe { (state != State::Released || !self.is_taken()).then(|| self.take()) }
    }

    /// Puts the message into the buffer, if there is room for one more.
    ///
    /// # Safety
    /// Under the lock, with these bits; the message has not been taken.
    #[inline(always)]
    unsafe fn push<P: LockPolicy>(
        &self,
        chan: &Chan<T, P>,
        bits: u32,
    ) -> Try<Result<(), SendError<T>>> {
        // SAFETY: passed on to the caller.
        unsafe {
            if bits & NO_RECEIVERS != 0 {
                return Try::Done(Err(SendError(self.take())));
            }
            // Nobody is passed, also while the lock was given up in the midst of waking senders.
            if !chan.has_room()
                || !chan.sending().is_empty() && !gossamer_core::mutant!("channel_passes_senders")
            {
                return Try::Wait;
            }
            let buffer = &mut chan.state().buffer;
            if !buffer.has_room() {
                return Try::Grow(buffer.next_size(chan.capacity()));
            }
            buffer.push(self.take());
            Try::Done(Ok(()))
        }
    }

    /// The same without waiting: to a receiver that waits it goes also if the channel holds no messages.
    ///
    /// # Safety
    /// As [`Sends::push`].
    pub(super) unsafe fn try_push<P: LockPolicy>(
        &self,
        chan: &Chan<T, P>,
        bits: u32,
    ) -> Try<Result<(), SendError<T>>> {
        // SAFETY: passed on to the caller.
        unsafe {
            if bits & NO_RECEIVERS == 0 && chan.is_awaited() {
                let buffer = &mut chan.state().buffer;
                if !buffer.has_room() {
                    return Try::Grow((buffer.len() + 1).next_power_of_two());
                }
                buffer.push(self.take());
                return Try::Done(Ok(()));
            }
            self.push(chan, bits)
        }
    }
}

// SAFETY: only sends wait in this line.
unsafe impl<T, P: LockPolicy> Action<Chan<T, P>> for Sends<T> {
    type Output = Result<(), SendError<T>>;
    const NAME: &'static str = "Sender::send";

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
    fn try_quickly(&mut self, chan: &Chan<T, P>) -> Result<Self::Output, Option<u32>> {
        match chan.push_quickly(self) {
            Ok(()) => Ok(Ok(())),
            Err(bits) => Err(Some(bits)),
        }
    }

    #[inline(always)]
    unsafe fn attempt(&mut self, chan: &Chan<T, P>, bits: u32) -> Result<Self::Output, u32> {
        // SAFETY: passed on to the caller; the message is there, as it has not been sent.
        unsafe { attempt(chan, bits, false, |bits| self.push(chan, bits)) }
    }

    unsafe fn park(&mut self, chan: &Chan<T, P>, bits: u32) -> u32 {
        self.is_taken.set(MaybeUninit::new(false));
        if chan.is_rendezvous() {
            // SAFETY: passed on to the caller.
            unsafe { chan.state() }.offering += 1;
        }
        bits
    }

    #[inline(always)]
    unsafe fn resume(
        &mut self,
        chan: &Chan<T, P>,
        bits: u32,
        _: State,
    ) -> Result<Self::Output, u32> {
        // SAFETY: passed on to the caller; only the receiver of a rendezvous channel takes the message from here.
        unsafe {
            if self.is_taken() {
                chan.unlock(bits);
                return Ok(Ok(()));
            }
            let message = self.take();
            if bits & NO_RECEIVERS != 0 {
                chan.unlock(bits);
                return Ok(Err(SendError(message)));
            }
            let state = chan.state();
            state.reserved -= 1;
            // One waits at a full channel, so the memory is there.
            state.buffer.push(message);
            chan.settle(bits);
        }
        Ok(Ok(()))
    }

    unsafe fn cancel(&mut self, chan: &Chan<T, P>, bits: u32, state: State) -> u32 {
        // SAFETY: passed on to the caller.
        let channel = unsafe { chan.state() };
        if state == State::Parked {
            channel.offering -= usize::from(chan.is_rendezvous());
        } else if !chan.is_rendezvous() && bits & NO_RECEIVERS == 0 {
            channel.reserved -= 1;
        }
        bits
    }

    #[inline(always)]
    fn abandon(&mut self, state: State) {
        // SAFETY: it has ended, and the message is not used again.
        drop(unsafe { self.take_unsent(state) });
    }

    unsafe fn could_complete(&self, chan: &Chan<T, P>, bits: u32) -> Could {
        // SAFETY: passed on to the caller.
        (bits & NO_RECEIVERS != 0 || unsafe { chan.has_room() }).into()
    }
}

/// What an operation does that waits for a message.
pub(super) trait Receive<T> {
    /// What it gives.
    type Output;
    /// What dumps call it.
    const NAME: &'static str;
    /// Whether it takes messages out, so that memory may be given back.
    const TAKES: bool;

    /// Allocates what it needs. Not under the lock.
    #[inline(always)]
    fn prepare<P: LockPolicy>(&mut self, _chan: &Chan<T, P>) {}

    /// Does it in the simple case.
    ///
    /// # Errors
    /// It is not such a case. `Some`: the lock is held, and these are the bits.
    #[inline(always)]
    fn try_quickly<P: LockPolicy>(&mut self, _: &Chan<T, P>) -> Result<Self::Output, Option<u32>> {
        Err(None)
    }

    /// Does it, if that can be.
    ///
    /// # Safety
    /// Under the lock, with these bits. Afterwards the lines are [settled](Chan::settle).
    unsafe fn attempt<P: LockPolicy>(&mut self, chan: &Chan<T, P>, bits: u32) -> Try<Self::Output>;
}

/// Waiting for a message. When it is woken it has been *called*: there is a message, or none will come.
pub(super) struct Receives<R>(pub(super) R);

// SAFETY: nobody looks at the actions in this line.
unsafe impl<T, P: LockPolicy, R: Receive<T>> Action<Chan<T, P>> for Receives<R> {
    type Output = R::Output;
    const NAME: &'static str = R::NAME;
    const PREPARES: bool = true;

    #[inline(always)]
    fn queue(chan: &Chan<T, P>) -> &WaitList {
        chan.receiving()
    }

    #[inline(always)]
    fn has_to_yield() -> bool {
        context::must_yield_receiving()
    }

    #[inline(always)]
    fn prepare(&mut self, chan: &Chan<T, P>) {
        self.0.prepare(chan);
    }

    #[inline(always)]
    fn try_quickly(&mut self, chan: &Chan<T, P>) -> Result<R::Output, Option<u32>> {
        self.0.try_quickly(chan)
    }

    #[inline(always)]
    unsafe fn attempt(&mut self, chan: &Chan<T, P>, bits: u32) -> Result<R::Output, u32> {
        // SAFETY: passed on to the caller.
        unsafe { attempt(chan, bits, R::TAKES, |bits| self.0.attempt(chan, bits)) }
    }

    #[inline(always)]
    unsafe fn resume(&mut self, chan: &Chan<T, P>, bits: u32, _: State) -> Result<R::Output, u32> {
        // SAFETY: passed on to the caller.
        unsafe {
            chan.state().called -= 1;
            attempt(chan, bits, R::TAKES, |bits| self.0.attempt(chan, bits))
        }
    }

    unsafe fn cancel(&mut self, chan: &Chan<T, P>, bits: u32, state: State) -> u32 {
        if state == State::Released {
            // SAFETY: passed on to the caller.
            unsafe { chan.state() }.called -= 1;
        }
        bits
    }

    /// A receiver could go on whenever there is a message: if one that was called is kept from polling, those behind it
    /// are told of by a simulation as if they had been forgotten.
    unsafe fn could_complete(&self, chan: &Chan<T, P>, bits: u32) -> Could {
        // SAFETY: passed on to the caller.
        unsafe {
            if !chan.has_any() && !chan.is_over(bits) {
                Could::No
            } else if chan.is_promised() {
                Could::IfOthersDoNot
            } else {
                Could::Yes
            }
        }
    }
}

/// Receiving one message.
pub(super) struct One;

impl<T> Receive<T> for One {
    type Output = Result<T, Closed>;
    const NAME: &'static str = "Receiver::recv";
    const TAKES: bool = true;

    #[inline(always)]
    fn try_quickly<P: LockPolicy>(
        &mut self,
        chan: &Chan<T, P>,
    ) -> Result<Self::Output, Option<u32>> {
        chan.pop_quickly().map(Ok).map_err(Some)
    }

    #[inline(always)]
    unsafe fn attempt<P: LockPolicy>(&mut self, chan: &Chan<T, P>, bits: u32) -> Try<Self::Output> {
        // SAFETY: passed on to the caller.
        unsafe {
            if let Some(message) = chan.pop() {
                return Try::Done(Ok(message));
            }
            if chan.is_over(bits) {
                return Try::Done(Err(Closed));
            }
        }
        Try::Wait
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
    const TAKES: bool = true;

    /// There may be more by the time that they are taken; those come the next time.
    fn prepare<P: LockPolicy>(&mut self, chan: &Chan<T, P>) {
        let places = chan.len().max(1).min(self.most);
        self.into.reserve(places);
    }

    unsafe fn attempt<P: LockPolicy>(&mut self, chan: &Chan<T, P>, bits: u32) -> Try<Self::Output> {
        // SAFETY: passed on to the caller.
        unsafe {
            let mut received = chan.state().buffer.pop_into(self.into, self.most);
            let has_room = self.into.len() < self.into.capacity();
            // What rendezvous senders offer comes when they have gone on, but for the first one.
            if received == 0
                && self.most > 0
                && has_room
                && let Some(message) = chan.pop()
            {
                self.into.push(message);
                received = 1;
            }
            if received > 0 || self.most == 0 {
                Try::Done(Ok(received))
            } else if chan.is_over(bits) {
                Try::Done(Err(Closed))
            } else {
                Try::Wait
            }
        }
    }
}

/// Takes the message of the first sender that waits in a rendezvous channel; it goes on when the lines are settled.
///
/// # Safety
/// Under the lock; there is one.
#[inline(always)]
pub(super) unsafe fn take_offer<T, P: LockPolicy>(chan: &Chan<T, P>) -> Option<T> {
    // SAFETY: passed on to the caller; only sends wait in this line.
    unsafe {
        let first = chan.sending().first()?;
        chan.state().offering -= 1;
        Some(action_of::<Sends<T>>(first).take_offer())
    }
}
