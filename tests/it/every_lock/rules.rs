//! One rule at a time, polled by hand.

use std::sync::Arc;

use super::{Held, Kind, Lock, over_all};
use crate::hand::{Hand, Wakes, parked, ready};

over_all! {
    who_waits_is_woken_once_in_order,
    one_that_is_dropped_keeps_nobody,
    one_that_was_woken_and_is_dropped_passes_it_on,
    the_last_waker_is_called,
    an_operation_that_was_forgotten,
}

pub(super) fn hold(lock: &dyn Lock) -> Held<'_> {
    lock.hold().expect("it is free")
}

/// Nobody has it, and nobody that waits keeps it.
#[track_caller]
pub(super) fn is_free(kind: &Kind, lock: &dyn Lock) {
    assert!(!kind.free_again || lock.hold().is_some(), "it is kept");
}

fn who_waits_is_woken_once_in_order(kind: &Kind) {
    let lock = (kind.make)();
    let held = hold(&*lock);
    let mut waiting = [(); 3].map(|()| parked(lock.wait()));
    assert!(!kind.one_at_a_time || lock.hold().is_none());
    drop(held);
    for at in 0..3 {
        for (other, waits) in waiting.iter().enumerate() {
            let woken = !kind.one_at_a_time || other <= at;
            let wakes = (waits.wakes(), waits.wakers_held());
            let expected = (usize::from(woken), usize::from(!woken));
            assert_eq!(wakes, expected, "{other} after {at}");
        }
        let has = ready(waiting[at].poll());
        assert!(!kind.one_at_a_time || lock.hold().is_none());
        drop(has);
    }
    is_free(kind, &*lock);
    // Nobody waits for what is free.
    if kind.one_at_a_time {
        let mut gets = Hand::new(lock.wait());
        drop(ready(gets.poll()));
        assert_eq!(gets.wakers_held(), 0);
        is_free(kind, &*lock);
    }
}

/// Whichever of three it is, before the first is woken or after.
fn one_that_is_dropped_keeps_nobody(kind: &Kind) {
    for (position, woken) in (0..3).flat_map(|position| [(position, false), (position, true)]) {
        let lock = (kind.make)();
        let mut held = Some(hold(&*lock));
        drop(lock.wait());
        let mut waiting: Vec<_> = (0..3).map(|_| parked(lock.wait())).collect();
        if woken {
            held = None;
        }
        drop(waiting.remove(position));
        drop(held);
        for waits in &mut waiting {
            assert_eq!(waits.wakes(), 1, "{position} {woken}");
            drop(ready(waits.poll()));
        }
        is_free(kind, &*lock);
    }
}

fn one_that_was_woken_and_is_dropped_passes_it_on(kind: &Kind) {
    let lock = (kind.make)();
    let held = hold(&*lock);
    let [first, second, third] = [(); 3].map(|()| parked(lock.wait()));
    drop(held);
    assert_eq!(first.wakes(), 1);
    drop(first);
    assert_eq!(second.wakes(), 1);
    drop(second);
    assert_eq!(third.wakes(), 1);
    drop(third);
    is_free(kind, &*lock);
}

/// The last one that it was polled with is woken, and no other is kept.
fn the_last_waker_is_called(kind: &Kind) {
    let lock = (kind.make)();
    let held = hold(&*lock);
    let wakes = Arc::<Wakes>::default();
    let mut waits = parked(lock.wait());
    assert!(waits.poll().is_pending());
    assert_eq!(waits.wakers_held(), 1);
    assert!(waits.poll_with(&wakes.clone().into()).is_pending());
    assert_eq!(waits.wakers_held(), 0);
    drop(held);
    assert_eq!((waits.wakes(), wakes.count()), (0, 1));
    drop(ready(waits.poll()));
    drop(waits);
    assert_eq!(Arc::strong_count(&wakes), 1);
}

/// Its node stays in the queue, and then the primitive goes.
fn an_operation_that_was_forgotten(kind: &Kind) {
    let lock = (kind.make)();
    let held = hold(&*lock);
    std::mem::forget(parked(lock.wait()));
    std::mem::forget(held);
    drop(lock);
    let lock = (kind.make)();
    let held = hold(&*lock);
    std::mem::forget(parked(lock.wait()));
    let _other = parked(lock.wait());
    drop(held);
}
