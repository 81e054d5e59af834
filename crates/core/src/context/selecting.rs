//! What a select tells the operations in its branches, while it polls them; and its [group](crate::group).
//!
//! An operation does not know what polls it. But one that may take effect while nobody polls it has to be a member of
//! the select's group, if it is a branch itself, or all of it: so a select notes here which branch it polls, and where
//! that is in memory. An operation in the same memory, beside which there is no room for a second one, is a branch. What
//! lies deeper (in an `async` block that does more, in a box) is foreign, and takes effect by itself.
//!
//! A `timeout` is a select of two. One that is a branch of another select has no group of its own: its operation is a
//! member of the other one's.

use core::mem::{self, ManuallyDrop};
use core::pin::Pin;
use core::task::{self, Poll};

use alloc::sync::Arc;

use super::asking::{Asking, MemoryRange, Pass, range_of};
use super::{Context, with};
use crate::group::{Group, Hold};

impl Context {
    fn asking<R>(&self, change: impl FnOnce(&mut Asking) -> R) -> R {
        change(&mut self.asking.borrow_mut())
    }

    /// Sets the turn; gives the one before.
    pub(super) fn replace_asking(&self, asking: ManuallyDrop<Asking>) -> ManuallyDrop<Asking> {
        self.asking.replace(asking)
    }
}

/// Brings the turn before back, also if there is a panic.
struct Back(ManuallyDrop<Asking>);

impl Back {
    fn after(asking: ManuallyDrop<Asking>) -> Self {
        Self(with(|context| context.replace_asking(asking)))
    }
}

impl Drop for Back {
    fn drop(&mut self) {
        let before = mem::replace(&mut self.0, Asking::NONE);
        let mut ended = with(|context| context.replace_asking(before));
        drop(ended.group.take());
    }
}

/// Calls what no select polls, though it is called in a branch: a wait in a fiber, whose thread others use meanwhile.
pub(crate) fn outside_selects<R>(run: impl FnOnce() -> R) -> R {
    let _back = Back::after(Asking::NONE);
    run()
}

/// The select that polls what runs on this thread; zero: none does.
pub fn selecting() -> usize {
    with(|context| context.asking(|asking| asking.owner))
}

/// Whether the branches are asked only for what members have already, or so that these are announced anew.
pub fn asks_members() -> bool {
    with(|context| context.asking(|asking| asking.pass != Pass::All))
}

/// Whether the members of the group are announced anew.
pub fn announces() -> bool {
    with(|context| context.asking(|asking| asking.pass == Pass::Announces))
}

/// An operation there waits, and is to be a member of the group of the select whose branch it is. `None`: it is no
/// branch.
pub fn join_group(operation: MemoryRange) -> Option<Arc<Group>> {
    let join = |asking: &mut Asking| {
        asking.offers = true;
        let owner = asking.owner;
        let group = asking
            .group
            .get_or_insert_with(|| Arc::new(Group::held(owner)));
        group.clone()
    };
    with(|context| context.asking(|asking| asking.is_branch(operation).then(|| join(asking))))
}

/// Polls a branch of the select that is polled.
#[inline(always)]
pub fn poll_branch<F: Future>(branch: Pin<&mut F>, cx: &mut task::Context<'_>) -> Poll<F::Output> {
    poll_branch_at(range_of(&*branch), branch, cx)
}

/// As [`poll_branch`]; the branch, or what it refers to, is at `range`.
#[inline(always)]
pub fn poll_branch_at<F: Future>(
    range: MemoryRange,
    branch: Pin<&mut F>,
    cx: &mut task::Context<'_>,
) -> Poll<F::Output> {
    with(|context| context.asking(|asking| asking.branch = range));
    branch.poll(cx)
}

/// What a select keeps between its polls. It stays where it is from the first on.
#[derive(Debug, Default)]
pub struct Selecting {
    group: Option<Arc<Group>>,
    /// The branches in which members wait, a bit each; the last bit stands for all from there on.
    offering: u64,
}

