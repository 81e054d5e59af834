//! What every task begins with: 56 bytes that the scheduler, wakers and dumps share.
//!
//! # Who may touch which field when
//!
//! A task has a *home*: one runtime's, or one worker's, driven by at most one thread at a time (the *driver*).
//!
//! 1. `vtable` and `spawned` never change. The home in `place` changes only between the homes of one pool, by the
//!    driver, by who takes a new task out of the injector, or by a thief (see `home/moving.rs`).
//! 2. `next`, `owned` and the rest of `place` belong to the driver alone and are plain memory (`place` is
//!    an atomic only because others read it). Whoever finds
//!    [`Context::home`](crate::context::Context) equal to the task's home *is* the driver.
//!    (While a home is open to adopters, that is who holds the lock of its open queue: see `home/adopting.rs`.)
//!    Two exceptions, in a pool: `next` and `place` of a task in an open queue belong to who holds that queue's
//!    lock, so there the driver writes to no task that it finds scheduled; and `owned` is changed only under the
//!    lock of its home's list.
//!    (A task that is over has [`NOWHERE`](crate::context::NOWHERE) there, from the moment when its driver lets go of
//!    it; then it is nobody's but its handles', which touch `life` and `join` alone.)
//! 3. `life` and `join` are atomic and anyone's.
//! 4. The future belongs to the driver; the output to the driver until `join` says `DONE`, then to
//!    the join handle.
//!
//! # States
//!
//! `place`, the driver's view (see [`Place`] for the bits):
//!
//! | bits | meaning |
//! | --- | --- |
//! | none | parked: nothing to do until a wake |
//! | `SCHEDULED` | in the run queue (or just being polled and woken meanwhile: it will be polled again) |
//! | `CANCELLED` | with `SCHEDULED`: at its next turn the future is dropped, not polled |
//! | `DONE` | the future is gone; the output, if any, is published |
//! | `DONE`, `SCHEDULED` | finished, but a queue still points here: whoever pops it lets go of it |
//!
//! `SCHEDULED` is cleared *before* a poll, so a wake during the poll queues the task again and no
//! transition is needed after the poll. (Where the driver may be found stuck, a task that wakes itself in its poll
//! is queued after it.)
//!
//! `life`, everybody's view (one atomic word), says who still needs the memory:
//!
//! | bits | meaning |
//! | --- | --- |
//! | `ALIVE` | the driver holds it: from the spawn until the future is gone and no queue points here |
//! | `QUEUED` | it is in its home's inbox, or a thread is about to put it there |
//! | `CANCEL` | somebody called abort; counts for nothing |
//! | the rest | number of wakers and join handles |
//!
//! The one who clears the last counting bit frees the cell. A wake from another thread sets
//! `QUEUED` and, if it was clear, pushes the task into the inbox: the inbox then holds the memory,
//! so the push may follow the bit at leisure. The driver clears `QUEUED` *before* it polls, by a
//! read-modify-write, so a wake that found the bit set is seen by the poll to come.
//!
//! `join` is told in [`crate::header::join`].
//!
//! # Lent nodes
//!
//! A parked node of a primitive for one thread may point at its task without owning a waker (see
//! [`crate::waiter`]). The task's memory must then stay: such nodes are counted in `place`, and the driver
//! gives up its hold only when the count is zero. Mostly there is one, and the task is parked: then the
//! word is the same for all local tasks of a home, and one comparison finds that out.

mod cell_count;
pub mod join;
mod lend;
pub mod life;
mod list;
mod state;

use core::any::Any;
use core::cell::Cell;
use core::hint::cold_path;
use core::panic::Location;
use core::ptr::NonNull;

use alloc::boxed::Box;

use crate::context;
use crate::door::QuietU32;
use crate::door::atomic::Ordering;
use crate::home::Home;
use crate::panics;
use crate::waiter::Deferred;

use self::join::Finish;
pub use self::join::Join;
pub use self::life::Life;
pub(crate) use self::list::Fresh;
pub use self::list::{Owned, TaskQueue};
pub use self::state::{Parked, Place};

/// The payload of a panic, as [`std::panic::catch_unwind`] returns it.
pub type Payload = Box<dyn Any + Send + 'static>;

/// What happened to a task's future when it left the scheduler without an output.
#[derive(Debug)]
pub enum Failure {
    /// It was aborted, or its runtime shut down.
    Cancelled,
    /// It panicked.
    Panicked(Box<Payload>),
}

/// One word, so that the place for the output of a task without one takes no more than two.
#[cfg(target_pointer_width = "64")]
const _: () = assert!(size_of::<Result<(), Failure>>() == 16);

