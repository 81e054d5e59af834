//! The message of an operation that sends.

use std::cell::Cell;
use std::mem::{ManuallyDrop, MaybeUninit};
use std::ptr;
use std::sync::Arc;

use gossamer_core::context;
use gossamer_core::group::Group;
use gossamer_core::platform::UnsafeCell;
use gossamer_core::policy::LockPolicy;

use super::chan::Locked;

/// A message until it is sent. In a rendezvous channel the receiver takes it from here, under the channel's lock.
///
/// It is the action of a [sending operation](super::action). It says nothing of whether the message is still there, so
/// that sending at once writes little but the message; the operation knows.
pub(crate) struct Offer<T> {
    message: UnsafeCell<MaybeUninit<T>>,
    /// Of a rendezvous channel, once the operation has parked. (When it goes it is in no group: there is nothing to drop.)
    parked: ManuallyDrop<Option<Parked>>,
}

/// Under the lock.
struct Parked {
    stage: Cell<Stage>,
    /// The select whose branch it is, by its group; while the operation is in the queue.
    group: Cell<Option<Arc<Group>>>,
}

/// What becomes of an offer of a rendezvous channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    /// The channel does not count it among those that a receiver can take.
    Silent,
    Announced,
    /// A receiver is about to take it, or has.
    Taken,
}

/// The groups that one receiver has claimed.
#[derive(Debug, Default)]
pub(crate) struct Claimed {
    /// Of each channel that it takes a message from, by address.
    groups: [usize; 4],
    /// Those that it leaves to another of its channels: the number of the one that has to do without, and the group.
    left: [(usize, usize); 4],
    lefts: usize,
    /// A channel that had only messages of groups that were claimed for others: the number of such another one.
    lacks: Option<usize>,
    has_lacked: bool,
}

impl Claimed {
    /// Claims a group for a channel.
    fn claim(&mut self, group: &Group, channel: usize) -> ClaimOutcome {
        let address = ptr::from_ref(group).addr();
        // Of one select it has one message at most.
        if let Some(other) = self.groups.iter().position(|group| *group == address) {
            self.lacks = Some(other);
            self.has_lacked = true;
            return match gossamer_core::mutant!("join_silences_what_it_leaves") {
                true => ClaimOutcome::Refused,
                false => ClaimOutcome::Own,
            };
        }
        if self.left.contains(&(channel, address)) {
            return ClaimOutcome::Own;
        }
        if !group.claim() {
            return ClaimOutcome::Refused;
        }
        self.groups[channel] = address;
        self.lacks = None;
        ClaimOutcome::Ours
    }

    /// Whether a message was lacking because another one of the same select had been claimed.
    pub(crate) fn has_lacked(&self) -> bool {
        self.has_lacked
    }

    /// Whether the receiver is to give back what it has claimed, and to try again: then a channel does without a group
    /// that another one lacks. (A few times: it may overlook what would fit, where it takes from more than two.)
    pub(crate) fn again(&mut self) -> bool {
        let Some(other) = self.lacks.take() else {
            return false;
        };
        if self.lefts == self.left.len() {
            return false;
        }
        self.left[self.lefts] = (other, self.groups[other]);
        self.lefts += 1;
        self.groups = [0; 4];
        true
    }
}

/// What a receiver finds that wants an announced offer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ClaimOutcome {
    /// It is the receiver's.
    Ours,
    /// It is of the select that the receiver is a branch of; or of one of which it is to have another message.
    Own,
    /// Its select may take another branch at this moment, or has. It is silent now.
    Refused,
}

impl<T> Offer<T> {
    #[inline(always)]
    pub(crate) fn new(message: T) -> Self {
        Self {
            message: UnsafeCell::new(MaybeUninit::new(message)),
            parked: ManuallyDrop::new(None),
        }
    }

    /// Without a message, which is never taken: of an operation that only waits in the queue of those that send.
    #[inline(always)]
    pub(super) fn without_message() -> Self {
        Self {
            message: UnsafeCell::new(MaybeUninit::uninit()),
            parked: ManuallyDrop::new(None),
        }
    }

    /// Takes the message out.
    ///
    /// # Safety
    /// Once. By the owner while the operation is not in its queue; or under the lock.
    #[inline(always)]
    pub(super) unsafe fn take(&self) -> T {
        // SAFETY: nobody else looks at the message, and it has not been taken: the caller vouches for both.
        self.message
            .with(|message| unsafe { message.cast::<T>().read() })
    }

    /// The operation, of a rendezvous channel, parks, and is announced.
    #[inline(never)]
    pub(super) fn note_parked(&mut self) {
        *self.parked = Some(Parked {
            stage: Cell::new(Stage::Announced),
            group: Cell::new(None),
        });
        let _none = self.join_group();
    }

    #[inline(always)]
    fn stage(&self) -> Stage {
        let parked = self.parked.as_ref();
        parked.map_or(Stage::Silent, |parked| parked.stage.get())
    }

    #[inline(always)]
    fn set_stage(&self, stage: Stage) {
        if let Some(parked) = &*self.parked {
            parked.stage.set(stage);
        }
    }

