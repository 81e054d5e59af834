//! A model of timers that come to a shard which has none so far. Run by `cargo xtask loom`, as are those of one timer
//! in `src/timers/model_tests.rs`; what loom cannot see is told in `crates/core/tests/loom.rs`.
#![cfg(loom)]

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Wake, Waker};

use gossamer_core::moment::Moment;
use gossamer_core::platform::model::explore;
use gossamer_core::platform::thread;
use gossamer_core::shard::Shard;
use gossamer_time::timers::{Timer, runner};

/// The only moment there is.
const NOW: Moment = Moment::from_nanos(7);

#[derive(Default)]
struct Wakes(AtomicUsize);

impl Wake for Wakes {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

/// Registers a timer, as the runner of this shard.
fn registered(shard: &'static Shard, wakes: &Arc<Wakes>) -> Pin<Box<Timer>> {
    let guard = shard.acquire(false).expect("nobody runs it");
    let mut timer = Box::pin(Timer::at(NOW));
    let polled = timer.as_mut().poll(&Waker::from(wakes.clone()));
    assert!(polled.is_pending());
    drop(guard);
    timer
}

/// A worker retires, and its timers go to a shard whose runner registers its first one just then: none is lost.
#[test]
fn first_timer_against_timers_that_come() {
    explore("first_timer_against_timers_that_come", || {
        let open = || Shard::open().expect("few shards are in use");
        let (retires, stays) = (open(), open());
        let wakes = Arc::new(Wakes::default());
        let _comes = registered(retires, &wakes);
        let moving = thread::spawn(move || runner::move_to(retires, stays));
        let _first = registered(stays, &wakes);
        assert!(moving.join().expect("no panic"));
        assert!(!runner::may_have_any(retires));
        assert!(runner::fire_due(stays, NOW));
        assert_eq!(wakes.0.load(Ordering::SeqCst), 2);
    });
}
