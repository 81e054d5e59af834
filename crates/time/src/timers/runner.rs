//! A runner's work with the timers of its shard, which other threads do for a runner that cannot. A shard has no
//! [`Timers`] at first: each function here is then a look at one pointer.

use gossamer_core::moment::Moment;
use gossamer_core::shard::Shard;

use super::Timers;

/// [`Timers::serve`].
#[inline]
pub fn serve(shard: &Shard) -> bool {
    Timers::of(shard).is_some_and(Timers::serve)
}

/// [`Timers::next_deadline`].
#[inline]
pub fn next_deadline(shard: &Shard) -> Moment {
    Timers::of(shard).map_or(Moment::NEVER, Timers::next_deadline)
}

/// [`Timers::may_have_any`].
#[inline]
pub fn may_have_any(shard: &Shard) -> bool {
    Timers::of(shard).is_some_and(Timers::may_have_any)
}

/// [`Timers::earliest`].
pub fn earliest(shard: &Shard) -> Moment {
    Timers::of(shard).map_or(Moment::NEVER, Timers::earliest)
}

/// Fires what is due, for a runner that is stuck in a poll; dates none if nothing is.
pub fn fire_for_runner(shard: &Shard) {
    let now = Moment::real_now();
    if earliest(shard) <= now {
        fire_due(shard, now);
    }
}

/// [`Timers::fire_due`].
pub fn fire_due(shard: &Shard, now: Moment) -> bool {
    Timers::of(shard).is_some_and(|timers| timers.fire_due(now))
}

/// [`Timers::move_to`] those of another shard.
pub fn move_to(shard: &Shard, other: &'static Shard) -> bool {
    Timers::of(shard)
        .filter(|timers| timers.may_have_any())
        .is_some_and(|timers| timers.move_to(Timers::made(other)))
}

/// [`Timers::rest`], where no waker wakes the runner but tasks'.
pub fn rest(shard: &Shard) {
    if let Some(timers) = Timers::of(shard) {
        timers.rest(|_| false);
    }
}

/// [`Timers::end`].
pub fn end(shard: &Shard) {
    if let Some(timers) = Timers::of(shard) {
        timers.end();
    }
}

/// [`Timers::begin_simulation`].
pub fn begin_simulation(shard: &'static Shard, at: Moment) {
    Timers::made(shard).begin_simulation(at);
}

/// The time in a simulation; `None` if none has begun.
pub fn virtual_now(shard: &Shard) -> Option<Moment> {
    let now = Timers::of(shard)?.virtual_now()?;
    Some(Moment::from_nanos(now))
}

/// [`Timers::advance`].
pub fn advance(shard: &Shard) -> Option<Moment> {
    Timers::of(shard).and_then(Timers::advance)
}
