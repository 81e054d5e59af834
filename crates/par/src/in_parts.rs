//! Going over items: they are split as often as threads come for parts.
//!
//! There are at first a few more parts than threads. A thread goes over a part bit by bit, and when it sees that others
//! have taken all that it had to give, it splits what is left of the part: lazy binary splitting (Tzannes, Caragea, Barua,
//! Vishkin, *Lazy Binary-Splitting: A Run-Time Adaptive Work-Stealing Scheduler*, 2010).

use crate::items::Items;
use crate::member::{Member, join, with_current};

/// A thread looks whether it has something to give after one of so many bits of what is left.
const BITS: usize = 8;

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
    match with_current(|member| member.map(|member| member.team().limit())) {
        None => leaf(items),
        Some(threads) => go(items, threads, leaf, combine),
    }
}

/// As [`in_parts`], where `splits` says how often to split, whoever comes.
fn go<I, R>(
    items: I,
    splits: usize,
    leaf: &(impl Fn(I) -> R + Sync),
    combine: &(impl Fn(R, R) -> R + Sync),
) -> R
where
    I: Items,
    R: Send,
{
    let count = items.count();
    if count <= 1 {
        return leaf(items);
    }
    if splits == 0 {
        return with_current(|member| bit_by_bit(items, member, leaf, combine));
    }
    let (left, right) = items.split_at(count / 2);
    let (left, right) = join(
        || go(left, splits / 2, leaf, combine),
        || go(right, splits / 2, leaf, combine),
    );
    combine(left, right)
}

/// Goes over them in order, and splits those that are left when there is nothing else for others.
fn bit_by_bit<I, R>(
    mut items: I,
    member: Option<&Member<'_>>,
    leaf: &(impl Fn(I) -> R + Sync),
    combine: &(impl Fn(R, R) -> R + Sync),
) -> R
where
    I: Items,
    R: Send,
{
    let mut done = None;
    loop {
        let count = items.count();
        let (result, rest) = if count > 1 && member.is_some_and(Member::has_nothing_to_give) {
            (go(items, 1, leaf, combine), None)
        } else {
            let (bit, rest) = items.split_at(count.div_ceil(BITS));
            (leaf(bit), (rest.count() > 0).then_some(rest))
        };
        let result = match done {
            None => result,
            Some(done) => combine(done, result),
        };
        let Some(rest) = rest else { return result };
        (done, items) = (Some(result), rest);
    }
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
