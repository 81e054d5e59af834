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

mod borrowed;
mod changing;
mod owned;

use core::cell::Cell;
use core::marker::PhantomData;

use gossamer_core::context;
use gossamer_core::policy::{LockPolicy, Word};
use gossamer_core::recording;
use gossamer_core::wait_queue::{Action, Key, Locked, Operation, Waitable, forget_waiters};
use gossamer_core::waiter::{Could, Deferred, State, WaitList};

use crate::constructors::constructors;

/// Operations wait.
pub(crate) const HAS_WAITERS: u32 = 1 << 30;

/// The number of an operation that was [refused](Admission::refuses).
pub(crate) const REFUSED: usize = usize::MAX;

/// The action to take for the first in line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Next {
    /// Nothing, now.
    Stay,
    /// It goes, and the bits become these.
    Release(u32),
    /// It is woken to [try again](Admission::retry), first in line as before; the bits and its number become these.
    Wake(u32, usize),
}

/// When an operation may go, and what becomes of the bits. `wants` is the operation's own number, which says what it
/// asks for, or what it saw when it came.
///
/// Every function is called under the word's lock, or for an exchange that replaces it: no user code, no waiting.
pub(crate) trait Admission: 'static {
    /// The names of the operations in dumps, by the operation's number.
    const NAMES: &'static [&'static str];
    /// Whether [`Admission::arrive`] is all there is to do when one comes and goes at once.
    const QUICK: bool = true;
    /// The bits that most find who come, where that guess saves more than it costs.
    const GUESS: Option<u32> = None;
    /// Whether arriving may leave the bits as they are. Then they are not written, lest those who only read take the
    /// word's cache line from each other.
    const MAY_KEEP: bool = false;
    /// Whether the number of one that has left the line says whether that changed the bits. Others ask for the same when
    /// they are polled again.
    const TELLS_OF_LEAVING: bool = false;

    /// Whether it makes a difference to others that an operation waits: they are counted, or only those that wait are
    /// called.
    const WAITING_COUNTS: bool = false;

    /// Whether it is recorded who has it ([`gossamer_core::recording`]).
    const IS_LOCK: bool = false;

    /// Something in the bits of a lock that one alone has, which tells that one from others. `None`: nobody has it, or
    /// several do.
    fn holder(_bits: u32) -> Option<u32> {
        None
    }

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

    /// Returns the action to take for the first in line.
    fn next(bits: u32, wants: usize) -> Next {
        Self::grant(bits, wants).map_or(Next::Stay, Next::Release)
    }

    /// One that was woken tries again: the bits if it goes, or if it does not and stays first in line.
    fn retry(bits: u32) -> Result<u32, u32> {
        Err(bits)
    }

    /// Whether nobody goes any more, for ever. Those that wait are let go, and one that comes ends at once; their number
    /// is [`REFUSED`] then.
    #[inline(always)]
    fn refuses(_bits: u32) -> bool {
        false
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

/// The lock of a line, held.
type LockedLine<'a, P, R> = Locked<'a, Line<P, R>>;

/// A word and those who wait for it to change.
pub(crate) struct Line<P: LockPolicy, R: Admission> {
    word: P::Word,
    list: WaitList,
    _rules: PhantomData<fn(R)>,
}

// SAFETY: the list and its nodes are touched under the word's lock, which is atomic.
unsafe impl<P: LockPolicy, R: Admission> Send for Line<P, R> where P::Word: Sync {}
// SAFETY: `&Line` reaches the list and its nodes only under the word's lock, which is atomic.
unsafe impl<P: LockPolicy, R: Admission> Sync for Line<P, R> where P::Word: Sync {}

pub(crate) use self::borrowed::{leaves, operation};
pub(crate) use self::owned::{OwnedWaiting, owned_operation};

constructors! {
    impl[R: Admission] Line<P, R> {
        /// Nobody waits, and the bits are these.
        pub(crate) fn new(bits: u32) -> Self {
            Self {
                word: <P as LockPolicy>::Word::new(bits),
                list: WaitList::new(),
                _rules: PhantomData,
            }
        }
    }
}

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

    /// Like `try_change`, and quicker if the bits are `guess`.
    #[inline(always)]
    pub(crate) fn try_change_from(&self, guess: u32, change: impl Fn(u32) -> Option<u32>) -> bool {
        self.word.try_change_from(guess, change)
    }

    /// Whether it is a lock, and who takes it here is recorded.
    #[inline(always)]
    fn is_recorded() -> bool {
        R::IS_LOCK && context::records()
    }

    /// Somebody has taken the lock: records who.
    #[cold]
    #[inline(never)]
    fn record_taken(&self) {
        if let Some(word) = R::holder(self.look()) {
            recording::takes(core::ptr::from_ref(self).addr(), word);
        }
    }

    /// Nobody has the lock alone any more, or it is gone: records that, if it is recorded.
    #[inline(always)]
    pub(crate) fn record_left(&self) {
        if Self::is_recorded() {
            recording::leaves(core::ptr::from_ref(self).addr());
        }
    }

    /// Comes and goes, if that can be at once.
    #[inline]
    pub(crate) fn try_arrive(&self, wants: usize) -> bool {
        let has = self.try_arrive_unrecorded(wants);
        if has && Self::is_recorded() {
            self.record_taken();
        }
        has
    }

    #[inline]
    fn try_arrive_unrecorded(&self, wants: usize) -> bool {
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
        self.change_if(|bits| R::arrive(bits, wants))
    }

    /// Comes and goes, if that can be at once and leaves the bits as they are. It writes nothing.
    #[inline(always)]
    fn reads(&self, wants: usize) -> bool {
        if !R::MAY_KEEP {
            return false;
        }
        let bits = self.look();
        R::arrive(bits, wants) == Some(bits)
    }

    /// Like `try_arrive`, by a look or one exchange; `false` says only that it was not done.
    #[inline(always)]
    pub(crate) fn arrive_quickly(&self, wants: usize) -> bool {
        let arrive = |bits| R::arrive(bits, wants);
        if let Some(guess) = R::GUESS {
            return self.word.try_change_from(guess, arrive);
        }
        self.reads(wants) || R::QUICK && self.word.try_change(arrive)
    }

    /// Lets the first in line go, whatever the rules say, and gives it this number; `false` if nobody waits.
    pub(crate) fn release_one(&self, wants: usize) -> bool {
        // SAFETY: as in `change_if`.
        let mut locked = unsafe { Locked::lock(self) };
        // Those who may go anyway are not meant: somebody has given the lock up for a moment, and would serve them.
        while !gossamer_core::mutant!("notifies_who_goes_anyway")
            && let Some(deferred) = Self::wake_next(&mut locked)
        {
            locked.run(deferred);
            // SAFETY: it was just released.
            locked = unsafe { Locked::lock(self) };
        }
        if let Some(first) = locked.first::<Enter>() {
            first.set(wants);
        }
        let released = locked.release_first::<Enter>();
        let is_one = released.is_some();
        locked.run(released.unwrap_or(Deferred::NOTHING));
        is_one
    }
}

