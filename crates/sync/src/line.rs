//! The line of operations that wait at a primitive, and the rules by which they go.
//!
//! Every lock and cell of this crate but [`MVar`](crate::raw::MVar) is a [`Line`], a value, and a few lines of
//! [`Admission`]. The line is the primitive's word (see [`gossamer_core::policy`]) and the list of its waiting
//! operations, first come, first served; the rules say, of the word's bits alone, who may go and what becomes of the
//! bits.
//!
//! # Protocol
//!
//! A hand-over *grants*: under the lock the bits are changed as if the first in line had come now and gone at once,
//! it is taken out of the line ([`State::Released`](gossamer_core::waiter::State)), and its task is woken. In its own
//! poll it finds that it has gone. Dropped before that, it gives back what was granted, and the line is served anew.
//! So nothing is ever lost, and a value never moves into an operation.
//!
//! ```text
//!  30     29                                  0
//! +------+-------------------------------------+
//! |HAS_WAITERS |      the rules' own bits            |
//! +------+-------------------------------------+
//! ```
//! `HAS_WAITERS` says that somebody waits, so that who comes or leaves while nobody does needs one exchange and no
//! list.

use core::cell::Cell;
use core::marker::PhantomData;
use core::ptr::NonNull;

use gossamer_core::policy::{Local, LocalWord, LockPolicy, Word};
#[cfg(feature = "std")]
use gossamer_core::policy::{Shared, SharedWord};
use gossamer_core::wait_queue::{Action, Operation, Waitable, action_of};
use gossamer_core::waiter::{Could, Deferred, Node, State, WaitList};

/// Operations wait.
pub(crate) const HAS_WAITERS: u32 = 1 << 30;

/// What is to be done for the first in line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Next {
    /// Nothing, now.
    Stay,
    /// It goes, and the bits become these.
    WakeReason(u32),
    /// It is woken to [try again](Admission::retry), first in line as before; the bits and its number become these.
    Wake(u32, usize),
}

/// When an operation may go, and what becomes of the bits. `wants` is the operation's own number, which says what it
/// asks for, or what it saw when it came.
///
/// Every function is called under the word's lock, or for an exchange that replaces it: no user code, no waiting.
pub(crate) trait Admission: 'static {
    /// What dumps call the operations, by their number.
    const NAMES: &'static [&'static str];
    /// Whether [`Admission::arrive`] is all there is to do when one comes and goes at once.
    const QUICK: bool = true;
    /// Whether arriving may leave the bits as they are. Then they are not written, lest those who only read take the
    /// word's cache line from each other.
    const MAY_KEEP: bool = false;

    /// Whether the first in line may go, and the bits then.
    fn grant(bits: u32, wants: usize) -> Option<u32>;

    /// Whether one that comes may go at once, and the bits then: if nobody waits, unless said otherwise.
    #[inline(always)]
    fn arrive(bits: u32, wants: usize) -> Option<u32> {
        if bits & HAS_WAITERS == 0 {
            Self::grant(bits, wants)
        } else {
            None
        }
    }

    /// One that came has to wait: the bits, and its number from now on.
    fn park(bits: u32, wants: usize) -> (u32, usize) {
        (bits, wants)
    }

    /// What is to be done for the first in line.
    fn next(bits: u32, wants: usize) -> Next {
        Self::grant(bits, wants).map_or(Next::Stay, Next::WakeReason)
    }

    /// One that was woken tries again: the bits if it goes, or if it does not and stays first in line.
    fn retry(bits: u32) -> Result<u32, u32> {
        Err(bits)
    }

    /// One to which it was granted has noticed.
    fn accept(bits: u32) -> u32 {
        bits
    }

    /// One was dropped that had been granted what it wanted.
    fn give_back(bits: u32, wants: usize) -> u32;

    /// One was dropped that waited; `woken` to try again, or not.
    fn leave(bits: u32, _wants: usize, _woken: bool) -> u32 {
        bits
    }
}

/// A word and those who wait for it to change.
pub(crate) struct Line<P: LockPolicy, R: Admission> {
    word: P::Word,
    list: WaitList,
    _rules: PhantomData<fn(R)>,
}

// SAFETY: the list and its nodes are touched under the word's lock, which is atomic.
unsafe impl<P: LockPolicy, R: Admission> Send for Line<P, R> where P::Word: Sync {}
// SAFETY: as above.
unsafe impl<P: LockPolicy, R: Admission> Sync for Line<P, R> where P::Word: Sync {}

