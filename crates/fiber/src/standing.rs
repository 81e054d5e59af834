//! The fibers that have begun on this thread, and so are ended by it.

use std::any::Any;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::mem::{self, ManuallyDrop};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use gossamer_core::fork::Origin;
use gossamer_core::panics;
use gossamer_core::platform::atomic::{AtomicBool, Ordering};
use gossamer_core::platform::{Mutex, thread_local};

use crate::switch::Switch;

/// A fiber that has begun. Its thread has it too, until the fiber has ended.
pub(crate) struct Standing<T> {
    pub(crate) switch: Switch<T>,
    origin: Origin,
    /// The payload of its panic, if it panicked when its thread ended it.
    panic: Mutex<Option<Box<dyn Any + Send>>>,
    /// Its thread has ended it; any thread may ask.
    ended: AtomicBool,
}

/// One of any type.
trait End {
    /// The thread ends.
    fn end(&self);

    fn origin(&self) -> Origin;
}

thread_local! {
    /// By their addresses. Without a destructor, so that it is there until the thread has ended.
    static HERE: RefCell<ManuallyDrop<BTreeMap<usize, Arc<dyn End>>>> =
        const { RefCell::new(ManuallyDrop::new(BTreeMap::new())) };
}

impl<T: 'static> Standing<T> {
    pub(crate) fn new(switch: Switch<T>) -> Arc<Self> {
        let this = Arc::new(Self {
            switch,
            origin: Origin::here(),
            panic: Mutex::default(),
            ended: AtomicBool::new(false),
        });
        let own: Arc<dyn End> = this.clone();
        HERE.with(|here| here.borrow_mut().insert(this.key(), own));
        this
    }
}

impl<T> Standing<T> {
    fn key(&self) -> usize {
        std::ptr::from_ref(self).addr()
    }

    /// Whether its thread has ended it. Any thread may ask.
    pub(crate) fn has_been_ended(&self) -> bool {
        // Acquire: what its destructors did, and the panic; pairs with the store in `end`.
        self.ended.load(Ordering::Acquire)
    }

    /// Takes the payload of its panic, if it panicked when its thread ended it.
    pub(crate) fn take_panic(&self) -> Option<Box<dyn Any + Send>> {
        self.panic.lock().take()
    }

    /// Has it unwind: what it returned or panicked with all the same.
    ///
    /// # Panics
    /// As the fiber does.
    pub(crate) fn unwind(&self) -> Option<T> {
        self.strike_off();
        self.switch.unwind()
    }

    /// Its thread need not end it.
    pub(crate) fn strike_off(&self) {
        let _own = HERE.with(|here| {
            let mut here = here.borrow_mut();
            let own = here.remove(&self.key());
            if here.is_empty() {
                // An empty map keeps memory, and this one is never dropped.
                **here = BTreeMap::new();
            }
            own
        });
    }
}

impl<T> End for Standing<T> {
    fn end(&self) {
        if let Err(payload) = catch_unwind(AssertUnwindSafe(|| drop(self.unwind()))) {
            panics::note();
            *self.panic.lock() = Some(payload);
        }
        // Release: pairs with the load in `has_been_ended`.
        self.ended.store(true, Ordering::Release);
    }

    fn origin(&self) -> Origin {
        self.origin
    }
}

impl<T> Drop for Standing<T> {
    fn drop(&mut self) {
        // The fiber was dropped before its thread ended it: nobody is left to be told.
        if let Some(payload) = self.take_panic() {
            panics::swallow(payload);
        }
    }
}

/// Ends all fibers that stand still here, but for those of the process of which this is a forked child: what is on
/// their stacks is the parent's business, and loaned to threads that are not here.
pub(crate) fn end_all() {
    while let Some((_, standing)) = HERE.with(|here| here.borrow_mut().pop_first()) {
        if standing.origin().is_elsewhere() || gossamer_core::mutant!("thread_leaves_its_fibers") {
            mem::forget(standing);
        } else {
            standing.end();
        }
    }
}
