//! What a worker does that wakes a task and then polls on for long, while others have nothing to do.
//!
//! A wake stays local, in plain memory that nobody else sees until the poll has ended; that is what makes messages
//! cheap. If the poll goes on for long, the woken task waits in vain (the trouble with a run-next slot that nobody
//! steals from: tokio#4941). So an idle worker *watches* those that are busy: every few milliseconds it *pokes*
//! each, which any look at the inbox takes back, and who is still poked a moment later is in a long poll. Such a
//! worker is told to *offer*: each task that it wakes goes to its open queue at once, and an idle worker is called.
//! That costs microseconds a wake, so it ends when it was of no use, that is when the polls ended soon after their
//! wakes, so many times.

use core::ptr::NonNull;
use std::time::{Duration, Instant};

use super::{Claim, DRIVEN, Home};
use crate::context::{self, Context};
use crate::door::atomic::Ordering;
use crate::header::Header;
use crate::waiter::Deferred;

/// A poll that goes on for so long after a wake was worth an offer.
const LONG: Duration = Duration::from_micros(10);

/// So many useless offers in a row end the offering; fewer before one was of use, as the system may just have taken
/// the processor away from a worker that seemed to be in a long poll.
const CREDIT: u32 = if cfg!(shuttle) { 4 } else { 128 };
const CREDIT_AT_FIRST: u32 = 2;

impl Home {
    /// Has the driver offer what it wakes, from the end of its poll on.
    pub fn want_offers(&self) {
        // Relaxed: a hint.
        self.offers_wanted.store(true, Ordering::Relaxed);
        self.poke();
    }

    /// Whether a thread drives this home: a hint.
    pub fn is_driven(&self) -> bool {
        // Relaxed: a hint.
        self.claimed.load(Ordering::Relaxed) == DRIVEN
    }

    /// Puts a task that a poll has woken where others can take it, and calls one; `false` if it has to stay.
    ///
    /// # Safety
    /// As [`Home::push_open`].
    pub(crate) unsafe fn offer(&self, task: NonNull<Header>) -> bool {
        // Whoever ends a home empties its open queue first, and then nobody may touch its tasks.
        if self.driver.closing.get() {
            return false;
        }
        // SAFETY: alive, as it is scheduled.
        if unsafe { task.as_ref() }.place().is_pinned() {
            return false;
        }
        // SAFETY: passed on to the caller.
        unsafe { self.push_open(task) };
        self.has_offered();
        self.call_helper();
        true
    }

    /// Calls one who can take what is in the open queue.
    pub(super) fn call_helper(&self) {
        // Relaxed: set before the home had tasks.
        let helper = Home::at(self.helper.load(Ordering::Relaxed) as u16);
        let caller = helper.inbox.lock().keeper.clone();
        if let Some(caller) = caller {
            Deferred::new(caller).run();
        }
    }

    /// Notes when the current poll offered something first.
    pub(super) fn has_offered(&self) {
        if self.driver.offered_at.get().is_none() {
            self.driver.offered_at.set(Some(Instant::now()));
        }
    }

    /// Says whose keeper is called when a task is offered: the injector's.
    pub fn set_helper(&self, helper: &Home) {
        // Relaxed: before the home has tasks.
        self.helper
            .store(u32::from(helper.index), Ordering::Relaxed);
    }
}

impl Claim {
    /// Begins to offer, if an idle worker wants it.
    pub(super) fn offer_if_wanted(&self) {
        let home = self.home();
        // Relaxed: a hint.
        let wanted = home.pool() != 0 && home.offers_wanted.swap(false, Ordering::Relaxed);
        if wanted && !crate::mutant!("offers_nothing") {
            home.driver.credit.set(CREDIT_AT_FIRST);
            context::with(|context| context.set_offers(true));
        }
    }

    /// Goes on offering, where the driver has offered when it last had the claim.
    pub(super) fn offer_again(&self) {
        let driver = &self.home().driver;
        driver.offered_at.set(None);
        if driver.credit.get() > 0 {
            context::with(|context| context.set_offers(true));
        }
    }
}

/// A poll of a worker that offers has ended: was it of use?
#[cold]
pub fn settle_offers(context: &Context) {
    let driver = &Home::at(context.home()).driver;
    let Some(offered_at) = driver.offered_at.take() else {
        return;
    };
    if offered_at.elapsed() > LONG {
        driver.credit.set(CREDIT);
        return;
    }
    driver.credit.set(driver.credit.get().saturating_sub(1));
    if driver.credit.get() == 0 {
        context.set_offers(false);
    }
}