macro_rules! constructors {
    ($policy:ty, $word:ty, $($const:tt)?) => {
        impl<R: Admission> Line<$policy, R> {
            /// Nobody waits, and the bits are these.
            pub(crate) $($const)? fn new(bits: u32) -> Self {
                Self {
                    word: <$word>::new(bits),
                    list: WaitList::new(),
                    _rules: PhantomData,
                }
            }
        }
    };
}

#[cfg(not(loom))]
constructors!(Local, LocalWord, const);
#[cfg(all(not(loom), feature = "std"))]
constructors!(Shared, SharedWord, const);
#[cfg(loom)]
constructors!(Local, LocalWord,);
#[cfg(all(loom, feature = "std"))]
constructors!(Shared, SharedWord,);

/// Calls a macro for each policy there is, with `const` where constructors can be.
macro_rules! for_each_policy {
    ($make:ident) => {
        #[cfg(not(loom))]
        $make!(gossamer_core::policy::Local, const);
        #[cfg(all(not(loom), feature = "std"))]
        $make!(gossamer_core::policy::Shared, const);
        #[cfg(loom)]
        $make!(gossamer_core::policy::Local,);
        #[cfg(all(loom, feature = "std"))]
        $make!(gossamer_core::policy::Shared,);
    };
}
pub(crate) use for_each_policy;

impl<P: LockPolicy, R: Admission> Line<P, R> {
    /// The bits at this moment.
    #[inline(always)]
    pub(crate) fn look(&self) -> u32 {
        self.word.look()
    }

    /// Changes the bits in one exchange; `false` says only that it was not done.
    #[inline(always)]
    pub(crate) fn try_change(&self, change: impl FnOnce(u32) -> Option<u32>) -> bool {
        self.word.try_change(change)
    }

    /// Changes the bits and serves the line.
    #[inline]
    pub(crate) fn change(&self, change: impl FnOnce(u32) -> u32) {
        let bits = self.lock();
        self.serve(change(bits));
    }

    /// Comes and goes, if that can be at once.
    #[inline]
    pub(crate) fn try_arrive(&self, wants: usize) -> bool {
        let mut refused = false;
        let arrive = |bits| {
            let after = R::arrive(bits, wants);
            refused = after.is_none();
            after
        };
        if R::QUICK && self.word.try_change(arrive) {
            return true;
        }
        if refused {
            return false;
        }
        let bits = self.lock();
        match R::arrive(bits, wants) {
            Some(after) => self.serve(after),
            None => {
                self.unlock(bits);
                return false;
            }
        }
        true
    }

    /// The same where the bits stay as they are.
    #[inline(always)]
    fn reads(&self, wants: usize) -> bool {
        if !R::MAY_KEEP {
            return false;
        }
        let bits = self.look();
        R::arrive(bits, wants) == Some(bits)
    }

    /// The same by a look or one exchange; `false` says only that it was not done.
    #[inline(always)]
    pub(crate) fn arrive_quickly(&self, wants: usize) -> bool {
        self.reads(wants) || R::QUICK && self.word.try_change(|bits| R::arrive(bits, wants))
    }

    /// Wakes all that the rules let go, and gives the lock up.
    #[inline(never)]
    pub(crate) fn serve(&self, bits: u32) {
        self.wake_ready(bits);
    }

    /// Serves the first in line, if the rules let it. Under the lock.
    #[inline(always)]
    fn serve_first(&self, bits: &mut u32) -> Option<Deferred> {
        let first = self.list.first()?;
        Some(match self.next(*bits) {
            Next::Stay => return None,
            Next::WakeReason(after) => {
                *bits = after;
                // SAFETY: under the lock, and not empty.
                unsafe { self.list.release_first() }
            }
            Next::Wake(after, wants) => {
                *bits = after;
                // SAFETY: under the lock, and not empty; the rules remember in the bits that they have woken it.
                unsafe {
                    wants_of(first).set(wants);
                    self.list.notify_first()
                }
            }
        })
    }

    /// What is to be done for the first in line. Under the lock.
    #[inline(always)]
    fn next(&self, bits: u32) -> Next {
        // SAFETY: under the lock, so the node is alive.
        let next = |first| R::next(bits, unsafe { wants_of(first) }.get());
        self.list.first().map_or(Next::Stay, next)
    }

