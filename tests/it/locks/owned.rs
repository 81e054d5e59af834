//! Guards and permits that own what they are of, permits that are merged and split, and values of any size.

use std::fmt::Display;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Waker};

use gossamer::{Runtime, Wait, local as unshared, sync, yield_now};

use crate::flavour::both;
use crate::hand::{parked, ready};
use crate::locks::Locks;

both! {
    permits_are_merged_and_split,
}

/// All else that knew the lock has gone before.
#[test]
fn a_guard_keeps_its_lock() {
    let mutex = Arc::new(sync::Mutex::new(Arc::new(1)));
    let (value, gone) = (
        mutex.clone().try_lock().map(|value| Arc::downgrade(&value)),
        Arc::downgrade(&mutex),
    );
    let value = value.expect("it is free");
    let guard = mutex.lock_owned().wait();
    assert_eq!((**guard, value.strong_count()), (1, 1));
    assert!(sync::OwnedMutexGuard::mutex(&guard).is_locked());
    drop(guard);
    assert!(value.upgrade().is_none() && gone.upgrade().is_none());
    let lock = Rc::new(unshared::RwLock::new(1));
    let gone = Rc::downgrade(&lock);
    let mut writes = lock.write_owned().wait();
    *writes += 1;
    let lock = gone.upgrade().expect("the guard keeps it");
    let waits = parked(lock.clone().read_owned());
    let reads = writes.downgrade();
    assert_eq!((*reads, waits.wakes()), (2, 1));
    drop((lock, waits));
    assert!(
        gone.upgrade()
            .expect("the guard keeps it")
            .try_read()
            .is_ok()
    );
    drop(reads);
    assert!(gone.upgrade().is_none());
    let semaphore = Rc::new(unshared::Semaphore::new(1));
    let gone = Rc::downgrade(&semaphore);
    let mut permit = semaphore.acquire_owned().wait().expect("it is open");
    let none = permit.split(0).expect("none of one");
    permit.forget();
    assert_eq!(none.semaphore().available_permits(), 0);
    drop(none);
    assert!(gone.upgrade().is_none());
}

/// An operation that waits, or was never polled, keeps it too; one that is complete does not.
#[test]
fn an_operation_keeps_its_lock() {
    let mutex = Arc::new(sync::FairMutex::new(1));
    let gone = Arc::downgrade(&mutex);
    drop(mutex.clone().lock_owned());
    let held = mutex.clone().lock_owned().wait();
    let (first, mut second) = (
        parked(mutex.clone().lock_owned()),
        parked(mutex.lock_owned()),
    );
    drop(held);
    drop(first);
    drop(ready(second.poll()));
    assert!(
        gone.upgrade().is_none(),
        "the operation is there, and complete"
    );
    let again = catch_unwind(AssertUnwindSafe(|| second.poll().is_ready()));
    let message = *again
        .expect_err("it is complete")
        .downcast::<String>()
        .unwrap();
    assert_eq!(message, "FairMutex::lock was polled after it was complete");
}

/// A guard goes to another task, and a thread.
#[test]
fn a_guard_is_sent() {
    let rt = Runtime::builder().build().unwrap();
    let (mutex, lock) = (
        Arc::new(sync::Mutex::new(0)),
        Arc::new(sync::RwLock::new(0)),
    );
    let (mut held, mut writes) = (
        mutex.clone().lock_owned().wait(),
        lock.clone().write_owned().wait(),
    );
    let other = lock.clone().read_owned();
    let task = rt.spawn(async move {
        yield_now().await;
        *held += 1;
        *writes += 1;
    });
    assert_eq!(*mutex.lock_owned().wait(), 1);
    assert_eq!(*other.wait(), 1);
    task.wait().unwrap();
}

fn permits_are_merged_and_split<F: Locks>() {
    let (semaphore, other) = (F::semaphore(5), F::semaphore(1));
    let mut three = semaphore.try_acquire_many(3).expect("they are free");
    let two = three.split(2).expect("it has three");
    assert_eq!((three.num_permits(), two.num_permits()), (1, 2));
    assert!(three.split(2).is_none() && three.split(usize::MAX).is_none());
    drop(three);
    assert_eq!(semaphore.available_permits(), 3);
    let mut all = semaphore.try_acquire_many(3).expect("they are free");
    all.merge(two);
    assert_eq!((all.num_permits(), semaphore.available_permits()), (5, 0));
    assert!(std::ptr::eq(*all.semaphore(), &semaphore));
    let foreign = other.try_acquire().expect("it is free");
    let refused = catch_unwind(AssertUnwindSafe(|| all.merge(foreign)));
    assert!(refused.is_err());
    drop(all);
    assert_eq!(
        (semaphore.available_permits(), other.available_permits()),
        (5, 1)
    );
}

#[test]
fn values_of_any_size() {
    let shown: Arc<sync::Mutex<dyn Display + Send>> = Arc::new(sync::Mutex::new(7));
    assert_eq!(shown.try_lock().expect("it is free").to_string(), "7");
    assert_eq!(shown.lock_owned().wait().to_string(), "7");
    let slice: Rc<unshared::Mutex<[i32]>> = Rc::new(unshared::Mutex::new([1, 2, 3]));
    slice.lock().wait()[1] = 5;
    assert_eq!(format!("{slice:?}"), "Mutex { data: [1, 5, 3] }");
    let lock: &sync::RwLock<[i32]> = &sync::RwLock::new([1]);
    assert_eq!(lock.read().wait().len(), 1);
    let condition = unshared::Condvar::new();
    let guard = slice.lock().wait();
    let mut waits = pin!(condition.notified(guard));
    let mut cx = Context::from_waker(Waker::noop());
    assert!(waits.as_mut().poll(&mut cx).is_pending());
    condition.notify_one();
    assert_eq!(waits.wait()[2], 3);
}

/// In statics, in both flavours where they may be.
#[test]
fn all_are_const() {
    static MUTEX: sync::Mutex<Vec<u32>> = sync::Mutex::new(Vec::new());
    static FAIR: sync::FairMutex<u32> = sync::FairMutex::new(1);
    static LOCK: sync::RwLock<u32> = sync::RwLock::new(2);
    static CONDITION: sync::Condvar = sync::Condvar::new();
    static PERMITS: sync::Semaphore = sync::Semaphore::new(3);
    static BARRIER: sync::Barrier = sync::Barrier::new(1);
    static EVENT: sync::Event = sync::Event::new();
    static CELL: sync::OnceCell<u32> = sync::OnceCell::new();
    static VARIABLE: sync::IVar<u32> = sync::IVar::new();
    static PLACE: sync::MVar<u32> = sync::MVar::empty();
    MUTEX.lock().wait().push(1);
    CONDITION.notify_all();
    EVENT.set();
    assert_eq!(*FAIR.lock().wait() + *LOCK.read().wait(), 3);
    assert_eq!(PERMITS.available_permits(), 3);
    assert!(BARRIER.arrive().wait().is_leader());
    assert!(CELL.get().is_none() && VARIABLE.try_read().is_none() && PLACE.try_take().is_none());
    std::thread_local! {
        static LOCAL: unshared::Mutex<u32> = const { unshared::Mutex::new(4) };
    }
    LOCAL.with(|lock| assert_eq!(*lock.lock().wait(), 4));
}
