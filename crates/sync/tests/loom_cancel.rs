//! Models of cancellation at every lock and cell: one that waits gives up while what it waits for comes.
//!
//! Two wait, and only once something is let go; so nothing that comes later can repair a wake-up that is lost. Run by
//! `cargo xtask loom`; what loom cannot see is told in `crates/core/tests/loom.rs`.
#![cfg(loom)]

use std::future::{pending, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use gossamer_core::platform::model::{explore, joined};
use gossamer_core::platform::thread;
use gossamer_sync::sync::{
    Barrier, Condvar, Event, FairMutex, IVar, MVar, Mutex, OnceCell, RwLock, Semaphore,
};

/// What operations of more than one thread borrow: loom has no threads with a scope. It is not freed.
fn shared<T>(primitive: T) -> &'static T {
    Box::leak(Box::new(primitive))
}

/// Whether somebody has called. Not for loom: it orders nothing, and is looked at when the other thread has ended.
#[derive(Default)]
struct Called(AtomicBool);

impl Wake for Called {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// An operation that waits, and who is called for it.
struct Parked<F: Future> {
    operation: Pin<Box<F>>,
    called: Arc<Called>,
}

impl<F: Future> Parked<F> {
    fn new(operation: F) -> Self {
        let mut parked = Self {
            operation: Box::pin(operation),
            called: Arc::default(),
        };
        assert!(parked.poll().is_pending(), "it does not wait");
        parked
    }

    fn poll(&mut self) -> Poll<F::Output> {
        let waker = Waker::from(self.called.clone());
        self.operation
            .as_mut()
            .poll(&mut Context::from_waker(&waker))
    }

    fn is_called(&self) -> bool {
        self.called.0.load(Ordering::Relaxed)
    }