    /// Lets the first in line go, whatever the rules say, and gives it this number; `false` if nobody waits.
    pub(crate) fn release_one(&self, wants: usize) -> bool {
        let mut bits = self.lock();
        // Those who may go anyway are not meant: somebody has given the lock up for a moment, and would serve them.
        while !gossamer_core::mutant!("notifies_who_goes_anyway")
            && let Some(deferred) = self.serve_first(&mut bits)
        {
            self.unlock(bits);
            deferred.run();
            bits = self.lock();
        }
        let Some(first) = self.list.first() else {
            self.unlock(bits);
            return false;
        };
        // SAFETY: under the lock, so the node is alive; not empty.
        let deferred = unsafe {
            wants_of(first).set(wants);
            self.list.release_first()
        };
        self.unlock(bits);
        deferred.run();
        true
    }
}

// SAFETY: the word is a lock, an atomic one unless it is `Local`'s.
unsafe impl<P: LockPolicy, R: Admission> Waitable for Line<P, R> {
    const THREAD_BOUND: bool = P::THREAD_BOUND;

    #[inline(always)]
    fn lock(&self) -> u32 {
        self.word.lock()
    }

    #[inline(always)]
    fn unlock(&self, bits: u32) {
        self.word.unlock(if self.list.is_empty() {
            bits & !HAS_WAITERS
        } else {
            bits | HAS_WAITERS
        });
    }

    #[inline(always)]
    fn has_waiters(&self) -> bool {
        !self.list.is_empty()
    }

    #[inline(always)]
    unsafe fn wake_next(&self, bits: &mut u32) -> Option<Deferred> {
        self.serve_first(bits)
    }
}

impl<P: LockPolicy, R: Admission> Drop for Line<P, R> {
    fn drop(&mut self) {
        self.forget_waiters(&self.list);
    }
}

/// An operation that waits in a [`Line`]; `WHAT` is its name's number in the rules.
pub(crate) type Waiting<'a, P, R, const WHAT: usize = 0> = Operation<'a, Line<P, R>, Enter<WHAT>>;

/// How an operation came to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum How {
    /// It did not wait.
    AtOnce,
    /// It waited in line.
    FromQueue,
}

/// Arriving, with a number that says what the operation asks for, or what it saw when it came.
#[derive(Debug)]
#[repr(transparent)]
pub(crate) struct Enter<const WHAT: usize = 0>(Cell<usize>);

impl<const WHAT: usize> Enter<WHAT> {
    pub(crate) const fn new(wants: usize) -> Self {
        Self(Cell::new(wants))
    }

    /// The number: after the end of the operation, what it had then.
    pub(crate) fn wants(&self) -> usize {
        self.0.get()
    }
}

/// The number of the operation that a node belongs to.
///
/// # Safety
/// Under the lock of the line in which the node is, as long as the result is used.
#[inline(always)]
unsafe fn wants_of<'n>(node: NonNull<Node>) -> &'n Cell<usize> {
    // SAFETY: all actions in a `Line` begin with their number; the caller vouches for the rest.
    unsafe { action_of::<Cell<usize>>(node) }
}

// SAFETY: a line has one queue, and `Enter` begins alike whatever its name is.
unsafe impl<P: LockPolicy, R: Admission, const WHAT: usize> Action<Line<P, R>> for Enter<WHAT> {
    type Output = How;
    const NAME: &'static str = R::NAMES[WHAT];

    #[inline(always)]
    fn queue(line: &Line<P, R>) -> &WaitList {
        &line.list
    }

    #[inline(always)]
    fn try_quickly(&mut self, line: &Line<P, R>) -> Result<How, Option<u32>> {
        let goes = line.arrive_quickly(self.wants());
        goes.then_some(How::AtOnce).ok_or(None)
    }

    #[inline(always)]
    unsafe fn attempt(&mut self, line: &Line<P, R>, bits: u32) -> Result<How, u32> {
        line.serve(R::arrive(bits, self.wants()).ok_or(bits)?);
        Ok(How::AtOnce)
    }

    unsafe fn park(&mut self, _: &Line<P, R>, bits: u32) -> u32 {
        let (bits, wants) = R::park(bits, self.wants());
        self.0.set(wants);
        bits
    }

    #[inline(always)]
    unsafe fn resume(&mut self, line: &Line<P, R>, bits: u32, state: State) -> Result<How, u32> {
        let after = match state {
            State::Released => R::accept(bits),
            _ => R::retry(bits)?,
        };
        line.unlock(after);
        Ok(How::FromQueue)
    }

    unsafe fn cancel(&mut self, _: &Line<P, R>, bits: u32, state: State) -> u32 {
        match state {
            State::Released => R::give_back(bits, self.wants()),
            _ => R::leave(bits, self.wants(), state == State::Notified),
        }
    }

    unsafe fn could_complete(&self, _: &Line<P, R>, bits: u32) -> Could {
        (R::next(bits, self.wants()) != Next::Stay).into()
    }
}
