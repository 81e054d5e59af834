//! What `pipe` is measured against: the barest slot that passes a message with two swaps and wakes the other side. It
//! has one sender and one receiver, holds one message, and cannot be closed; whoever uses it sees to it by itself that
//! the last message has been taken before the next one comes.

use std::cell::{Cell, OnceCell};
use std::future::poll_fn;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Poll, Waker};

use channels::{Asked, Tasks};
use gossamer_contender::mvars::leak;

const EMPTY: u64 = 0;
const FULL: u64 = 1;
const WAITED_FOR: u64 = 2;

/// A number that is swapped, and the waker of who waits for it; for any thread, or for one.
pub(crate) trait Flavour: 'static {
    type Number: Number;
    type Kept: Kept;
}

pub(crate) trait Number {
    fn new(number: u64) -> Self;
    fn look(&self) -> u64;
    fn set(&self, number: u64);
    fn swap(&self, number: u64) -> u64;
}

pub(crate) trait Kept: Default {
    fn keep(&self, waker: &Waker);
    fn wake(&self);
}

impl Number for AtomicU64 {
    fn new(number: u64) -> Self {
        Self::new(number)
    }

    fn look(&self) -> u64 {
        // Acquire pairs with `swap`: the message.
        self.load(Ordering::Acquire)
    }

    fn set(&self, number: u64) {
        // Relaxed: what is set is seen by way of a swap.
        self.store(number, Ordering::Relaxed);
    }

    fn swap(&self, number: u64) -> u64 {
        // AcqRel pairs with itself and with `look`: the message, and the waker.
        self.swap(number, Ordering::AcqRel)
    }
}

impl Number for Cell<u64> {
    fn new(number: u64) -> Self {
        Self::new(number)
    }

    fn look(&self) -> u64 {
        self.get()
    }

    fn set(&self, number: u64) {
        self.set(number);
    }

    fn swap(&self, number: u64) -> u64 {
        self.replace(number)
    }
}

macro_rules! kept {
    ($once:ident) => {
        impl Kept for $once<Waker> {
            fn keep(&self, waker: &Waker) {
                self.get_or_init(|| waker.clone());
            }

            fn wake(&self) {
                if let Some(waker) = self.get() {
                    waker.wake_by_ref();
                }
            }
        }
    };
}

kept!(OnceLock);
kept!(OnceCell);

pub(crate) struct Shared;

impl Flavour for Shared {
    type Number = AtomicU64;
    type Kept = OnceLock<Waker>;
}

pub(crate) struct Local;

impl Flavour for Local {
    type Number = Cell<u64>;
    type Kept = OnceCell<Waker>;
}

struct Slot<F: Flavour> {
    word: F::Number,
    message: F::Number,
    /// Of the task that receives; registered once, so that a message clones none.
    waker: F::Kept,
}

impl<F: Flavour> Slot<F> {
    fn new() -> Self {
        Self {
            word: F::Number::new(EMPTY),
            message: F::Number::new(0),
            waker: F::Kept::default(),
        }
    }

    #[inline(always)]
    fn send(&self, message: u64) {
        self.message.set(message);
        if self.word.swap(FULL) == WAITED_FOR {
            self.waker.wake();
        }
    }

    #[inline(always)]
    fn recv(&self) -> impl Future<Output = u64> {
        poll_fn(|cx| {
            if self.word.look() != FULL {
                self.waker.keep(cx.waker());
                if self.word.swap(WAITED_FOR) != FULL {
                    return Poll::Pending;
                }
            }
            self.word.set(EMPTY);
            Poll::Ready(self.message.look())
        })
    }
}

/// Two tasks; each way adds one, and who began gives the number.
pub(crate) fn to_and_fro<F: Flavour>(
    asked: &Asked,
) -> Tasks<impl Future<Output = ()> + use<F>, impl Future<Output = u64> + use<F>> {
    let slots = leak([Slot::<F>::new(), Slot::new()]);
    let [ping, pong] = [&slots[0], &slots[1]];
    let trips = asked.messages;
    let answers = async move {
        for _ in 0..trips {
            pong.send(ping.recv().await + 1);
        }
    };
    let asks = async move {
        let mut number = 0_u64;
        for _ in 0..trips {
            ping.send(number);
            number = pong.recv().await + 1;
        }
        number
    };
    Tasks {
        senders: vec![answers],
        receivers: vec![asks],
    }
}
