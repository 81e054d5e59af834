//! Sorting, against the slice's own.

use std::panic::{AssertUnwindSafe, catch_unwind, panic_any};

use gossamer::{Model, par};

use super::from_everywhere;
use crate::models::{runtime, watched};

/// Numbers below `limit` that look random (xorshift; Marsaglia 2003).
fn numbers(len: usize, limit: u64) -> Vec<u64> {
    let mut state = 0x9E37_79B9_7F4A_7C15 ^ len as u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state % limit
    };
    (0..len).map(|_| next()).collect()
}

/// Of each kind that a sort treats in another way.
fn inputs() -> Vec<Vec<u64>> {
    let mut inputs = Vec::new();
    for len in [0, 1, 2, 63, 64, 65, 128, 1000, 5000] {
        inputs.push(numbers(len, u64::MAX));
        inputs.push(numbers(len, 3));
        inputs.push(vec![7; len]);
        inputs.push((0..len as u64).collect());
        inputs.push((0..len as u64).rev().collect());
    }
    inputs
}

#[test]
fn it_is_sorted_as_the_slice_would_be() {
    from_everywhere(|| {
        for input in inputs() {
            let mut expected = input.clone();
            expected.sort_unstable();
            let mut items = input.clone();
            par::sort_unstable(&mut items);
            assert_eq!(items, expected);
            let mut items = input.clone();
            par::sort_unstable_by_key(&mut items, |&n| u64::MAX - n);
            assert!(items.iter().rev().eq(&expected));
            let mut items = input;
            par::sort(&mut items);
            assert_eq!(items, expected);
        }
    });
}

#[test]
fn equal_items_keep_their_order() {
    from_everywhere(|| {
        for input in inputs() {
            let mut items: Vec<(u64, usize)> = input.iter().map(|n| n % 10).zip(0..).collect();
            let mut expected = items.clone();
            expected.sort_by_key(|&(n, _)| n);
            par::sort_by_key(&mut items, |&(n, _)| n);
            assert_eq!(items, expected);
        }
    });
}

#[test]
fn a_comparison_that_panics_loses_nothing() {
    watched("pool:2", || {
        let rt = runtime(Model::Pool { workers: 2 });
        let input = numbers(3000, 1000);
        let mut sorted = input.clone();
        sorted.sort_unstable();
        for bad in [0, 100, 999] {
            let compare = |a: &u64, b: &u64| {
                if *a == bad && *b > bad {
                    panic_any(bad);
                }
                a.cmp(b)
            };
            for stable in [false, true] {
                let mut items = input.clone();
                let sort = AssertUnwindSafe(|| {
                    rt.enter(|| match stable {
                        true => par::sort_by(&mut items, compare),
                        false => par::sort_unstable_by(&mut items, compare),
                    });
                });
                let panicked = catch_unwind(sort).is_err();
                assert!(panicked || bad == 999, "{bad}");
                items.sort_unstable();
                assert_eq!(items, sorted);
            }
        }
    });
}
