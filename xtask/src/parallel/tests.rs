//! The results, their order, and the first error.

use std::sync::Barrier;

use anyhow::ensure;

use super::each;

#[test]
fn results_come_in_the_order_of_the_items() {
    let items: Vec<u32> = (0..100).collect();
    let doubled = each(&items, 4, |item| Ok(item * 2)).unwrap();
    assert_eq!(
        doubled,
        items.iter().map(|item| item * 2).collect::<Vec<_>>()
    );
    assert!(each(&[] as &[u32], 4, |item| Ok(*item)).unwrap().is_empty());
}

#[test]
fn so_many_are_done_at_a_time() {
    // Neither passes alone.
    let both = Barrier::new(2);
    let meet = |_: &u32| {
        both.wait();
        Ok(())
    };
    assert_eq!(each(&[1, 2, 3, 4], 2, meet).unwrap().len(), 4);
}

#[test]
fn an_error_is_passed_on() {
    let work = |item: &u32| {
        ensure!(*item != 3, "three");
        Ok(())
    };
    assert_eq!(each(&[1, 3, 5], 2, work).unwrap_err().to_string(), "three");
}
