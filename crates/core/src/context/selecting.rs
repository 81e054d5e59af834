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
use alloc::vec::Vec;

use super::asking::{Asked, MemoryRange, Pass, ROOM, range_of};
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

/// An operation with this action waits, and is to be a member of the group of the select whose branch it is. `None`: it is
/// no branch.
pub fn join_group<A>(action: &A) -> Option<Arc<Group>> {
    // Where the action is aligned more than the rest, there is padding before and behind it.
    let room = ROOM + 4 * (align_of::<A>() - 1);
    with(|context| {
        let asking = &context.asking;
        asking.is_branch(range_of(action), room).then(|| {
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

/// Polls the only operation that there is in a future of ours, which is at `whole`: it is a branch if that is one.
#[inline(always)]
pub fn poll_part<F: Future>(
    whole: MemoryRange,
    part: Pin<&mut F>,
    cx: &mut task::Context<'_>,
) -> Poll<F::Output> {
    with(|context| {
        if context.asking.is_branch(whole, ROOM) {
            context.asking.branch.set(range_of(&*part));
        }
    });
    part.poll(cx)
}

/// What a select keeps between its polls. It stays where it is from the first on.
#[derive(Debug, Default)]
pub struct Selecting {
    group: Option<Arc<Group>>,
    /// The branches in which members wait.
    offering: Vec<usize>,
}

impl Selecting {
    /// Polls the branches by `ask`, in the order of `turns`, until one is ready. `range`: where the select is. `ask` polls
    /// by [`poll_branch`].
    #[inline(always)]
    pub fn poll<R, I: Iterator<Item = usize>>(
        &mut self,
        range: MemoryRange,
        turns: impl Fn() -> I,
        mut ask: impl FnMut(usize) -> Poll<R>,
    ) -> Poll<R> {
        // If it is a branch of another one, its operations join that one's group.
        let is_branch = with(|context| context.asking.is_branch(range, ROOM));
        if is_branch && asks_members() {
            return self.ask_members(&mut ask);
        }
        let _back = (!is_branch).then(|| Back::after(range.0, self.group.clone()));
        loop {
            if self.group.is_some()
                && let ready @ Poll::Ready(_) = self.hold(&mut ask)
            {
                return ready;
            }
            self.offering.clear();
            for branch in turns() {
                let ready = ask(branch);
                if ready.is_ready() {
                    return ready;
                }
                if with(|context| context.asking.offers.replace(false)) {
                    self.offering.push(branch);
                }
            }
            if self.offering.is_empty() {
                return Poll::Pending;
            }
            if is_branch {
                with(|context| context.asking.offers.set(true));
                return Poll::Pending;
            }
            let ready = self.open(&mut ask);
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
    fn hold<R>(&self, ask: &mut dyn FnMut(usize) -> Poll<R>) -> Poll<R> {
        let Some(group) = &self.group else {
            return Poll::Pending;
        };
        loop {
            let hold = group.hold();
            if hold == Hold::Held || crate::mutant!("select_goes_on_though_taken") {
                return Poll::Pending;
            }
            set_pass(Pass::Taken);
            let ready = self.ask_members(ask);
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
    fn open<R>(&mut self, ask: &mut dyn FnMut(usize) -> Poll<R>) -> Poll<R> {
        let group = self.group.insert(with(|context| context.asking.group()));
        if !group.open() || crate::mutant!("group_announces_nothing") {
            return Poll::Pending;
        }
        set_pass(Pass::Announces);
        let ready = self.ask_members(ask);
        set_pass(Pass::All);
        ready
    }

    #[cold]
    fn ask_members<R>(&self, ask: &mut dyn FnMut(usize) -> Poll<R>) -> Poll<R> {
        let mut answers = self.offering.iter().map(|branch| ask(*branch));
        answers.find(Poll::is_ready).unwrap_or(Poll::Pending)
    }
}

impl Drop for Selecting {
    /// No receiver takes from a member any more, which may go on without this select.
    fn drop(&mut self) {
        if let Some(group) = &self.group
            && !crate::mutant!("group_outlives_its_select")
        {
            group.end();
        }
    }
}

fn set_pass(pass: Pass) {
    with(|context| context.asking.pass.set(pass));
}