    /// The operation, of a rendezvous channel, was polled again, perhaps by another select than before (if that did not
    /// let it leave: a foreign future around it). Gives whether a receiver may have it now that could not before.
    #[cold]
    #[inline(never)]
    pub(super) fn note_polled<P: LockPolicy>(&self, locked: &mut Locked<'_, T, P>) -> bool {
        let before = self.join_group();
        let before = before.as_deref().map(ptr::from_ref);
        // Nobody was turned away from a group that is new.
        let is_other = self.in_group(ptr::from_ref) != before;
        let announces = is_other || before.is_none() || context::announces();
        let is_announced = announces && self.announce();
        let may_have_it = is_announced || is_other;
        locked.offering += usize::from(is_announced);
        locked.arrivals = locked.arrivals.wrapping_add(usize::from(may_have_it));
        may_have_it
    }

    /// The channel counts it, if no receiver has taken it; gives whether it did not before.
    pub(super) fn announce(&self) -> bool {
        let was_silent = self.stage() == Stage::Silent;
        if was_silent {
            self.set_stage(Stage::Announced);
        }
        was_silent
    }

    /// Joins the group of the select whose branch the operation is, if it is one; gives its group before.
    fn join_group(&self) -> Option<Arc<Group>> {
        let group = context::join_group(self);
        self.parked.as_ref()?.group.replace(group)
    }

    /// The operation leaves its queue, and is no member any more.
    pub(super) fn leave_group(&self) {
        if let Some(parked) = &*self.parked {
            parked.group.set(None);
        }
    }

    /// Calls `look` with its group, if it is a member of one.
    fn in_group<R>(&self, look: impl FnOnce(&Group) -> R) -> Option<R> {
        let parked = self.parked.as_ref()?;
        let group = parked.group.take();
        let seen = group.as_deref().map(look);
        parked.group.set(group);
        seen
    }

    /// The channel does not count it any more; gives whether it did.
    pub(super) fn silence(&self) -> bool {
        let was_announced = self.stage() == Stage::Announced;
        if was_announced {
            self.set_stage(Stage::Silent);
        }
        was_announced
    }

    /// Whether it is announced, and a receiver could take it whose operation is a branch of this select (zero: of none).
    pub(super) fn is_for(&self, select: u64) -> bool {
        let is_own = || self.in_group(|group| group.owner()) == Some(select);
        self.stage() == Stage::Announced && (select == 0 || !is_own())
    }

    /// Claims an announced offer that is in no group.
    #[inline(always)]
    pub(super) fn claim_plainly(&self) -> bool {
        let is_ours = self.is_plainly(Stage::Announced);
        if is_ours {
            self.set_stage(Stage::Taken);
        }
        is_ours
    }

    /// Whether it is at this stage, and in no group.
    #[inline(always)]
    pub(super) fn is_plainly(&self, stage: Stage) -> bool {
        let Some(parked) = &*self.parked else {
            return false;
        };
        let group = parked.group.take();
        let is_plain = group.is_none();
        parked.group.set(group);
        is_plain && parked.stage.get() == stage
    }

    /// Claims an offer for the receiver that is polled, which has claimed these groups, for its channel `at` there.
    pub(super) fn claim(&self, claimed: &mut Claimed, at: usize) -> ClaimOutcome {
        let claim = self.in_group(|group| {
            if group.owner() == context::selecting() {
                ClaimOutcome::Own
            } else if gossamer_core::mutant!("offer_is_taken_unclaimed") {
                ClaimOutcome::Ours
            } else {
                claimed.claim(group, at)
            }
        });
        let claim = claim.unwrap_or(ClaimOutcome::Ours);
        match claim {
            ClaimOutcome::Ours => self.set_stage(Stage::Taken),
            ClaimOutcome::Own => {}
            ClaimOutcome::Refused => self.set_stage(Stage::Silent),
        }
        claim
    }

    /// The receiver that has claimed it does not take it: it is announced. Gives whether its task is to be woken, as other
    /// receivers were turned away meanwhile.
    pub(super) fn give_back(&self) -> bool {
        self.set_stage(Stage::Announced);
        !gossamer_core::mutant!("join_keeps_its_claim")
            && self.in_group(Group::give_back) == Some(true)
    }

    /// Whether a receiver is about to take the message, or has.
    #[inline(always)]
    pub(super) fn is_taken(&self) -> bool {
        self.stage() == Stage::Taken
    }

    /// The message of an operation that has ended without its output; `None`: a receiver has taken it.
    ///
    /// # Safety
    /// Once; the operation is not in its queue.
    pub(super) unsafe fn take_unsent(&self) -> Option<T> {
        // SAFETY: nobody has taken it, and the caller does so once.
        (!self.is_taken()).then(|| unsafe { self.take() })
    }

    /// Takes the message of an operation that [is taken](Offer::is_taken), for the receiver.
    ///
    /// # Safety
    /// Once. Under the lock of the operation's queue.
    pub(super) unsafe fn take_claimed(&self) -> T {
        let _member = self.in_group(Group::take);
        // SAFETY: the caller holds the lock and comes once. The stage tells the owner that the message is gone.
        unsafe { self.take() }
    }
}
