//! The state that the ends of a channel share, if a rule says which waiters go on: one lock, a content, and one line.
//!
//! # Protocol
//!
//! A waiting operation has a number, and the content says for which numbers there is something ([`Content::goes`]).
//! A change of the content releases the first in line as long as there is something for it: takes it out of the line and
//! wakes it. The operation cannot come back to the line before it is polled. It takes effect in its own poll, under the
//! lock. It holds the only mutable borrow of its end, so what there was for it is still there. If it is dropped instead,
//! it gives that back.
//!
//! The operations for which there is something are at the head of the line: those that came later have seen it.
//!
//! Who waits until no receiver is left ([`WaitsForClose`]) waits in a line of its own, at which no change looks but that of
//! a receiver which leaves ([`SharedState::tell_closed`]).
//!
//! No user code runs under the lock: messages are only moved there (as pointers), and wakers of other runtimes are called
//! outside. Broadcast and watch ask for memory and give it back outside too; a port set's table does so under it.

use std::cell::Cell;
use std::fmt;
use std::panic::{Location, RefUnwindSafe, UnwindSafe};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use gossamer_core::platform::UnsafeCell;
use gossamer_core::policy::LockPolicy;
use gossamer_core::wait_queue::{Action, Key, Leave, Locked, Operation, Waitable, forget_waiters};
use gossamer_core::waiter::{Could, Deferred, State, WaitList};

/// The content under the lock, and the rule. None of its functions runs user code or waits.
pub(crate) trait Content {
    /// Names of the operations in dumps; the index is the `WHAT` of [`Waiting`].
    const NAMES: &'static [&'static str];

    /// Whether an operation with this number may go on.
    fn goes(&self, wants: u64) -> bool;

    /// An operation goes on.
    fn go(&mut self) {}

    /// Lets an operation go on, if it may.
    #[inline(always)]
    fn try_go(&mut self, wants: u64) -> bool {
        let goes = self.goes(wants);
        if goes {
            self.go();
        }
        goes
    }

    /// A released operation was dropped.
    fn give_back(&mut self) {}

    /// Whether no receiver is left at this moment.
    fn is_closed(&self) -> bool {
        false
    }
}

/// A content, the lock around it, and the operations that wait for it to change.
pub(crate) struct SharedState<S: Content, P: LockPolicy> {
    word: P::Word,
    line: WaitList,
    /// Operations that wait until no receiver is left.
    closing: WaitList,
    /// The content is being used. Under the lock.
    in_use: Cell<bool>,
    content: UnsafeCell<S>,
}

// SAFETY: the content and the line are touched under the word's lock, which is atomic; nodes own their wakers.
unsafe impl<S: Content + Send, P: LockPolicy> Send for SharedState<S, P> where P::Word: Sync {}
// SAFETY: `&SharedState` gives the content to one thread at a time, under the word's lock; the queue is used under it.
unsafe impl<S: Content + Send, P: LockPolicy> Sync for SharedState<S, P> where P::Word: Sync {}

// No user code runs under the lock, so a panic leaves nothing half done.
impl<S: Content, P: LockPolicy> UnwindSafe for SharedState<S, P> {}
impl<S: Content, P: LockPolicy> RefUnwindSafe for SharedState<S, P> {}

impl<S: Content, P: LockPolicy> SharedState<S, P> {
    /// Nobody waits. The word is free, and its bits are not used.
    pub(crate) fn new(word: P::Word, content: S) -> Self {
        Self {
            word,
            line: WaitList::new(),
            closing: WaitList::new(),
            in_use: Cell::new(false),
            content: UnsafeCell::new(content),
        }
    }

