//! Tasks that stay with the thread that has begun to poll them, and what becomes of them when it ends.
//!
//! A thread that ends has ended its fibers, wherever their tasks are. It marks itself, and calls whoever waits to drive
//! one of the homes where tasks have stayed with it; it touches nothing that belongs to a driver. Who drives such a home
//! next finds the mark, and cancels the tasks ([`Claim::may_drive`]).

use core::cell::RefCell;

use alloc::collections::BTreeSet;
use alloc::sync::Arc;

use super::{Claim, Home, cancel_here};
use crate::context;
use crate::door::atomic::{AtomicBool, Ordering};
use crate::door::thread::{self, ThreadId};
use crate::door::thread_local;
use crate::fork::Origin;
use crate::header::{Header, Owned};
use crate::waiter::Deferred;

/// A thread with which tasks stay, as others know it.
#[derive(Debug)]
pub(super) struct Stays {
    thread: ThreadId,
    ended: AtomicBool,
}

/// This thread's own.
struct Here {
    stays: Arc<Stays>,
    /// In a forked child nobody is told of the parent's homes, whose locks others may have.
    origin: Origin,
    /// Where tasks have stayed with it.
    homes: BTreeSet<u16>,
}

#[cfg(not(loom))]
thread_local! {
    static HERE: RefCell<Option<Here>> = const { RefCell::new(None) };
}
#[cfg(loom)]
thread_local! {
    static HERE: RefCell<Option<Here>> = RefCell::new(None);
}

impl Stays {
    fn new() -> Arc<Self> {
        Arc::new(Self {
            thread: thread::current().id(),
            ended: AtomicBool::new(false),
        })
    }

    /// Tasks of this home stay with the current thread from now on.
    pub(super) fn at(home: u16) -> Arc<Self> {
        let known = HERE.try_with(|here| {
            let mut here = here.borrow_mut();
            let _parents = here.take_if(|here| here.origin.is_elsewhere());
            let here = here.get_or_insert_with(|| Here {
                stays: Self::new(),
                origin: Origin::here(),
                homes: BTreeSet::new(),
            });
            here.homes.insert(home);
            here.stays.clone()
        });
        // A thread whose thread-locals are gone says nothing any more.
        known.unwrap_or_else(|_| Self::new())
    }

    pub(super) fn is_here(&self) -> bool {
        self.thread == thread::current().id()
    }

    /// Whether the thread has ended, and so has ended its fibers.
    pub(super) fn has_ended(&self) -> bool {
        // Acquire: what it has done to them; pairs with the store in `thread_ends`.
        self.ended.load(Ordering::Acquire)
    }
}

/// The current thread ends, and has ended its fibers: their tasks are cancelled by who drives them next.
pub fn thread_ends() {
    let here = HERE.try_with(|here| here.borrow_mut().take());
    let Some(here) = here.ok().flatten() else {
        return;
    };
    if here.origin.is_elsewhere() {
        return;
    }
    if crate::mutant!("ended_fibers_keep_their_home") {
        return;
    }
    // Release: pairs with the load in `has_ended`.
    here.stays.ended.store(true, Ordering::Release);
    for home in here.homes {
        // Who announces itself later finds the mark: the lock comes between.
        let waiting = Home::at(home).inbox.lock().waiting.take();
        if let Some(waker) = waiting {
            Deferred::new(waker).run();
        }
    }
}

impl Claim {
    /// Whether this thread may drive a home, of no pool: no task stays with another thread. Those that stay with a thread
    /// that has ended are cancelled.
    pub fn may_drive(&self) -> bool {
        let driver = &self.home.driver;
        if driver.is_pinned_elsewhere() {
            return false;
        }
        if driver.is_left() {
            self.cancel_left();
        }
        true
    }

    #[cold]
    fn cancel_left(&self) {
        debug_assert_eq!(self.home.pool(), 0, "thieves touch the list");
        let mut next = self.home.driver.owned.first();
        while let Some(task) = next {
            // SAFETY: on the driver; the tasks in the list are alive, and have their futures.
            unsafe {
                next = Owned::after(task);
                if task.as_ref().place().is_pinned() {
                    Header::unpin(task);
                    context::with(|context| cancel_here(context, task));
                }
            }
        }
    }
}
