//! What is sorted, and how it is split.

/// Parts up to this length are sorted by one thread.
pub const ALONE: usize = 2048;

/// Each number below `count` once, each so far from the one before as makes them fill the range evenly.
pub fn shuffled(count: u64) -> Vec<u32> {
    let mut step = count * 618 / 1000;
    while gcd(step, count) != 1 {
        step += 1;
    }
    let mut next = 0;
    let items = (0..count).map(|_| {
        let item = next;
        next = (next + step) % count;
        item as u32
    });
    items.collect()
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// Puts the middle one of three in its place, what is smaller before it, and the rest behind it; gives that place.
/// Without branches that depend on the items (Lomuto's scheme).
pub fn partition(items: &mut [u32]) -> usize {
    let last = items.len() - 1;
    let middle = last / 2;
    let mut three = [0, middle, last];
    three.sort_unstable_by_key(|&at| items[at]);
    items.swap(0, three[1]);
    let pivot = items[0];
    let mut front = 0;
    for at in 1..items.len() {
        let is_smaller = items[at] < pivot;
        items.swap(front + 1, at);
        front += usize::from(is_smaller);
    }
    items.swap(0, front);
    front
}

/// The sum of each item times its place, in 32 bits.
pub fn sum(items: &[u32]) -> u64 {
    let products = (0..)
        .zip(items)
        .map(|(at, &item): (u64, _)| at * u64::from(item));
    products.fold(0, u64::wrapping_add) % (1 << 32)
}