    /// Takes the lock, to use the content at once.
    #[inline(always)]
    fn locked(&self) -> LockedState<'_, S, P> {
        // SAFETY: this thread holds the lock already only while it uses the content, and then `with` refuses.
        unsafe { Locked::lock(self) }
    }

    /// Looks at the content, or changes it so that nobody can go who could not before. `look` runs no user code, and
    /// does not use the channel, by its allocator either.
    #[inline(always)]
    pub(crate) fn look<R>(&self, look: impl FnOnce(&mut S) -> R) -> R {
        let locked = self.locked();
        let seen = with(&locked, look);
        locked.unlock();
        seen
    }

    /// Changes the content, and lets those go that now can; `change` is as in [`SharedState::look`].
    #[inline(always)]
    pub(crate) fn change<R>(&self, change: impl FnOnce(&mut S) -> R) -> R {
        let locked = self.locked();
        let changed = with(&locked, change);
        locked.wake_ready();
        changed
    }

    /// A receiver has left: lets those go that wait until no receiver is left, if that is so.
    pub(crate) fn tell_closed(&self) {
        let mut locked = self.locked();
        while with(&locked, |content| content.is_closed())
            && let Some(deferred) = locked.release_first::<WaitsForClose>()
        {
            locked.run(deferred);
            locked = self.locked();
        }
        locked.unlock();
    }
}

/// The lock of the state, held.
type LockedState<'a, S, P> = Locked<'a, SharedState<S, P>>;

/// Uses the content. A flag refuses a second use inside the first one, because no lock keeps its own thread out: one of a
/// thread, or in a process of one thread, is nothing but its bits.
#[inline(always)]
fn with<S: Content, P: LockPolicy, R>(
    locked: &LockedState<'_, S, P>,
    act: impl FnOnce(&mut S) -> R,
) -> R {
    let state = locked.object();
    let is_second = state.in_use.replace(true);
    assert!(!is_second, "a channel's content is used inside its use");
    // SAFETY: the lock keeps other threads out, and the flag this one.
    let result = state
        .content
        .with_mut(|content| act(unsafe { &mut *content }));
    state.in_use.set(false);
    result
}

// SAFETY: the word is a lock, an atomic one unless it is `Local`'s.
unsafe impl<S: Content, P: LockPolicy> Waitable for SharedState<S, P> {
    type Word = P::Word;

    #[inline(always)]
    fn word(&self, _: Key) -> &P::Word {
        &self.word
    }

    #[inline(always)]
    fn unlock(locked: LockedState<'_, S, P>) {
        locked.into_word().unlock();
    }

    #[inline(always)]
    fn has_waiters(locked: &LockedState<'_, S, P>) -> bool {
        !locked.object().line.is_empty()
    }

    fn wake_next(locked: &mut LockedState<'_, S, P>) -> Option<Deferred> {
        let wants = locked.first::<Turn<0>>()?.get();
        let goes = with(locked, |content| content.try_go(wants));
        goes.then(|| locked.release_first::<Turn<0>>())?
    }
}

impl<S: Content, P: LockPolicy> Drop for SharedState<S, P> {
    fn drop(&mut self) {
        forget_waiters::<_, Turn<0>>(self);
        forget_waiters::<_, WaitsForClose>(self);
    }
}

/// Waiting with a number, which is not changed while the operation is queued; `WHAT` is its name's number.
#[repr(transparent)]
struct Turn<const WHAT: usize>(Cell<u64>);

// SAFETY: there is one queue, and all actions in it are a number.
unsafe impl<S: Content, P: LockPolicy, const WHAT: usize> Action<SharedState<S, P>> for Turn<WHAT> {
    type Output = ();
    type Shown = Cell<u64>;
    const NAME: &'static str = S::NAMES[WHAT];

    fn queue(shared_state: &SharedState<S, P>) -> &WaitList {
        &shared_state.line
    }

    #[inline(always)]
    fn attempt<'a>(&mut self, locked: LockedState<'a, S, P>) -> Result<(), LockedState<'a, S, P>> {
        if !with(&locked, |content| content.try_go(self.0.get())) {
            return Err(locked);
        }
        locked.unlock();
        Ok(())
    }

    #[inline(always)]
    fn resume<'a>(
        &mut self,
        locked: LockedState<'a, S, P>,
        _: State,
    ) -> Result<(), LockedState<'a, S, P>> {
        locked.unlock();
        Ok(())
    }

    fn cancel(&mut self, locked: &mut LockedState<'_, S, P>, state: State) {
        if state == State::Released {
            with(locked, S::give_back);
        }
    }

    fn could_complete(&self, locked: &LockedState<'_, S, P>) -> Could {
        with(locked, |content| content.goes(self.0.get())).into()
    }
}

