//! Panics in messages and wakers, and user code that comes back to the channel.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use gossamer::channel::broadcast::TryRecvError;
use gossamer::raw::channel::broadcast::{Receiver, Sender};

use super::Broadcasts;
use crate::bad_wakers::{fails, panics_in_wake, planned};
use crate::flavour::both;
use crate::hand::{Hand, parked, ready};

both! {
    a_message_that_panics,
    a_message_that_comes_back,
    a_waker_that_panics_harms_nobody,
}

/// Panics when it is cloned, or dropped, if it is to; counts its drops.
struct Bad {
    clone: bool,
    drop: bool,
    dropped: Rc<Cell<u32>>,
}

impl Clone for Bad {
    fn clone(&self) -> Self {
        if self.clone {
            planned();
        }
        Self {
            dropped: self.dropped.clone(),
            ..*self
        }
    }
}

impl Drop for Bad {
    fn drop(&mut self) {
        self.dropped.set(self.dropped.get() + 1);
        if self.drop {
            planned();
        }
    }
}

fn a_message_that_panics<F: Broadcasts>() {
    let dropped = Rc::new(Cell::new(0));
    let bad = |clone, drop| Bad {
        clone,
        drop,
        dropped: dropped.clone(),
    };
    let (tx, mut one) = F::broadcast(3);
    let mut two = one.clone();
    // Who could not clone it has received it; the last one need not clone it.
    assert!(tx.send(bad(true, false)).is_ok());
    fails(|| drop(one.try_recv()));
    assert!(one.is_empty() && !two.is_empty());
    drop(two.try_recv());
    assert_eq!(dropped.replace(0), 1);
    // What has to go for another one: that one is in.
    for drop in [true, false, false] {
        assert!(tx.send(bad(false, drop)).is_ok());
    }
    fails(|| drop(tx.send(bad(false, true))));
    assert_eq!((tx.len(), dropped.replace(0)), (3, 1));
    // What only the last receiver needs goes with it, also what is behind one that panics.
    for _ in 0..2 {
        assert!(tx.send(bad(false, false)).is_ok());
    }
    assert_eq!(dropped.replace(0), 2);
    drop(one);
    let mut closed = parked(tx.closed());
    fails(|| drop(two));
    assert_eq!((tx.len(), dropped.get()), (0, 3));
    assert_eq!(closed.wakes(), 1, "told all the same");
    ready(closed.poll());
    drop(closed);
    let mut late = tx.subscribe();
    assert!(tx.send(bad(false, false)).is_ok() && late.try_recv().is_ok());
}

type Ends<F, T> = (
    Sender<T, <F as crate::flavour::Flavour>::P>,
    Receiver<T, <F as crate::flavour::Flavour>::P>,
);

/// Where a message finds the ends, if it is to use them.
type SharedSlot<T> = Rc<RefCell<Option<T>>>;

/// Sends, receives and subscribes while the channel clones and drops it.
struct Returns<F: Broadcasts> {
    ends: SharedSlot<Ends<F, Returns<F>>>,
    seen: Rc<Cell<u32>>,
}

impl<F: Broadcasts> Returns<F> {
    fn twin(&self) -> Self {
        Self {
            ends: self.ends.clone(),
            seen: self.seen.clone(),
        }
    }

    fn comes_back(&self) {
        // Once, not again for those that are sent here.
        let Some((tx, mut rx)) = self.ends.take() else {
            return;
        };
        self.seen.set(self.seen.get() + 1);
        assert!(tx.send(self.twin()).is_ok());
        let got = rx.try_recv();
        assert!(!matches!(got, Err(TryRecvError::Closed)));
        drop((tx.subscribe(), rx.clone(), got));
        self.ends.replace(Some((tx, rx)));
    }
}

impl<F: Broadcasts> Clone for Returns<F> {
    fn clone(&self) -> Self {
        self.comes_back();
        self.twin()
    }
}

impl<F: Broadcasts> Drop for Returns<F> {
    fn drop(&mut self) {
        self.comes_back();
    }
}

fn a_message_that_comes_back<F: Broadcasts>() {
    let (tx, mut one) = F::broadcast(2);
    let message = Returns::<F> {
        ends: Rc::default(),
        seen: Rc::default(),
    };
    let seen = message.seen.clone();
    let ends = message.ends.clone();
    let mut two = one.clone();
    ends.replace(Some((tx.clone(), one.clone())));
    assert!(tx.send(message.twin()).is_ok());
    let before = seen.get();
    drop(one.try_recv());
    assert!(seen.get() > before, "cloned");
    let before = seen.get();
    for _ in 0..4 {
        drop(two.try_recv());
    }
    assert!(seen.get() > before, "dropped");
    let before = seen.get();
    for _ in 0..3 {
        assert!(tx.send(message.twin()).is_ok());
    }
    assert!(seen.get() > before, "too old");
    drop(ends.take());
    drop((one, two, message));
    assert_eq!(tx.len(), 0);
}

fn a_waker_that_panics_harms_nobody<F: Broadcasts>() {
    let loud = panics_in_wake();
    let (tx, mut one) = F::broadcast(1);
    let mut two = one.clone();
    let mut first = Hand::new(one.recv());
    assert!(first.poll_with(&loud).is_pending());
    let mut second = parked(two.recv());
    assert_eq!(tx.send(1), Ok(()));
    assert_eq!(second.wakes(), 1);
    assert!(first.poll_with(&loud).is_ready() && second.poll().is_ready());
}
