//! The wheel against a sorted map, and the way of a timer from thread to thread.

use std::collections::BTreeSet;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Poll, Wake, Waker};
use std::time::Duration;

use super::node::LAST;
use super::*;

/// Notes that it was woken.
struct Note {
    number: u64,
    woken: Arc<Mutex<Vec<u64>>>,
}

impl Wake for Note {
    fn wake(self: Arc<Self>) {
        self.woken.lock().expect("no panic").push(self.number);
    }
}

/// For tests that have both the timer and all there is of its timers to themselves.
fn entry(timer: &Pin<Box<Timer>>) -> Entry {
    // SAFETY: nobody else has it, so its lock need not be taken; it is pinned.
    unsafe { Entry::new(NonNull::from_ref(&**timer)) }
}

/// Timers by hand: their time is what the test says.
struct Hand {
    timers: &'static Timers,
    woken: Arc<Mutex<Vec<u64>>>,
}

impl Hand {
    fn new() -> Self {
        let timers: &'static Timers = Box::leak(Box::new(Timers::new(true, None)));
        timers.clock.store(0, Ordering::Relaxed);
        Self {
            timers,
            woken: Arc::default(),
        }
    }

    fn set(&self, number: u64, deadline: u64) -> Pin<Box<Timer>> {
        let mut timer = Box::pin(Timer::at(Moment::from_nanos(deadline)));
        let woken = self.woken.clone();
        let waker = Waker::from(Arc::new(Note { number, woken }));
        let mut idle = timer.as_mut().idle().expect("it is new");
        idle.links(|links| links.waker = Some(waker));
        self.timers.register(idle);
        timer
    }

    fn fire(&self, now: u64) -> Vec<u64> {
        self.timers.fire_due(Moment::from_nanos(now));
        std::mem::take(&mut *self.woken.lock().expect("no panic"))
    }

    fn next(&self) -> u64 {
        self.timers.lock().note_next()
    }
}

/// Numbers of all magnitudes.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn up_to_bits(&mut self, bits: u64) -> u64 {
        let bits = 1 + self.next() % bits;
        self.next() >> (64 - bits)
    }
}

#[test]
fn a_wheel_fires_what_a_sorted_map_says() {
    for seed in 1..400_u64 {
        let mut random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        let hand = Hand::new();
        let mut set = std::collections::HashMap::new();
        let mut model = BTreeSet::new();
        let mut now = 0_u64;
        for number in 0..400 {
            match random.next() % 8 {
                0..4 => {
                    let after = random.up_to_bits(62);
                    let deadline = now.saturating_add(after).min(LAST);
                    set.insert(number, (deadline, hand.set(number, deadline)));
                    model.insert((deadline, number));
                }
                4 => {
                    let Some(chosen) = set.keys().next().copied() else {
                        continue;
                    };
                    let (deadline, timer) = set.remove(&chosen).expect("it is there");
                    drop(timer);
                    model.remove(&(deadline, chosen));
                }
                _ => {
                    // Often to the next deadline itself, or just before it.
                    now = match (random.next() % 4, model.first()) {
                        (0, Some((next, _))) => now.max(*next),
                        (1, Some((next, _))) => now.max(next.saturating_sub(1)),
                        _ => now.saturating_add(random.up_to_bits(56)).min(LAST),
                    };
                    let later = model.split_off(&(now + 1, 0));
                    let due = std::mem::replace(&mut model, later);
                    let fired = hand.fire(now);
                    let ticks = fired.iter().map(|number| set[number].0 >> wheel::TICK_BITS);
                    assert!(ticks.is_sorted(), "seed {seed}: fired out of order");
                    let mut fired: Vec<_> =
                        fired.into_iter().map(|one| (set[&one].0, one)).collect();
                    fired.sort_unstable();
                    assert!(due.into_iter().eq(fired.iter().copied()), "seed {seed}");
                    for (_, number) in fired {
                        let (_, mut timer) = set.remove(&number).expect("it is there");
                        let polled = timer.as_mut().poll(Waker::noop());
                        assert_eq!(polled, Poll::Ready(()));
                    }
                }
            }
            let next = hand.next();
            let first = model.first().map_or(u64::MAX, |(deadline, _)| *deadline);
            assert!(next <= first, "seed {seed}: it would look too late");
            assert_eq!(next == u64::MAX, model.is_empty(), "seed {seed}");
        }
    }
}

