//! The fibers that stand still on this thread, and so are ended by it.
//!
//! A fiber's stack is in the hands of its task, so that a poll finds it at once. The thread has where that is. A fiber
//! that is dropped on another thread leaves its stack behind; and a thread that ends takes the stack out of the fiber,
//! whoever has that. Both under a lock, which nobody else needs.

use std::any::Any;
use std::cell::RefCell;
use std::mem::{self, ManuallyDrop};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::NonNull;
use std::sync::Arc;

use gossamer_core::fork::Origin;
use gossamer_core::panics;
use gossamer_core::platform::atomic::{AtomicU32, Ordering};
use gossamer_core::platform::{Mutex, thread_local};

use crate::switch::{Running, Switch, unwind};

/// A fiber that has stood still, as its thread has it until it has ended.
pub(crate) struct Standing<T> {
    origin: Origin,
    /// Its place in its thread's list; or [`NOWHERE`].
    place: AtomicU32,
    stack: Mutex<Where<T>>,
}

/// Where the stack of a fiber is.
enum Where<T> {
    /// In the fiber.
    There(NonNull<Switch<T>>),
    /// Here, as the fiber has been dropped on another thread. (Boxed: as a rule there is none.)
    Left(Box<Running<T>>),
    /// Its thread ends it, or has: the payload of its panic, if it has panicked. (Boxed as well.)
    Ending,
    Ended(Option<Box<Payload>>),
}

// SAFETY: a fiber is there until it leaves, under the lock; or is struck off, by its own thread, which then does not look
// for it. A stack is used by its own thread alone: `end` is called there, and elsewhere it is moved as it is, or left.
unsafe impl<T: Send> Send for Where<T> {}

type Payload = Box<dyn Any + Send>;

/// The place of a fiber that its thread need not end.
const NOWHERE: u32 = u32::MAX;

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

/// A fiber stands still for the first time: its thread is to end it. It stays in its place until it
/// [is struck off](Standing::strike_off) or [leaves](Standing::leave).
#[cold]
#[inline(never)]
pub(crate) fn enter<T: 'static>(switch: NonNull<Switch<T>>) -> Arc<Standing<T>> {
    HERE.with(|here| {
        let mut here = here.borrow_mut();
        let place = u32::try_from(here.len()).expect("no memory has so many stacks");
        let standing = Arc::new(Standing {
            origin: Origin::here(),
            place: AtomicU32::new(place),
            stack: Mutex::new(Where::There(switch)),
        });
        here.push(standing.clone());
        standing
    })
}

impl<T> Standing<T> {
    /// Whether its thread has ended it; with the payload, if it panicked. Any thread may ask.
    pub(crate) fn ended(&self) -> Option<Option<Payload>> {
        if self.origin.is_elsewhere() {
            // In a forked child a thread that is not there may have the lock.
            return None;
        }
        match &mut *self.stack.lock() {
            Where::Ended(payload) => Some(payload.take().map(|payload| *payload)),
            _ => None,
        }
    }

    /// The fiber is about to be dropped where it cannot be ended: its thread has the stack from now on.
    pub(crate) fn leave(&self, switch: &mut Switch<T>) {
        if self.origin.is_elsewhere() {
            // As in `ended`; the stack stays for good.
            return;
        }
        let mut place = self.stack.lock();
        if let Where::There(_) = *place
            && let Some(stack) = switch.take()
        {
            *place = Where::Left(Box::new(stack));
        }
    }

    /// Its thread need not end it.
    pub(crate) fn strike_off(&self) {
        // Relaxed: its thread alone has it in its list.
        let place = self.place.load(Ordering::Relaxed);
        if place == NOWHERE {
            return;
        }
        let _own = take_out(|here| {
            let own = here.swap_remove(place as usize);
            own.moved_to(NOWHERE);
            if let Some(moved) = here.get(place as usize) {
                moved.moved_to(place);
            }
            Some(own)
        });
    }
}

impl<T> End for Standing<T> {
    fn end(&self) {
        let stack = || match mem::replace(&mut *self.stack.lock(), Where::Ending) {
            // SAFETY: it is in this thread's list, so it was not struck off, and under the lock it does not leave. It
            // is resumed on this thread alone.
            Where::There(switch) => unsafe { Switch::take_of(switch) },
            Where::Left(stack) => Some(*stack),
            Where::Ending | Where::Ended(_) => None,
        };
        let ended = catch_unwind(AssertUnwindSafe(|| drop(stack().and_then(unwind))));
        let payload = ended.err().map(|payload| {
            panics::note();
            Box::new(payload)
        });
        *self.stack.lock() = Where::Ended(payload);
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
        match mem::replace(self.stack.get_mut(), Where::Ending) {
            // The fiber was dropped before its thread ended it: nobody is left to be told.
            Where::Ended(Some(payload)) => panics::swallow(*payload),
            Where::Left(stack) => mem::forget(stack),
            _ => {}
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
