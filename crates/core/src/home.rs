//! Where the tasks of one runtime live: the part of a runtime that other threads may touch.
//!
//! Homes stand in one table and are never freed, only used again, so a waker may touch the home of
//! its task at any time, even when the runtime has just ended. A task leaves its home at its end, when the driver
//! lets go of it: from then on it names none ([`NOWHERE`](context::NOWHERE)), however long a join handle or a waker
//! keeps its memory. A home is used again only when it is closed and the last of its tasks has left; so the home that
//! a task names is never another runtime's.
//! (A thread that wakes a task may have read its home just before: then it pushes a task that is over into
//! the inbox of somebody else, who finds that out and lets go of it.)
//! In a pool the home need not stay the same: workers take tasks from each other (`home/moving.rs`).
//!
//! # Waking from another thread
//!
//! The waker sets `QUEUED` in the task's [`Life`](crate::header::Life) and pushes the task into the
//! inbox. The driver, when it has nothing to do, announces under the inbox's lock that it parks,
//! after it has seen the inbox empty under the same lock; a push finds the announcement and wakes
//! it. So a push comes either before the look (the driver sees the task) or after the announcement
//! (the pusher sees the parked driver). `pending` is a hint that saves the driver the lock.
//!
//! After the push the pusher touches only the home (never freed) and the waker it took out.
//!
//! # Waiting to drive
//!
//! The owner of a runtime that waits while another thread drives announces itself ([`Home::wait_to_drive`]) and
//! then tries to claim once more; a claim that ends is first given up and then looks for the announcement. So
//! one of the two sees the other, and work that the driver leaves behind is run by the owner.
//!
//! # Visiting
//!
//! A thread that only has to touch a task (to end a loan, or to take the task along), or the timers, *visits* the home:
//! it holds the claim for a short time and runs no user code. A thread that wants to drive waits until a visit
//! is over, so a visit never looks like another driver; and nobody ever waits for the end of a visit by a waker.

use core::ptr::{self, NonNull};
use core::task::Waker;

use crate::context::{self, Context, Entered};
use crate::door::atomic::{
    AtomicBool, AtomicI64, AtomicPtr, AtomicU8, AtomicU32, AtomicUsize, Ordering,
};
use crate::door::{Backoff, Mutex, QuietPtr, QuietU32, is_light, process_global};
use crate::header::Header;

mod adopting;
mod calling;
mod driver;
mod line;
mod loans;
mod marks;
mod moving;
mod offering;
mod owner;
mod receiving;
mod staying;
mod table;

pub use self::adopting::StuckPoll;
pub use self::driver::Driver;
use self::line::Line;
pub(crate) use self::marks::Marks;
pub(crate) use self::moving::pull;
pub use self::offering::settle_offers;
use self::receiving::adopt;
pub use self::receiving::cancel_here;
pub use self::staying::thread_ends;

/// Added to the count of cells while the home is open.
const OPEN: i64 = 1 << 40;

/// Nobody holds the claim.
const FREE: u8 = 0;
/// A thread drives the home.
const DRIVEN: u8 = 1;
/// A thread holds the claim for a short time.
const VISITED: u8 = 2;

/// The part of a runtime that its tasks' wakers may touch.
#[derive(Debug)]
pub struct Home {
    index: u16,
    /// A hint: the inbox has something.
    pending: AtomicBool,
    inbox: Mutex<Inbox>,
    /// Whether a thread drives this home, or visits it: [`FREE`], [`DRIVEN`] or [`VISITED`].
    claimed: AtomicU8,
    /// The address of the context of the thread that drives it, or zero.
    driven_by: AtomicPtr<Context>,
    /// Whether its driver looks at parked nodes, as a simulation does.
    watched: AtomicBool,
    /// The pool it belongs to, or zero.
    pool: AtomicU32,
    /// Not zero: its driver is a thread that does nothing but drive it, and what it drives is one task.
    threaded: QuietU32,
    /// Not zero: this is a child that was forked in a poll of the driver.
    lost: QuietU32,
    /// Whether a thread drives it in every wait, and has ended ([`owner`]).
    owner: QuietU32,
    /// Not zero: its driver may be found stuck in a poll ([`adopting`]), and its marks tell.
    monitored: QuietU32,
    marks: Marks,
    /// Not zero: a monitor has poked, and the driver has not answered.
    poked: QuietU32,
    /// An idle worker has found the driver in a long poll (see [`offering`]).
    offers_wanted: AtomicBool,
    /// The home whose keeper is called when a task is offered.
    helper: QuietU32,
    /// In a pool: tasks that other workers may take, and how many (a hint).
    open: Mutex<moving::Open>,
    open_len: AtomicUsize,
    /// In a pool: who touches the list of all tasks.
    list: Mutex<()>,
    /// What the crate of timers has for this home, as soon as it has; it stays.
    timers: QuietPtr<()>,
    /// Tasks that came and left by threads other than the driver, plus [`OPEN`] while open.
    cells: AtomicI64,
    /// The driver's own.
    pub driver: Driver,
}

