//! Who is in the tree, on a `/proc` of our own.

use super::*;
use crate::family::tests::Fake;

const LAB: i32 = 10;
const LAUNCHER: i32 = 11;

/// The tree of the lab's launcher, with these strangers.
fn tree(fake: &Fake, strangers: Strangers) -> Tree {
    let mut tree = Tree::new(fake.path(), LAB, LAUNCHER, strangers);
    tree.page_bytes = 1;
    tree
}

/// Number, parent, group, pages.
const MACHINE: [(i32, i32, i32, u64); 6] = [
    (1, 0, 1, 1_000_000),
    (2, 0, 0, 0),
    (5, 1, 5, 2_000_000),
    (10, 5, 5, 4_000_000),
    (11, 10, 11, 8_000_000),
    (20, 11, 11, 3),
];

#[test]
fn all_below_are_in_it_and_nobody_else() {
    let fake = Fake::new(&MACHINE);
    let mut tree = tree(&fake, Strangers::default());
    assert_eq!(tree.memory(), 3);
    fake.set(21, 20, 11, 40);
    fake.set(30, 21, 11, 500);
    fake.set(31, 5, 11, 16_000_000);
    assert_eq!(tree.memory(), 543);
    // One ends, its child gets the lab for a parent; then it grows.
    fake.gone(21);
    fake.set(30, 10, 11, 700);
    assert_eq!(tree.memory(), 703);
    fake.set(40, 30, 11, 20_000);
    fake.set(20, 11, 11, 4);
    assert_eq!(tree.memory(), 20_704);
}

#[test]
fn who_was_between_and_has_ended_decides_nothing() {
    let fake = Fake::new(&MACHINE);
    let mut tree = tree(&fake, Strangers::default());
    fake.set(50, 49, 11, 600);
    assert_eq!(tree.memory(), 3);
    fake.set(50, 10, 11, 600);
    assert_eq!(tree.memory(), 603);
}

#[test]
fn a_number_may_be_used_again() {
    let fake = Fake::new(&MACHINE);
    let mut tree = tree(&fake, Strangers::default());
    fake.set(60, 5, 11, 70);
    assert_eq!(tree.memory(), 3);
    fake.gone(60);
    assert_eq!(tree.memory(), 3);
    fake.set(60, 20, 11, 70);
    assert_eq!(tree.memory(), 73);
}

#[test]
fn without_proc_nothing_is_known() {
    let proc = Path::new("/no/such/folder");
    assert_eq!(
        Tree::new(proc, LAB, LAUNCHER, Strangers::default()).memory(),
        0
    );
}

#[test]
fn who_was_there_before_does_not_count_and_gets_no_signal() {
    let fake = Fake::new(&MACHINE[..4]);
    // A server that the shell left, which was replaced by the lab; its group is the lab's.
    fake.set(12, 10, 5, 7_000);
    fake.set(13, 12, 13, 7_000);
    let strangers = Strangers::below(fake.path(), LAB);
    for (pid, parent, group, pages) in &MACHINE[4..] {
        fake.set(*pid, *parent, *group, *pages);
    }
    let mut tree = tree(&fake, strangers);
    assert_eq!(tree.memory(), 3);
    // What the server makes now, below it or without a parent.
    fake.set(14, 13, 14, 7_000);
    fake.set(15, 10, 13, 7_000);
    fake.set(16, 15, 16, 7_000);
    fake.set(21, 10, 21, 40);
    assert_eq!(tree.memory(), 43);
    let mut addressees = tree.addressees();
    addressees.sort_unstable();
    assert_eq!(addressees, [20, 21]);
}

#[test]
fn a_signal_does_not_go_to_the_next_who_has_the_number() {
    let fake = Fake::new(&MACHINE);
    fake.set(21, 20, 11, 40);
    let mut tree = tree(&fake, Strangers::default());
    assert_eq!(tree.memory(), 43);
    // Between two samples 21 has ended, and somebody else has its number.
    fake.since(21, 5, 5, 16_000_000, 2_000);
    assert_eq!(tree.addressees(), [20]);
}
