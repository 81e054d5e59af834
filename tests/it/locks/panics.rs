//! Panics in closures; all others are in [`every_lock`](crate::every_lock).

use std::task::Poll;

use super::Locks;
use crate::bad_wakers::{fails, planned};
use crate::flavour::both;
use crate::hand::{Hand, parked};

both! {
    a_maker_that_panics_lets_the_next,
}

fn a_maker_that_panics_lets_the_next<F: Locks>() {
    let primitive = F::once_cell();
    let mut bad = Hand::new(primitive.get_or_init(async || planned()));
    let mut worse = Hand::new(primitive.get_or_init(|| -> std::future::Ready<u32> { planned() }));
    fails(|| assert!(bad.poll().is_pending()));
    let second = parked(primitive.get_or_init(async || 2));
    drop(bad);
    assert_eq!(second.wakes(), 1);
    drop(second);
    fails(|| assert!(worse.poll().is_pending()));
    let mut third = parked(primitive.get_or_init(async || 3));
    drop(worse);
    assert_eq!(third.poll(), Poll::Ready(&3));
    drop(third);

    // A future that panics when it is dropped.
    struct Grumpy;
    impl Drop for Grumpy {
        fn drop(&mut self) {
            planned();
        }
    }
    let primitive = F::once_cell();
    let grumpy = parked(primitive.get_or_init(async || {
        let _grumpy = Grumpy;
        std::future::pending::<u32>().await
    }));
    let mut second = parked(primitive.get_or_init(async || 2));
    fails(|| drop(grumpy));
    assert_eq!((second.wakes(), second.poll()), (1, Poll::Ready(&2)));
}