impl Failure {
    /// It panicked.
    pub fn panicked(payload: Payload) -> Self {
        Self::Panicked(Box::new(payload))
    }
}

/// The operations on a task that depend on its future's type.
#[derive(Debug)]
pub struct Vtable {
    /// Polls the future; `true` when it is ready and its output stored.
    ///
    /// # Safety
    /// On the driver, the future present. A panic of the future passes through.
    pub poll: unsafe fn(NonNull<Header>) -> bool,
    /// Drops the future and stores the failure in its place. A panic of the drop ends here.
    ///
    /// # Safety
    /// On the driver, the future present.
    pub fail: unsafe fn(NonNull<Header>, Failure),
    /// Moves the output out, into a `Result<Output, Failure>`.
    ///
    /// # Safety
    /// The caller owns the output (see [`join`]); nobody may read it afterwards. The pointer is to
    /// writable memory for such a result.
    pub take_output: unsafe fn(NonNull<Header>, *mut ()),
    /// Drops the output.
    ///
    /// # Safety
    /// The caller owns the output (see [`join`]); nobody may read it afterwards.
    pub drop_output: unsafe fn(NonNull<Header>),
    /// Frees the memory of the cell.
    ///
    /// # Safety
    /// `life` has no counting bit left; future and output are gone.
    pub free: unsafe fn(NonNull<Header>),
}

/// The first 56 bytes of a task. What a poll touches comes last, beside the future. A pointer to it has room for three
/// tags, also where it has four bytes.
#[derive(Debug)]
#[repr(C, align(8))]
pub struct Header {
    /// Links of the list of all tasks of a home.
    pub(crate) owned: list::OwnedLinks,
    /// Who waits for the output.
    pub join: Join,
    /// Where the task was spawned.
    pub spawned: &'static Location<'static>,
    /// Who still needs the memory.
    pub life: Life,
    /// A [`Place`]: the home, and the driver's view of the state.
    place: QuietU32,
    /// How often the task has moved. loom does not know of `place`; so it learns that a look and a move meet.
    #[cfg(loom)]
    moved: crate::door::atomic::AtomicU32,
    /// Run-queue link while scheduled; what the task waits for while parked.
    pub(crate) next: Cell<Parked>,
    /// What depends on the type of the future.
    pub vtable: &'static Vtable,
}

#[cfg(all(target_pointer_width = "64", not(any(loom, shuttle))))]
const _: () = assert!(size_of::<Header>() == 56);

impl Header {
    /// The header of a task that is scheduled, held by its driver and by one join handle.
    pub fn new(vtable: &'static Vtable, place: Place, spawned: &'static Location<'static>) -> Self {
        #[cfg(loom)]
        crate::door::model::cell_made();
        Self {
            next: Cell::new(Parked::NOTHING),
            vtable,
            life: Life::new(),
            place: QuietU32::new(place.word()),
            #[cfg(loom)]
            moved: crate::door::atomic::AtomicU32::new(0),
            owned: list::OwnedLinks::new(),
            join: Join::new(),
            spawned,
        }
    }

    /// Where the task lives; anyone may ask. The rest of the word is the driver's.
    #[inline(always)]
    pub fn place(&self) -> Place {
        // Acquire pairs with the release in `move_to`: who finds the task at the home it drives sees what the
        // driver before did.
        Place::from_word(self.place.load(Ordering::Acquire))
    }

    /// The same, for a thread that may not be the driver: the task may move at this moment.
    #[inline(always)]
    pub(crate) fn look(&self) -> Place {
        #[cfg(loom)]
        let _ = self.moved.load(Ordering::Relaxed); // Relaxed: the value says nothing
        self.place()
    }

    /// Changes the driver's part of the word; only on the driver.
    #[inline(always)]
    pub(crate) fn set_place(&self, place: Place) {
        // Relaxed: others read only the home, which stays until the task is over.
        self.place.store(place.word(), Ordering::Relaxed);
    }

    /// Sends the task to another home; the last thing its driver does with it.
    pub(crate) fn move_to(&self, home: u16) {
        #[cfg(loom)]
        let _ = self.moved.fetch_add(1, Ordering::Relaxed); // Relaxed: the value says nothing
        // Release pairs with the acquire in `place`.
        self.place
            .store(self.place().moved_to(home).word(), Ordering::Release);
    }

