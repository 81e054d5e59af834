//! A model of timers that come to a home which has none so far. Run by `cargo xtask loom`, as are those of one timer in
//! `src/timers/model_tests.rs`; what loom cannot see is told in `crates/core/tests/loom.rs`.
#![cfg(loom)]

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Wake, Waker};

use gossamer_core::door::model::explore;
use gossamer_core::door::thread;
use gossamer_core::home::Home;
use gossamer_core::moment::Moment;
use gossamer_time::timers::{Timer, driver};

/// The only moment there is.
const NOW: Moment = Moment::from_nanos(7);

#[derive(Default)]
struct Wakes(AtomicUsize);

impl Wake for Wakes {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

/// Registers a timer, as the driver of this home.
fn registered(home: &'static Home, wakes: &Arc<Wakes>) -> Pin<Box<Timer>> {
    let claim = home.claim(false).expect("nobody drives it");
    let mut timer = Box::pin(Timer::at(NOW));
    let polled = timer.as_mut().poll(&Waker::from(wakes.clone()));
    assert!(polled.is_pending());
    drop(claim);
    timer
}

/// A worker retires, and its timers go to a home whose driver registers its first one just then: none is lost.
#[test]
fn first_timer_against_timers_that_come() {
    explore("first_timer_against_timers_that_come", || {
        let open = || Home::open().expect("few homes are in use");
        let (retires, stays) = (open(), open());
        let wakes = Arc::new(Wakes::default());
        let _comes = registered(retires, &wakes);
        let moving = thread::spawn(move || driver::move_to(retires, stays));
        let _first = registered(stays, &wakes);
        assert!(moving.join().expect("no panic"));
        assert!(!driver::may_have_any(retires));
        assert!(driver::fire_due(stays, NOW));
        assert_eq!(wakes.0.load(Ordering::SeqCst), 2);
    });
}
