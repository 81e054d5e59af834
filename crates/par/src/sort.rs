//! Sorting: both kinds split with [`join`], and leave small parts to std.

use std::cmp::Ordering;

use crate::member::{join, with_current};

/// Parts shorter than this are sorted by one thread: splitting them would cost more than it gives.
const ALONE: usize = if cfg!(debug_assertions) { 64 } else { 4096 };
/// How many items are looked at for a pivot; the middle one of them is near the middle of all.
const SAMPLE: usize = 63;
/// Parts a thread gets, so that one that has been split badly does not hold up all.
const PARTS: usize = 8;

/// The threads that compute, here.
fn threads() -> usize {
    with_current(|member| member.map_or(1, |member| member.team().limit()))
}

/// How often parts are halved, so that each thread gets a few.
fn halvings(parts: usize) -> u32 {
    (threads() * parts).next_power_of_two().ilog2()
}

/// Sorts, and may swap equal items: quicksort (Hoare), down to parts that one thread sorts; see the facade.
pub fn sort_unstable_by<T: Send>(items: &mut [T], compare: impl Fn(&T, &T) -> Ordering + Sync) {
    match threads() {
        1 => items.sort_unstable_by(compare),
        _ => quicksort(items, &compare, halvings(PARTS)),
    }
}

fn quicksort<T: Send>(
    items: &mut [T],
    compare: &(impl Fn(&T, &T) -> Ordering + Sync),
    halvings: u32,
) {
    if items.len() < ALONE || halvings == 0 {
        return items.sort_unstable_by(compare);
    }
    choose_pivot(items, compare);
    let Some((pivot, rest)) = items.split_first_mut() else {
        return;
    };
    let smaller = partition(rest, |item| compare(item, pivot).is_lt());
    if smaller == 0 {
        // Nothing is smaller, so many may be equal: those are where they belong.
        let equal = partition(rest, |item| compare(item, pivot).is_eq());
        return quicksort(&mut rest[equal..], compare, halvings - 1);
    }
    items.swap(0, smaller);
    let (left, right) = items.split_at_mut(smaller);
    let right = &mut right[1..];
    join(
        || quicksort(left, compare, halvings - 1),
        || quicksort(right, compare, halvings - 1),
    );
}

/// Puts the middle one of a sample in front.
fn choose_pivot<T>(items: &mut [T], compare: &impl Fn(&T, &T) -> Ordering) {
    let step = items.len() / SAMPLE;
    for at in 0..SAMPLE {
        items.swap(at, at * step);
    }
    items[..SAMPLE].sort_unstable_by(compare);
    items.swap(0, SAMPLE / 2);
}

/// Puts those that belong in front there, and gives their number. Without branches that depend on the items (Lomuto's
/// scheme): a processor would guess them wrong half of the time.
fn partition<T>(items: &mut [T], is_in_front: impl Fn(&T) -> bool) -> usize {
    let mut front = 0;
    for at in 0..items.len() {
        let moves = is_in_front(&items[at]);
        items.swap(front, at);
        front += usize::from(moves);
    }
    front
}

/// Sorts, and keeps equal items in order: merge sort. Two sorted halves are merged by std's sort, which finds that they
/// are two runs; see the facade.
pub fn sort_by<T: Send>(items: &mut [T], compare: impl Fn(&T, &T) -> Ordering + Sync) {
    match threads() {
        1 => items.sort_by(compare),
        _ => merge_sort(items, &compare, halvings(1)),
    }
}

fn merge_sort<T: Send>(
    items: &mut [T],
    compare: &(impl Fn(&T, &T) -> Ordering + Sync),
    halvings: u32,
) {
    if items.len() >= ALONE && halvings > 0 {
        let (left, right) = items.split_at_mut(items.len() / 2);
        join(
            || merge_sort(left, compare, halvings - 1),
            || merge_sort(right, compare, halvings - 1),
        );
    }
    items.sort_by(compare);
}
