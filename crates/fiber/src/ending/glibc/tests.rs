//! Entries are added when they have to be, and only then.

use std::thread;

use super::{NONE, OURS, UNKNOWN, call_first, newest};

struct Goes;

impl Drop for Goes {
    fn drop(&mut self) {}
}

std::thread_local! {
    static LATE: Goes = const { Goes };
}

#[test]
fn an_entry_is_added_when_another_is_newer() {
    let looks = thread::spawn(|| {
        call_first(|| ());
        let first = newest();
        assert_ne!(first, UNKNOWN, "this glibc has the word");
        assert_ne!(first, NONE);
        for _ in 0..10 {
            call_first(|| ());
        }
        assert_eq!(newest(), first);
        LATE.with(|_| ());
        assert_ne!(newest(), first, "the thread-local's is newer");
        call_first(|| ());
        assert_eq!(newest(), OURS.get());
        assert_ne!(OURS.get(), first);
    });
    looks.join().expect("no panic");
}
