//! Who is a stranger, on a `/proc` of our own.

use super::*;

/// A `/proc` with these processes: number, parent, group, pages.
pub(crate) struct Fake(tempfile::TempDir);

impl Fake {
    pub(crate) fn new(processes: &[(i32, i32, i32, u64)]) -> Fake {
        let fake = Fake(tempfile::tempdir().expect("a temporary folder"));
        for (pid, parent, group, pages) in processes {
            fake.set(*pid, *parent, *group, *pages);
        }
        std::fs::write(fake.path().join("version"), "no process").expect("our own folder");
        fake
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn set(&self, pid: i32, parent: i32, group: i32, pages: u64) {
        self.since(pid, parent, group, pages, 1_000);
    }

    /// The same for a process that started then.
    pub(crate) fn since(&self, pid: i32, parent: i32, group: i32, pages: u64, started: u64) {
        let folder = self.path().join(pid.to_string());
        std::fs::create_dir_all(&folder).expect("our own folder");
        let zeros = "0 ".repeat(16);
        let stat = format!("{pid} (a) 7 (b c) S {parent} {group} {zeros}{started} 9 9");
        std::fs::write(folder.join("stat"), stat).expect("our own folder");
        std::fs::write(folder.join("statm"), format!("9999 {pages} 1 1 0 1 0")).expect("ours");
    }

    pub(crate) fn gone(&self, pid: i32) {
        std::fs::remove_dir_all(self.path().join(pid.to_string())).expect("our own folder");
    }
}

#[test]
fn the_kernel_shows_this_process() {
    if cfg!(target_os = "linux") {
        let own = seen(Path::new(PROC), own_pid()).expect("we are there");
        let parent = rustix::process::getppid().map(|pid| pid.as_raw_nonzero().get());
        let group = rustix::process::getpgrp().as_raw_nonzero().get();
        assert_eq!((Some(own.parent), own.group), (parent, group));
        assert!(own.started > 0 && !own.ended);
        assert_eq!(seen(Path::new(PROC), 0), None);
    }
}

#[test]
fn strangers_were_there_before_or_are_in_their_groups() {
    // The lab is 10; 12 was there before it was the lab, and 13 is 12's.
    let fake = Fake::new(&[
        (1, 0, 1, 1),
        (10, 1, 10, 1),
        (12, 10, 10, 1),
        (13, 12, 13, 1),
    ]);
    let strangers = Strangers::below(fake.path(), 10);
    let left = |strangers: &Strangers| {
        let found = below(fake.path(), 10, |pid, seen| strangers.has(pid, seen));
        let mut found: Vec<i32> = found.into_iter().map(|(pid, _)| pid).collect();
        found.sort_unstable();
        found
    };
    assert_eq!(left(&strangers), [0; 0]);
    // The launcher, its program, and what that has made.
    fake.set(20, 10, 20, 1);
    fake.set(21, 20, 20, 1);
    fake.set(22, 10, 22, 1);
    // What a stranger made, which is below it, or has lost its parent.
    fake.set(30, 13, 30, 1);
    fake.set(31, 10, 13, 1);
    assert_eq!(left(&strangers), [20, 21, 22]);
    assert_eq!(left(&Strangers::default()), [12, 13, 20, 21, 22, 30, 31]);
    // The number of a stranger is used again.
    fake.since(12, 10, 20, 1, 2_000);
    assert_eq!(left(&strangers), [12, 20, 21, 22]);
}