/// Waits until no receiver is left.
pub(crate) struct WaitsForClose;

// SAFETY: only such actions are in this queue.
unsafe impl<S: Content, P: LockPolicy> Action<SharedState<S, P>> for WaitsForClose {
    type Output = ();
    type Shown = Self;
    const NAME: &'static str = "Sender::closed";

    fn queue(shared_state: &SharedState<S, P>) -> &WaitList {
        &shared_state.closing
    }

    fn attempt<'a>(&mut self, locked: LockedState<'a, S, P>) -> Result<(), LockedState<'a, S, P>> {
        if !with(&locked, |content| content.is_closed()) {
            return Err(locked);
        }
        locked.unlock();
        Ok(())
    }

    /// Another receiver may have come meanwhile.
    fn resume<'a>(
        &mut self,
        locked: LockedState<'a, S, P>,
        _: State,
    ) -> Result<(), LockedState<'a, S, P>> {
        self.attempt(locked)
    }

    fn cancel(&mut self, _: &mut LockedState<'_, S, P>, _: State) {}

    fn could_complete(&self, locked: &LockedState<'_, S, P>) -> Could {
        with(locked, |content| content.is_closed()).into()
    }
}

/// Waits until there is something for its number; `WHAT` is its name's number.
pub(crate) struct Waiting<'a, S: Content, P: LockPolicy, const WHAT: usize = 0>(
    Operation<'a, SharedState<S, P>, Turn<WHAT>>,
);

impl<'a, S: Content, P: LockPolicy, const WHAT: usize> Waiting<'a, S, P, WHAT> {
    #[inline(always)]
    pub(crate) fn new(
        shared_state: &'a SharedState<S, P>,
        wants: u64,
        location: &'static Location<'static>,
    ) -> Self {
        let turn = Turn(Cell::new(wants));
        Self(Operation::new(shared_state, turn, location))
    }

    #[inline(always)]
    pub(crate) fn shared_state(&self) -> &'a SharedState<S, P> {
        self.0.object()
    }

    fn operation(self: Pin<&mut Self>) -> Pin<&mut Operation<'a, SharedState<S, P>, Turn<WHAT>>> {
        // SAFETY: the operation is pinned as its owner is. (`pin_project` knows no constants in generics.)
        unsafe { self.map_unchecked_mut(|this| &mut this.0) }
    }

    /// Leaves its queue without ending.
    pub(crate) fn leave(self: Pin<&mut Self>) {
        self.operation().leave();
    }

    /// Its number.
    pub(crate) fn wants(self: Pin<&mut Self>) -> u64 {
        self.operation().action().0.get()
    }

    /// Waits once more, with this number, as an operation that begins anew. It is complete.
    pub(crate) fn wait_again(self: Pin<&mut Self>, wants: u64) {
        self.operation().restart(|turn| turn.0.set(wants));
    }

    /// Waits until it may go, and does `act` then, as [`SharedState::look`].
    #[inline(always)]
    pub(crate) fn poll<R>(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        act: impl FnOnce(&mut S) -> R,
    ) -> Poll<R> {
        let shared_state = self.shared_state();
        ready!(self.operation().poll(cx));
        // The state that let the operation go on is still there: the operation has the only mutable borrow of its end.
        // (In between, a clone of a foreign waker may have been dropped, which is user code.)
        Poll::Ready(shared_state.look(act))
    }
}

impl<S: Content, P: LockPolicy, const WHAT: usize> fmt::Debug for Waiting<'_, S, P, WHAT> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// [`Waiting`], with a handle that keeps the state.
pub(crate) struct OwnedWaiting<S: Content + 'static, P: LockPolicy, const WHAT: usize = 0> {
    // Dropped before the state.
    waiting: Waiting<'static, S, P, WHAT>,
    _state: P::Counted<SharedState<S, P>>,
}