    /// Where the task was spawned, what it is doing, and what it waits for.
    ///
    /// # Safety
    /// On the driver.
    pub unsafe fn describe(this: NonNull<Header>) -> Description {
        // SAFETY: the caller vouches for being the driver of a live task.
        let header = unsafe { this.as_ref() };
        let scheduled = header.place().is_scheduled();
        let waits_for = if scheduled || header.place().is_done() {
            Parked::NOTHING
        } else {
            header.next.get()
        };
        Description {
            task: this,
            spawned: header.spawned,
            scheduled,
            waits_for,
        }
    }

    /// Marks a parked task as waiting for `what`, for dumps; nothing, if this thread does not drive it. If `next`
    /// is a link of the run queue, or names a node already, it is left alone.
    ///
    /// # Safety
    /// The task is alive.
    pub unsafe fn park_on(this: NonNull<Header>, what: Parked) {
        // SAFETY: the caller vouches for it.
        let header = unsafe { this.as_ref() };
        let place = header.place();
        // Not scheduled, not over, and driven here: nobody else touches `next`.
        let ours = context::with(|context| context.home() == place.home() && context.owns(this));
        if ours && !place.ignores_wake() && header.next.get().is_nothing() {
            header.next.set(what);
        }
    }

    /// Has the task stay at its home, with the thread that drives it now.
    ///
    /// # Safety
    /// On the driver, inside the task's poll.
    pub(crate) unsafe fn pin(this: NonNull<Self>) {
        // SAFETY: being polled, so alive.
        let header = unsafe { this.as_ref() };
        let place = header.place();
        if !place.is_pinned() {
            header.set_place(place.with_pinned());
            Home::at(place.home()).driver.pin_one(place.home());
        }
    }

    /// Takes back what [`Header::pin`] did.
    ///
    /// # Safety
    /// On the driver; the task's future is there.
    pub(crate) unsafe fn unpin(this: NonNull<Self>) {
        // SAFETY: its future is there, so it is alive.
        let header = unsafe { this.as_ref() };
        let place = header.place();
        if place.is_pinned() {
            header.set_place(place.without_pinned());
            Home::at(place.home()).driver.unpin_one();
        }
    }

    /// Notes that something is kept for the task in the side table; `false` if the task is over.
    ///
    /// # Safety
    /// On the driver, inside the task's poll, the drop of its future or its end.
    pub(crate) unsafe fn mark_aside(this: NonNull<Self>) -> bool {
        // SAFETY: being polled, or not let go of so far, so alive.
        let header = unsafe { this.as_ref() };
        let place = header.place();
        if !place.has_aside() && !place.is_done() {
            header.set_place(place.with_aside());
        }
        !place.is_done()
    }

    /// Gives up the driver's hold, if the future is gone and neither a queue nor a node points here.
    ///
    /// # Safety
    /// On the driver, which still has its hold and does not use the task afterwards.
    unsafe fn let_go_if_over(this: NonNull<Self>) {
        // SAFETY: the driver's hold keeps the task alive.
        let header = unsafe { this.as_ref() };
        let place = header.place();
        if place.is_done() && !place.is_scheduled() && place.lent() == 0 {
            let spare = if place.has_spare() { life::HANDLE } else { 0 };
            // Before the hold is given up: whoever frees the task, it has left its home.
            header.set_place(place.without_spare().without_home());
            if !crate::mutant!("over_stays_at_home") {
                cell_count::left(place.home());
            }
            // SAFETY: the driver's hold, and the one in store.
            unsafe { release(this, life::ALIVE + spare) };
        }
    }

    /// Begins the turn of a plain task: local, and nothing to be done but to poll it. `false` if it is not, and
    /// then nothing was done.
    ///
    /// # Safety
    /// As [`Header::begin_turn`]; `running_local` is that of the task's driver.
    #[inline(always)]
    pub unsafe fn begin_plain_turn(this: NonNull<Self>, running_local: Place) -> bool {
        // SAFETY: queued tasks are alive.
        let header = unsafe { this.as_ref() };
        if header.place() != running_local.with_scheduled() {
            cold_path();
            return false;
        }
        header.set_place(running_local);
        header.next.set(Parked::NOTHING);
        true
    }

    /// The driver has taken the task out of its run queue.
    ///
    /// # Returns
    /// What to do with it.
    ///
    /// # Safety
    /// On the driver; the task was queued.
    #[inline(always)]
    pub unsafe fn begin_turn(this: NonNull<Self>) -> Turn {
        // SAFETY: queued tasks are alive.
        let header = unsafe { this.as_ref() };
        let place = header.place();
        header.set_place(place.without_scheduled());
        header.next.set(Parked::NOTHING);
        if place.wants_poll() {
            return if header.life.wants_cancel() {
                Turn::Cancel
            } else if place.is_new() {
                Turn::PollNew
            } else {
                Turn::Poll
            };
        }
        if place.is_done() {
            // SAFETY: no queue points here any more.
            unsafe { Self::let_go_if_over(this) };
            return Turn::Over;
        }
        Turn::Cancel
    }