impl Selecting {
    /// Polls branches by `ask`, each in its turn, until one is ready. `range`: where the select is. `ask` polls by
    /// [`poll_branch`].
    pub fn poll<R, I: Iterator<Item = usize>>(
        &mut self,
        range: MemoryRange,
        turns: impl Fn() -> I,
        mut ask: impl FnMut(usize) -> Poll<R>,
    ) -> Poll<R> {
        let owner = range.0;
        match with(|context| {
            context.asking(|asking| asking.is_branch(range).then_some(asking.pass))
        }) {
            // It is a branch of another one, whose group its operations join.
            Some(Pass::All) => return self.ask_all(turns(), &mut ask),
            Some(_) => return self.ask_members(turns(), &mut ask),
            None => {}
        }
        let mut asking = Asking::NONE;
        asking.owner = owner;
        asking.group.clone_from(&self.group);
        let _back = Back::after(asking);
        loop {
            if let ready @ Poll::Ready(_) = self.hold(&turns, &mut ask) {
                return ready;
            }
            set_pass(Pass::All);
            let ready = self.ask_all(turns(), &mut ask);
            if self.offering == 0 || ready.is_ready() {
                return ready;
            }
            self.group = with(|context| context.asking(|asking| asking.group.clone()));
            let Some(group) = &self.group else {
                return Poll::Pending;
            };
            if !group.open() || crate::mutant!("group_announces_nothing") {
                return Poll::Pending;
            }
            set_pass(Pass::Announces);
            let ready = self.ask_members(turns(), &mut ask);
            // If one has been taken and its branch did not want it, the others go on.
            if ready.is_ready() || self.is_open() {
                return ready;
            }
        }
    }

    fn is_open(&self) -> bool {
        self.group.as_deref().is_none_or(Group::is_open)
    }

    /// Holds the group, so that no receiver takes from a member. Gives the output of the branch that one was taken from
    /// before.
    fn hold<R, I: Iterator<Item = usize>>(
        &self,
        turns: &impl Fn() -> I,
        ask: &mut impl FnMut(usize) -> Poll<R>,
    ) -> Poll<R> {
        let Some(group) = &self.group else {
            return Poll::Pending;
        };
        loop {
            let hold = group.hold();
            if hold == Hold::Held || crate::mutant!("select_goes_on_though_taken") {
                return Poll::Pending;
            }
            set_pass(Pass::Taken);
            if let ready @ Poll::Ready(_) = self.ask_members(turns(), ask) {
                return ready;
            }
            // Members have been looked at under the locks of their channels. So if it was claimed only, it is not any
            // more; and if it was taken, the branch did not want it.
            if hold == Hold::Taken {
                group.hold_again();
            }
        }
    }

    fn ask_all<R>(
        &mut self,
        turns: impl Iterator<Item = usize>,
        ask: &mut impl FnMut(usize) -> Poll<R>,
    ) -> Poll<R> {
        self.offering = 0;
        for branch in turns {
            let ready = ask(branch);
            if ready.is_ready() {
                return ready;
            }
            if with(|context| context.asking(|asking| mem::take(&mut asking.offers))) {
                self.offering |= bit(branch);
            }
        }
        // For the select that this one is a branch of.
        with(|context| context.asking(|asking| asking.offers = self.offering != 0));
        Poll::Pending
    }

    fn ask_members<R>(
        &self,
        turns: impl Iterator<Item = usize>,
        ask: &mut impl FnMut(usize) -> Poll<R>,
    ) -> Poll<R> {
        for branch in turns {
            if self.offering & bit(branch) == 0 {
                continue;
            }
            let ready = ask(branch);
            if ready.is_ready() {
                return ready;
            }
        }
        Poll::Pending
    }
}

impl Drop for Selecting {
    /// No receiver takes from a member any more, which may go on without this select.
    fn drop(&mut self) {
        if let Some(group) = &self.group
            && !crate::mutant!("group_outlives_its_select")
        {
            let _was = group.hold();
        }
    }
}

fn bit(branch: usize) -> u64 {
    1 << branch.min(63)
}

fn set_pass(pass: Pass) {
    with(|context| context.asking(|asking| asking.pass = pass));
}
