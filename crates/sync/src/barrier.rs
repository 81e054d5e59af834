//! `Barrier`: so many meet, then all go on.
//!
//! The bits: how many have come, and the number of the round. The last to come begins the next round; who waits goes
//! when the round is not its own any more.

#[cfg(feature = "std")]
mod timeout;
#[cfg(feature = "std")]
pub use self::timeout::{ArriveInTime, NotArrived};

use core::panic::Location;
use core::pin::Pin;

use gossamer_core::policy::LockPolicy;
use gossamer_core::waiter::State;

use crate::constructors::constructors;
use crate::line::{Admission, Enter, HAS_WAITERS, How, Line, Waiting, operation};

/// How many may meet: 16,777,215.
const MEMBERS_MAX: usize = (1 << 24) - 1;
const COME: u32 = MEMBERS_MAX as u32;
/// The number of the round wraps after 64. Nobody in line is as far behind: each round's last one serves all of the
/// rounds before, also those that an earlier one has given the lock up for.
const ROUND: u32 = HAS_WAITERS - ROUND_ONE;
const ROUND_ONE: u32 = 1 << 24;

/// The rules of a barrier: an operation that comes has the number of those who meet, one that waits that of its round.
pub(crate) struct Meeting;

impl Admission for Meeting {
    const NAMES: &'static [&'static str] = &["Barrier::arrive"];
    /// The last one lets the others go.
    const QUICK: bool = false;
    const TELLS_OF_LEAVING: bool = true;

    const WAITING_COUNTS: bool = true;

    fn grant(bits: u32, wants: usize) -> Option<u32> {
        ((bits & ROUND) as usize != wants).then_some(bits)
    }

    fn arrive(bits: u32, wants: usize) -> Option<u32> {
        let is_last = (bits & COME) as usize + 1 == wants;
        is_last.then(|| bits & HAS_WAITERS | bits.wrapping_add(ROUND_ONE) & ROUND)
    }

    fn park(bits: u32, _: usize) -> (u32, usize) {
        (bits + 1, (bits & ROUND) as usize)
    }

    fn give_back(bits: u32, _: usize) -> u32 {
        bits
    }

    fn leave(bits: u32, wants: usize, _woken: bool) -> u32 {
        if (bits & ROUND) as usize == wants && !gossamer_core::mutant!("barrier_keeps_arrival") {
            bits - 1
        } else {
            bits
        }
    }
}

/// A place where so many meet before any of them goes on; then it begins anew.
///
/// Use it as [`sync::Barrier`](crate::sync::Barrier) or [`local::Barrier`](crate::local::Barrier).
///
/// # Blocking
/// [`arrive`](Barrier::arrive) is a future: `.await` it in a task, `.wait()` for it in a fiber or a thread.
///
/// # Cancellation
/// An arrival that was dropped before all had come is taken back: one more has to come. After that it has counted.
/// [`Arrive::take_back`] says which of the two it was, and so does the result of `arrive().timeout(…)`.
///
/// # Examples
/// ```
/// use gossamer::Wait;
/// use gossamer::sync::Barrier;
///
/// let start = Barrier::new(2);
/// std::thread::scope(|scope| {
///     let other = scope.spawn(|| start.arrive().wait().is_leader());
///     let leads = start.arrive().wait().is_leader();
///     assert_ne!(leads, other.join().unwrap());
/// });
/// ```
pub struct Barrier<P: LockPolicy> {
    line: Line<P, Meeting>,
    members: u32,
}

#[cfg(all(not(any(loom, shuttle)), target_pointer_width = "64"))]
const _: () = assert!(size_of::<Barrier<gossamer_core::policy::Local>>() <= 24);

constructors! {
    impl[] Barrier<P> {
        /// For so many.
        ///
        /// # Panics
        /// For none, because then nobody could be the last to come; or for more than 16,777,215.
        #[track_caller]
        pub fn new(members: usize) -> Self {
            assert!(
                members != 0,
                "a barrier was asked for where none meet: give it the number of those who do, at least 1"
            );
            assert!(
                members <= MEMBERS_MAX,
                "a barrier was asked for where more than 16,777,215 meet: it cannot count so many"
            );
            Self {
                line: Line::<P, Meeting>::new(0),
                members: members as u32,
            }
        }
    }
}

impl<P: LockPolicy> Barrier<P> {
    /// Comes, and waits for the others.
    ///
    /// # Cancellation
    /// Dropped before all have come, it is taken back; after that it has counted. Who gives it up and comes again has to
    /// know which: [`Arrive::timeout`], [`Arrive::take_back`].
    #[doc(alias = "wait")]
    #[track_caller]
    pub fn arrive(&self) -> Arrive<'_, P> {
        Arrive {
            waiting: Waiting::new(
                &self.line,
                Enter::new(self.members as usize),
                Location::caller(),
            ),
        }
    }
}

/// How one has passed a [`Barrier`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BarrierResult {
    is_leader: bool,
}

impl BarrierResult {
    /// Whether it was the last to come, of which there is one in each round.
    pub fn is_leader(&self) -> bool {
        self.is_leader
    }
}

operation! {
    /// [`Barrier::arrive`]. Dropped before all have come, it is taken back.
    Arrive['a, P: LockPolicy]['a, P] by Meeting, 0
        => BarrierResult: |this, how| BarrierResult { is_leader: how == How::AtOnce }
}

impl<P: LockPolicy> Arrive<'_, P> {
    /// Gives the arrival up. `Some`: all had come before, so it has counted; `None`: it has not, and one more has to come.
    ///
    /// # Panics
    /// It has given its output, or was taken back before.
    pub fn take_back(self: Pin<&mut Self>) -> Option<BarrierResult> {
        let has_counted = |enter: &mut Enter, state| match state {
            State::Idle => false,
            // In line, also if its round is over and it is about to be let go.
            State::Parked => {
                enter.wants() == 0 && !gossamer_core::mutant!("barrier_forgets_a_late_arrival")
            }
            State::Notified | State::Released => true,
        };
        let has_counted = self.project().waiting.withdraw(has_counted);
        let has_counted = has_counted.expect("an arrival that is complete cannot be taken back");
        has_counted.then_some(BarrierResult { is_leader: false })
    }
}

gossamer_core::impl_debug!(
    [P: LockPolicy] Barrier[P],
    this => members: this.members, come: this.line.look() & COME
);

#[cfg(test)]
mod tests;
