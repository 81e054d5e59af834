//! The fibers that stand still on this thread, and so are ended by it.

use std::any::Any;
use std::cell::RefCell;
use std::mem::{self, ManuallyDrop};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use gossamer_core::fork::Origin;
use gossamer_core::panics;
use gossamer_core::platform::atomic::{AtomicU32, Ordering};
use gossamer_core::platform::{Mutex, thread_local};

use crate::switch::Switch;

/// A fiber that has begun. Its thread has it too, from when it stands still first until it has ended.
pub(crate) struct Standing<T> {
    pub(crate) switch: Switch<T>,
    origin: Origin,
    /// Its place in its thread's list; or [`NOWHERE`], or [`ENDED`].
    place: AtomicU32,
    /// The payload of its panic, if it panicked when its thread ended it. (Boxed: as a rule there is none.)
    panic: Mutex<Option<Box<Payload>>>,
}

type Payload = Box<dyn Any + Send>;

/// The place of a fiber that its thread need not end; and of one that it has ended, which any thread may ask.
const NOWHERE: u32 = u32::MAX;
const ENDED: u32 = NOWHERE - 1;

/// One of any type.
trait End {
    /// The thread ends.
    fn end(&self);

    /// It is there in its thread's list from now on.
    fn moved_to(&self, place: u32);

    fn origin(&self) -> Origin;
}

thread_local! {
    /// In no order. Without a destructor, so that it is there until the thread has ended.
    static HERE: RefCell<ManuallyDrop<Vec<Arc<dyn End>>>> =
        const { RefCell::new(ManuallyDrop::new(Vec::new())) };
}

impl<T: 'static> Standing<T> {
    pub(crate) fn new(switch: Switch<T>) -> Arc<Self> {
        Arc::new(Self {
            switch,
            origin: Origin::here(),
            place: AtomicU32::new(NOWHERE),
            panic: Mutex::default(),
        })
    }

    /// It stands still: its thread is to end it.
    #[inline(always)]
    pub(crate) fn stands_still(self: &Arc<Self>) {
        // Relaxed: see `strike_off`.
        if self.place.load(Ordering::Relaxed) == NOWHERE {
            self.enter();
        }
    }

    #[cold]
    #[inline(never)]
    fn enter(self: &Arc<Self>) {
        HERE.with(|here| {
            let mut here = here.borrow_mut();
            self.moved_to(u32::try_from(here.len()).expect("no memory has so many stacks"));
            here.push(self.clone());
        });
    }
}

impl<T> Standing<T> {
    /// Whether its thread has ended it. Any thread may ask.
    pub(crate) fn has_been_ended(&self) -> bool {
        // Acquire: what its destructors did, and the panic; pairs with the store in `end`.
        self.place.load(Ordering::Acquire) == ENDED
    }

    /// Takes the payload of its panic, if it panicked when its thread ended it.
    pub(crate) fn take_panic(&self) -> Option<Payload> {
        self.panic.lock().take().map(|payload| *payload)
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
        // Relaxed: its thread alone writes it, and others read nothing before it has ended.
        let place = self.place.load(Ordering::Relaxed);
        if place == NOWHERE {
            return;
        }
        self.moved_to(NOWHERE);
        let _own = take_out(|here| {
            let own = here.swap_remove(place as usize);
            if let Some(moved) = here.get(place as usize) {
                moved.moved_to(place);
            }
            Some(own)
        });
    }
}

impl<T> End for Standing<T> {
    fn end(&self) {
        if let Err(payload) = catch_unwind(AssertUnwindSafe(|| drop(self.unwind()))) {
            panics::note();
            *self.panic.lock() = Some(Box::new(payload));
        }
        // Release: pairs with the load in `has_been_ended`.
        self.place.store(ENDED, Ordering::Release);
    }

    fn moved_to(&self, place: u32) {
        // Relaxed: see `strike_off`.
        self.place.store(place, Ordering::Relaxed);
    }

    fn origin(&self) -> Origin {
        self.origin
    }
}

impl<T> Drop for Standing<T> {
    fn drop(&mut self) {
        // The fiber was dropped before its thread ended it: nobody is left to be told.
        if self.has_been_ended()
            && let Some(payload) = self.take_panic()
        {
            panics::swallow(payload);
        }
    }
}

/// Takes a fiber out of this thread's list.
fn take_out(
    take: impl FnOnce(&mut Vec<Arc<dyn End>>) -> Option<Arc<dyn End>>,
) -> Option<Arc<dyn End>> {
    HERE.with(|here| {
        let mut here = here.borrow_mut();
        let taken = take(&mut here);
        if here.is_empty() {
            // It keeps its memory, and is never dropped.
            **here = Vec::new();
        }
        taken
    })
}

/// Ends all fibers that stand still here, but for those of the process of which this is a forked child: what is on
/// their stacks is the parent's business, and loaned to threads that are not here.
pub(crate) fn end_all() {
    while let Some(standing) = take_out(Vec::pop) {
        standing.moved_to(NOWHERE);
        if standing.origin().is_elsewhere() || gossamer_core::mutant!("thread_leaves_its_fibers") {
            mem::forget(standing);
        } else {
            standing.end();
        }
    }
}
