//! The values of locks and cells: made from them, and shown.

use gossamer::local::{MVar, RwLock};
use gossamer::{Wait, sync};

use crate::flavour::both;
use crate::locks::Locks;

both! {
    a_mutex_shows_its_value_unless_it_is_locked,
    a_rwlock_shows_its_value_unless_it_is_written,
}

#[test]
fn what_is_made_from_a_value() {
    assert_eq!(*sync::Mutex::from(1).lock().wait(), 1);
    assert_eq!(*sync::FairMutex::from(2).lock().wait(), 2);
    assert_eq!(*RwLock::from(3).read().wait(), 3);
    assert_eq!(MVar::from(4).take().wait(), 4);
    assert_eq!(sync::OnceCell::from(5).get(), Some(&5));
    assert_eq!(sync::IVar::from(6).try_read(), Some(&6));
}

fn a_mutex_shows_its_value_unless_it_is_locked<F: Locks>() {
    let mutex = F::mutex("value");
    assert_eq!(format!("{mutex:?}"), "Mutex { data: \"value\" }");
    let held = mutex.try_lock().expect("showing it locked it for a moment");
    assert_eq!(format!("{mutex:?}"), "Mutex { data: <locked> }");
    drop(held);
    assert_eq!(format!("{:?}", F::fair_mutex(7)), "Mutex { data: 7 }");
}

fn a_rwlock_shows_its_value_unless_it_is_written<F: Locks>() {
    let lock = F::rwlock(7);
    let reads = lock.try_read().expect("it is free");
    assert_eq!(format!("{lock:?}"), "RwLock { data: 7 }");
    drop(reads);
    let writes = lock.try_write().expect("it is free");
    assert_eq!(format!("{lock:?}"), "RwLock { data: <locked> }");
    drop(writes);
}