impl<S: Content + 'static, P: LockPolicy, const WHAT: usize> OwnedWaiting<S, P, WHAT> {
    pub(crate) fn new(
        state: P::Counted<SharedState<S, P>>,
        wants: u64,
        location: &'static Location<'static>,
    ) -> Self {
        // SAFETY: the state stays where it is until the last handle goes, and this one does after the operation, which
        // gives the reference to nobody.
        let kept = unsafe { &*std::ptr::from_ref::<SharedState<S, P>>(&state) };
        Self {
            waiting: Waiting::new(kept, wants, location),
            _state: state,
        }
    }

    fn waiting(self: Pin<&mut Self>) -> Pin<&mut Waiting<'static, S, P, WHAT>> {
        // SAFETY: the operation is pinned as its owner is.
        unsafe { self.map_unchecked_mut(|this| &mut this.waiting) }
    }

    /// [`Waiting::wait_again`].
    pub(crate) fn wait_again(self: Pin<&mut Self>, wants: u64) {
        self.waiting().wait_again(wants);
    }

    /// [`Waiting::poll`].
    pub(crate) fn poll<R>(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        act: impl FnOnce(&mut S) -> R,
    ) -> Poll<R> {
        self.waiting().poll(cx, act)
    }
}

impl<S: Content, P: LockPolicy, const WHAT: usize> fmt::Debug for OwnedWaiting<S, P, WHAT> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.waiting.fmt(f)
    }
}

/// Implements the methods that both ends have if their content, behind `chan`, counts `senders` and `receivers`.
macro_rules! counted_ends {
    ($sender:ident, $receiver:ident) => {
        impl<T, P: LockPolicy> Clone for $sender<T, P> {
            fn clone(&self) -> Self {
                let chan = self.chan.clone();
                chan.look(|content| content.senders += 1);
                Self { chan }
            }
        }

        impl<T, P: LockPolicy> Drop for $sender<T, P> {
            fn drop(&mut self) {
                self.chan.change(|content| content.senders -= 1);
            }
        }

        impl<T, P: LockPolicy> $sender<T, P> {
            /// Whether there is no receiver at this moment. (Another one may subscribe.)
            pub fn is_closed(&self) -> bool {
                self.receiver_count() == 0
            }

            /// Waits until there is no receiver. (If another one subscribes before this is polled, it waits on.)
            ///
            /// # Blocking
            /// `.await` it in a task, `.wait()` for it in a fiber or a thread.
            ///
            /// # Cancellation
            /// Dropped unfinished, it has no effect.
            #[track_caller]
            pub fn closed(&self) -> WaitForClose<'_, T, P> {
                let op = Op::new(&self.chan, WaitsForClose, Location::caller());
                WaitForClose { op }
            }
        }

        impl<T, P: LockPolicy> $receiver<T, P> {
            /// Whether no sender is left. There may be something that has not been received all the same.
            pub fn is_closed(&self) -> bool {
                self.sender_count() == 0
            }
        }

        crate::shared_state::counted_ends! { both $sender }
        crate::shared_state::counted_ends! { both $receiver }
    };
    (both $name:ident) => {
        impl<T, P: LockPolicy> $name<T, P> {
            /// How many senders there are at this moment; weak ones, where there are such, are not counted.
            #[doc(alias = "strong_count")]
            #[doc(alias = "sender_strong_count")]
            pub fn sender_count(&self) -> usize {
                self.chan.look(|content| content.senders)
            }

            /// How many receivers there are at this moment.
            pub fn receiver_count(&self) -> usize {
                self.chan.look(|content| content.receivers)
            }

            /// Whether both are of the same channel.
            pub fn same_channel(&self, other: &Self) -> bool {
                Counted::is_same(&self.chan, &other.chan)
            }
        }
    };
}
pub(crate) use counted_ends;