#[derive(Debug)]
struct Inbox {
    /// Each with its `QUEUED` hold.
    tasks: Line,
    closed: bool,
    /// Whether somebody has [called](Home::call).
    called: bool,
    /// Wakes the driver, if it has parked or is about to.
    parked: Option<Waker>,
    /// Wakes somebody who looks after a home without a driver.
    keeper: Option<Waker>,
    /// Wakes a thread that would drive, but found another one driving.
    waiting: Option<Waker>,
    /// Loans of tasks that other threads have ended while one drove.
    loans: loans::Ended,
}

// SAFETY: `driver` is touched only by the thread that holds `claimed`, which is acquired and released; but for
// `driver.owned` of a pool's home, from which thieves take tasks: it is changed only under `list`, and read without
// it only by the driver, when its open queue is empty for good; and but for a home that is open to adopters, whose
// `driver.slot`, tasks and driver's context belong to who holds the open queue's lock. The pointers in the inbox are holds on tasks
// (`QUEUED`), those in the open queue scheduled tasks, touched under its lock, and the loans' are loans; none is tied to a thread.
unsafe impl Sync for Home {}
// SAFETY: as above.
unsafe impl Send for Home {}

process_global! {
    /// All homes.
    fn homes() -> table::Table = table::Table::new()
}

/// The right to drive a home, and the context that says so.
#[derive(Debug)]
#[must_use]
pub struct Claim {
    home: &'static Home,
    /// Dropped (restored) before the claim is given up, in `drop`.
    entered: Option<Entered>,
    /// Nobody waits for the end of a visit by a waker.
    visits: bool,
}

impl Home {
    fn new(index: u16) -> Self {
        Self {
            index,
            pending: AtomicBool::new(false),
            inbox: Mutex::new(Inbox {
                tasks: Line::new(),
                closed: true,
                called: false,
                parked: None,
                keeper: None,
                waiting: None,
                loans: loans::Ended::default(),
            }),
            claimed: AtomicU8::new(FREE),
            driven_by: AtomicPtr::new(ptr::null_mut()),
            watched: AtomicBool::new(false),
            pool: AtomicU32::new(0),
            threaded: QuietU32::new(0),
            lost: QuietU32::new(0),
            owner: QuietU32::new(owner::NONE),
            monitored: QuietU32::new(0),
            marks: Marks::new(),
            poked: QuietU32::new(0),
            offers_wanted: AtomicBool::new(false),
            helper: QuietU32::new(u32::from(context::NOWHERE)),
            open: Mutex::new(moving::Open::default()),
            open_len: AtomicUsize::new(0),
            list: Mutex::new(()),
            timers: QuietPtr::new(ptr::null_mut()),
            cells: AtomicI64::new(0),
            driver: Driver::default(),
        }
    }

