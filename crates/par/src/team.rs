//! The threads that compute together for one runtime.

use std::sync::{Arc, OnceLock};
use std::task::Waker;

use crossbeam_deque::Stealer;
use gossamer_core::platform::atomic::{AtomicUsize, Ordering};
use gossamer_core::platform::{Mutex, heavy_fence, light_fence};

use crate::job::JobRef;

/// A runtime, as its team sees it.
pub trait Helpers: Send + Sync {
    /// How many threads may compute at once.
    fn width(&self) -> usize;

    /// Has a worker run `help` as a task; drops it if none can.
    fn ask(&self, help: Help);
}

/// A computation that was handed over to a helper.
pub(crate) trait Root: Send + Sync {
    /// Carries it out, unless it was taken back.
    fn run(&self);

    /// Nobody will: its owner does so itself.
    fn refuse(&self);
}

/// The threads that compute together for one runtime.
pub struct Team {
    helpers: Box<dyn Helpers>,
    /// Members that compute or look for jobs, and helpers that have been asked for.
    busy: AtomicUsize,
    /// How many are to be busy: what [`Helpers::width`] said last.
    limit: AtomicUsize,
    /// Changes with the list of seats.
    version: AtomicUsize,
    lists: Mutex<Lists>,
}

#[derive(Default)]
struct Lists {
    seats: Vec<Arc<Seat>>,
    /// Of members that wait for a job of theirs, and have found nothing else to do.
    asleep: Vec<Arc<Seat>>,
}

/// A helper: a task that looks for jobs, runs them, and ends when there are none. It counts as busy from the moment it
/// is asked for.
#[must_use = "a helper that is not run is not there"]
pub struct Help {
    pub(crate) team: Arc<Team>,
    /// What it is to carry out first.
    pub(crate) root: Option<Arc<dyn Root>>,
    pub(crate) is_counted: bool,
}

impl Drop for Help {
    fn drop(&mut self) {
        // The runtime has turned it away.
        if let Some(root) = self.root.take() {
            root.refuse();
        }
        if self.is_counted {
            self.team.count_out();
        }
    }
}

/// The part of a member that others use.
pub(crate) struct Seat {
    pub(crate) stealer: Stealer<JobRef>,
    pub(crate) waker: Waker,
    /// Who steals sees what was written before the push. The deque sees to that, but loom does not know the deque.
    #[cfg(loom)]
    pub(crate) pushes: AtomicUsize,
}

static FIND: OnceLock<fn() -> Option<Arc<Team>>> = OnceLock::new();

/// Has [`current_team`] ask `find`. The first call counts.
pub fn find_team_by(find: fn() -> Option<Arc<Team>>) {
    FIND.get_or_init(|| find);
}

/// The team of the runtime that the calling thread is in, for crates below the one that knows the runtimes.
pub fn current_team() -> Option<Arc<Team>> {
    FIND.get().and_then(|find| find())
}

impl Team {
    /// Nobody computes so far.
    #[must_use]
    pub fn new(helpers: Box<dyn Helpers>) -> Arc<Self> {
        Arc::new(Self {
            helpers,
            busy: AtomicUsize::new(0),
            limit: AtomicUsize::new(1),
            version: AtomicUsize::new(0),
            lists: Mutex::default(),
        })
    }

    /// How many threads are to compute at once.
    #[inline]
    pub(crate) fn limit(&self) -> usize {
        // Relaxed: a hint.
        self.limit.load(Ordering::Relaxed)
    }

    /// Asks how many workers the runtime has now; whether more are busy than it has.
    pub(crate) fn follow_resize(&self) -> bool {
        let limit = self.helpers.width().max(1);
        // Relaxed: hints, both.
        self.limit.store(limit, Ordering::Relaxed);
        self.busy.load(Ordering::Relaxed) > limit
    }

    /// The runtime has another number of workers than before: if it has more, they help with what is being computed.
    pub fn is_resized(self: &Arc<Self>) {
        self.follow_resize();
        if self.is_busy() {
            (0..self.limit()).for_each(|_| self.call_one());
        }
    }

    /// One more is busy, however many are.
    pub(crate) fn count_in(&self) {
        // Relaxed: nobody waits for more to be busy.
        self.busy.fetch_add(1, Ordering::Relaxed);
    }

