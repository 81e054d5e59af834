//! Panics in messages and wakers, and user code that comes back to the channel.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::rc::Rc;
use std::sync::{Arc, Mutex};
use std::task::{Poll, Wake, Waker};

use super::Channels;
use crate::flavour::both;
use crate::hand::{Hand, parked};

both! {
    a_message_whose_drop_panics,
    a_message_that_comes_back_when_it_is_dropped,
    a_waker_that_panics_harms_nobody,
}

/// A planned panic: the hook says nothing of it.
fn planned() -> ! {
    resume_unwind(Box::new("planned"))
}

fn fails(body: impl FnOnce()) {
    let payload = catch_unwind(AssertUnwindSafe(body)).expect_err("it panics");
    assert_eq!(payload.downcast_ref::<&str>(), Some(&"planned"));
}

struct Bad;

impl Drop for Bad {
    fn drop(&mut self) {
        planned();
    }
}

/// The panic reaches whoever drops; the channel goes all the same.
fn a_message_whose_drop_panics<F: Channels>() {
    let (tx, rx) = F::channel(1);
    assert!(tx.try_send(Bad).is_ok());
    let waits = parked(tx.send(Bad));
    fails(|| drop(waits));
    fails(|| drop(rx));
    assert!(tx.is_closed());
    fails(|| drop(tx.try_send(Bad)));
    drop(tx);
}

/// Sends, receives and closes while the channel drops it.
fn a_message_that_comes_back_when_it_is_dropped<F: Channels>() {
    type Seen = Rc<RefCell<Vec<String>>>;
    struct Returns<C: Channels>(
        Option<gossamer::raw::channel::Sender<Returns<C>, C::P>>,
        Seen,
    );
    impl<C: Channels> Drop for Returns<C> {
        fn drop(&mut self) {
            let Some(tx) = self.0.take() else { return };
            let again = tx.try_send(Returns(None, self.1.clone()));
            let text = format!("{} {:?}", tx.len(), again.is_err());
            self.1.borrow_mut().push(text);
        }
    }
    let seen = Seen::default();
    let (tx, rx) = F::channel::<Returns<F>>(4);
    for _ in 0..2 {
        let message = Returns(Some(tx.clone()), seen.clone());
        assert!(tx.try_send(message).is_ok());
    }
    drop(rx);
    assert_eq!(*seen.borrow(), ["0 true", "0 true"]);
}

/// Panics when it wakes.
struct Loud;

impl Wake for Loud {
    fn wake(self: Arc<Self>) {
        planned();
    }
}

/// Of several that are woken together the first has a waker that panics: all are woken, nobody sees the panic.
fn a_waker_that_panics_harms_nobody<F: Channels>() {
    let loud = Waker::from(Arc::new(Loud));
    let (tx, rx) = F::channel::<u32>(0);
    let mut first = Hand::new(rx.recv());
    assert!(first.poll_with(&loud).is_pending());
    let second = parked(rx.recv());
    drop(tx);
    assert_eq!(second.wakes(), 1);
    assert!(first.poll_with(&loud).is_ready());

    let (tx, rx) = F::channel(1);
    assert_eq!(tx.try_send(0), Ok(()));
    let mut first = Hand::new(tx.send(1));
    assert!(first.poll_with(&loud).is_pending());
    let second = parked(tx.send(2));
    assert_eq!(rx.try_iter().collect::<Vec<_>>(), [0]);
    assert_eq!(first.poll_with(&loud), Poll::Ready(Ok(())));
    assert_eq!(rx.try_recv(), Ok(1));
    assert_eq!(second.wakes(), 1);
}

/// A waker that uses the channel when it is called, and when it is dropped: it is called without the lock.
#[test]
fn a_waker_that_comes_back() {
    struct Returns {
        tx: gossamer::channel::Sender<u32>,
        rx: gossamer::channel::Receiver<u32>,
        seen: Mutex<Vec<usize>>,
    }
    impl Returns {
        fn comes_back(&self) {
            let _sent = self.tx.try_send(7);
            self.seen.lock().expect("no panic").push(self.rx.len());
        }
    }
    impl Wake for Returns {
        fn wake(self: Arc<Self>) {
            self.comes_back();
        }
    }
    impl Drop for Returns {
        fn drop(&mut self) {
            self.comes_back();
        }
    }
    let (tx, rx) = gossamer::channel::bounded(4);
    let returns = Arc::new(Returns {
        tx: tx.clone(),
        rx: rx.clone(),
        seen: Mutex::default(),
    });
    let mut waits = Hand::new(rx.recv());
    assert!(waits.poll_with(&Waker::from(returns.clone())).is_pending());
    assert_eq!(tx.try_send(1), Ok(()));
    assert_eq!(*returns.seen.lock().expect("no panic"), [2]);
    assert_eq!(waits.poll(), Poll::Ready(Ok(1)));
    // Its waker is dropped when another takes its place.
    let mut waits = Hand::new(rx.recv());
    assert_eq!(waits.poll(), Poll::Ready(Ok(7)));
    let mut waits = Hand::new(rx.recv());
    assert!(waits.poll_with(&Waker::from(returns)).is_pending());
    assert!(waits.poll().is_pending());
    assert_eq!(waits.wakes(), 1);
    assert_eq!(waits.poll(), Poll::Ready(Ok(7)));
}

/// Two senders wait, and the waker of the first sends as well: that one comes after the second.
#[test]
fn a_waker_that_sends_passes_nobody() {
    struct Sends(gossamer::channel::Sender<u32>);
    impl Wake for Sends {
        fn wake(self: Arc<Self>) {
            let _sent_or_not = self.0.try_send(9);
        }
    }
    for capacity in [2, 3] {
        let (tx, rx) = gossamer::channel::bounded(capacity);
        for number in 0..capacity as u32 {
            assert_eq!(tx.try_send(number), Ok(()));
        }
        let mut first = Hand::new(tx.send(3));
        let waker = Waker::from(Arc::new(Sends(tx.clone())));
        assert!(first.poll_with(&waker).is_pending());
        let mut second = parked(tx.send(4));
        let mut messages = Vec::with_capacity(16);
        let received = Hand::new(rx.recv_many(&mut messages, capacity)).poll();
        assert_eq!(received, Poll::Ready(Ok(capacity)));
        // The waker of the first one sends too: there is room for it only if each that waits has an `MVar`.
        let nines = usize::from(capacity > 2);
        assert_eq!(rx.try_iter().collect::<Vec<_>>(), [9][..nines]);
        assert!(first.poll().is_ready() && second.poll().is_ready());
        assert_eq!(rx.try_iter().collect::<Vec<_>>(), [3, 4]);
    }
}
