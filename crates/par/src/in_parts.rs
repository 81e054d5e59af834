//! Going over items: they are split as often as threads come for parts.
//!
//! There are at first more parts than threads, at most twice as many. A thread goes over a part piece by piece, and when it sees that
//! others have taken all that it had to give, it splits what is left of the part: lazy binary splitting (Tzannes, Caragea,
//! Barua, Vishkin, *Lazy Binary-Splitting: A Run-Time Adaptive Work-Stealing Scheduler*, 2010).

use crate::items::Items;
use crate::member::{Member, in_order, join, with_current};

/// A piece is one of this many that are left of the part.
const PIECES: usize = 8;

/// Calls `leaf` with pieces of the items, and with what has come of the pieces before in the same part, if there are any;
/// calls `combine` with what has come of neighbouring parts.
pub(crate) fn in_parts<I, R>(
    items: I,
    leaf: &(impl Fn(Option<R>, I) -> R + Sync),
    combine: &(impl Fn(R, R) -> R + Sync),
) -> R
where
    I: Items,
    R: Send,
{
    match with_current(|member| member.map(|member| member.team().limit())) {
        None => leaf(None, items),
        Some(threads) => go(items, threads, leaf, combine),
    }
}

/// As [`in_parts`], where `splits` says how often to split though nobody has asked for it.
fn go<I, R>(
    items: I,
    splits: usize,
    leaf: &(impl Fn(Option<R>, I) -> R + Sync),
    combine: &(impl Fn(R, R) -> R + Sync),
) -> R
where
    I: Items,
    R: Send,
{
    let count = items.count();
    if count <= 1 {
        return leaf(None, items);
    }
    if splits == 0 {
        return with_current(|member| piece_by_piece(items, member, leaf, combine));
    }
    let (left, right) = items.split_at(count / 2);
    let (left, right) = join(
        || go(left, splits / 2, leaf, combine),
        || go(right, splits / 2, leaf, combine),
    );
    combine(left, right)
}

/// Goes over the items in order, and splits those that are left when there is nothing else for others.
fn piece_by_piece<I, R>(
    mut items: I,
    member: Option<&Member<'_>>,
    leaf: &(impl Fn(Option<R>, I) -> R + Sync),
    combine: &(impl Fn(R, R) -> R + Sync),
) -> R
where
    I: Items,
    R: Send,
{
    let mut done = None;
    loop {
        let count = items.count();
        if count > 1 && member.is_some_and(Member::has_nothing_to_give) {
            let (done, rest) = in_order(Ok(done), || go(items, 1, leaf, combine));
            return match done {
                None => rest,
                Some(done) => combine(done, rest),
            };
        }
        let (piece, rest) = items.split_at(count.div_ceil(PIECES));
        let result = leaf(done, piece);
        if rest.count() == 0 {
            return result;
        }
        (done, items) = (Some(result), rest);
    }
}

/// Calls `each` with every item, perhaps several at the same time; see the facade.
pub fn for_each<I: Items>(items: I, each: impl Fn(I::Item) + Sync) {
    in_parts(
        items,
        &|_, items: I| items.iter().for_each(&each),
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
    let leaf = |done: Option<R>, items: I| {
        let done = done.unwrap_or_else(&identity);
        items.iter().fold(done, &fold)
    };
    in_parts(items, &leaf, &combine)
}
