//! Ending a scope's children without the runtime that runs them: where a fiber that waits in a scope must unwind, or its
//! thread ends.
//!
//! A fiber is ended by its thread before any thread-local goes (`gossamer_fiber`). What the scopes of its fibers loan
//! is taken back before, with a limit; and children that are fibers are ended as children (`host.rs`).

use std::cell::RefCell;
use std::mem;
use std::sync::Arc;
use std::time::{Duration, Instant};

use gossamer_core::parker::Parker;
use gossamer_core::platform::{thread, thread_local};

use super::data::{Data, Entry};
use super::host::{End, Host, Serving, abort, is_exiting};

/// How long a thread that ends waits for what its fibers have loaned.
const LIMIT: Duration = Duration::from_secs(10);

thread_local! {
    /// Scopes of this thread's fibers.
    static OPEN: RefCell<Vec<Arc<Data>>> = RefCell::default();
}

impl Data {
    /// Ends all children, blocking this thread until none is left; `false` if that takes longer than `limit`.
    ///
    /// It needs nobody to run their tasks: what is not being polled is dropped here, and what is, when its poll ends. A
    /// fiber of another thread is ended by that; a thread when it has returned.
    pub(crate) fn take_back(&self, limit: Option<Duration>) -> bool {
        self.refuse_to_end();
        let deadline = limit.and_then(|limit| Instant::now().checked_add(limit));
        let serving = Serving::begin();
        Parker::with(|parker| {
            loop {
                serving.serve(parker.waker());
                self.end_all();
                if self.is_empty_or_wake(parker.waker()) {
                    return true;
                }
                match deadline {
                    None => parker.park(&mut || self.is_empty()),
                    Some(deadline) => {
                        let left = deadline.saturating_duration_since(Instant::now());
                        if left.is_zero() {
                            return false;
                        }
                        parker.park_for(left);
                    }
                }
            }
        })
    }

    fn end_all(&self) {
        for Entry { child, task } in self.close() {
            let Some(child) = child else {
                // Being spawned, by a sibling that finds out.
                continue;
            };
            match child.end() {
                End::Over => {}
                End::PolledElsewhere(on) => {
                    // A simulated thread does not go on by itself.
                    if let Some(threads) = gossamer_sched::simulated_threads()
                        && !gossamer_core::mutant!("scope_leaves_simulated_threads")
                    {
                        threads.end(on);
                    }
                }
                End::PolledHere => {
                    abort(format_args!(
                        "a child of a scope has ended the fiber that the scope is in, and that waits for the child: \
                         neither can ever end"
                    ));
                }
                End::On(host) => {
                    if let Some(task) = task {
                        task.abort();
                    }
                    let on = host.thread();
                    host.ask(child);
                    // That thread waits for this one, if this one is simulated.
                    if let Some(threads) = gossamer_sched::simulated_threads()
                        && !gossamer_core::mutant!("scope_keeps_its_simulation")
                    {
                        threads.wait_for(on);
                    }
                }
            }
        }
    }
}

/// Has each thread on which fibers have stood still take back what they loan, before it ends them.
pub(crate) fn before_threads_end() {
    gossamer_fiber::before_fibers_end(take_all_back);
}

/// Notes a scope of a fiber of this thread, until the result is dropped.
pub(crate) fn open(data: Arc<Data>) -> Open {
    OPEN.with(|open| open.borrow_mut().push(data.clone()));
    before_threads_end();
    Open(data)
}

/// A scope of a fiber that has not returned.
pub(crate) struct Open(Arc<Data>);

impl Drop for Open {
    fn drop(&mut self) {
        // Else it has been taken back.
        let _there = OPEN.try_with(|open| {
            let mut open = open.borrow_mut();
            if let Some(at) = open.iter().rposition(|data| Arc::ptr_eq(data, &self.0)) {
                open.swap_remove(at);
            }
        });
    }
}

/// The thread ends, and its thread-locals are about to go. Fibers that stand still on it are ended; those that are
/// children of a scope here, so that it knows: else it would wait for ever.
fn take_all_back() {
    let host = Host::here();
    host.serve();
    let open = OPEN.try_with(RefCell::take);
    for data in open.unwrap_or_default() {
        if data.origin().is_elsewhere() {
            // A forked child: nobody runs the scope's children.
            mem::forget(data);
            continue;
        }
        if !gossamer_core::mutant!("thread_ends_waiting") && !data.take_back(Some(LIMIT)) {
            abort(format_args!(
                "{:?} ends while a fiber of it stands still in a scope, and the scope's children have not ended \
                 within {LIMIT:?} of being aborted: they may use what is about to go",
                thread::current()
            ));
        }
    }
    if !is_exiting() {
        host.end_all();
    }
}
