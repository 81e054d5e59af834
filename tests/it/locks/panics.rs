//! Panics: in wakers, in closures, and inside sections.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::task::{Poll, Wake, Waker};

use gossamer_sim::{Sim, spawn};

use super::Locks;
use crate::flavour::both;
use crate::hand::{Hand, parked};
use crate::mvar::explore_seeded;

both! {
    a_panic_inside_a_section_unlocks,
    a_waker_that_panics_harms_nobody,
    a_waker_whose_drop_panics_harms_nobody,
    a_maker_that_panics_lets_the_next,
    tasks_that_panic_inside,
}

/// A planned panic: the hook says nothing of it.
fn planned() -> ! {
    resume_unwind(Box::new("planned"))
}

fn fails(body: impl FnOnce()) {
    let payload = catch_unwind(AssertUnwindSafe(body)).expect_err("it panics");
    assert_eq!(payload.downcast_ref::<&str>(), Some(&"planned"));
}

/// A waker that panics when it wakes, or when it is dropped for the last time.
struct Bad {
    in_wake: bool,
}

impl Wake for Bad {
    fn wake(self: Arc<Self>) {
        if self.in_wake {
            planned();
        }
    }
}

impl Drop for Bad {
    fn drop(&mut self) {
        if !self.in_wake {
            planned();
        }
    }
}

fn a_panic_inside_a_section_unlocks<F: Locks>() {
    let (mutex, fair, rwlock) = (F::mutex(0), F::fair_mutex(0), F::rwlock(0));
    let semaphore = F::semaphore(1);
    fails(|| {
        let mut one = mutex.try_lock().expect("it is free");
        let _others = (fair.try_lock(), rwlock.try_write(), semaphore.try_acquire());
        *one += 1;
        planned();
    });
    assert_eq!(*mutex.try_lock().expect("it is free"), 1, "as it was left");
    assert!(fair.try_lock().is_some() && rwlock.try_write().is_some());
    fails(|| {
        let _read = rwlock.try_read();
        planned();
    });
    assert!(rwlock.try_write().is_some());
    assert_eq!(semaphore.available(), 1);
}

/// Of several that are woken together the first has a waker that panics: all are woken, nobody sees the panic.
fn a_waker_that_panics_harms_nobody<F: Locks>() {
    let bad = Waker::from(Arc::new(Bad { in_wake: true }));
    let event = F::event();
    let mut first = Hand::new(event.ready());
    assert!(first.poll_with(&bad).is_pending());
    let second = parked(event.ready());
    event.set();
    assert_eq!(second.wakes(), 1);
    assert!(first.poll_with(&bad).is_ready());

    let primitive = F::semaphore(0);
    let mut first = Hand::new(primitive.acquire());
    assert!(first.poll_with(&bad).is_pending());
    let second = parked(primitive.acquire());
    primitive.add_permits(2);
    assert_eq!(second.wakes(), 1);
    let Poll::Ready(permit) = first.poll_with(&bad) else {
        panic!("it was granted")
    };
    drop((permit, second));
    assert_eq!(primitive.available(), 2);

    let primitive = F::mutex(0);
    let held = primitive.try_lock();
    let mut first = Hand::new(primitive.lock());
    assert!(first.poll_with(&bad).is_pending());
    drop(held);
    assert!(first.poll_with(&bad).is_ready());
    assert!(!primitive.is_locked());
}

/// The panic reaches whoever dropped the waker; the line does not mind.
fn a_waker_whose_drop_panics_harms_nobody<F: Locks>() {
    let primitive = F::semaphore(0);
    let park = || {
        let mut hand = Hand::new(primitive.acquire());
        let waker = Waker::from(Arc::new(Bad { in_wake: false }));
        assert!(hand.poll_with(&waker).is_pending());
        drop(waker);
        hand
    };
    let mut renewed = park();
    fails(|| assert!(renewed.poll().is_pending()));
    let gone = park();
    fails(|| drop(gone));
    primitive.add_permits(1);
    assert_eq!(renewed.wakes(), 1);
    assert!(renewed.poll().is_ready());
    assert_eq!(primitive.available(), 1);
}

fn a_maker_that_panics_lets_the_next<F: Locks>() {
    let primitive = F::once_cell();
    let mut bad = Hand::new(primitive.get_or_init(async || planned()));
    let mut worse = Hand::new(primitive.get_or_init(|| -> std::future::Ready<u32> { planned() }));
    fails(|| assert!(bad.poll().is_pending()));
    let second = parked(primitive.get_or_init(async || 2));
    drop(bad);
    assert_eq!(second.wakes(), 1);
    drop(second);
    fails(|| assert!(worse.poll().is_pending()));
    let mut third = parked(primitive.get_or_init(async || 3));
    drop(worse);
    assert_eq!(third.poll(), Poll::Ready(&3));
    drop(third);

    // A future that panics when it is dropped.
    struct Grumpy;
    impl Drop for Grumpy {
        fn drop(&mut self) {
            planned();
        }
    }
    let primitive = F::once_cell();
    let grumpy = parked(primitive.get_or_init(async || {
        let _grumpy = Grumpy;
        std::future::pending::<u32>().await
    }));
    let mut second = parked(primitive.get_or_init(async || 2));
    fails(|| drop(grumpy));
    assert_eq!((second.wakes(), second.poll()), (1, Poll::Ready(&2)));
}

/// One of several tasks panics while it has the lock, a permit, or both, and others wait.
fn tasks_that_panic_inside<F: Locks>() {
    explore_seeded(Sim::new().expect_panics(), |seed| async move {
        let primitive = std::rc::Rc::new((F::mutex(0), F::semaphore(1), F::rwlock(0)));
        let tasks: Vec<_> = (0..3)
            .map(|number| {
                let at = primitive.clone();
                spawn(async move {
                    let _permit = at.1.acquire().await;
                    let _read = at.2.read().await;
                    gossamer::yield_now().await;
                    let mut count = at.0.lock().await;
                    if number == seed % 3 {
                        planned();
                    }
                    *count += 1;
                })
            })
            .collect();
        let mut ended = 0;
        for task in tasks {
            ended += u32::from(task.await.is_ok());
        }
        assert_eq!(
            (ended, *primitive.0.try_lock().expect("it is free")),
            (2, 2)
        );
        assert!(primitive.2.try_write().is_some());
        assert_eq!(primitive.1.available(), 1);
    });
}