    /// One more is busy, unless enough are.
    pub(crate) fn try_count_in(&self) -> bool {
        let limit = self.limit();
        let more = |busy: usize| (busy < limit).then_some(busy + 1);
        // Relaxed: it only counts.
        let counted = self
            .busy
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, more);
        counted.is_ok()
    }

    /// One less is busy. A member that could steal looks at all deques once more.
    pub(crate) fn count_out(&self) {
        self.busy.fetch_sub(1, Ordering::Relaxed); // Relaxed: the fence orders it
        if !gossamer_core::mutant!("member_leaves_without_fence") {
            heavy_fence(); // pairs with the light one in `job_is_there`
        }
    }

    /// A thread that came of itself has computed: those whose jobs it could steal run them themselves.
    pub(crate) fn leave(&self) {
        // Relaxed: it only counts.
        self.busy.fetch_sub(1, Ordering::Relaxed);
    }

    /// Whether anybody is busy.
    fn is_busy(&self) -> bool {
        // Relaxed: a hint.
        self.busy.load(Ordering::Relaxed) > 0
    }

    /// Leaves a computation to a helper of its own, however many are busy: its owner does nothing else.
    pub(crate) fn hand_over(self: &Arc<Self>, root: Arc<dyn Root>) {
        self.follow_resize();
        self.count_in();
        self.ask(Some(root));
    }

    fn ask(self: &Arc<Self>, root: Option<Arc<dyn Root>>) {
        self.helpers.ask(Help {
            team: self.clone(),
            root,
            is_counted: true,
        });
    }

    /// A member of this team has pushed a job: calls one more, unless enough are busy.
    #[inline(always)]
    pub(crate) fn job_is_there(self: &Arc<Self>) {
        light_fence(); // pairs with the heavy one in `count_out`
        // Relaxed: the fence orders it.
        if self.busy.load(Ordering::Relaxed) < self.limit() {
            self.call_one();
        }
    }

    #[cold]
    pub(crate) fn call_one(self: &Arc<Self>) {
        if !self.try_count_in() {
            return;
        }
        let sleeper = self.lists.lock().asleep.pop();
        match sleeper {
            Some(sleeper) => sleeper.waker.wake_by_ref(),
            None => self.ask(None),
        }
    }

    /// From here on others steal from it.
    pub(crate) fn take_seat(&self, seat: &Arc<Seat>) {
        self.lists.lock().seats.push(seat.clone());
        self.seats_changed();
    }

    /// From here on nobody does.
    pub(crate) fn give_seat_back(&self, seat: &Arc<Seat>) {
        remove(&mut self.lists.lock().seats, seat);
        self.seats_changed();
    }

    fn seats_changed(&self) {
        // Release pairs with the acquire in `seats`.
        self.version.fetch_add(1, Ordering::Release);
    }

    /// Brings a list of the seats up to date.
    pub(crate) fn seats(&self, seats: &mut Vec<Arc<Seat>>, version: &mut usize) {
        // Acquire pairs with the release in `seats_changed`.
        let now = self.version.load(Ordering::Acquire);
        if now != *version {
            seats.clone_from(&self.lists.lock().seats);
            *version = now;
        }
    }

    /// A member is about to sleep, and is not busy from here on; then it looks at everything once more.
    pub(crate) fn fall_asleep(&self, seat: &Arc<Seat>) {
        self.lists.lock().asleep.push(seat.clone());
        self.count_out();
    }

    /// It is awake, and busy: whoever called it has counted it, else it does so itself. Whether it was called.
    pub(crate) fn wake_up(&self, seat: &Arc<Seat>) -> bool {
        let is_listed = remove(&mut self.lists.lock().asleep, seat);
        if is_listed {
            self.count_in();
        }
        !is_listed
    }
}

fn remove(seats: &mut Vec<Arc<Seat>>, seat: &Arc<Seat>) -> bool {
    let at = seats.iter().position(|other| Arc::ptr_eq(other, seat));
    at.map(|at| seats.swap_remove(at)).is_some()
}

gossamer_core::impl_debug!([] Help[]);
gossamer_core::impl_debug!([] Team[], this => limit: this.limit());
