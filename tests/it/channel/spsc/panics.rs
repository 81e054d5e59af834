//! Panics in messages and wakers, and user code that comes back to the channel.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::rc::Rc;
use std::sync::{Arc, Mutex};
use std::task::{Poll, Wake, Waker};

use super::Rings;
use crate::flavour::both;
use crate::hand::{Hand, parked};

both! {
    a_message_whose_drop_panics,
    a_message_that_sends_when_it_is_dropped,
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

/// Panics if it is the second; each one notes that it goes.
struct Bad(u32, Rc<RefCell<Vec<u32>>>);

impl Drop for Bad {
    fn drop(&mut self) {
        self.1.borrow_mut().push(self.0);
        if self.0 == 1 {
            planned();
        }
    }
}

/// The panic reaches whoever drops; the other messages and the channel go all the same.
fn a_message_whose_drop_panics<F: Rings>() {
    let gone = Rc::new(RefCell::new(Vec::new()));
    let (mut tx, rx) = F::ring(4);
    for number in 0..4 {
        assert!(tx.try_send(Bad(number, gone.clone())).is_ok());
    }
    let waits = parked(tx.send(Bad(1, gone.clone())));
    fails(|| drop(waits));
    fails(|| drop(rx));
    assert_eq!(*gone.borrow(), [1, 0, 1, 2, 3]);
    assert!(tx.is_closed());
    fails(|| drop(tx.try_send(Bad(1, gone.clone()))));
    drop(tx);
    assert_eq!(Rc::strong_count(&gone), 1);
}

/// It has the sender, sends through it, and drops it, in the midst of the receiver's end.
fn a_message_that_sends_when_it_is_dropped<F: Rings>() {
    type SharedSlot<C> = Rc<
        RefCell<
            Option<
                gossamer::raw::channel::spsc::Sender<Returns<C>, <C as crate::flavour::Flavour>::P>,
            >,
        >,
    >;
    struct Returns<C: Rings>(SharedSlot<C>, Rc<RefCell<Vec<bool>>>, bool);
    impl<C: Rings> Drop for Returns<C> {
        fn drop(&mut self) {
            let Some(mut tx) = self.0.borrow_mut().take() else {
                return;
            };
            for _ in 0..3 {
                let again = Returns(Rc::default(), self.1.clone(), false);
                self.1
                    .borrow_mut()
                    .push(tx.try_send(again).is_err() && tx.is_empty());
            }
            if !self.2 {
                *self.0.borrow_mut() = Some(tx);
            }
        }
    }
    let seen = Rc::default();
    let (mut tx, mut rx) = F::ring::<Returns<F>>(4);
    let place = SharedSlot::<F>::default();
    for last in [false, false, true, true] {
        let message = Returns(place.clone(), Rc::clone(&seen), last);
        assert!(tx.try_send(message).is_ok());
    }
    // So there is room of which the sender does not know.
    let first = rx.try_recv();
    *place.borrow_mut() = Some(tx);
    drop(rx);
    assert_eq!(*seen.borrow(), [true; 6]);
    drop(first);
}

/// Panics when it wakes.
struct Loud;

impl Wake for Loud {
    fn wake(self: Arc<Self>) {
        planned();
    }
}

/// Nobody sees the panic, and the operation goes on.
fn a_waker_that_panics_harms_nobody<F: Rings>() {
    let loud = Waker::from(Arc::new(Loud));
    let (mut tx, mut rx) = F::ring(1);
    let mut receiver = Hand::new(rx.recv());
    assert!(receiver.poll_with(&loud).is_pending());
    assert_eq!(tx.try_send(1), Ok(()));
    assert_eq!(receiver.poll_with(&loud), Poll::Ready(Ok(1)));
    drop(receiver);
    assert_eq!(tx.try_send(2), Ok(()));
    let mut sender = Hand::new(tx.send(3));
    assert!(sender.poll_with(&loud).is_pending());
    assert_eq!(rx.try_recv(), Ok(2));
    assert_eq!(sender.poll_with(&loud), Poll::Ready(Ok(())));
    assert!(Hand::new(rx.recv()).poll_with(&loud).is_ready());
    let mut receiver = Hand::new(rx.recv());
    assert!(receiver.poll_with(&loud).is_pending());
    drop(sender);
    drop(tx);
    assert!(receiver.poll_with(&loud).is_ready());
}

/// A waker that sends when it is called, and when it is dropped: that is done without the lock.
#[test]
fn a_waker_that_comes_back() {
    struct Returns {
        tx: Mutex<gossamer::channel::spsc::Sender<u32>>,
        seen: Mutex<Vec<usize>>,
    }
    impl Returns {
        fn comes_back(&self) {
            let mut tx = self.tx.lock().expect("no panic");
            let _sent = tx.try_send(7);
            self.seen.lock().expect("no panic").push(tx.len());
        }
    }
    struct Calls(Arc<Returns>);
    impl Wake for Calls {
        fn wake(self: Arc<Self>) {
            self.0.comes_back();
        }
    }
    impl Drop for Calls {
        fn drop(&mut self) {
            self.0.comes_back();
        }
    }
    let (mut tx, mut rx) = gossamer::channel::spsc(8);
    let (mut others, mut other) = gossamer::channel::spsc(1);
    assert!(tx.try_send(1).is_ok() && others.try_send(()).is_ok());
    let returns = Arc::new(Returns {
        tx: Mutex::new(tx),
        seen: Mutex::default(),
    });
    // Called by the receiver of one channel, it sends into the other one.
    let mut waits = Hand::new(others.send(()));
    assert!(
        waits
            .poll_with(&Arc::new(Calls(returns.clone())).into())
            .is_pending()
    );
    assert_eq!(other.try_recv(), Ok(()));
    assert_eq!(*returns.seen.lock().expect("no panic"), [2, 3]);
    // Its waker is dropped when another one takes its place, or the operation is.
    assert_eq!(waits.poll(), Poll::Ready(Ok(())));
    drop(waits);
    assert!(rx.try_iter().eq([1, 7, 7]));
    let mut receives = Hand::new(rx.recv());
    assert!(
        receives
            .poll_with(&Arc::new(Calls(returns.clone())).into())
            .is_pending()
    );
    // The same channel: the message that comes by this wakes who waits for it.
    assert!(receives.poll().is_pending());
    assert_eq!(receives.wakes(), 1);
    assert_eq!(receives.poll(), Poll::Ready(Ok(7)));
}
