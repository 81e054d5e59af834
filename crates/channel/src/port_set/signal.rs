//! The waker of a port that does not announce its entry itself, and what keeps the entry of a pipe's end that is being
//! served.

use std::sync::Arc;
use std::task::{Wake, Waker};

use gossamer_core::platform::atomic::{AtomicU32, Ordering};
use gossamer_core::waiter::Deferred;

use super::ready::Ready;

/// Announces an entry, when it is called for the first time since the set has looked there.
pub(super) struct Signal {
    state: AtomicU32,
    ready: Arc<Ready>,
    index: u32,
}

/// The entry has been announced, or is no longer this port's.
const ANNOUNCED: u32 = 0;
/// The next call announces it.
const ANNOUNCES: u32 = 1;
/// The entry was kept for a pipe's end, which is gone.
const GONE: u32 = 2;

impl Signal {
    pub(super) fn new(ready: Arc<Ready>, index: u32) -> Arc<Self> {
        Arc::new(Self {
            state: AtomicU32::new(ANNOUNCED),
            ready,
            index,
        })
    }

    pub(super) fn waker(self: &Arc<Self>) -> Waker {
        self.clone().into()
    }

    /// From now on it announces.
    pub(super) fn begin(&self) {
        // Relaxed: the port takes the waker, or has it already, by an exchange of its own or under a lock, and who
        // calls it has seen that one. An exchange here too, as one that is called late may come just now, and `end` has
        // to see which of the two was the second.
        self.state.swap(ANNOUNCES, Ordering::Relaxed);
    }

    /// From now on it announces that the pipe's end is gone for which the entry is kept; `false`: it is gone already.
    pub(super) fn begin_kept(&self) -> bool {
        // Relaxed: as in `end`. It is announced by whichever is the second of this and the drop of the lease.
        let begun =
            self.state
                .compare_exchange(ANNOUNCED, ANNOUNCES, Ordering::Relaxed, Ordering::Relaxed);
        begun != Err(GONE)
    }

    /// Whether the pipe's end is there for which the entry is kept.
    pub(super) fn is_kept(&self) -> bool {
        // Relaxed: nothing else is read.
        self.state.load(Ordering::Relaxed) != GONE
    }

    /// From now on it does not.
    ///
    /// # Returns
    /// Whether it has announced.
    pub(super) fn end(&self) -> bool {
        // Relaxed: one exchange of the two, this and the one in `wake_by_ref`, is the second; nothing else is read.
        self.state.swap(ANNOUNCED, Ordering::Relaxed) == ANNOUNCED
    }
}

impl Wake for Signal {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        // Relaxed: as in `end`; the lock of the queue publishes the entry.
        let called =
            self.state
                .compare_exchange(ANNOUNCES, ANNOUNCED, Ordering::Relaxed, Ordering::Relaxed);
        if called.is_ok() {
            self.ready.announce(self.index).run();
        }
    }
}

/// Keeps an entry for a pipe's end that is being served; or none. Dropped, it gives the entry up: the set has one port
/// less, and the next look at the entry frees it.
pub(crate) struct Lease(Option<Arc<Signal>>);

impl Lease {
    pub(crate) const NONE: Self = Self(None);

    pub(super) fn new(signal: Arc<Signal>) -> Self {
        Self(Some(signal))
    }

    /// The entry of the set with this queue, in which the end is again. An entry of another set is given up.
    pub(super) fn into_entry(mut self, ready: &Arc<Ready>) -> Option<(u32, Arc<Signal>)> {
        let signal = self.0.take_if(|signal| Arc::ptr_eq(&signal.ready, ready))?;
        Some((signal.index, signal))
    }
}

impl Drop for Lease {
    #[inline(always)]
    fn drop(&mut self) {
        if let Some(signal) = self.0.take() {
            give_up(&signal);
        }
    }
}

#[cold]
#[inline(never)]
fn give_up(signal: &Signal) {
    if gossamer_core::mutant!("port_place_is_never_free") {
        return;
    }
    // Relaxed: as in `begin_kept`; the lock of the queue publishes it.
    let announced = match signal.state.swap(GONE, Ordering::Relaxed) {
        ANNOUNCES => signal.ready.announce(signal.index),
        _ => Deferred::NOTHING,
    };
    signal.ready.count_out();
    announced.run();
}
