//! What a select tells the operations in its branches, while it polls them; and its [group](crate::group).
//!
//! An operation does not know what polls it. But one that may take effect while nobody polls it has to be a member of
//! the select's group, if it is a branch itself, or all of it: so a select notes here which branch it polls, and where
//! that is in memory. An operation in the same memory, beside which there is no room for a second one, is a branch. What
//! lies deeper (in an `async` block that does more, in a box) is foreign, and takes effect by itself.
//!
//! A `timeout` is a select of two. One that is a branch of another select has no group of its own: its operation is a
//! member of the other one's.

use core::cell::Cell;
use core::mem;
use core::pin::Pin;
use core::ptr;
use core::task::{self, Poll};

use alloc::sync::Arc;

use smallvec::SmallVec;

use super::asking::{Asking, MemoryRange, Pass, ROOM, range_of};
use super::{Context, with};
use crate::group::{Group, Hold};

/// Brings the outer select back, also if there is a panic.
pub(crate) struct Back(*const Asking<'static>);

impl Back {
    /// Until the drop of the result this select is the innermost one of the thread; `None`: none is.
    #[inline(always)]
    fn after(inner: Option<&Asking<'_>>) -> Self {
        let inner = inner.map_or(ptr::null(), ptr::from_ref);
        Self(with(|context| context.asking.replace(inner.cast())))
    }
}

/// What no select polls begins, though it is in a branch, and goes on until the drop of the result.
#[inline(always)]
pub(crate) fn leave_selects() -> Back {
    Back::after(None)
}

impl Drop for Back {
    #[inline(always)]
    fn drop(&mut self) {
        with(|context| context.asking.set(self.0));
    }
}

impl Context {
    /// The innermost select whose branches are polled on this thread; `None`: none is.
    #[inline(always)]
    fn asking(&self) -> Option<&Asking<'_>> {
        // SAFETY: it is on this thread's stack, or on that of the fiber that runs there, below this call: what set it, a
        // `Back` or an `Entered` that lies above it, takes it away again before it goes. A stack that stands still leaves
        // nothing of its own here, and is not told of another one's: both sides of a switch are outside of all selects.
        unsafe { self.asking.get().as_ref() }
    }
}

/// Calls what no select polls, though it is called in a branch: a wait in a fiber, whose thread others use meanwhile; and
/// the fiber itself.
#[inline(always)]
pub fn outside_selects<R>(run: impl FnOnce() -> R) -> R {
    let _back = leave_selects();
    run()
}

/// The number of the select that polls what runs on this thread; zero: none does.
pub fn selecting() -> u64 {
    with(|context| context.asking().map_or(0, Asking::number))
}

/// Whether a select polls what runs on this thread.
#[inline(always)]
pub fn is_in_select() -> bool {
    with(|context| !context.asking.get().is_null())
}

fn pass(context: &Context) -> Option<Pass> {
    context.asking().map(|asking| asking.pass.get())
}

/// Whether the branches are asked only for what members have already, or so that these are announced anew.
pub fn asks_members() -> bool {
    with(|context| pass(context).is_some_and(|pass| pass != Pass::All))
}

/// Whether the members of the group are announced anew.
pub fn announces() -> bool {
    with(|context| pass(context) == Some(Pass::Announces))
}

/// An operation with this action waits, and is to be a member of the group of the select whose branch it is. `None`: it is
/// no branch.
pub fn join_group<A>(action: &A) -> Option<Arc<Group>> {
    // Where the action is aligned more than the rest, there is padding before and behind it.
    let room = ROOM + 4 * (align_of::<A>() - 1);
    with(|context| {
        let asking = context.asking()?;
        asking.is_branch(range_of(action), room).then(|| {
            asking.offers.set(true);
            asking.group()
        })
    })
}

/// Says which branch of the innermost select is polled.
#[inline(always)]
fn begin_branch(context: &Context, range: MemoryRange) {
    if let Some(asking) = context.asking() {
        asking.branch.set(range);
    }
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
    with(|context| begin_branch(context, range));
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
        if is_branch(context, whole) {
            begin_branch(context, range_of(&*part));
        }
    });
    part.poll(cx)
}

#[inline(always)]
fn is_branch(context: &Context, range: MemoryRange) -> bool {
    let outer = context.asking();
    outer.is_some_and(|asking| asking.is_branch(range, ROOM))
}

/// What a select keeps between its polls.
#[derive(Debug, Default)]
pub struct Selecting {
    group: Option<Arc<Group>>,
    number: u64,
    /// The branches in which members wait.
    offering: SmallVec<[usize; 2]>,
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
        let Self {
            group,
            number,
            offering,
        } = self;
        let own = Asking::new(Cell::from_mut(group), Cell::from_mut(number));
        // If it is a branch of another one, its operations join that one's group, and are asked as that one says.
        let is_branch = with(|context| is_branch(context, range));
        let _back = (!is_branch).then(|| Back::after(Some(&own)));
        let mut pass = match is_branch {
            true => with(pass).unwrap_or(Pass::All),
            false => own.hold(),
        };
        loop {
            let (mut all, mut members, mut has_offers) = (turns(), 0, false);
            while let Some(branch) = match pass {
                Pass::All => all.next(),
                _ => offering.get(members).copied(),
            } {
                let ready = ask(branch);
                if ready.is_ready() {
                    return ready;
                }
                members += 1;
                if pass == Pass::All && with(|context| has_offered(context, false)) {
                    if !mem::replace(&mut has_offers, true) {
                        offering.clear();
                    }
                    offering.push(branch);
                }
            }
            if pass == Pass::All && !has_offers {
                return Poll::Pending;
            }
            if is_branch {
                with(|context| has_offered(context, has_offers));
                return Poll::Pending;
            }
            match own.after_members(pass) {
                Some(next) => pass = next,
                None => return Poll::Pending,
            }
        }
    }
}

/// Whether a member waits in the branch that was polled; from now on it is as said.
#[inline(always)]
fn has_offered(context: &Context, offers: bool) -> bool {
    let asking = context.asking();
    asking.is_some_and(|asking| asking.offers.replace(offers))
}

impl Asking<'_> {
    /// In which pass the branches are asked next, as none was ready in this one, and members wait; `None`: the select
    /// waits.
    #[cold]
    #[inline(never)]
    fn after_members(&self, pass: Pass) -> Option<Pass> {
        match pass {
            Pass::All => {
                let announces = self.group().open() && !crate::mutant!("group_announces_nothing");
                announces.then(|| self.begin(Pass::Announces))
            }
            // It waits; unless a member has been taken meanwhile and its branch did not want it: then the others go on.
            Pass::Announces => {
                self.begin(Pass::All);
                (!self.group().is_open()).then(|| self.hold())
            }
            // What had been taken was not wanted.
            Pass::Taken => {
                self.group().hold_again();
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
        self.with_group(|group| self.hold_group(group))
            .unwrap_or(Pass::All)
    }

    #[cold]
    #[inline(never)]
    fn hold_group(&self, group: &Group) -> Pass {
        self.begin(match group.hold() {
            _ if crate::mutant!("select_goes_on_though_taken") => Pass::All,
            Hold::Held => Pass::All,
            Hold::Claimed => Pass::Claimed,
            Hold::Taken => Pass::Taken,
        })
    }

    fn begin(&self, pass: Pass) -> Pass {
        // The member that was asked last may have said that it waits; the first branch of this pass has not so far.
        if !crate::mutant!("offer_names_the_next_branch") {
            self.offers.set(false);
        }
        self.pass.set(pass);
        pass
    }
}
