//! Panics while it is held, and in wakers, at each place where they are called; and wakers that come back.

use std::cell::Cell;
use std::rc::Rc;

use super::rules::{hold, is_free};
use super::{Kind, over_all};
use crate::bad_wakers::{
    comes_back, coming_back, fails, not_cloned, panics_in_drop, panics_in_wake, planned,
};
use crate::hand::{Hand, parked, ready};

over_all! {
    a_panic_while_it_is_held_lets_it_go,
    a_waker_that_panics_when_it_wakes,
    a_waker_that_panics_when_it_is_dropped,
    a_waker_that_panics_when_it_is_cloned,
    a_waker_that_comes_back,
}

fn a_panic_while_it_is_held_lets_it_go(kind: &Kind) {
    let lock = (kind.make)();
    let held = hold(&*lock);
    let mut waits = parked(lock.wait());
    fails(|| {
        let _held = held;
        planned();
    });
    assert_eq!(waits.wakes(), 1);
    let has = ready(waits.poll());
    fails(|| {
        let _has = has;
        planned();
    });
    is_free(kind, &*lock);
}

/// Nobody sees the panic, the operation goes on, and others that are woken with it, or by it, are woken.
fn a_waker_that_panics_when_it_wakes(kind: &Kind) {
    let loud = panics_in_wake();
    let lock = (kind.make)();
    let held = hold(&*lock);
    let mut first_two = [(); 2].map(|()| Hand::new(lock.wait()));
    for waits in &mut first_two {
        assert!(waits.poll_with(&loud).is_pending());
    }
    let mut third = parked(lock.wait());
    drop(held);
    for waits in &mut first_two {
        drop(ready(waits.poll_with(&loud)));
    }
    assert_eq!(third.wakes(), 1);
    drop(ready(third.poll()));
    is_free(kind, &*lock);
}

/// The panic may reach whoever dropped the waker; the primitive does not mind.
fn a_waker_that_panics_when_it_is_dropped(kind: &Kind) {
    let lock = (kind.make)();
    let held = hold(&*lock);
    let mut renewed = Hand::new(lock.wait());
    assert!(renewed.poll_with(&panics_in_drop()).is_pending());
    fails(|| assert!(renewed.poll().is_pending()));
    assert!(renewed.poll().is_pending());
    let mut gone = Hand::new(lock.wait());
    assert!(gone.poll_with(&panics_in_drop()).is_pending());
    fails(|| drop(gone));
    drop(held);
    assert_eq!(renewed.wakes(), 1);
    drop(ready(renewed.poll()));
    is_free(kind, &*lock);
}

/// The panic reaches whoever polls, whose operation waits on or goes.
fn a_waker_that_panics_when_it_is_cloned(kind: &Kind) {
    let lock = (kind.make)();
    let held = hold(&*lock);
    let mut gone = Hand::new(lock.wait());
    fails(|| drop(gone.poll_with(&not_cloned())));
    drop(gone);
    let mut stays = parked(lock.wait());
    fails(|| drop(stays.poll_with(&not_cloned())));
    let mut second = parked(lock.wait());
    drop(held);
    drop(ready(stays.poll()));
    assert_eq!(second.wakes(), 1);
    drop(ready(second.poll()));
    is_free(kind, &*lock);
}

/// It waits, too, for a moment: no lock is held inside.
fn a_waker_that_comes_back(kind: &Kind) {
    let lock = (kind.make)();
    let held = hold(&*lock);
    let (own, came) = (lock.clone(), Rc::new(Cell::new(0)));
    let counts = came.clone();
    let looks = move || {
        counts.set(counts.get() + 1);
        drop(Hand::new(own.wait()).poll());
    };
    coming_back(looks, || {
        let mut waits = Hand::new(lock.wait());
        assert!(waits.poll_with(&comes_back()).is_pending());
        assert!(waits.poll().is_pending());
        assert_eq!(came.get(), 1, "dropped");
        assert!(waits.poll_with(&comes_back()).is_pending());
        drop(held);
        assert_eq!(came.get(), 3, "woken and dropped");
        drop(ready(waits.poll()));
    });
    is_free(kind, &*lock);
}
