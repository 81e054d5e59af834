//! A semaphore that is closed: those that wait are told, and so is who comes; permits come and go as ever.

use std::cell::Cell;
use std::rc::Rc;

use gossamer::sync::TryAcquireError;
use gossamer::{Wait, yield_now};
use gossamer_sim::spawn;

use crate::exploring::exhaust_each_step;
use crate::flavour::both;
use crate::hand::{Hand, parked, ready};
use crate::locks::Locks;

both! {
    those_that_wait_are_told,
    who_comes_is_told,
    what_was_granted_before_is_had,
    one_that_was_told_and_is_dropped,
    permits_of_a_closed_one_come_and_go,
    closed_as_one_gives_up,
}

/// More than are woken at a time.
fn those_that_wait_are_told<F: Locks>() {
    let semaphore = F::semaphore(1);
    let mut waiting: Vec<_> = (0..100)
        .map(|_| parked(semaphore.acquire_many(2)))
        .collect();
    semaphore.close();
    for waits in &mut waiting {
        assert_eq!(waits.wakes(), 1);
        let error = ready(waits.poll()).expect_err("it is closed");
        assert_eq!(error.to_string(), format!("{error:?}"));
    }
    assert_eq!(semaphore.available_permits(), 1);
}

fn who_comes_is_told<F: Locks>() {
    let semaphore = F::semaphore(5);
    assert!(!semaphore.is_closed());
    semaphore.close();
    semaphore.close();
    assert!(semaphore.is_closed());
    for wants in [0, 1, 6] {
        assert!(semaphore.acquire_many(wants).wait().is_err(), "{wants}");
        let tried = semaphore.try_acquire_many(wants).map(drop);
        assert_eq!(tried, Err(TryAcquireError::Closed), "{wants}");
    }
    assert_eq!(semaphore.available_permits(), 5);
}

fn what_was_granted_before_is_had<F: Locks>() {
    let semaphore = F::semaphore(0);
    let [mut first, mut second] = [(); 2].map(|()| parked(semaphore.acquire()));
    semaphore.add_permits(1);
    semaphore.close();
    let permit = ready(first.poll()).expect("it was granted before");
    assert!(ready(second.poll()).is_err());
    drop(permit);
    // Nobody has it any more, also not one that was granted one and is gone.
    assert_eq!(semaphore.available_permits(), 1);
    let semaphore = F::semaphore(0);
    let (first, mut second) = (parked(semaphore.acquire()), parked(semaphore.acquire()));
    semaphore.add_permits(1);
    semaphore.close();
    drop(first);
    assert!(ready(second.poll()).is_err());
    assert_eq!(semaphore.available_permits(), 1);
}

fn one_that_was_told_and_is_dropped<F: Locks>() {
    let semaphore = F::semaphore(0);
    let [first, mut second] = [(); 2].map(|()| parked(semaphore.acquire()));
    semaphore.close();
    drop(first);
    assert_eq!(semaphore.available_permits(), 0);
    assert!(ready(second.poll()).is_err());
}

fn permits_of_a_closed_one_come_and_go<F: Locks>() {
    let semaphore = F::semaphore(2);
    let permit = semaphore.try_acquire().expect("it is free");
    semaphore.close();
    assert_eq!(semaphore.available_permits(), 1);
    drop(permit);
    semaphore.add_permits(2);
    assert_eq!(semaphore.available_permits(), 4);
    assert_eq!(
        (semaphore.forget_permits(1), semaphore.forget_permits(9)),
        (1, 3)
    );
    assert_eq!(
        (semaphore.forget_permits(1), semaphore.available_permits()),
        (0, 0)
    );
    assert!(Hand::new(semaphore.acquire()).poll().is_ready());
    let shown = format!("{semaphore:?}");
    assert!(shown.contains("is_closed: true"), "{shown}");
}

/// In all schedules: whoever waits ends, and no permit is lost.
fn closed_as_one_gives_up<F: Locks>() {
    exhaust_each_step(|| async {
        let semaphore = Rc::new(F::semaphore(1));
        let told = Rc::new(Cell::new(0));
        let tasks: Vec<_> = (0..2)
            .map(|_| {
                let (semaphore, told) = (semaphore.clone(), told.clone());
                spawn(async move {
                    match semaphore.acquire().await {
                        Ok(_permit) => yield_now().await,
                        Err(_) => told.set(told.get() + 1),
                    }
                })
            })
            .collect();
        let closes = semaphore.clone();
        let closer = spawn(async move { closes.close() });
        tasks[0].abort();
        for task in tasks {
            let _ended = task.await;
        }
        closer.await.expect("it does not panic");
        assert!(told.get() <= 2);
        assert_eq!(semaphore.available_permits(), 1);
    });
}
