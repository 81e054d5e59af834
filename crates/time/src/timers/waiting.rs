//! The timers of threads that wait and run nothing: each such thread serves its own while it waits.
//!
//! They come from a list, are taken when a thread registers its first timer, and go back when it ends.

use std::cell::Cell;
use std::task::Waker;

use gossamer_core::moment::{Moment, OwnTimers};
use gossamer_core::platform::{Mutex, per_process, thread_local};
use gossamer_core::wait::set_own_timers;

use super::Timers;

per_process! {
    /// Timers that no thread has.
    fn free() -> Mutex<Vec<&'static Timers>> = Mutex::default()
}

/// This thread's, given back when it ends.
struct Own(Cell<Option<&'static Timers>>);

impl Drop for Own {
    fn drop(&mut self) {
        if let Some(timers) = self.0.take() {
            set_own_timers(None);
            timers.end();
            free().lock().push(timers);
        }
    }
}

thread_local! {
    static OWN: Own = const { Own(Cell::new(None)) };
}

/// This thread's timers; `None` if the thread is so late in its end that it has none any more.
pub(super) fn own() -> Option<&'static Timers> {
    OWN.try_with(|own| own.0.get().unwrap_or_else(|| take(own)))
        .ok()
}

#[cold]
fn take(own: &Own) -> &'static Timers {
    let free = free().lock().pop();
    let timers = free.unwrap_or_else(|| Box::leak(Box::new(Timers::new(false, None))));
    own.0.set(Some(timers));
    set_own_timers(Some(timers));
    timers
}

impl OwnTimers for Timers {
    fn serve(&self) -> bool {
        Timers::serve(self)
    }

    fn next_deadline(&self) -> Moment {
        Timers::next_deadline(self)
    }

    fn rest(&'static self, wakes_thread: &dyn Fn(&Waker) -> bool) {
        Timers::rest(self, wakes_thread);
    }
}