    /// Takes a task off its home's list: its future is gone.
    ///
    /// # Safety
    /// On the driver of `home`; the task is on its list, unless it is new there.
    #[inline]
    pub unsafe fn leave_home(this: NonNull<Self>, home: &Home) {
        // SAFETY: the driver's hold keeps the task alive.
        let place = unsafe { this.as_ref() }.place();
        if !place.is_new() {
            // SAFETY: passed on to the caller.
            home.with_list(|| unsafe { home.driver.list_of(place).remove(this) });
        }
    }

    /// The future is gone and the output or failure stored: publishes it. The output is dropped here
    /// if the join handle is gone; a panic of that ends here, in the midst of the task.
    ///
    /// # Safety
    /// On the driver, once, when the task is in no list; the task is not used afterwards.
    pub unsafe fn finish(this: NonNull<Self>) {
        // SAFETY: the driver's hold keeps the task alive.
        let header = unsafe { this.as_ref() };
        // What follows may run user code, which may drop an operation that the task is lent to: so one loan more,
        // as long as that lasts (there is always room for it).
        let place = header.place();
        header.set_place(place.with_done().lend());
        if place.has_aside() {
            // Before the output is published: who joins the task finds that all of it is gone.
            crate::aside::end_task(this);
        }
        match header.join.finish() {
            Finish::Nobody => {}
            // A foreign waker's panic must not unwind from here.
            Finish::Wake(waker) => context::Context::outside(|| Deferred::new(waker).run()),
            // The payload of its panic is user code too, and goes before the task does.
            Finish::Detached => context::Context::outside(|| {
                // SAFETY: the handle is gone, so the output is ours.
                panics::end(|| unsafe { (header.vtable.drop_output)(this) });
            }),
        }
        header.set_place(header.place().give_back());
        // SAFETY: the driver, and the last use of the task, which the loan has kept alive.
        unsafe { Self::let_go_if_over(this) };
    }

    /// Takes back what [`Header::park_on`] said, if it still says `what`: the thing is about to go. Nothing, if this
    /// thread does not drive the task; in a simulation, the process ends then.
    ///
    /// # Safety
    /// The task is alive.
    pub unsafe fn unpark_from(this: NonNull<Header>, what: Parked) {
        // SAFETY: the caller vouches for it.
        let header = unsafe { this.as_ref() };
        let place = header.place();
        if place.is_done() {
            // Nobody reads what it says.
            return;
        }
        let home = Home::at(place.home());
        if !context::drives(place.home()) && !home.is_driven_by_this_thread() {
            return home.node_leaves_elsewhere(header);
        }
        // While it is scheduled, `next` is a link, and perhaps somebody else's.
        // One that is not being polled may be adopted at this moment; then its name stays as it was.
        let ours = context::with(|context| context.owns(this));
        if ours && !place.is_scheduled() && header.next.get().is(what) {
            header.next.set(Parked::NOTHING);
        }
    }
}

/// What the driver does with a task it has taken out of its run queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub enum Turn {
    /// Poll the future.
    Poll,
    /// Poll the future; if it is pending, the task is to be put on its home's list ([`Home::list`]).
    PollNew,
    /// Drop the future and [`Header::finish`] the task.
    Cancel,
    /// Nothing: it has finished, and must not be touched any more.
    Over,
}

/// What a dump says of one task.
#[derive(Debug, Clone, Copy)]
pub struct Description {
    /// The task.
    pub task: NonNull<Header>,
    /// Where it was spawned.
    pub spawned: &'static Location<'static>,
    /// Whether it is in the run queue.
    pub scheduled: bool,
    /// What it waits for, when parked.
    pub waits_for: Parked,
}

/// Lets go of one counted hold on a task, and frees it if that was the last.
///
/// # Safety
/// The caller owns that hold and does not use the task through it afterwards.
#[inline]
pub unsafe fn release(task: NonNull<Header>, hold: u32) {
    // SAFETY: the hold keeps the header alive.
    if unsafe { task.as_ref() }.life.release(hold) {
        #[cfg(loom)]
        crate::door::model::cell_freed();
        // SAFETY: nobody else holds the task any more; future and output are gone with `ALIVE` and the join
        // handle.
        unsafe { (task.as_ref().vtable.free)(task) };
    }
}