/// Wakes all that the rules let go, and gives the lock up.
#[inline(never)]
fn serve<P: LockPolicy, R: Admission>(locked: LockedLine<'_, P, R>) {
    locked.wake_ready();
}

// SAFETY: the word is a lock, an atomic one unless it is `Local`'s.
unsafe impl<P: LockPolicy, R: Admission> Waitable for Line<P, R> {
    type Word = P::Word;

    #[inline(always)]
    fn word(&self, _: Key) -> &P::Word {
        &self.word
    }

    #[inline(always)]
    fn unlock(mut locked: Locked<'_, Self>) {
        if locked.object().list.is_empty() {
            locked.bits &= !HAS_WAITERS;
        } else {
            locked.bits |= HAS_WAITERS;
        }
        locked.into_word().unlock();
    }

    #[inline(always)]
    fn has_waiters(locked: &Locked<'_, Self>) -> bool {
        !locked.object().list.is_empty()
    }

    #[inline(always)]
    fn wake_next(locked: &mut Locked<'_, Self>) -> Option<Deferred> {
        let first = locked.first::<Enter>()?;
        if R::refuses(locked.bits) {
            first.set(REFUSED);
            return locked.release_first::<Enter>();
        }
        match R::next(locked.bits, first.get()) {
            Next::Stay => None,
            Next::Release(after) => {
                locked.bits = after;
                locked.release_first::<Enter>()
            }
            // The rules remember in the bits that they have woken it.
            Next::Wake(after, wants) => {
                first.set(wants);
                locked.bits = after;
                locked.notify_first::<Enter>()
            }
        }
    }
}

