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
        // If it is a branch of another one, its operations join that one's group, and are asked as that one says.
        let is_branch = with(|context| context.asking.is_branch(range, ROOM));
        let _back = (!is_branch).then(|| Back::after(range.0, self.group.clone()));
        let mut pass = match is_branch {
            true => with(|context| context.asking.pass.get()),
            false => self.hold(),
        };
        loop {
            let (mut all, mut members) = (turns(), 0);
            if pass == Pass::All {
                self.offering.clear();
            }
            while let Some(branch) = match pass {
                Pass::All => all.next(),
                _ => self.offering.get(members).copied(),
            } {
                let ready = ask(branch);
                if ready.is_ready() {
                    return ready;
                }
                members += 1;
                if pass == Pass::All && with(|context| context.asking.offers.replace(false)) {
                    self.offering.push(branch);
                }
            }
            match self.after(pass, is_branch) {
                Some(next) => pass = next,
                None => return Poll::Pending,
            }
        }
    }

    /// In which pass the branches are asked next, as none was ready in this one; `None`: the select waits.
    #[inline(always)]
    fn after(&mut self, pass: Pass, is_branch: bool) -> Option<Pass> {
        match pass {
            Pass::All if self.offering.is_empty() => None,
            Pass::All if is_branch => {
                with(|context| context.asking.offers.set(true));
                None
            }
            _ if is_branch => None,
            _ => self.after_members(pass),
        }
    }

    #[cold]
    #[inline(never)]
    fn after_members(&mut self, pass: Pass) -> Option<Pass> {
        let group = self
            .group
            .get_or_insert_with(|| with(|context| context.asking.group()));
        match pass {
            Pass::All => {
                let announces = group.open() && !crate::mutant!("group_announces_nothing");
                announces.then(|| begin(Pass::Announces))
            }
            // It waits; unless a member has been taken meanwhile and its branch did not want it: then the others go on.
            Pass::Announces => {
                begin(Pass::All);
                (!group.is_open()).then(|| self.hold())
            }
            // What had been taken was not wanted.
            Pass::Taken => {
                group.hold_again();
                Some(self.hold())
            }
            // Members have been looked at under the locks of their channels: who had claimed the group has decided.
            Pass::Claimed => Some(self.hold()),
        }
    }

    /// Holds the group, so that no receiver takes from a member; if one has before, or is about to, the members are asked
    /// first.
    #[inline(always)]
    fn hold(&self) -> Pass {
        match &self.group {
            Some(group) => Self::hold_group(group),
            None => Pass::All,
        }
    }

    #[cold]
    #[inline(never)]
    fn hold_group(group: &Group) -> Pass {
        begin(match group.hold() {
            _ if crate::mutant!("select_goes_on_though_taken") => Pass::All,
            Hold::Held => Pass::All,
            Hold::Claimed => Pass::Claimed,
            Hold::Taken => Pass::Taken,
        })
    }
}

fn begin(pass: Pass) -> Pass {
    with(|context| context.asking.pass.set(pass));
    pass
}
