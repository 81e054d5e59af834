//! What a select tells the operations in its branches, while it polls them; and its [group](crate::group).
//!
//! An operation does not know what polls it. But one that may take effect while nobody polls it has to be a member of
//! the select's group, if it is a branch itself, or all of it: so a select notes here which branch it polls, and where
//! that is in memory. An operation in the same memory, beside which there is no room for a second one, is a branch. What
//! lies deeper (in an `async` block that does more, in a box) is foreign, and takes effect by itself.
//!
//! A `timeout` is a select of two. One that is a branch of another select has no group of its own: its operation is a
//! member of the other one's.

use core::pin::Pin;
use core::task::{self, Poll};

use alloc::sync::Arc;

use super::asking::{Asked, MemoryRange, Pass, range_of};
use super::with;
use crate::group::{Group, Hold};

/// Brings the outer select back, also if there is a panic.
struct Back(Option<Asked>);

impl Back {
    #[inline(always)]
    fn after(owner: usize, group: Option<Arc<Group>>) -> Self {
        Self(with(|context| Some(context.asking.begin(owner, group))))
    }
}

impl Drop for Back {
    #[inline(always)]
    fn drop(&mut self) {
        if let Some(outer) = self.0.take() {
            drop(with(|context| context.asking.restore(outer)));
        }
    }
}

/// Calls what no select polls, though it is called in a branch: a wait in a fiber, whose thread others use meanwhile.
pub(crate) fn outside_selects<R>(run: impl FnOnce() -> R) -> R {
    let _back = Back::after(0, None);
    run()
}

/// The select that polls what runs on this thread; zero: none does.
pub fn selecting() -> usize {
    with(|context| context.asking.owner.get())
}

/// Whether the branches are asked only for what members have already, or so that these are announced anew.
pub fn asks_members() -> bool {
    with(|context| context.asking.pass.get() != Pass::All)
}

/// Whether the members of the group are announced anew.
pub fn announces() -> bool {
    with(|context| context.asking.pass.get() == Pass::Announces)
}

/// An operation there waits, and is to be a member of the group of the select whose branch it is. `None`: it is no
/// branch.
pub fn join_group(operation: MemoryRange) -> Option<Arc<Group>> {
    with(|context| {
        let asking = &context.asking;
        asking.is_branch(operation).then(|| {
            asking.offers.set(true);
            asking.group()
        })
    })
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
    with(|context| context.asking.branch.set(range));
    branch.poll(cx)
}

/// What a select keeps between its polls.
#[derive(Debug, Default)]
pub struct Selecting {
    group: Option<Arc<Group>>,
    /// The branches in which members wait, a bit each; the last bit stands for all from there on.
    offering: u64,
}

impl Selecting {
    /// Polls so many branches by `ask`, in the order of `turns`, until one is ready. `range`: where the select is now.
    /// `owner`: an address of its own that stays. `ask` polls by [`poll_branch`].
    #[inline(always)]
    pub fn poll<R, I: Iterator<Item = usize>>(
        &mut self,
        range: MemoryRange,
        owner: usize,
        branches: usize,
        turns: impl Fn() -> I,
        mut ask: impl FnMut(usize) -> Poll<R>,
    ) -> Poll<R> {
        // If it is a branch of another one, its operations join that one's group.
        let is_branch = with(|context| context.asking.is_branch(range));
        if is_branch && asks_members() {
            return self.ask_members(branches, &mut ask);
        }
        let _back = (!is_branch).then(|| Back::after(owner, self.group.clone()));
        loop {
            if self.group.is_some()
                && let ready @ Poll::Ready(_) = self.hold(branches, &mut ask)
            {
                return ready;
            }
            self.offering = 0;
            for branch in turns() {
                let ready = ask(branch);
                if ready.is_ready() {
                    return ready;
                }
                if with(|context| context.asking.offers.replace(false)) {
                    self.offering |= bit(branch);
                }
            }
            if self.offering == 0 {
                return Poll::Pending;
            }
            if is_branch {
                with(|context| context.asking.offers.set(true));
                return Poll::Pending;
            }
            let ready = self.open(branches, &mut ask);
            // If a member has been taken and its branch did not want it, the others go on.
            if ready.is_ready() || self.group.as_deref().is_none_or(Group::is_open) {
                return ready;
            }
        }
    }

    /// Holds the group, so that no receiver takes from a member. Gives the output of the branch that one was taken from
    /// before.
    #[cold]
    #[inline(never)]
    fn hold<R>(&self, branches: usize, ask: &mut dyn FnMut(usize) -> Poll<R>) -> Poll<R> {
        let Some(group) = &self.group else {
            return Poll::Pending;
        };
        loop {
            let hold = group.hold();
            if hold == Hold::Held || crate::mutant!("select_goes_on_though_taken") {
                return Poll::Pending;
            }
            set_pass(Pass::Taken);
            let ready = self.ask_members(branches, ask);
            set_pass(Pass::All);
            if ready.is_ready() {
                return ready;
            }
            // Members have been looked at under the locks of their channels. So if it was claimed only, it is not any
            // more; and if it was taken, the branch did not want it.
            if hold == Hold::Taken {
                group.hold_again();
            }
        }
    }

    /// The select waits, and so its members can be taken.
    #[cold]
    #[inline(never)]
    fn open<R>(&mut self, branches: usize, ask: &mut dyn FnMut(usize) -> Poll<R>) -> Poll<R> {
        let group = self.group.insert(with(|context| context.asking.group()));
        if !group.open() || crate::mutant!("group_announces_nothing") {
            return Poll::Pending;
        }
        set_pass(Pass::Announces);
        let ready = self.ask_members(branches, ask);
        set_pass(Pass::All);
        ready
    }

    #[cold]
    fn ask_members<R>(&self, branches: usize, ask: &mut dyn FnMut(usize) -> Poll<R>) -> Poll<R> {
        let mut members = (0..branches).filter(|branch| self.offering & bit(*branch) != 0);
        let ready = members.find_map(|branch| match ask(branch) {
            Poll::Ready(output) => Some(output),
            Poll::Pending => None,
        });
        ready.map_or(Poll::Pending, Poll::Ready)
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
    with(|context| context.asking.pass.set(pass));
}
