//! Panics in messages, and user code that comes back to the set.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::Pin;
use std::rc::Rc;
use std::sync::{Arc, Mutex};
use std::task::{Context, Wake, Waker};

use gossamer::channel::{PortSet, oneshot, unbounded};
use gossamer::raw::channel::Sender;

use super::Sets;
use crate::flavour::both;

both! {
    a_message_whose_drop_panics,
    a_message_that_comes_back_when_the_set_drops_it,
}

struct Bad;

impl Drop for Bad {
    fn drop(&mut self) {
        resume_unwind(Box::new("planned"));
    }
}

/// The panic reaches whoever drops the set; all other ports have left it all the same.
fn a_message_whose_drop_panics<F: Sets>() {
    let set = F::set();
    let senders: Vec<_> = (0..3)
        .map(|_| {
            let (tx, rx) = F::channel(2);
            set.add(rx).unwrap();
            tx
        })
        .collect();
    assert!(senders[0].try_send(Bad).is_ok());
    let dropped = catch_unwind(AssertUnwindSafe(|| drop(set)));
    assert!(dropped.is_err());
    assert!(senders.iter().all(Sender::is_closed));
}

/// One that sends into another port of the set while that goes, and drops another sender.
fn a_message_that_comes_back_when_the_set_drops_it<F: Sets>() {
    struct Returns<C: Sets>(Option<Sender<Self, C::P>>, Rc<RefCell<u32>>);
    impl<C: Sets> Drop for Returns<C> {
        fn drop(&mut self) {
            if let Some(tx) = self.0.take() {
                *self.1.borrow_mut() += 1;
                drop(tx.try_send(Self(None, self.1.clone())));
            }
        }
    }
    let (set, dropped) = (F::set(), Rc::default());
    let (one, two) = (F::channel(2), F::channel(2));
    set.add(one.1).unwrap();
    set.add(two.1).unwrap();
    let there = Returns::<F>(Some(two.0.clone()), Rc::clone(&dropped));
    assert!(one.0.try_send(there).is_ok());
    let there = Returns(Some(one.0.clone()), Rc::clone(&dropped));
    assert!(two.0.try_send(there).is_ok());
    drop(set);
    assert_eq!(*dropped.borrow(), 2);
}

/// A one-shot that has been polled before has a waker of that time, which uses the set when it is dropped.
#[test]
fn a_waker_of_before_that_comes_back() {
    struct Returns(Arc<PortSet<u32>>);
    impl Wake for Returns {
        fn wake(self: Arc<Self>) {}
    }
    impl Drop for Returns {
        fn drop(&mut self) {
            for _ in 0..9 {
                let (_tx, rx) = unbounded();
                self.0.add(rx).unwrap();
            }
        }
    }
    let set = Arc::new(PortSet::new());
    let (tx, mut rx) = oneshot();
    let waker = Waker::from(Arc::new(Returns(set.clone())));
    assert!(
        Pin::new(&mut rx)
            .poll(&mut Context::from_waker(&waker))
            .is_pending()
    );
    drop(waker);
    let key = set.add(rx).unwrap();
    while set.try_recv().is_some() {}
    assert!(set.contains(key) && set.len() == 1);
    tx.send(5).unwrap();
    assert_eq!(set.try_recv(), Some((key, Ok(5))));
}

/// The same, but dropping it panics: the panic ends there, and the port is in the set.
#[test]
fn a_waker_of_before_that_panics() {
    struct Panics;
    impl Wake for Panics {
        fn wake(self: Arc<Self>) {}
    }
    impl Drop for Panics {
        fn drop(&mut self) {
            resume_unwind(Box::new("planned"));
        }
    }
    let set = PortSet::new();
    let (tx, mut rx) = oneshot();
    let waker = Waker::from(Arc::new(Panics));
    assert!(
        Pin::new(&mut rx)
            .poll(&mut Context::from_waker(&waker))
            .is_pending()
    );
    drop(waker);
    let key = set.add(rx).unwrap();
    tx.send(5).unwrap();
    assert_eq!(set.try_recv(), Some((key, Ok(5))));
    assert!(set.is_empty());
}

/// A waker that uses the set, and its channels, while it is called: it finds no lock held.
#[test]
fn a_waker_that_comes_back() {
    struct Returns(Arc<PortSet<u32>>, Mutex<Vec<u32>>);
    impl Wake for Returns {
        fn wake(self: Arc<Self>) {
            let (tx, rx) = unbounded();
            tx.try_send(7).unwrap();
            drop(tx);
            let key = self.0.add(rx).unwrap();
            assert!(self.0.contains(key));
            let mut got = self.1.lock().unwrap();
            while let Some((_, event)) = self.0.try_recv() {
                got.extend(event.ok());
            }
        }
    }
    let set = Arc::new(PortSet::new());
    let (tx, rx) = unbounded();
    let (once, answered) = oneshot();
    set.add(rx).unwrap();
    set.add(answered).unwrap();
    let returns = Arc::new(Returns(set.clone(), Mutex::default()));
    let waker = Waker::from(returns.clone());
    let mut cx = Context::from_waker(&waker);
    let mut receives = Box::pin(set.recv());
    assert!(receives.as_mut().poll(&mut cx).is_pending());
    tx.try_send(1).unwrap();
    assert_eq!(returns.1.lock().unwrap().split_off(0), [1, 7]);
    assert!(receives.as_mut().poll(&mut cx).is_pending());
    once.send(3).unwrap();
    assert_eq!(*returns.1.lock().unwrap(), [3, 7]);
}
