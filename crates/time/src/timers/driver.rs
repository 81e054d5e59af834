//! What a driver does with the timers of its home, and others for a driver that cannot. A home has none at first, and then
//! all of this is a look at one pointer.

use gossamer_core::home::Home;
use gossamer_core::moment::Moment;

use super::Timers;

/// [`Timers::serve`].
#[inline]
pub fn serve(home: &Home) -> bool {
    Timers::of(home).is_some_and(Timers::serve)
}

/// [`Timers::next_deadline`].
#[inline]
pub fn next_deadline(home: &Home) -> Moment {
    Timers::of(home).map_or(Moment::NEVER, Timers::next_deadline)
}

/// [`Timers::may_have_any`].
#[inline]
pub fn may_have_any(home: &Home) -> bool {
    Timers::of(home).is_some_and(Timers::may_have_any)
}

/// [`Timers::earliest`].
pub fn earliest(home: &Home) -> Moment {
    Timers::of(home).map_or(Moment::NEVER, Timers::earliest)
}

/// Fires what is due, for a driver that is stuck in a poll; dates none if nothing is.
pub fn fire_for_driver(home: &Home) {
    let now = Moment::real_now();
    if earliest(home) <= now {
        fire_due(home, now);
    }
}

/// [`Timers::fire_due`].
pub fn fire_due(home: &Home, now: Moment) -> bool {
    Timers::of(home).is_some_and(|timers| timers.fire_due(now))
}

/// [`Timers::move_to`] those of another home.
pub fn move_to(home: &Home, other: &'static Home) -> bool {
    Timers::of(home)
        .filter(|timers| timers.may_have_any())
        .is_some_and(|timers| timers.move_to(Timers::made(other)))
}

/// [`Timers::rest`], where no waker wakes the driver but tasks'.
pub fn rest(home: &Home) {
    if let Some(timers) = Timers::of(home) {
        timers.rest(|_| false);
    }
}

/// [`Timers::end`].
pub fn end(home: &Home) {
    if let Some(timers) = Timers::of(home) {
        timers.end();
    }
}

/// [`Timers::begin_simulation`].
pub fn begin_simulation(home: &'static Home) -> Moment {
    Timers::made(home).begin_simulation()
}

/// [`Timers::advance`].
pub fn advance(home: &Home) -> Option<Moment> {
    Timers::of(home).and_then(Timers::advance)
}