/// A lone timer wakes its runner once, on time, however far it is.
#[test]
fn a_single_timer_is_looked_at_once() {
    let hand = Hand::new();
    for bits in 0..63 {
        let deadline = hand.timers.clock.load(Ordering::Relaxed) + (1 << bits) + 12_345;
        let timer = hand.set(7, deadline);
        assert_eq!(hand.next(), deadline);
        assert_eq!(hand.fire(deadline - 1), []);
        assert_eq!(hand.next(), deadline);
        assert_eq!(hand.fire(deadline), [7]);
        assert_eq!(hand.next(), u64::MAX);
        drop(timer);
        hand.timers.lock().with(Wheel::begin_anew);
    }
}

/// As the simulation moves: exactly from deadline to deadline, equal ones together, in the order of setting.
#[test]
fn time_advances_to_the_deadlines_that_are_left() {
    let hand = Hand::new();
    let second = 1_000_000_000;
    let cancelled = hand.set(0, second);
    let timers: Vec<_> = [3, 2, 3, 5, 3]
        .into_iter()
        .enumerate()
        .map(|(number, at)| hand.set(number as u64, at * second + 7))
        .collect();
    drop(cancelled);
    for (at, fired) in [(2, [1].as_slice()), (3, &[0, 2, 4]), (5, &[3])] {
        let now = hand.timers.advance().expect("a timer is left");
        assert_eq!(now.nanos(), at * second + 7);
        assert_eq!(hand.fire(now.nanos()), fired);
    }
    assert_eq!(hand.timers.advance(), None);
    drop(timers);
}

#[test]
fn more_timers_than_fit_under_one_lock() {
    let hand = Hand::new();
    let far = 1 << 40;
    let timers: Vec<_> = (0..1_000)
        .map(|number| hand.set(number, far + number * 100))
        .collect();
    let fired = hand.fire(far + 499 * 100);
    assert_eq!(fired.len(), 500);
    let other = Hand::new();
    assert!(hand.timers.move_to(other.timers));
    assert!(!hand.timers.move_to(other.timers));
    assert_eq!(hand.next(), u64::MAX);
    drop(timers);
    assert_eq!(other.next(), u64::MAX);
}

/// A stamped timer is dated soon enough, and never too early.
#[test]
fn a_stamp_is_dated_from_when_it_was_made() {
    let mut clock = clock::Clock::new();
    spin(Duration::from_millis(3));
    for _ in 0..100 {
        // Before the stamp: the thread may be interrupted between the two.
        let made = Moment::real_now().nanos();
        let Some(stamp) = clock::Clock::stamp() else {
            return;
        };
        spin(Duration::from_micros(300));
        assert_eq!(clock.peek().date(0, u64::MAX), LAST);
        let dated = clock.look().date(stamp, 0);
        assert!(dated + 100 >= made, "{} ns too early", made - dated);
    }
}

/// Timers that count from their registration with real ones, and when they were made.
fn undated(timers: &'static Timers, after: &[Duration]) -> Vec<(u64, Pin<Box<Timer>>)> {
    let set = |after: &Duration| {
        let made = Moment::real_now().nanos();
        let mut timer = Box::pin(Timer::after(*after));
        let mut idle = timer.as_mut().idle().expect("it is new");
        idle.links(|links| {
            links.waker = Some(Waker::noop().clone());
            timers.stamp(links);
        });
        timers.register(idle);
        (made, timer)
    };
    after.iter().map(set).collect()
}

/// The deadline of a timer that must be dated.
fn dated(timer: &Pin<Box<Timer>>) -> u64 {
    let (deadline, is_dated) = entry(timer).links(|links| (links.deadline, links.is_dated));
    assert!(is_dated);
    deadline
}

fn spin(time: Duration) {
    let began = std::time::Instant::now();
    while began.elapsed() < time {}
}

/// All that one poll registers: the stamps of most are a little later.
#[test]
fn timers_of_one_poll_are_dated_soon_enough_and_never_too_early() {
    let timers: &'static Timers = Box::leak(Box::new(Timers::new(true, None)));
    let after: Vec<_> = (0..100).map(|n| Duration::from_secs(60 + n % 7)).collect();
    let set = undated(timers, &after);
    assert!(!timers.fire_due(Moment::real_now()));
    let dated_at = Moment::real_now().nanos();
    for ((made, timer), after) in set.iter().zip(after) {
        let deadline = dated(timer);
        let nanos = u64::try_from(after.as_nanos()).expect("seconds");
        assert!(deadline + 100 >= made + nanos, "too early");
        assert!(deadline <= dated_at + nanos, "too late");
    }
}

