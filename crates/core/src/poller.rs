//! Sleeping until the operating system has something to tell: a socket is ready, say.
//!
//! A runtime has at most one *poller*, made when its first socket has to wait; nothing here knows what it polls
//! (`gossamer-io` does). It stands in the runtime's [`PollerCell`]. One thread at a time has the cell's *seat*, and only
//! that one polls. It sleeps there instead of at its parker ([`Parker::park_at`](crate::parker::Parker::park_at)), and
//! whoever wakes it does so through the permit, as ever. The others sleep at their parkers.
//!
//! Events are *kept* from when a poll returns until somebody *delivers* them, which wakes tasks: a runner does so when it
//! has its shard again, so that most of these wakes are a few plain stores.

use core::any::Any;
use core::cell::RefCell;
use core::fmt::Debug;
use core::task::Waker;
use core::time::Duration;
use std::sync::OnceLock;

use alloc::sync::{Arc, Weak};
use alloc::vec::Vec;

use crate::fork::Origin;
use crate::platform::atomic::{AtomicBool, AtomicU8, Ordering, fence};
use crate::platform::{Mutex, UnmodelledU32, thread_local};

#[cfg(loom)]
pub mod model;

/// Asks the operating system for events.
pub trait Poller: Any + Debug + Send + Sync {
    /// How many sockets, or other descriptors, it polls. In a forked child that is not to poll, none.
    fn sockets(&self) -> usize;

    /// Whether this process is a forked child of the one that made it, and so must not poll.
    fn is_elsewhere(&self) -> bool;

    /// Sleeps until there is an event, [`waker`](Poller::waker) is called, a signal comes, or `limit` has passed, and keeps
    /// the events. Returns at once if some are kept already. By who has the seat.
    fn poll(&self, limit: Option<Duration>);

    /// Whether events are kept. By who has the seat.
    fn keeps_any(&self) -> bool;

    /// Wakes those for whom events are kept; whether there were any. By who has the seat.
    fn deliver(&self) -> bool;

    /// Ends a [`poll`](Poller::poll).
    fn waker(&self) -> &Waker;

    /// Nobody polls any more: wakes all that wait for events, which then find another poller.
    fn end(&self);
}

/// Nobody has the seat.
const FREE: u8 = 0;
/// A thread has it.
const TAKEN: u8 = 1;
/// A thread has it, and somebody is to be woken when it leaves.
const WANTED: u8 = 2;

/// Where a runtime has its poller, once it needs one.
#[derive(Debug)]
pub struct PollerCell {
    number: u32,
    made_in: Origin,
    has_ended: AtomicBool,
    poller: OnceLock<Arc<dyn Poller>>,
    /// [`FREE`], [`TAKEN`] or [`WANTED`].
    seat: AtomicU8,
    attended: Attended,
    caller: OnceLock<Waker>,
    /// Those that would have slept at the poller, and found the seat taken: they are woken when it is free.
    next: Mutex<Vec<Waker>>,
}

/// When somebody polls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Attended {
    /// Always, or very soon.
    Always,
    /// While a thread runs tasks of the runtime, or waits, and would run them.
    WhileRun,
    /// Never: there is to be no poller.
    Never,
}

impl PollerCell {
    /// No poller yet.
    #[must_use]
    pub fn new(attended: Attended) -> Self {
        static NUMBERS: UnmodelledU32 = UnmodelledU32::new(1);
        Self {
            // Relaxed: another one each time.
            number: NUMBERS.fetch_add(1, Ordering::Relaxed),
            made_in: Origin::here(),
            has_ended: AtomicBool::new(false),
            poller: OnceLock::new(),
            seat: AtomicU8::new(FREE),
            attended,
            caller: OnceLock::new(),
            next: Mutex::new(Vec::new()),
        }
    }

    /// Whether somebody polls as long as what this thread runs now waits. `runs_here`: whether that is a task of the cell's
    /// runtime.
    pub fn is_attended(&self, runs_here: bool) -> bool {
        match self.attended {
            _ if self.is_elsewhere() => false,
            Attended::Always => !self.has_ended(),
            Attended::WhileRun => runs_here,
            Attended::Never => false,
        }
    }

    /// Nobody polls any more, though the cell may stay: wakes all that wait for events, which then find another poller.
    pub fn end(&self) {
        // Relaxed: the fence orders it.
        self.has_ended.store(true, Ordering::Relaxed);
        // Pairs with the fence in `has_ended`: what is registered meanwhile is found below, or finds that it has ended.
        if !crate::mutant!("end_looks_early") {
            fence(Ordering::SeqCst);
        }
        if let Some(poller) = self.poller.get().filter(|poller| !poller.is_elsewhere()) {
            poller.end();
        }
    }

    /// Whether nobody polls any more. It is asked after a socket was registered, too: the end may come meanwhile.
    pub fn has_ended(&self) -> bool {
        // Pairs with the fence in `end`.
        fence(Ordering::SeqCst);
        // Relaxed: as above.
        self.has_ended.load(Ordering::Relaxed) && !crate::mutant!("ended_poller_is_relied_on")
    }

    /// A number that no other cell has, until there have been 2^32.
    #[inline]
    pub fn number(&self) -> u32 {
        self.number
    }

    /// When somebody polls.
    pub fn attended(&self) -> Attended {
        self.attended
    }

    /// The poller.
    pub fn get(&self) -> Option<&Arc<dyn Poller>> {
        self.poller.get()
    }

    /// The poller, made by `make` if there is none.
    ///
    /// # Errors
    /// Those of `make`.
    pub fn get_or_try_init<E>(
        &self,
        make: impl FnOnce() -> Result<Arc<dyn Poller>, E>,
    ) -> Result<&Arc<dyn Poller>, E> {
        match self.poller.get() {
            Some(poller) => Ok(poller),
            None => {
                let made = make()?;
                Ok(self.poller.get_or_init(|| made))
            }
        }
    }

