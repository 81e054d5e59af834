//! Stacks are used again, cost what they use, and are few mappings.

use std::panic::Location;

use super::*;

fn stack(bytes: usize) -> Stack {
    let label = Label::new("", Location::caller());
    take(bytes, label).expect("a stack")
}

fn mappings() -> usize {
    let maps = std::fs::read_to_string("/proc/self/maps").expect("Linux has it");
    maps.lines().count()
}

/// Bytes of this process that are in memory.
fn resident() -> usize {
    let text = std::fs::read_to_string("/proc/self/statm").expect("Linux has it");
    let pages = text.split(' ').nth(1).expect("a second number");
    pages.parse::<usize>().expect("a number") * 4_096
}

// One test, as each of them would see the other's stacks.
#[test]
fn many_stacks_are_few_mappings_and_give_their_memory_back() {
    // Of a size that no other test has.
    const BYTES: usize = 128 << 10;
    const MANY: usize = 20_000;
    let (maps, memory) = (mappings(), resident());
    let stacks: Vec<Stack> = (0..MANY).map(|_| stack(BYTES)).collect();
    let edges: Vec<StackPointer> = stacks.iter().map(|stack| stack.edge()).collect();
    // Where the kernel has no marks for guards, each guard is a mapping, and so is each stack.
    let allowed = if has_marks() {
        maps + 40
    } else {
        maps + 2 * MANY + 40
    };
    assert!(
        mappings() <= allowed,
        "{} mappings, {maps} before",
        mappings()
    );
    let each = resident().saturating_sub(memory) / MANY;
    assert!((4_000..5_000).contains(&each), "{each} bytes a stack");
    for stack in &stacks {
        let (base, limit) = (stack.base().get(), stack.limit().get());
        assert!(base.is_multiple_of(16) && limit.is_multiple_of(4_096));
        assert!(base - limit - GUARD >= BYTES);
        let lowest = ptr::with_exposed_provenance_mut::<u8>(limit + GUARD);
        // SAFETY: the lowest byte of a stack that nobody uses.
        unsafe { lowest.write(1) };
    }
    drop(stacks);
    let left = resident().saturating_sub(memory) / 4_096;
    assert!(left < 2 * WARM + 1_000, "{left} pages are kept");
    // The last one that was given back comes first; none is new.
    let again: Vec<StackPointer> = (0..MANY)
        .map(|_| mem::ManuallyDrop::new(stack(BYTES)).edge())
        .collect();
    let sorted = |mut edges: Vec<StackPointer>| {
        edges.sort_unstable();
        edges
    };
    assert_eq!(again[..2], [edges[MANY - 1], edges[WARM - 1]]);
    assert_eq!(sorted(again), sorted(edges));
}

fn has_marks() -> bool {
    let start = map(GUARD).expect("memory");
    let start = ptr::with_exposed_provenance_mut(start);
    // SAFETY: a mapping of our own.
    unsafe { libc::madvise(start, GUARD, GUARD_INSTALL) == 0 }
}

#[test]
fn a_class_is_the_next_power_of_two() {
    let size = |bytes| class_of(bytes).map(|class| SMALLEST << class);
    assert_eq!(size(0), Some(SMALLEST));
    assert_eq!(size(SMALLEST), Some(SMALLEST));
    assert_eq!(size(SMALLEST + 1), Some(2 * SMALLEST));
    assert_eq!(size(256 << 10), Some(256 << 10));
    assert_eq!(size(usize::MAX), None);
    let label = Label::new("", Location::caller());
    assert!(take(isize::MAX as usize, label).is_err());
}