    /// It was called, and goes.
    fn goes(mut self) -> F::Output {
        assert!(self.is_called(), "its wake-up was lost");
        match self.poll() {
            Poll::Ready(output) => output,
            Poll::Pending => panic!("it was called in vain"),
        }
    }
}

/// Both wait, in this order. The first gives up while another thread lets something go, enough for one of them.
fn first_gives_up<A, B>(first: A, second: B, let_go: impl FnOnce() + 'static) -> Parked<B>
where
    A: Future,
    B: Future,
{
    let (first, second) = (Parked::new(first), Parked::new(second));
    let other = thread::spawn(let_go);
    drop(first);
    joined(other);
    second
}

#[test]
fn mutex() {
    explore("cancelled: mutex", || {
        let primitive = shared(Mutex::new(0));
        let held = primitive.try_lock().expect("it is free");
        let second = first_gives_up(primitive.lock(), primitive.lock(), move || drop(held));
        *second.goes() += 1;
    });
}

#[test]
fn fair_mutex() {
    explore("cancelled: fair_mutex", || {
        let primitive = shared(FairMutex::new(0));
        let held = primitive.try_lock().expect("it is free");
        let second = first_gives_up(primitive.lock(), primitive.lock(), move || drop(held));
        *second.goes() += 1;
    });
}

/// One has been woken for the lock, was passed, and gives up as the one that passed it leaves.
#[test]
fn passed_mutex() {
    explore("cancelled: passed_mutex", || {
        let primitive = shared(Mutex::new(0));
        let held = primitive.try_lock().expect("it is free");
        let (first, second) = (Parked::new(primitive.lock()), Parked::new(primitive.lock()));
        drop(held);
        assert!(first.is_called());
        let other = thread::spawn(|| drop(primitive.try_lock()));
        drop(first);
        joined(other);
        drop(second.goes());
    });
}

#[test]
fn reader_before_a_writer() {
    explore("cancelled: reader_before_a_writer", || {
        let primitive = shared(RwLock::new(0));
        let held = primitive.try_write().expect("it is free");
        let second = first_gives_up(primitive.read(), primitive.write(), move || drop(held));
        *second.goes() += 1;
    });
}

/// One of two readers leaves, the other stays: the writer cannot go, and only its end lets the reader behind it go.
#[test]
fn writer_before_a_reader() {
    explore("cancelled: writer_before_a_reader", || {
        let primitive = shared(RwLock::new(0));
        let (stays, leaves) = (primitive.try_read(), primitive.try_read());
        let second = first_gives_up(primitive.write(), primitive.read(), move || drop(leaves));
        assert_eq!(*second.goes(), 0);
        assert!(stays.is_ok());
    });
}

#[test]
fn semaphore() {
    explore("cancelled: semaphore", || {
        let primitive = shared(Semaphore::new(0));
        let let_go = || primitive.add_permits(1);
        let second = first_gives_up(primitive.acquire(), primitive.acquire(), let_go);
        assert_eq!(second.goes().expect("it is open").num_permits(), 1);
    });
}

/// Both are told, one of them as it gives up; and an operation that owns the semaphore lets it go.
#[test]
fn semaphore_that_is_closed() {
    explore("cancelled: semaphore_that_is_closed", || {
        let primitive = Arc::new(Semaphore::new(0));
        let (first, second) = (primitive.clone(), primitive.clone());
        let closes = primitive.clone();
        let let_go = move || closes.close();
        let second = first_gives_up(first.acquire_owned(), second.acquire_owned(), let_go);
        assert!(second.goes().is_err());
        assert_eq!(primitive.available_permits(), 0);
        assert_eq!(Arc::strong_count(&primitive), 1);
    });
}

/// There never are as many permits as the first wants: only its end lets the one behind it go.
#[test]
fn semaphore_of_many() {
    explore("cancelled: semaphore_of_many", || {
        let primitive = shared(Semaphore::new(0));
        let let_go = || primitive.add_permits(1);
        let second = first_gives_up(primitive.acquire_many(2), primitive.acquire(), let_go);
        assert_eq!(second.goes().expect("it is open").num_permits(), 1);
    });
}

#[test]
fn condvar() {
    explore("cancelled: condvar", || {
        let primitive = shared((Mutex::new(0), Condvar::new()));
        let wait = || {
            let mut held = primitive.0.try_lock().ok();
            let mut waits = None;
            poll_fn(move |cx| {
                if let Some(held) = held.take() {
                    waits = Some(Box::pin(primitive.1.notified(held)));
                }
                waits.as_mut().expect("the lock was free").as_mut().poll(cx)
            })
        };
        let first = Parked::new(wait());
        let second = Parked::new(wait());
        let other = thread::spawn(|| primitive.1.notify_one());
        drop(first);
        joined(other);
        drop(second.goes());
    });
}

/// One that has arrived leaves as the last one comes: either all have met, or the others wait for one more.
#[test]
fn barrier() {
    explore("cancelled: barrier", || {
        let primitive = shared(Barrier::new(3));
        let (first, second) = (
            Parked::new(primitive.arrive()),
            Parked::new(primitive.arrive()),
        );
        let other = thread::spawn(|| {
            let mut last = Box::pin(primitive.arrive());
            let polled = last.as_mut().poll(&mut Context::from_waker(Waker::noop()));
            (polled.is_ready(), last)
        });
        drop(first);
        let (has_met, last) = joined(other);
        if !has_met {
            assert!(!second.is_called(), "two are not three");
            let come = Box::pin(primitive.arrive())
                .as_mut()
                .poll(&mut Context::from_waker(Waker::noop()));
            assert!(come.is_ready(), "the third has come");
        }
        second.goes();
        drop(last);
    });
}

#[test]
fn event() {
    explore("cancelled: event", || {
        let primitive = shared(Event::new());
        let let_go = || {
            primitive.set();
            // Whoever waited goes all the same.
            primitive.reset();
        };
        first_gives_up(primitive.ready(), primitive.ready(), let_go).goes();
    });
}

/// The maker of a value gives up, and so does the first of those that wait to make it.
#[test]
fn once_cell() {
    explore("cancelled: once_cell", || {
        let primitive = shared(OnceCell::new());
        let maker = Parked::new(primitive.get_or_init(pending::<u32>));
        let make = || primitive.get_or_init(async || 2);
        let second = first_gives_up(make(), make(), move || drop(maker));
        assert_eq!(*second.goes(), 2);
    });
}

#[test]
fn ivar() {
    explore("cancelled: ivar", || {
        let primitive = shared(IVar::new());
        let let_go = || assert!(primitive.put(1).is_ok());
        let second = first_gives_up(primitive.read(), primitive.read(), let_go);
        assert_eq!(*second.goes(), 1);
    });
}

#[test]
fn mvar() {
    explore("cancelled: mvar", || {
        let primitive = shared(MVar::empty());
        let let_go = || assert!(primitive.try_put(1).is_ok());
        let second = first_gives_up(primitive.take(), primitive.take(), let_go);
        assert_eq!(second.goes(), 1);
    });
}

/// More wait than are served in one go, and one in the midst of them gives up.
#[test]
fn more_than_a_batch() {
    explore("cancelled: more_than_a_batch", || {
        let primitive = shared(Semaphore::new(0));
        let mut waits: Vec<_> = (0..4).map(|_| Parked::new(primitive.acquire())).collect();
        let other = thread::spawn(|| primitive.add_permits(3));
        drop(waits.remove(1));
        joined(other);
        for waits in waits {
            assert_eq!(waits.goes().expect("it is open").num_permits(), 1);
        }
    });
}
