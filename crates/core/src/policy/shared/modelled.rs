//! Waiting for a lock in a model of loom, where to look again and again has no end: a load may show what was there once.
//! Who waits sleeps until any lock is given up. The fence that this needs is one that the code itself does not have:
//! what relies on an order between an unlock and a later read has to have its own.

use crate::platform::atomic::{AtomicU32, Ordering, fence};
use crate::platform::{Condvar, Mutex};

crate::platform::process_global! {
    /// Threads that sleep, or are about to.
    fn sleepers() -> AtomicU32 = AtomicU32::new(0)
}

crate::platform::per_process! {
    fn bed() -> (Mutex<()>, Condvar) = (Mutex::new(()), Condvar::new())
}

/// Sleeps until a lock is given up, unless this one is free by now.
pub(super) fn sleep_while(is_held: impl FnOnce() -> bool) {
    let (bed, woken) = bed();
    let asleep = bed.lock();
    // Relaxed: the fence orders it before the look.
    sleepers().fetch_add(1, Ordering::Relaxed);
    fence(Ordering::SeqCst); // pairs with the one in `wake_all`
    if is_held() {
        drop(woken.wait(asleep));
    }
    // Relaxed: one too many costs a notification.
    sleepers().fetch_sub(1, Ordering::Relaxed);
}

/// A lock has been given up.
pub(super) fn wake_all() {
    fence(Ordering::SeqCst); // pairs with the one in `sleep_while`
    // Relaxed: the fence orders it after the store of the word.
    if sleepers().load(Ordering::Relaxed) > 0 {
        let (bed, woken) = bed();
        drop(bed.lock());
        woken.notify_all();
    }
}
