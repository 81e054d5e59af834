//! The threads that compute together for one runtime.

use std::collections::VecDeque;
use std::sync::Arc;
use std::task::Waker;

use crossbeam_deque::Stealer;
use gossamer_core::platform::atomic::{AtomicUsize, Ordering, fence};
use gossamer_core::platform::{Mutex, heavy_fence, light_fence};

use crate::job::JobRef;

/// A runtime, as its team sees it.
pub trait Helpers: Send + Sync {
    /// How many threads may compute at once.
    fn width(&self) -> usize;

    /// Has a worker run a [`Help`](crate::Help) for this team, as a task. If none can, it makes one and drops it.
    fn ask(&self, team: &Arc<Team>);
}

/// A computation in the list of those that wait for a helper.
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
    /// How many computations wait for a helper.
    waiting: AtomicUsize,
    /// Changes with the list of seats.
    version: AtomicUsize,
    lists: Mutex<Lists>,
}

#[derive(Default)]
struct Lists {
    seats: Vec<Arc<Seat>>,
    /// Of members that wait for a job of theirs, and have found nothing else to do.
    asleep: Vec<Arc<Seat>>,
    /// Computations that wait for a helper.
    waiting: VecDeque<Arc<dyn Root>>,
}

/// The part of a member that others use.
pub(crate) struct Seat {
    pub(crate) stealer: Stealer<JobRef>,
    pub(crate) waker: Waker,
}

impl Team {
    /// Nobody computes so far.
    #[must_use]
    pub fn new(helpers: Box<dyn Helpers>) -> Arc<Self> {
        Arc::new(Self {
            helpers,
            busy: AtomicUsize::new(0),
            limit: AtomicUsize::new(1),
            waiting: AtomicUsize::new(0),
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

    /// One less is busy. Whoever has called this must look at all deques, and at what waits, once more.
    pub(crate) fn count_out(&self) {
        self.busy.fetch_sub(1, Ordering::Relaxed); // Relaxed: the fence orders it
        if gossamer_core::mutant!("member_leaves_without_fence") {
            return;
        }
        heavy_fence(); // pairs with the light one in `job_is_there`, and with the fence in `hand_over`
    }

    /// A thread that was counted in, but not asked, has computed what it came for. What was handed over meanwhile is
    /// somebody else's, and those whose jobs it could steal run them themselves.
    pub(crate) fn leave(self: &Arc<Self>) {
        self.busy.fetch_sub(1, Ordering::Relaxed); // Relaxed: the fence orders it
        if !gossamer_core::mutant!("thread_leaves_without_fence") {
            fence(Ordering::SeqCst); // pairs with the one in `hand_over`
        }
        if self.has_waiting() {
            self.call_one();
        }
    }

    /// Whether anybody is.
    pub(crate) fn is_busy(&self) -> bool {
        // Relaxed: the fence in `count_out` orders it.
        self.busy.load(Ordering::Relaxed) > 0
    }

    /// Whether a computation waits for a helper.
    pub(crate) fn has_waiting(&self) -> bool {
        // Relaxed: a fence of the caller's orders it.
        self.waiting.load(Ordering::Relaxed) > 0
    }

    /// Leaves a computation to the next that has nothing to do.
    pub(crate) fn hand_over(self: &Arc<Self>, root: Arc<dyn Root>) {
        self.follow_resize();
        {
            let mut lists = self.lists.lock();
            lists.waiting.push_back(root);
            self.note_waiting(&lists);
        }
        fence(Ordering::SeqCst); // pairs with those in `leave` and `count_out`
        self.call_one();
    }

    fn note_waiting(&self, lists: &Lists) {
        // Relaxed: the fence after it in `hand_over` orders it, and writers hold the lock.
        self.waiting.store(lists.waiting.len(), Ordering::Relaxed);
    }

    /// A computation that was handed over.
    pub(crate) fn take_waiting(&self) -> Option<Arc<dyn Root>> {
        if !self.has_waiting() {
            return None;
        }
        let mut lists = self.lists.lock();
        let root = lists.waiting.pop_front();
        self.note_waiting(&lists);
        root
    }

    /// The runtime has no worker for a helper any more: those whose computations wait carry them out themselves.
    pub(crate) fn refuse_waiting(&self) {
        while let Some(root) = self.take_waiting() {
            root.refuse();
        }
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
            None => self.helpers.ask(self),
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

    /// It is awake, and busy: whoever called it has counted it, else it does so itself.
    pub(crate) fn wake_up(&self, seat: &Arc<Seat>) {
        if remove(&mut self.lists.lock().asleep, seat) {
            self.count_in();
        }
    }
}

fn remove(seats: &mut Vec<Arc<Seat>>, seat: &Arc<Seat>) -> bool {
    let at = seats.iter().position(|other| Arc::ptr_eq(other, seat));
    at.map(|at| seats.swap_remove(at)).is_some()
}

gossamer_core::impl_debug!([] Team[], this => limit: this.limit());
