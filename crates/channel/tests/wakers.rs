//! Wakers whose clone or drop panics: an operation goes on as if it had not been polled.
#![cfg(not(any(loom, shuttle)))]

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::{Pin, pin};
use std::task::{Context, Poll, RawWaker, RawWakerVTable, Waker};

use gossamer_channel::oneshot;
use gossamer_channel::pipe::{Endpoint, Hears, Receiving, ReceivingEnd, Second, SendingEnd, pair};
use gossamer_core::policy::Local;

/// Which call of a waker panics next.
#[derive(Default)]
struct Plan {
    clone: Cell<bool>,
    drop: Cell<bool>,
}

static VTABLE: RawWakerVTable = RawWakerVTable::new(clone, |_| (), |_| (), drop_waker);

/// # Safety
/// `data` is a leaked [`Plan`] of this thread.
unsafe fn clone(data: *const ()) -> RawWaker {
    // SAFETY: leaked, so it is alive; passed on to the caller.
    if unsafe { &*data.cast::<Plan>() }.clone.take() {
        resume_unwind(Box::new("planned"));
    }
    RawWaker::new(data, &VTABLE)
}

/// # Safety
/// As `clone`.
unsafe fn drop_waker(data: *const ()) {
    // SAFETY: leaked, so it is alive; passed on to the caller.
    if unsafe { &*data.cast::<Plan>() }.drop.take() {
        resume_unwind(Box::new("planned"));
    }
}

/// Any message, any number of times, by turns.
struct Hearing(ReceivingEnd<u32, Local, Second>);

impl Endpoint for Hearing {
    type Message = u32;
    type Flavour = Local;
    type Side = Second;
}

impl Hears for Hearing {
    type Heard = Option<u32>;

    fn of_receiving_end(end: ReceivingEnd<u32, Local, Second>) -> Self {
        Self(end)
    }

    fn into_receiving_end(self) -> ReceivingEnd<u32, Local, Second> {
        self.0
    }

    fn hear(message: Option<u32>, _end: SendingEnd<u32, Local, Second>) -> Option<u32> {
        message
    }
}

/// Polls; `None` if that panics.
fn poll(recv: &mut Receiving<Hearing>, waker: &Waker) -> Option<bool> {
    let mut cx = Context::from_waker(waker);
    let polled = catch_unwind(AssertUnwindSafe(|| Pin::new(recv).poll(&mut cx)));
    polled.ok().map(|polled| match polled {
        Poll::Ready(heard) => heard == Ok(Some(7)),
        Poll::Pending => false,
    })
}

#[test]
fn a_clone_or_a_drop_may_panic() {
    let plan: &'static Plan = Box::leak(Box::default());
    // SAFETY: the data is what the functions ask for, and stays on this thread.
    let waker = unsafe { Waker::new(std::ptr::from_ref(plan).cast(), &VTABLE) };
    let (speaks, hears) = pair::<u32, Local>();
    let mut recv = Receiving::new(Hearing(hears));
    plan.clone.set(true);
    assert_eq!(poll(&mut recv, &waker), None, "the first clone panics");
    assert_eq!(poll(&mut recv, &waker), Some(false));
    plan.clone.set(true);
    let other = Waker::noop();
    assert_eq!(
        poll(&mut recv, other),
        Some(false),
        "another takes its place"
    );
    assert_eq!(
        poll(&mut recv, &waker),
        None,
        "the clone into its place panics"
    );
    assert_eq!(poll(&mut recv, &waker), Some(false));
    plan.drop.set(true);
    assert_eq!(
        poll(&mut recv, other),
        Some(false),
        "the replaced one's panic ends there"
    );
    assert!(!plan.drop.get(), "it was dropped");
    assert_eq!(poll(&mut recv, &waker), Some(false));
    assert!(speaks.say(7).is_ok());
    assert_eq!(poll(&mut recv, &waker), Some(true));
}

/// Of a one-shot's receiver: polled again, it has another one; dropped, it closes the channel.
#[test]
fn the_drop_of_a_one_shots_waker_may_panic() {
    let plan: &'static Plan = Box::leak(Box::default());
    // SAFETY: the data is what the functions ask for, and stays on this thread.
    let waker = unsafe { Waker::new(std::ptr::from_ref(plan).cast(), &VTABLE) };
    let (sends, mut receives) = oneshot::<u32>();
    for again in [Waker::noop(), &waker] {
        assert!(
            Pin::new(&mut receives)
                .poll(&mut Context::from_waker(&waker))
                .is_pending()
        );
        plan.drop.set(true);
        assert!(
            Pin::new(&mut receives)
                .poll(&mut Context::from_waker(again))
                .is_pending()
        );
    }
    drop(receives);
    assert!(!plan.drop.get(), "it was dropped");
    assert!(sends.is_closed());
}

/// What a waker's clone does when it is dropped, once.
struct Deed(Cell<Option<Box<dyn FnOnce()>>>);

static DEED: RawWakerVTable = RawWakerVTable::new(
    |data| RawWaker::new(data, &DEED),
    |_| (),
    |_| (),
    |data| {
        // SAFETY: leaked, and of this thread.
        let deed = unsafe { &*data.cast::<Deed>() }.0.take();
        deed.into_iter().for_each(|deed| deed());
    },
);

/// There is a message, so the clone of the waker is not needed: it is dropped without the lock.
#[test]
fn an_unused_clone_may_use_the_channel() {
    let (tx, mut rx) = gossamer_channel::broadcast(4);
    tx.send(1).expect("there is a receiver");
    let sends = move || tx.send(2).expect("there is a receiver");
    let deed: &'static Deed = Box::leak(Box::new(Deed(Cell::new(Some(Box::new(sends))))));
    // SAFETY: the data is what the functions ask for, and stays on this thread.
    let waker = unsafe { Waker::new(std::ptr::from_ref(deed).cast(), &DEED) };
    let polled = pin!(rx.recv()).poll(&mut Context::from_waker(&waker));
    assert_eq!(polled, Poll::Ready(Ok(1)));
    assert_eq!(rx.try_recv(), Ok(2), "the clone was dropped");
}
