//! Going over items: they are split as often as threads come for parts.
//!
//! The splitting adapts, as in rayon (Stone and Matsakis): there are at first a few more parts than threads, and a part
//! that a thread has stolen is split as often again, as then there is somebody who has nothing to do.

use crate::items::Items;
use crate::member::{join, with_current};

/// Calls `leaf` with parts of the items, and `combine` with what comes of neighbours.
pub(crate) fn in_parts<I, R>(
    items: I,
    leaf: &(impl Fn(I) -> R + Sync),
    combine: &(impl Fn(R, R) -> R + Sync),
) -> R
where
    I: Items,
    R: Send,
{
    match here() {
        None => leaf(items),
        Some((member, threads)) => go(items, threads, member, leaf, combine),
    }
}

/// Which member this thread is, and how many are to compute.
fn here() -> Option<(usize, usize)> {
    with_current(|member| member.map(|member| (member.address(), member.team().limit())))
}

/// As [`in_parts`], where `splits` says how often to split, unless the part is stolen from the thread `owner`.
fn go<I, R>(
    items: I,
    splits: usize,
    owner: usize,
    leaf: &(impl Fn(I) -> R + Sync),
    combine: &(impl Fn(R, R) -> R + Sync),
) -> R
where
    I: Items,
    R: Send,
{
    let count = items.count();
    if count <= 1 || splits == 0 {
        return leaf(items);
    }
    let (left, right) = items.split_at(count / 2);
    let splits = splits / 2;
    let right = || match here() {
        Some((thief, threads)) if thief != owner => {
            go(right, splits.max(threads), thief, leaf, combine)
        }
        _ => go(right, splits, owner, leaf, combine),
    };
    let (left, right) = join(|| go(left, splits, owner, leaf, combine), right);
    combine(left, right)
}

/// Calls `each` with every item, perhaps several at the same time; see the facade.
pub fn for_each<I: Items>(items: I, each: impl Fn(I::Item) + Sync) {
    in_parts(
        items,
        &|items: I| items.iter().for_each(&each),
        &|(), ()| (),
    );
}

/// Folds parts of the items, and combines what comes of them, in order; see the facade.
pub fn reduce<I: Items, R: Send>(
    items: I,
    identity: impl Fn() -> R + Sync,
    fold: impl Fn(R, I::Item) -> R + Sync,
    combine: impl Fn(R, R) -> R + Sync,
) -> R {
    let leaf = |items: I| items.iter().fold(identity(), &fold);
    in_parts(items, &leaf, &combine)
}
