//! Closures and values that panic, or come back to the channel: no lock is held.

use std::cell::Cell;
use std::rc::Rc;
use std::task::Poll;

use gossamer::raw::channel::watch::Sender;

use super::Watches;
use crate::bad_wakers::{fails, planned};
use crate::flavour::{Flavour, both};
use crate::hand::{Hand, parked};

both! {
    a_closure_that_panics_changes_nothing,
    a_closure_that_sends_is_called_again,
    a_condition_that_sends,
    a_value_that_comes_back,
    a_value_that_panics,
}

fn a_closure_that_panics_changes_nothing<F: Watches>() {
    let (tx, mut rx) = F::watch(1);
    let waits = parked(rx.changed());
    fails(|| {
        tx.send_modify(|value| {
            *value = 2;
            planned();
        });
    });
    fails(|| tx.send_update(|_| planned()));
    assert_eq!((tx.get(), waits.wakes()), (1, 0));
    drop(waits);
    let mut other = rx.clone();
    fails(|| Hand::new(rx.wait_for(|_| planned())).poll());
    tx.send(3);
    let told = Hand::new(other.changed()).poll();
    assert!(matches!(told, Poll::Ready(Ok(value)) if *value == 3));
}

/// What came in between is not lost; and what it reads is the value before.
fn a_closure_that_sends_is_called_again<F: Watches>() {
    let (tx, rx) = F::watch(vec![0]);
    let mut calls = 0;
    tx.send_modify(|value| {
        calls += 1;
        value.push(calls);
        if calls < 3 {
            tx.send_modify(|value| value.push(10 * calls));
        }
        assert!(!rx.get().contains(&calls) && rx.snapshot().len() < value.len() + 1);
    });
    assert_eq!((calls, rx.get()), (3, vec![0, 10, 20, 3]));
}

fn a_condition_that_sends<F: Watches>() {
    let (tx, mut rx) = F::watch(0);
    let other = rx.clone();
    let mut looks = 0;
    let told = Hand::new(rx.wait_for(|value| {
        looks += 1;
        assert_eq!((*value, other.get()), (looks - 1, looks - 1));
        tx.send_modify(|value| *value += 1);
        *value == 4
    }))
    .poll();
    assert!(matches!(told, Poll::Ready(Ok(value)) if *value == 4));
    assert_eq!((looks, tx.get()), (5, 5));
    assert!(rx.has_changed());
}

/// Where a value finds the sender, if it is to use it.
type SharedSlot<F> = Rc<Cell<Option<Sender<Returns<F>, <F as Flavour>::P>>>>;

/// Reads and sends when it is cloned and when it is dropped.
struct Returns<F: Watches> {
    tx: SharedSlot<F>,
    seen: Rc<Cell<u32>>,
}

impl<F: Watches> Returns<F> {
    fn twin(&self) -> Self {
        Self {
            tx: self.tx.clone(),
            seen: self.seen.clone(),
        }
    }

    fn comes_back(&self) {
        // Once, not again for those that are sent here.
        let Some(tx) = self.tx.take() else { return };
        self.seen.set(self.seen.get() + 1);
        let latest = tx.snapshot();
        tx.send(self.twin());
        drop((latest, tx.subscribe()));
        self.tx.set(Some(tx));
    }
}

impl<F: Watches> Clone for Returns<F> {
    fn clone(&self) -> Self {
        self.comes_back();
        self.twin()
    }
}

impl<F: Watches> Drop for Returns<F> {
    fn drop(&mut self) {
        self.comes_back();
    }
}

fn a_value_that_comes_back<F: Watches>() {
    let value = Returns::<F> {
        tx: Rc::default(),
        seen: Rc::default(),
    };
    let (sender, seen) = (value.tx.clone(), value.seen.clone());
    let (tx, rx) = F::watch(value);
    sender.set(Some(tx.clone()));
    let first = rx.get();
    assert!(seen.replace(0) > 0, "cloned");
    tx.send(first.twin());
    assert!(seen.replace(0) > 0, "replaced");
    let mut calls = 0;
    tx.send_update(|value| {
        calls += 1;
        Some(if calls == 1 {
            value.clone()
        } else {
            value.twin()
        })
    });
    assert_eq!(calls, 2, "somebody has sent meanwhile");
    drop(sender.take());
    drop((first, rx, tx));
}

/// Panics when it is dropped, if it is to.
struct Bad(bool);

impl Drop for Bad {
    fn drop(&mut self) {
        if self.0 {
            planned();
        }
    }
}

/// The panic reaches whoever drops it, and the new value is in.
fn a_value_that_panics<F: Watches>() {
    let (tx, mut rx) = F::watch(Bad(true));
    let waits = parked(rx.changed());
    fails(|| tx.send(Bad(false)));
    assert_eq!(waits.wakes(), 1);
    drop(waits);
    assert!(rx.has_changed() && !rx.snapshot().0);
}
