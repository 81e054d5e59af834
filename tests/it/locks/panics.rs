//! Panics in closures, and of tasks inside sections; all others are in [`every_lock`](crate::every_lock).

use std::task::Poll;

use gossamer_sim::{Sim, spawn};

use super::Locks;
use crate::bad_wakers::{fails, planned};
use crate::flavour::both;
use crate::hand::{Hand, parked};
use crate::mvar::explore_seeded;

both! {
    a_maker_that_panics_lets_the_next,
    tasks_that_panic_inside,
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
