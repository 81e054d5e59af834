//! Who is in the tree, on a `/proc` of our own.

use super::*;

struct Fake(tempfile::TempDir);

impl Fake {
    fn new(processes: &[(i32, i32, u64)]) -> Fake {
        let fake = Fake(tempfile::tempdir().expect("a temporary folder"));
        for (pid, parent, pages) in processes {
            fake.set(*pid, *parent, *pages);
        }
        std::fs::write(fake.0.path().join("version"), "no process").expect("our own folder");
        fake
    }

    fn set(&self, pid: i32, parent: i32, pages: u64) {
        let folder = self.0.path().join(pid.to_string());
        std::fs::create_dir_all(&folder).expect("our own folder");
        let stat = format!("{pid} (a) 7 (b c) S {parent} 1 1 0");
        std::fs::write(folder.join("stat"), stat).expect("our own folder");
        std::fs::write(folder.join("statm"), format!("9999 {pages} 1 1 0 1 0")).expect("ours");
    }

    fn gone(&self, pid: i32) {
        std::fs::remove_dir_all(self.0.path().join(pid.to_string())).expect("our own folder");
    }

    /// The lab is 10, its launcher 11.
    fn tree(&self) -> Tree {
        let mut tree = Tree::new(self.0.path(), 10, 11);
        tree.page_bytes = 1;
        tree
    }
}

const MACHINE: [(i32, i32, u64); 6] = [
    (1, 0, 1_000_000),
    (2, 0, 0),
    (5, 1, 2_000_000),
    (10, 5, 4_000_000),
    (11, 10, 8_000_000),
    (20, 11, 3),
];

#[test]
fn all_below_are_in_it_and_nobody_else() {
    let fake = Fake::new(&MACHINE);
    let mut tree = fake.tree();
    assert_eq!(tree.memory(), 3);
    fake.set(21, 20, 40);
    fake.set(30, 21, 500);
    fake.set(31, 5, 16_000_000);
    assert_eq!(tree.memory(), 543);
    // One ends, its child gets the lab for a parent; then it grows.
    fake.gone(21);
    fake.set(30, 10, 700);
    assert_eq!(tree.memory(), 703);
    fake.set(40, 30, 20_000);
    fake.set(20, 11, 4);
    assert_eq!(tree.memory(), 20_704);
}

#[test]
fn who_was_between_and_has_ended_decides_nothing() {
    let fake = Fake::new(&MACHINE);
    let mut tree = fake.tree();
    fake.set(50, 49, 600);
    assert_eq!(tree.memory(), 3);
    fake.set(50, 10, 600);
    assert_eq!(tree.memory(), 603);
}

#[test]
fn a_number_may_be_used_again() {
    let fake = Fake::new(&MACHINE);
    let mut tree = fake.tree();
    fake.set(60, 5, 70);
    assert_eq!(tree.memory(), 3);
    fake.gone(60);
    assert_eq!(tree.memory(), 3);
    fake.set(60, 20, 70);
    assert_eq!(tree.memory(), 73);
}

#[test]
fn without_proc_nothing_is_known() {
    assert_eq!(Tree::new(Path::new("/no/such/folder"), 10, 11).memory(), 0);
}
