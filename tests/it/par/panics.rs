//! Parts that panic, and destructors that do.

use std::panic::{AssertUnwindSafe, catch_unwind, panic_any, resume_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};

use gossamer::par;

use super::{from_everywhere, meet};
use crate::models::{runtime, watched};

/// What `body` panics with.
fn payload<R>(body: impl FnOnce() -> R) -> u32 {
    let panicked = catch_unwind(AssertUnwindSafe(body)).map(drop);
    let payload = panicked.expect_err("it panics");
    *payload.downcast::<u32>().expect("a number")
}

/// Counts how many of it there are.
struct Counted<'a>(&'a AtomicUsize);

impl<'a> Counted<'a> {
    fn new(count: &'a AtomicUsize) -> Self {
        count.fetch_add(1, Ordering::SeqCst);
        Self(count)
    }
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Panics when it is dropped, without a message.
struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        resume_unwind(Box::new("a bomb"));
    }
}

#[test]
fn the_first_one_in_order_comes_back() {
    from_everywhere(|| {
        let first = || panic_any(1u32);
        let second = || panic_any(2u32);
        assert_eq!(payload(|| par::join(first, || ())), 1);
        assert_eq!(payload(|| par::join(|| (), second)), 2);
        assert_eq!(payload(|| par::join(first, second)), 1);
        let some = |n: u32| {
            if n % 300 == 299 {
                panic_any(n);
            }
        };
        assert_eq!(payload(|| par::for_each(0..1000u32, some)), 299);
        assert_eq!(payload(|| par::map(0..1000u32, some)), 299);
        // And it computes on.
        assert_eq!(par::map(0..3u32, |n| n), [0, 1, 2]);
    });
}

#[test]
fn what_was_there_is_dropped_once() {
    from_everywhere(|| {
        let count = AtomicUsize::new(0);
        payload(|| {
            drop(par::map(0..1000u32, |n| {
                if n == 700 {
                    panic_any(n);
                }
                Counted::new(&count)
            }));
        });
        assert_eq!(count.load(Ordering::SeqCst), 0);
        drop(par::map(0..1000u32, |_| Counted::new(&count)));
        assert_eq!(count.load(Ordering::SeqCst), 0);
        let owned = Counted::new(&count);
        payload(|| {
            par::join(|| panic_any(1u32), move || drop(owned));
        });
        assert_eq!(count.load(Ordering::SeqCst), 0);
    });
}

/// What has come of the parts, and of the pieces of a part, when a later item panics.
#[test]
fn what_was_reduced_is_dropped_once() {
    from_everywhere(|| {
        let count = AtomicUsize::new(0);
        for last in [10, 500, 999] {
            let fold = |so_far, n: u32| {
                if n == last {
                    panic_any(n);
                }
                so_far
            };
            let reduce = || {
                drop(par::reduce(
                    0..1000u32,
                    || Counted::new(&count),
                    fold,
                    |one, _other| one,
                ));
            };
            assert_eq!(payload(reduce), last);
            assert_eq!(count.load(Ordering::SeqCst), 0);
        }
    });
}

#[test]
fn destructors_do_not_hide_the_first_panic() {
    from_everywhere(|| {
        let bomb = Bomb;
        let unrun = || {
            par::join(|| panic_any(1u32), move || drop(bomb));
        };
        assert_eq!(payload(unrun), 1);
        assert_eq!(payload(|| par::join(|| panic_any(1u32), || Bomb)), 1);
        assert_eq!(payload(|| par::join(|| Bomb, || panic_any(2u32))), 2);
    });
}

#[test]
fn a_stolen_part_panics() {
    watched("pool:2", || {
        let rt = runtime(gossamer::Model::Pool { workers: 2 });
        for _ in 0..20 {
            let met = std::sync::Mutex::default();
            let first = || meet(2, &met);
            let second = || {
                meet(2, &met);
                panic_any(2u32)
            };
            assert_eq!(payload(|| rt.enter(|| par::join(first, second))), 2);
            let met = std::sync::Mutex::default();
            let first = || {
                meet(2, &met);
                panic_any(1u32)
            };
            let second = || {
                meet(2, &met);
                Bomb
            };
            assert_eq!(payload(|| rt.enter(|| par::join(first, second))), 1);
        }
    });
}