    /// In a forked child: whether the poller is the parent's; or those who would poll are.
    fn is_elsewhere(&self) -> bool {
        let polls_alone = self.attended == Attended::Always && self.made_in.is_elsewhere();
        polls_alone || self.get().is_some_and(|poller| poller.is_elsewhere())
    }

    /// Whether the poller polls anything.
    pub fn is_used(&self) -> bool {
        self.used().is_some()
    }

    /// How many sockets, or other descriptors, it polls.
    pub fn sockets(&self) -> usize {
        self.get().map_or(0, |poller| poller.sockets())
    }

    fn used(&self) -> Option<&Arc<dyn Poller>> {
        self.get().filter(|poller| poller.sockets() > 0)
    }

    /// Whether the poller is used, and nobody has its seat. In a pool a thread that has left it comes back before it
    /// sleeps.
    pub fn is_unattended(&self) -> bool {
        // Whoever asks before it sleeps has a fence, and so has the one that has made the first use of it.
        self.is_used() && self.is_free() && !crate::mutant!("nobody_takes_the_seat")
    }

    /// Has this be called when the poller begins to be used, so that somebody takes the seat. The first call counts.
    pub fn set_caller(&self, caller: Waker) {
        let _first = self.caller.set(caller);
    }

    /// The poller begins to be used.
    pub fn call(&self) {
        if let Some(caller) = self.caller.get() {
            caller.wake_by_ref();
        }
    }

    /// The seat; `None` if another thread has it, or the poller polls nothing.
    pub fn sit(&self) -> Option<Seat<'_>> {
        let poller = self.used()?;
        // Acquire pairs with the release in `Seat::drop`.
        let taken = self.change(FREE, TAKEN, Ordering::Acquire);
        taken.is_ok().then(|| Seat { cell: self, poller })
    }

    /// As [`sit`](PollerCell::sit), for a thread that sleeps elsewhere if another one has the seat: `waker` is called when
    /// that one leaves it.
    pub fn sit_or_be_woken(&self, waker: &Waker) -> Option<Seat<'_>> {
        let seat = self.sit();
        if seat.is_some() || !self.is_used() || crate::mutant!("seat_is_left_untold") {
            return seat;
        }
        let mut next = self.next.lock();
        if !next.iter().any(|other| other.will_wake(waker)) {
            next.push(waker.clone());
        }
        drop(next);
        loop {
            // Release pairs with the acquire in `Seat::drop`. If it says that another one has marked the seat, and that
            // has been left since, the lock has shown so; or whoever left it finds this waker.
            match self.change(TAKEN, WANTED, Ordering::Release) {
                Ok(_) | Err(WANTED) => return None,
                // It was left meanwhile. The waker that stays may be called for nothing.
                Err(_) => {
                    if let Some(seat) = self.sit() {
                        return Some(seat);
                    }
                }
            }
        }
    }

    #[cold]
    fn wake_next(&self) {
        let next = core::mem::take(&mut *self.next.lock());
        next.into_iter().for_each(Waker::wake);
    }

    fn is_free(&self) -> bool {
        // Relaxed: a hint; who takes it synchronises.
        self.seat.load(Ordering::Relaxed) == FREE
    }

    fn change(&self, from: u8, to: u8, success: Ordering) -> Result<u8, u8> {
        // Relaxed: nothing is read if it fails.
        self.seat
            .compare_exchange(from, to, success, Ordering::Relaxed)
    }
}

thread_local! {
    /// Of the runtimes that this thread has built and runs while it waits.
    static OWNED: RefCell<Weak<PollerCell>> = const { RefCell::new(Weak::new()) };
}

/// Where the runtimes of this thread, which it runs while it waits, have their poller: one for all, as the thread sleeps at
/// one place.
#[must_use]
pub fn own_cell() -> Arc<PollerCell> {
    OWNED.with(|owned| {
        let mut owned = owned.borrow_mut();
        let own = owned.upgrade().filter(|own| !own.is_elsewhere());
        own.unwrap_or_else(|| {
            let cell = Arc::new(PollerCell::new(Attended::WhileRun));
            *owned = Arc::downgrade(&cell);
            cell
        })
    })
}

/// The same, if there is such a runtime.
pub fn owned_cell() -> Option<Arc<PollerCell>> {
    // None, while the thread's thread-locals go.
    let owned = OWNED.try_with(|owned| owned.borrow().upgrade()).ok()?;
    owned.filter(|owned| !owned.is_elsewhere())
}

impl Drop for PollerCell {
    fn drop(&mut self) {
        self.end();
    }
}

/// The right to poll: one thread has it, until this is dropped.
#[derive(Debug)]
pub struct Seat<'a> {
    cell: &'a PollerCell,
    poller: &'a Arc<dyn Poller>,
}

impl Seat<'_> {
    /// The poller.
    pub fn poller(&self) -> &Arc<dyn Poller> {
        self.poller
    }

    /// Wakes those for whom events are kept; whether there were any.
    pub fn deliver(&self) -> bool {
        self.poller.deliver()
    }

    /// Wakes those for whom events have come; whether there were any. Does not sleep.
    pub fn look(&self) -> bool {
        self.poller.poll(Some(Duration::ZERO));
        self.poller.deliver()
    }
}

impl Drop for Seat<'_> {
    fn drop(&mut self) {
        // AcqRel pairs with the acquire in `sit`, and the release in `sit_or_be_woken`.
        if self.cell.seat.swap(FREE, Ordering::AcqRel) == WANTED {
            self.cell.wake_next();
        }
    }
}
