//! A thread's part in scopes: it ends the fibers that began on it. It ends those that are children of a scope by
//! [`Child::end`], so that their scopes know.
//!
//! A scope that is taken back (`take_back.rs`) may have children that are fibers of other threads. It asks those: by an
//! abort, which the thread's runtime sees, and by a request here, for a thread that is itself waiting for a scope's
//! children to end, and does nothing else meanwhile; or that has nothing more to do with that runtime, which was moved.

use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, Write};
use std::mem;
use std::process;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use gossamer_core::context;
use gossamer_core::fork::Origin;
use gossamer_core::platform::thread::{self, ThreadId};
use gossamer_core::platform::{Mutex, thread_local};
use gossamer_core::waiter::Deferred;

/// A scope's view of a child.
pub(crate) trait Child: Send + Sync {
    /// Polls the future; ready when the child is over.
    fn poll(&self, cx: &mut Context<'_>) -> Poll<()>;

    /// Ends it, if it is not being polled, else once it is not; unless this is to be done on another thread, which is
    /// given then.
    fn end(&self) -> End;

    /// Whether it is a fiber.
    fn is_fiber(&self) -> bool;

    /// Whether it is over.
    fn is_over(&self) -> bool;

    /// Its task goes, on the thread where that lives.
    fn task_goes(&self);
}

/// The outcome of a request to end a child.
pub(crate) enum End {
    /// It is over.
    Over,
    /// This thread polls it, or ends it: not done, and never will be as long as one waits for it here.
    PolledHere,
    /// That thread polls it, or ends it, and will have it be over.
    PolledElsewhere(ThreadId),
    /// It is a fiber of that thread.
    On(Arc<Host>),
}

/// A thread's record that other threads can reach: the fibers that it has to end, and requests to end them now.
pub(crate) struct Host {
    thread: ThreadId,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Fibers that have begun on the thread and stand still, by their addresses.
    begun: BTreeMap<usize, (Origin, Arc<dyn Child>)>,
    /// Those of them that are to be ended.
    requests: BTreeMap<usize, Arc<dyn Child>>,
    /// Wakes the thread, while it waits for a scope.
    waiter: Option<Waker>,
    /// The thread has ended, or is ending, and takes no more requests.
    gone: bool,
}

/// This thread's own.
struct Here(Arc<Host>);

thread_local! {
    static HERE: Here = Here(Arc::new(Host {
        thread: thread::current().id(),
        state: Mutex::default(),
    }));
}

impl Host {
    /// A fiber that has begun on this thread stands still.
    pub(crate) fn stands_here(child: &Arc<dyn Child>) {
        let host = Self::here();
        let address = Arc::as_ptr(child).addr();
        let begun = (Origin::here(), child.clone());
        let _before = host.state.lock().begun.insert(address, begun);
    }

    /// This thread.
    pub(crate) fn here() -> Arc<Self> {
        HERE.try_with(|here| here.0.clone()).unwrap_or_else(|_| {
            Arc::new(Self {
                thread: thread::current().id(),
                state: Mutex::new(State {
                    gone: true,
                    ..State::default()
                }),
            })
        })
    }

    pub(crate) fn thread(&self) -> ThreadId {
        self.thread
    }

    pub(crate) fn is_here(&self) -> bool {
        self.thread == thread::current().id()
    }

    /// Asks the thread to end a fiber.
    pub(crate) fn ask(&self, child: Arc<dyn Child>) {
        let address = Arc::as_ptr(&child).addr();
        let (waiter, _before) = {
            let mut state = self.state.lock();
            if state.gone {
                drop(state);
                // The thread may have ended it meanwhile, as the last thing it did.
                if child.is_over() {
                    return;
                }
                stays(self.thread);
            }
            let before = state.requests.insert(address, child.clone());
            (state.waiter.clone(), before)
        };
        if child.is_over() {
            // Perhaps it was before it was asked for, and had nothing to forget.
            return self.forget(address);
        }
        if let Some(waiter) = waiter.filter(|_| !gossamer_core::mutant!("scope_asks_nobody")) {
            Deferred::new(waiter).run();
        }
    }

    /// A fiber is over, and need not be ended.
    pub(crate) fn forget(&self, address: usize) {
        let _fiber = {
            let mut state = self.state.lock();
            (
                state.begun.remove(&address),
                state.requests.remove(&address),
            )
        };
    }

    /// Ends all fibers that stand still, but for those of the process of which this is a forked child: what is on their
    /// stacks is the parent's business.
    pub(crate) fn end_all(&self) {
        loop {
            let Some((_, (origin, child))) = self.state.lock().begun.pop_first() else {
                return;
            };
            if !origin.is_elsewhere() && !gossamer_core::mutant!("scope_forgets_its_fibers") {
                let _done = child.end();
            }
        }
    }

    /// Does what has been asked for.
    pub(crate) fn serve(&self) {
        loop {
            let Some((_, child)) = self.state.lock().requests.pop_first() else {
                return;
            };
            let _done = child.end();
        }
    }
}

/// This thread waits for a scope, and does meanwhile what it is asked for; perhaps inside another such wait.
pub(crate) struct Serving {
    host: Arc<Host>,
    before: Option<Waker>,
}

impl Serving {
    pub(crate) fn begin() -> Self {
        let host = Host::here();
        let before = host.state.lock().waiter.take();
        Self { host, before }
    }

    /// Does what has been asked for; from now on `waker` is called when there is more.
    pub(crate) fn serve(&self, waker: &Waker) {
        let waker = waker.clone();
        let before = self.host.state.lock().waiter.replace(waker);
        drop(before);
        self.host.serve();
    }
}

impl Drop for Serving {
    /// Restores the outer wait's waker, and wakes it if requests have come since the last `serve`: it serves those.
    fn drop(&mut self) {
        let (wake, _own) = {
            let mut state = self.host.state.lock();
            let own = mem::replace(&mut state.waiter, self.before.take());
            let has_more =
                !state.requests.is_empty() && !gossamer_core::mutant!("scope_request_lost");
            (state.waiter.clone().filter(|_| has_more), own)
        };
        if let Some(wake) = wake {
            Deferred::new(wake).run();
        }
    }
}

/// Whether it is the process that ends, by `exit()` in the midst of a poll, and not the thread: then what stands still
/// stays.
pub(crate) fn is_exiting() -> bool {
    context::with(context::Context::is_polling)
}

/// A fiber of a scope stands still on a thread that has ended, or is ending, and was not told so in time to end it.
/// The memory that the fiber loans may be in use.
fn stays(on: ThreadId) -> ! {
    abort(format_args!(
        "a scope's fiber stands still on {on:?}, which has ended, or is ending, and it can be ended there only: its scope \
         would wait for ever"
    ));
}

impl Drop for Here {
    /// Takes no more requests. What the fibers of this thread use may be gone, so it ends none of them any more.
    fn drop(&mut self) {
        if is_exiting() {
            return;
        }
        let requests = {
            let mut state = self.0.state.lock();
            state.gone = true;
            mem::take(&mut state.requests)
        };
        // A request for a fiber that was ended here is no error: its sender finds that the fiber is over (`ask`).
        if requests.values().any(|child| !child.is_over()) {
            stays(self.0.thread);
        }
    }
}

/// Says why, if it can be said, and ends the process.
pub(crate) fn abort(why: fmt::Arguments<'_>) -> ! {
    let _said = writeln!(io::stderr(), "gossamer: {why}");
    process::abort();
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests;