impl<P: LockPolicy, R: Admission> Drop for Line<P, R> {
    fn drop(&mut self) {
        self.record_left();
        forget_waiters::<_, Enter>(self);
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
    /// It was [refused](Admission::refuses), at once or in line.
    Refused,
}

/// Arriving, with a number that says what the operation asks for, or what it saw when it came.
#[derive(Debug)]
#[repr(transparent)]
pub(crate) struct Enter<const WHAT: usize = 0>(Cell<usize>);

impl<const WHAT: usize> Enter<WHAT> {
    pub(crate) const fn new(wants: usize) -> Self {
        Self(Cell::new(wants))
    }

    /// The number. While the operation is in line it is read under the lock, as others write it.
    pub(crate) fn wants(&self) -> usize {
        self.0.get()
    }
}

// SAFETY: a line has one queue, and `Enter` is its number, whatever its name is.
unsafe impl<P: LockPolicy, R: Admission, const WHAT: usize> Action<Line<P, R>> for Enter<WHAT> {
    type Output = How;
    type Shown = Cell<usize>;
    const NAME: &'static str = R::NAMES[WHAT];

    #[inline(always)]
    fn queue(line: &Line<P, R>) -> &WaitList {
        &line.list
    }

    #[inline(always)]
    fn is_recorded() -> bool {
        Line::<P, R>::is_recorded()
    }

    fn record(line: &Line<P, R>) {
        line.record_taken();
    }

    fn polled_again(&mut self, locked: &mut LockedLine<'_, P, R>) -> bool {
        if Line::<P, R>::is_recorded() {
            let lock = core::ptr::from_ref(locked.object()).addr();
            recording::waits(lock, R::holder(locked.bits));
        }
        false
    }

    fn counts_when_waiting(_: &Line<P, R>) -> bool {
        R::WAITING_COUNTS && !gossamer_core::mutant!("waiting_never_counts")
    }

    #[inline(always)]
    fn try_quickly<'a>(
        &mut self,
        line: &'a Line<P, R>,
    ) -> Result<How, Option<LockedLine<'a, P, R>>> {
        let goes = line.arrive_quickly(self.wants());
        goes.then_some(How::AtOnce).ok_or(None)
    }

    #[inline(always)]
    fn attempt<'a>(&mut self, locked: LockedLine<'a, P, R>) -> Result<How, LockedLine<'a, P, R>> {
        match R::arrive(locked.bits, self.wants()) {
            Some(after) => serve(locked.with(after)),
            None if R::refuses(locked.bits) => {
                self.0.set(REFUSED);
                locked.unlock();
                return Ok(How::Refused);
            }
            None => return Err(locked),
        }
        Ok(How::AtOnce)
    }

    fn park(&mut self, locked: &mut LockedLine<'_, P, R>) {
        let (bits, wants) = R::park(locked.bits, self.wants());
        locked.bits = bits;
        self.0.set(wants);
    }

    #[inline(always)]
    fn resume<'a>(
        &mut self,
        mut locked: LockedLine<'a, P, R>,
        state: State,
    ) -> Result<How, LockedLine<'a, P, R>> {
        let after = match state {
            State::Released => Ok(R::accept(locked.bits)),
            _ => R::retry(locked.bits),
        };
        let (Ok(bits) | Err(bits)) = after;
        locked.bits = bits;
        if after.is_err() {
            return Err(locked);
        }
        let is_refused = R::refuses(bits) && self.wants() == REFUSED;
        let line = locked.object();
        locked.unlock();
        if Line::<P, R>::is_recorded() {
            line.record_taken();
        }
        Ok(if is_refused {
            How::Refused
        } else {
            How::FromQueue
        })
    }

    fn cancel(&mut self, locked: &mut LockedLine<'_, P, R>, state: State) {
        if state == State::Released {
            locked.bits = R::give_back(locked.bits, self.wants());
            return;
        }
        let after = R::leave(locked.bits, self.wants(), state == State::Notified);
        if R::TELLS_OF_LEAVING {
            self.0.set(usize::from(after != locked.bits));
        }
        locked.bits = after;
    }

    fn could_complete(&self, locked: &LockedLine<'_, P, R>) -> Could {
        (R::refuses(locked.bits) || R::next(locked.bits, self.wants()) != Next::Stay).into()
    }
}