    /// Takes a free home out of the table; `None` when all 65,535 are in use.
    pub fn open() -> Option<&'static Self> {
        // The first one finds out about fences: a seccomp filter may come later.
        let _is_known = is_light();
        let home = homes().take(Self::new)?;
        // Relaxed: as below.
        home.threaded.store(0, Ordering::Relaxed);
        home.lost.store(0, Ordering::Relaxed); // Relaxed: as below
        home.monitored.store(0, Ordering::Relaxed); // Relaxed: as below
        home.owner.store(owner::NONE, Ordering::Relaxed); // Relaxed: as below
        home.driver.begin_anew();
        // Relaxed: as below.
        home.offers_wanted.store(false, Ordering::Relaxed);
        // Relaxed: published to other threads with the runtime itself.
        home.cells.store(OPEN, Ordering::Relaxed);
        home.join_pool(0);
        home.watch(false);
        let mut inbox = home.inbox.lock();
        (inbox.closed, inbox.called) = (false, false);
        // Relaxed: kept under the lock.
        home.pending.store(false, Ordering::Relaxed);
        drop(inbox);
        Some(home)
    }

    /// The home with this index.
    pub fn at(index: u16) -> &'static Self {
        homes().at(index)
    }

    /// The index that tasks carry.
    #[inline]
    pub fn index(&self) -> u16 {
        self.index
    }

    /// Begins to drive this home on the current thread; `None` if another thread does, or this one
    /// already. Waits while another thread visits.
    pub fn claim(&'static self, points: bool) -> Option<Claim> {
        self.hold(DRIVEN).then(|| self.enter(points, false))
    }

    /// Begins a visit of this home, whose plain memory the current thread may touch until it drops the result;
    /// `None` if another thread drives, or this one already. Waits while another thread visits.
    ///
    /// No user code may run meanwhile: other threads wait.
    pub fn visit(&'static self) -> Option<Claim> {
        self.hold(VISITED).then(|| self.enter(false, true))
    }

    /// The same, but `None` also if another thread visits.
    fn try_visit(&'static self) -> Option<Claim> {
        self.try_hold(VISITED)
            .is_ok()
            .then(|| self.enter(false, true))
    }

    /// Takes the claim, once no other thread visits; `false` if one drives.
    fn hold(&self, how: u8) -> bool {
        let mut backoff = Backoff::new();
        loop {
            match self.try_hold(how) {
                Ok(_) => return true,
                Err(VISITED) if !crate::mutant!("visit_is_a_driver") => backoff.wait(),
                Err(_) => return false,
            }
        }
    }

    /// Takes the claim if nobody has it.
    fn try_hold(&self, how: u8) -> Result<u8, u8> {
        // Acquire pairs with the release in `Claim::drop`: what the last driver did is seen. Relaxed on failure:
        // nothing is read.
        self.claimed
            .compare_exchange(FREE, how, Ordering::Acquire, Ordering::Relaxed)
    }

    fn enter(&'static self, points: bool, visits: bool) -> Claim {
        // Relaxed: written before the home had tasks.
        let watched = self.watched.load(Ordering::Relaxed);
        // Relaxed: as above.
        let marks = (self.monitored.load(Ordering::Relaxed) != 0).then_some(&self.marks);
        // SAFETY: claimed just now; the result restores the context when it goes.
        let entered = unsafe { context::enter(self.index, points, watched, marks) };
        // Relaxed: only this thread compares it with its own address.
        self.driven_by.store(context::address(), Ordering::Relaxed);
        let claim = Claim {
            home: self,
            entered: Some(entered),
            visits,
        };
        claim.offer_again();
        claim
    }

    /// Whether this thread drives the home, be it from inside another one that it drives now (a runtime inside a
    /// runtime): then its plain memory may be touched.
    pub fn is_driven_by_this_thread(&self) -> bool {
        // Relaxed: nobody but this thread writes this thread's address.
        self.driven_by.load(Ordering::Relaxed) == context::address()
    }

    /// Says that the driver is a thread that does nothing but drive it, for one task; before it has that.
    pub fn set_threaded(&self) {
        // Relaxed: published with the task.
        self.threaded.store(1, Ordering::Relaxed);
    }

    /// Whether its driver is such a thread.
    pub(crate) fn is_one_thread(&self) -> bool {
        // Relaxed: as above.
        self.threaded.load(Ordering::Relaxed) != 0
    }

    /// In a forked child: the driver, this thread, must not go on after its poll.
    pub(crate) fn lose(&self) {
        // Relaxed: the child has one thread.
        self.lost.store(1, Ordering::Relaxed);
        self.pending.store(true, Ordering::Relaxed); // Relaxed: as above
    }

    /// Whether this is a child that was forked in a poll of the driver. [`has_pending`](Home::has_pending) says so too.
    #[inline]
    pub fn is_lost(&self) -> bool {
        // Relaxed: written by the driver.
        self.lost.load(Ordering::Relaxed) != 0
    }

    /// Says whether the driver will look at parked nodes; before any task is spawned.
    pub fn watch(&self, watched: bool) {
        // Release pairs with the acquire in `node_leaves_elsewhere`.
        self.watched.store(watched, Ordering::Release);
    }

    /// An operation that a task of this home had parked is dropped on a thread that does not drive the home. The
    /// driver's note of it cannot be taken back from here. Only a simulation reads such notes, and it
    /// would read freed memory: a simulated operation has no business on another thread.
    ///
    /// Nothing, if the task has ended: nobody reads its note, and the home may be another runtime's by now.
    pub(crate) fn node_leaves_elsewhere(&self, task: &Header) {
        // Acquire pairs with the release in `watch`: a simulation that got this home after the task had ended is not
        // taken for the task's.
        if self.watched.load(Ordering::Acquire) && !task.place().is_done() {
            std::eprintln!(
                "gossamer: an operation that a simulated task had begun was dropped on another \
                 thread, or after its simulation; a simulation must keep its operations to itself"
            );
            std::process::abort();
        }
    }

    /// Has `waker` called when the one who drives now stops. Then try to claim once more: it may have
    /// stopped just before.
    pub fn wait_to_drive(&self, waker: &Waker) {
        let before = self.inbox.lock().waiting.replace(waker.clone());
        drop(before);
    }

    /// A task was made; call before it can be seen by others.
    pub fn cell_made(&self) {
        if context::drives(self.index) {
            self.driver.count_cell(1);
        } else {
            // Relaxed: the home is open, so the count cannot reach zero meanwhile.
            self.cells.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// A task has left this home, by a thread that does not drive it.
    pub(crate) fn cell_left_elsewhere(&self) {
        // AcqRel pairs with the same in other threads and in `close`: the last one sees all others
        // done with the home.
        if self.cells.fetch_sub(1, Ordering::AcqRel) == 1 {
            table::give_back(self.index);
        }
    }

    /// How many tasks there are, about, while the home is open: those that have not ended, or that operations for one
    /// thread still point at.
    pub fn cells(&self) -> u64 {
        // Relaxed: a figure to look at.
        let cells = self.cells.load(Ordering::Relaxed) - OPEN + self.driver.cells();
        u64::try_from(cells).unwrap_or(0)
    }

    /// Puts a task whose `QUEUED` hold the caller owns into the inbox, and the hold with it.
    ///
    /// # Errors
    /// The home is closed: the hold is still the caller's.
    ///
    /// # Returns
    /// The parked driver, to be woken after all locks are given up.
    pub fn push(&self, task: NonNull<Header>) -> Result<Option<Waker>, Closed> {
        let mut inbox = self.inbox.lock();
        if inbox.closed && !crate::mutant!("inbox_never_closed") {
            return Err(Closed);
        }
        inbox.tasks.push_back(task);
        // Release pairs with the acquire in `has_pending`, though the lock alone would do.
        self.pending.store(true, Ordering::Release);
        if crate::mutant!("inbox_no_unpark") {
            return Ok(None);
        }
        Ok(inbox.parked.take().or_else(|| inbox.keeper.clone()))
    }

    /// Whether the inbox may have something.
    #[inline(always)]
    pub fn has_pending(&self) -> bool {
        // Relaxed: a hint; who acts on it takes the lock, and who parks looks under the lock.
        self.pending.load(Ordering::Relaxed)
    }

    /// Announces that the driver is about to park and wants `waker` called; `false` if the inbox
    /// has something after all, and then nothing was announced.
    pub fn park(&self, waker: &Waker) -> bool {
        let mut inbox = self.inbox.lock();
        if !crate::mutant!("park_no_recheck") && !inbox.tasks.is_empty() {
            return false;
        }
        let before = inbox.parked.replace(waker.clone());
        drop(inbox);
        drop(before);
        true
    }

    /// Adds to the count of cells; who brings it to zero gives the home back.
    fn count_late(&self, balance: i64) {
        // AcqRel pairs with `cell_left_elsewhere`.
        if self.cells.fetch_add(balance, Ordering::AcqRel) + balance == 0 {
            table::give_back(self.index);
        }
    }

    /// Ends the home's use; it is given back once its last task has left. The driver has called
    /// [`Claim::seal`] and finished every task, and the home has no timers any more.
    pub fn close(&'static self, claim: Claim) {
        let balance = self.driver.take_cells() - OPEN;
        drop(claim);
        self.count_late(balance);
    }
}

/// The home's runtime has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Closed;