/// A foreign executor that polls in `wake`: takes its time, and sets one more timer.
struct Polls {
    timers: &'static Timers,
    set: Mutex<Vec<(u64, Pin<Box<Timer>>)>>,
}

impl Wake for Polls {
    fn wake(self: Arc<Self>) {
        spin(Duration::from_millis(5));
        let set = undated(self.timers, &[Duration::from_secs(60)]);
        self.set.lock().expect("no panic").extend(set);
    }
}

/// More are due than are fired at once, and between two rounds a waker sets one that has no stamp yet.
#[test]
fn a_timer_set_while_others_fire_is_not_dated_by_the_look_before() {
    let hand = Hand::new();
    hand.timers.clock.store(REAL, Ordering::Relaxed);
    let _fresh = undated(hand.timers, &[Duration::from_secs(60)]);
    let due: Vec<_> = (0..2 * wheel::AT_ONCE as u64)
        .map(|number| hand.set(number, 7))
        .collect();
    let polls = Arc::new(Polls {
        timers: hand.timers,
        set: Mutex::default(),
    });
    entry(&due[0]).links(|links| links.waker = Some(polls.clone().into()));
    assert!(hand.timers.fire_due(Moment::real_now()));
    assert!(!hand.timers.fire_due(Moment::real_now()));
    let set = polls.set.lock().expect("no panic");
    let (made, timer) = &set[0];
    let early = (made + 60_000_000_000).saturating_sub(dated(timer));
    assert!(early <= 100, "{early} ns too early");
}

/// The clock renews its knowledge of the counter before a stamp relies on it.
#[test]
fn a_timer_set_after_an_idle_time_is_dated_precisely() {
    let timers: &'static Timers = Box::leak(Box::new(Timers::new(true, None)));
    // Again, until it is known how fast it counts, and the thread is not put aside just then.
    let lateness = (0..50).map(|_| {
        spin(Duration::from_millis(50));
        // As many timers as make the wheel read the counter for them.
        let set = undated(timers, &[Duration::from_secs(60); 16]);
        spin(Duration::from_micros(40));
        timers.fire_due(Moment::real_now());
        let (made, timer) = &set[0];
        dated(timer).saturating_sub(made + 60_000_000_000)
    });
    // A thousandth of the idle time is more than has passed since it was set.
    assert!(lateness.into_iter().any(|nanos| nanos < 30_000));
}

/// The monitor's question: it may come at any time, also in the midst of a poll that goes on to set timers.
#[test]
fn the_earliest_is_told_without_dating_any() {
    let timers: &'static Timers = Box::leak(Box::new(Timers::new(true, None)));
    assert_eq!(timers.earliest(), Moment::NEVER);
    let after: Vec<_> = (0..20).map(|n| Duration::from_secs(60 - n)).collect();
    let mut set = undated(timers, &after);
    let least = u64::try_from(after[19].as_nanos()).expect("seconds");
    for _ in 0..3 {
        let earliest = timers.earliest().nanos();
        assert!(earliest + 100 >= set[0].0 + least);
        assert!(earliest <= Moment::real_now().nanos() + least);
    }
    set.extend(undated(timers, &after));
    for (_, timer) in &set {
        let is_dated = entry(timer).links(|links| links.is_dated);
        assert_eq!(is_dated, !gossamer_core::platform::has_counter());
    }
    drop(set);
    assert_eq!(timers.earliest(), Moment::NEVER);
}

#[test]
fn moments_bear_absurd_durations() {
    let now = Moment::real_now();
    assert_eq!(now.after(Duration::MAX), Moment::NEVER);
    assert_eq!(Moment::NEVER.instant(), None);
    assert_eq!(Moment::NEVER.left(), None);
    assert_eq!(now.since(Moment::NEVER), Duration::ZERO);
    assert!(
        now.instant()
            .is_some_and(|then| then <= std::time::Instant::now())
    );
    let mut never = Box::pin(Timer::after(Duration::MAX));
    for _ in 0..2 {
        assert!(never.as_mut().poll(Waker::noop()).is_pending());
    }
}
