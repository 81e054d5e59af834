//! What a thread does for scopes: fibers that began on it are ended by it, and before it ends, what they lend is
//! taken back.
//!
//! What a scope lends is there before the scope is. So it is enough to be called before those thread-locals go that
//! exist when a scope begins: our own threads call when their work is done; other threads are asked to, by each scope
//! that a fiber of theirs begins, which costs a few bytes until they end (there is no telling whether a thread-local has
//! come since the last scope).
//!
//! A scope that is taken back ([`Data::take_back`]) may have children that are fibers of other threads. It asks those: by
//! an abort, which the thread's runtime sees, and by a request here, for a thread that is itself waiting for children to
//! be taken back, and does nothing else meanwhile.

use std::cell::RefCell;
use std::sync::Arc;
use std::time::Duration;

use gossamer_core::door::thread::{self, ThreadId};
use gossamer_core::door::{Mutex, call_at_end_of_threads, is_started_here, thread_local};
use gossamer_core::waiter::Deferred;

use super::child::Child;
use super::data::Data;

/// What others know of a thread.
pub(crate) struct Host {
    thread: ThreadId,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Fibers that are to be ended.
    requests: Vec<Arc<dyn Child>>,
    /// Wakes the thread, while it does nothing but to take back.
    waiter: Option<std::task::Waker>,
    /// The thread has ended, or is ending: nobody is there to ask.
    gone: bool,
}

/// This thread's own.
struct Here {
    host: Arc<Host>,
    /// Scopes of its fibers.
    open: RefCell<Vec<Arc<Data>>>,
}

thread_local! {
    static HERE: Here = Here {
        host: Arc::new(Host {
            thread: thread::current().id(),
            state: Mutex::default(),
        }),
        open: RefCell::new(Vec::new()),
    };
}

/// How long a thread that ends waits for what its fibers have lent.
const LIMIT: Duration = Duration::from_secs(10);

impl Host {
    /// This thread. It is told when it ends, as a fiber has begun here.
    pub(crate) fn here() -> Arc<Self> {
        HERE.try_with(|here| here.host.clone()).unwrap_or_else(|_| {
            Arc::new(Self {
                thread: thread::current().id(),
                state: Mutex::new(State {
                    gone: true,
                    ..State::default()
                }),
            })
        })
    }

    pub(crate) fn is_here(&self) -> bool {
        self.thread == thread::current().id()
    }

    pub(crate) fn is_gone(&self) -> bool {
        self.state.lock().gone
    }

    /// Asks the thread to end a fiber; `false` if it has ended itself.
    pub(crate) fn ask(&self, child: Arc<dyn Child>) -> bool {
        let waiter = {
            let mut state = self.state.lock();
            if state.gone {
                return false;
            }
            state.requests.push(child);
            state.waiter.clone()
        };
        if let Some(waiter) = waiter.filter(|_| !gossamer_core::mutant!("scope_asks_nobody")) {
            Deferred::new(waiter).run();
        }
        true
    }

    /// From now on `waker` is called when somebody asks; gives who was called before.
    pub(crate) fn set_waiter(&self, waker: Option<std::task::Waker>) -> Option<std::task::Waker> {
        std::mem::replace(&mut self.state.lock().waiter, waker)
    }

    /// Does what has been asked for.
    pub(crate) fn serve(&self) {
        loop {
            let Some(child) = self.state.lock().requests.pop() else {
                return;
            };
            let _done = child.end_here();
        }
    }
}

/// Notes a scope of a fiber of this thread, until the result is dropped.
///
/// What the scope lends exists by now. So does this thread's own entry, before it asks to be called.
pub(crate) fn open(data: Arc<Data>) -> Open {
    HERE.with(|here| here.open.borrow_mut().push(data.clone()));
    call_at_end_of_threads(take_all_back);
    if !is_started_here() {
        gossamer_fiber::before_this_thread_ends(take_all_back);
    }
    Open(data)
}

/// A scope of a fiber that has not returned.
pub(crate) struct Open(Arc<Data>);

impl Drop for Open {
    fn drop(&mut self) {
        HERE.with(|here| {
            let mut open = here.open.borrow_mut();
            if let Some(at) = open.iter().rposition(|data| Arc::ptr_eq(data, &self.0)) {
                open.swap_remove(at);
            }
        });
    }
}

/// The thread ends, and its thread-locals are about to go. Fibers that stand still on it, and were not ended before,
/// never go on; but what they have lent may be such a thread-local.
fn take_all_back() {
    let open = HERE.try_with(|here| {
        here.host.serve();
        std::mem::take(&mut *here.open.borrow_mut())
    });
    for data in open.unwrap_or_default() {
        if !gossamer_core::mutant!("thread_ends_lending") && !data.take_back(Some(LIMIT)) {
            eprintln!(
                "gossamer: {:?} ends while a fiber of it stands still in a scope, and the scope's children have not \
                 ended within {LIMIT:?} of being aborted: they may use what is about to go",
                thread::current()
            );
            std::process::abort();
        }
    }
}

impl Drop for Here {
    /// From now on nobody is asked. What the fibers of this thread use may be gone, so none is ended any more.
    fn drop(&mut self) {
        let requests = {
            let mut state = self.host.state.lock();
            state.gone = true;
            std::mem::take(&mut state.requests)
        };
        for child in requests {
            child.leak();
        }
    }
}
