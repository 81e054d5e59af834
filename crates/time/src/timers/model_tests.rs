//! Models of a timer that is cancelled, moved or polled again while another thread fires it. Run by `cargo xtask loom`.
//!
//! loom sees the lock, the owner's word, and who touches a timer's links when; a wheel is plain memory under its lock.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Poll, Wake, Waker};

use gossamer_core::platform::model::explore;
use gossamer_core::platform::thread;

use super::*;

/// The only moment there is.
const NOW: Moment = Moment::from_nanos(7);

#[derive(Default)]
struct Wakes(AtomicUsize);

impl Wake for Wakes {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

/// A timer and its waker.
struct Set {
    timer: Pin<Box<Timer>>,
    wakes: Arc<Wakes>,
}

impl Set {
    fn new(timers: &'static Timers) -> Self {
        let mut set = Self {
            timer: Box::pin(Timer::at(NOW)),
            wakes: Arc::default(),
        };
        let waker = Waker::from(set.wakes.clone());
        assert!(set.poll(timers, &waker).is_pending());
        set
    }

    fn poll(&mut self, timers: &'static Timers, waker: &Waker) -> Poll<()> {
        self.timer.as_mut().poll_at(|| timers, waker)
    }

    fn wakes(&self) -> usize {
        self.wakes.0.load(Ordering::SeqCst)
    }

    /// Drops the timer; how often it was woken. Nobody keeps its waker.
    fn cancel(self) -> usize {
        drop(self.timer);
        let woken = self.wakes.0.load(Ordering::SeqCst);
        assert!(woken <= 1);
        woken
    }
}

fn timers() -> &'static Timers {
    Box::leak(Box::new(Timers::new(true, None)))
}

/// A thread that drops a timer while another fires it does not take it out twice: no timer that comes after it is lost.
#[test]
fn cancel_against_fire() {
    explore("cancel_against_fire", || {
        let timers = timers();
        let victim = Set::new(timers);
        let other = Set::new(timers);
        let firing = thread::spawn(move || {
            timers.fire_due(NOW);
            // To the same slot, while the victim's owner may still be on its way.
            Set::new(timers)
        });
        let wakes = victim.wakes.clone();
        victim.cancel();
        let next = firing.join().expect("no panic");
        assert_eq!(Arc::strong_count(&wakes), 1, "somebody keeps its waker");
        assert_eq!(other.wakes(), 1);
        assert!(timers.fire_due(NOW));
        assert_eq!(next.wakes(), 1, "a later timer is lost");
        assert_eq!(timers.next_deadline(), Moment::NEVER);
    });
}

/// The monitor and the runner fire at once: each timer is woken once.
#[test]
fn fire_against_fire() {
    explore("fire_against_fire", || {
        let timers = timers();
        let both = [Set::new(timers), Set::new(timers)];
        let other = thread::spawn(move || timers.fire_due(NOW));
        timers.fire_due(NOW);
        other.join().expect("no panic");
        for mut set in both {
            assert_eq!(set.wakes(), 1);
            assert!(set.poll(timers, Waker::noop()).is_ready());
        }
    });
}

/// Polled again while it is fired: it is complete, or the new waker is called.
#[test]
fn new_waker_against_fire() {
    explore("new_waker_against_fire", || {
        let timers = timers();
        let mut set = Set::new(timers);
        let firing = thread::spawn(move || timers.fire_due(NOW));
        let newer = Arc::new(Wakes::default());
        let is_pending = set.poll(timers, &Waker::from(newer.clone())).is_pending();
        firing.join().expect("no panic");
        let woken = newer.0.load(Ordering::SeqCst);
        assert_eq!(woken, usize::from(is_pending));
        assert_eq!(set.wakes(), usize::from(!is_pending));
        assert_eq!(Arc::strong_count(&newer), 1, "somebody keeps the new waker");
    });
}

/// A worker retires while one of its timers is dropped and another is polled again elsewhere: none is lost.
#[test]
fn cancel_against_move() {
    explore("cancel_against_move", || {
        let (from, to) = (timers(), timers());
        let stays = Set::new(from);
        let victim = Set::new(from);
        let moving = thread::spawn(move || from.move_to(to));
        assert_eq!(victim.cancel(), 0);
        assert!(moving.join().expect("no panic"));
        assert_eq!(from.next_deadline(), Moment::NEVER);
        assert!(to.fire_due(NOW));
        assert_eq!(stays.wakes(), 1);
    });
}

/// Polled again at a third place while it moves.
#[test]
fn poll_against_move() {
    explore("poll_against_move", || {
        let (from, to, here) = (timers(), timers(), timers());
        let mut set = Set::new(from);
        let moving = thread::spawn(move || from.move_to(to));
        let waker = Waker::from(set.wakes.clone());
        assert!(set.poll(here, &waker).is_pending());
        moving.join().expect("no panic");
        assert!(!to.fire_due(NOW) && !from.fire_due(NOW));
        assert!(here.fire_due(NOW));
        assert_eq!(set.wakes(), 1);
    });
}
